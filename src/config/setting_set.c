/* SPDX-License-Identifier: MIT */
/* setting_set.c - how a setting takes a value: of a JSON type, or as text. */
#include "config/setting.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Control characters have no business in an address, a header or a log line. */
static bool printable(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

/* A name of a host may stand for its address; what it means is asked when it is listened at. */
static bool is_address(const char *text)
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

static bool fits(const pe_setting_row *row, const char *text)
{
    const char *word;
    const int64_t bytes = (int64_t)strlen(text);
    assert(row->max < PE_SETTING_TEXT_MAX);
    if (row->kind == PE_SETTING_ADDRESS)
        return is_address(text);
    if (row->kind == PE_SETTING_TEXT)
        return bytes >= row->min && bytes <= row->max && printable(text);
    for (size_t k = 0, n; (n = pe_setting_choice(row, k, &word)) > 0; k++)
        if (strlen(text) == n && memcmp(text, word, n) == 0)
            return true;
    return false;
}

/* A list of a lower level gives way to the first item; further ones are added. An empty item adds
 * nothing. */
static pe_status add_items(const pe_setting_target *to, pe_setting_list *list, const json_t *items,
                           pe_problem *why)
{
    assert(to->row->max <= PE_SETTING_LIST_MAX);
    for (size_t k = 0; k < json_array_size(items); k++) {
        const json_t *item = json_array_get(items, k);
        const char *text = json_string_value(item);
        if (text == NULL)
            return pe_setting_refuse(to, items, why);
        if (text[0] == '\0')
            continue;
        if ((int64_t)list->n == to->row->max || !printable(text))
            return pe_setting_refuse(to, item, why);
        list->item[list->n] = strdup(text);
        if (list->item[list->n] == NULL)
            return pe_fail_memory(why);
        list->n++;
    }
    return PE_OK;
}

pe_status pe_setting_set(const pe_setting_target *to, const json_t *value, pe_problem *why)
{
    const pe_setting_row *row = to->row;
    pe_setting_level *level = &to->config->level[row - pe_setting_rows];
    void *place = (char *)&to->config->settings + row->at;
    pe_setting_list *list = place;
    const char *text = json_string_value(value);
    const int64_t number = json_integer_value(value);
    switch (row->kind) {
    case PE_SETTING_INT:
        if (!json_is_integer(value) || number < row->min || number > row->max)
            return pe_setting_refuse(to, value, why);
        *(int64_t *)place = number;
        break;
    case PE_SETTING_BOOL:
        if (!json_is_boolean(value))
            return pe_setting_refuse(to, value, why);
        *(bool *)place = json_is_true(value);
        break;
    case PE_SETTING_TEXT:
    case PE_SETTING_ADDRESS:
    case PE_SETTING_CHOICE:
        if (text == NULL || !fits(row, text))
            return pe_setting_refuse(to, value, why);
        memcpy(place, text, strlen(text) + 1);
        break;
    case PE_SETTING_LIST:
        if (!json_is_array(value))
            return pe_setting_refuse(to, value, why);
        while (*level != to->level && list->n > 0)
            free(list->item[--list->n]);
        *level = to->level;
        return add_items(to, list, value, why);
    }
    *level = to->level;
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

/* A flag is one item; a variable holds as many as it has words. NULL: memory ran out. */
static json_t *parse_list(const pe_setting_target *to, const char *text)
{
    static const char space[] = " \t\r\n";
    json_t *list = json_array();
    const bool lone = to->level == PE_LEVEL_FLAG;
    const char *word = text + (lone ? 0 : strspn(text, space));
    int failed = list == NULL;
    while (failed == 0 && *word != '\0') {
        const size_t bytes = lone ? strlen(word) : strcspn(word, space);
        failed = json_array_append_new(list, json_stringn_nocheck(word, bytes));
        word += bytes;
        word += strspn(word, space);
    }
    if (failed == 0)
        return list;
    json_decref(list);
    return NULL;
}

pe_status pe_setting_set_parsed(const pe_setting_target *to, const char *text, pe_problem *why)
{
    json_t *value;
    int64_t number;
    const bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    const bool no = strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
    if (to->row->kind == PE_SETTING_LIST)
        value = parse_list(to, text);
    else if (to->row->kind == PE_SETTING_INT && parse_int(to->row->unit, text, &number))
        value = json_integer(number);
    else if (to->row->kind == PE_SETTING_BOOL && (yes || no))
        value = json_boolean(yes);
    else
        value = json_stringn_nocheck(text, strlen(text));
    const pe_status status = value != NULL ? pe_setting_set(to, value, why) : pe_fail_memory(why);
    json_decref(value);
    return status;
}
