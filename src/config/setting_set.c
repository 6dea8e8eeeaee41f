/* SPDX-License-Identifier: MIT */
/* setting_set.c - how a setting takes a value, from text or already typed. */
#include "config/setting.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static pe_setting_level *level_of(const pe_setting_target *to)
{
    return &to->config->level[to->row - pe_setting_rows];
}

/* Where the value goes; its level is noted. */
static void *place_of(const pe_setting_target *to)
{
    *level_of(to) = to->level;
    return pe_setting_place(to->config, to->row);
}

pe_status pe_setting_set_int(const pe_setting_target *to, int64_t value, pe_problem *why)
{
    if (value < to->row->min || value > to->row->max) {
        pe_buffer got = {0};
        pe_buffer_format(&got, "%" PRId64, value);
        const pe_status status = pe_setting_refuse(to, pe_buffer_text(&got), why);
        pe_buffer_free(&got);
        return status;
    }
    *(int64_t *)place_of(to) = value;
    return PE_OK;
}

void pe_setting_set_bool(const pe_setting_target *to, bool value)
{
    *(bool *)place_of(to) = value;
}

/* Control characters have no business in an address, a header or a log line. */
static bool printable(const char *text, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        if ((unsigned char)text[k] < 0x20 || text[k] == 0x7f)
            return false;
    return true;
}

static bool fits_text(const pe_setting_row *row, const char *text)
{
    const size_t bytes = strlen(text);
    assert(row->max < PE_SETTING_TEXT_MAX);
    return (int64_t)bytes >= row->min && (int64_t)bytes <= row->max && printable(text, bytes);
}

/* A name of a host may stand for its address; what it means is asked when it is listened at. */
static bool fits_address(const char *text)
{
    unsigned char address[sizeof(struct in6_addr)];
    const size_t bytes = strlen(text);
    const bool name =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == bytes &&
        strspn(text, "0123456789.") < bytes;
    if (name && bytes <= 253)
        return true;
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static bool fits_choice(const pe_setting_row *row, const char *text)
{
    const char *word;
    for (size_t k = 0, n; (n = pe_setting_choice(row, k, &word)) > 0; k++)
        if (strlen(text) == n && memcmp(text, word, n) == 0)
            return true;
    return false;
}

pe_status pe_setting_set_text(const pe_setting_target *to, const char *value, pe_problem *why)
{
    const bool fits = to->row->kind == PE_SETTING_ADDRESS  ? fits_address(value)
                      : to->row->kind == PE_SETTING_CHOICE ? fits_choice(to->row, value)
                                                           : fits_text(to->row, value);
    if (!fits)
        return pe_setting_refuse_text(to, value, why);
    memcpy(place_of(to), value, strlen(value) + 1);
    return PE_OK;
}

pe_status pe_setting_set_item(const pe_setting_target *to, pe_slice item, pe_problem *why)
{
    const bool first = *level_of(to) != to->level;
    pe_setting_list *list = place_of(to);
    while (first && list->n > 0)
        free(list->item[--list->n]);
    if (item.bytes == 0)
        return PE_OK;
    assert(to->row->max <= PE_SETTING_LIST_MAX);
    if ((int64_t)list->n == to->row->max || !printable(item.text, item.bytes))
        return pe_setting_refuse_text(to, item.text, why);
    list->item[list->n] = strndup(item.text, item.bytes);
    if (list->item[list->n] == NULL)
        return pe_fail_memory(why);
    list->n++;
    return PE_OK;
}

/* ---- text ---- */

/* What may stand behind the digits of a number of bytes or of a time. */
static const struct {
    const char *unit, *suffix;
    int64_t times;
} suffixes[] = {
    {"bytes", "K", 1024},
    {"bytes", "KiB", 1024},
    {"bytes", "M", 1048576},
    {"bytes", "MiB", 1048576},
    {"bytes", "G", 1073741824},
    {"bytes", "GiB", 1073741824},
    {"ms", "ms", 1},
    {"ms", "s", 1000},
    {"ms", "min", 60000},
    {"ms", "h", 3600000},
    {"s", "s", 1},
    {"s", "min", 60},
    {"s", "h", 3600},
};

/* Decimal digits with an optional minus, and nothing else but a suffix of the unit. */
static bool parse_int(const char *unit, const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-');
    const char *behind = digits + strspn(digits, "0123456789");
    int64_t times = *behind == '\0' ? 1 : 0;
    for (size_t s = 0; s < PE_LEN(suffixes); s++)
        if (strcmp(suffixes[s].unit, unit) == 0 && strcmp(suffixes[s].suffix, behind) == 0)
            times = suffixes[s].times;
    if (behind == digits || times == 0)
        return false;
    errno = 0;
    const long long value = strtoll(text, NULL, 10);
    return errno == 0 && !__builtin_mul_overflow((int64_t)value, times, out);
}

static pe_status parse_bool(const pe_setting_target *to, const char *text, pe_problem *why)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"true", true}, {"false", false}, {"1", true}, {"0", false}};
    for (size_t w = 0; w < PE_LEN(words); w++) {
        if (strcmp(text, words[w].text) == 0) {
            pe_setting_set_bool(to, words[w].value);
            return PE_OK;
        }
    }
    return pe_setting_refuse_text(to, text, why);
}

/* A flag is one item; a variable holds as many as it has words. */
static pe_status parse_list(const pe_setting_target *to, const char *text, pe_problem *why)
{
    static const char space[] = " \t\r\n";
    if (to->level == PE_LEVEL_FLAG)
        return pe_setting_set_item(to, pe_slice_of(text), why);
    pe_status status = pe_setting_set_item(to, (pe_slice){0}, why);
    for (const char *word = text + strspn(text, space); status == PE_OK && *word != '\0';) {
        const size_t bytes = strcspn(word, space);
        status = pe_setting_set_item(to, (pe_slice){word, bytes}, why);
        word += bytes;
        word += strspn(word, space);
    }
    return status;
}

pe_status pe_setting_set_parsed(const pe_setting_target *to, const char *text, pe_problem *why)
{
    int64_t number;
    switch (to->row->kind) {
    case PE_SETTING_INT:
        if (!parse_int(to->row->unit, text, &number))
            return pe_setting_refuse_text(to, text, why);
        return pe_setting_set_int(to, number, why);
    case PE_SETTING_BOOL:
        return parse_bool(to, text, why);
    case PE_SETTING_LIST:
        return parse_list(to, text, why);
    case PE_SETTING_TEXT:
    case PE_SETTING_ADDRESS:
    case PE_SETTING_CHOICE:
        break;
    }
    return pe_setting_set_text(to, text, why);
}
