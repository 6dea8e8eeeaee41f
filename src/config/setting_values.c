/* SPDX-License-Identifier: MIT */
/* setting_values.c - how a setting takes a value, from text or already typed. */
#include "config/setting_rows.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static pe_setting_level *level_of(pe_config *config, const pe_setting_row *row)
{
    return &config->level[row - pe_setting_rows];
}

pe_status pe_setting_set_int(pe_config *config, const pe_setting_row *row, pe_setting_level level,
                             int64_t value, pe_problem *why)
{
    if (value < row->min || value > row->max) {
        pe_buffer got = {0};
        pe_buffer_format(&got, "%" PRId64, value);
        const pe_status status = pe_setting_refuse(config, row, level, pe_buffer_text(&got), why);
        pe_buffer_free(&got);
        return status;
    }
    *(int64_t *)pe_setting_place(config, row) = value;
    *level_of(config, row) = level;
    return PE_OK;
}

void pe_setting_set_bool(pe_config *config, const pe_setting_row *row, pe_setting_level level,
                         bool value)
{
    *(bool *)pe_setting_place(config, row) = value;
    *level_of(config, row) = level;
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

static bool fits_address(const char *text)
{
    unsigned char address[sizeof(struct in6_addr)];
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

pe_status pe_setting_set_text(pe_config *config, const pe_setting_row *row, pe_setting_level level,
                              const char *value, pe_problem *why)
{
    const bool fits = row->kind == PE_SETTING_ADDRESS  ? fits_address(value)
                      : row->kind == PE_SETTING_CHOICE ? fits_choice(row, value)
                                                       : fits_text(row, value);
    if (!fits)
        return pe_setting_refuse_text(config, row, level, value, why);
    memcpy(pe_setting_place(config, row), value, strlen(value) + 1);
    *level_of(config, row) = level;
    return PE_OK;
}

pe_status pe_setting_add_item(pe_config *config, const pe_setting_row *row, pe_setting_level level,
                              const char *item, size_t bytes, pe_problem *why)
{
    pe_setting_list *list = pe_setting_place(config, row);
    if (*level_of(config, row) != level) {
        while (list->n > 0)
            free(list->item[--list->n]);
        *level_of(config, row) = level;
    }
    if (item == NULL || bytes == 0)
        return PE_OK;
    assert(row->max <= PE_SETTING_LIST_MAX);
    if ((int64_t)list->n == row->max || !printable(item, bytes))
        return pe_setting_refuse_text(config, row, level, item, why);
    list->item[list->n] = strndup(item, bytes);
    if (list->item[list->n] == NULL)
        return pe_fail_memory(why);
    list->n++;
    return PE_OK;
}

/* ---- text ---- */

/* Decimal digits with an optional minus, and nothing else. */
static bool parse_int(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-');
    if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0')
        return false;
    errno = 0;
    const long long value = strtoll(text, NULL, 10);
    *out = value;
    return errno == 0;
}

static pe_status parse_bool(pe_config *config, const pe_setting_row *row, pe_setting_level level,
                            const char *text, pe_problem *why)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"true", true}, {"false", false}, {"1", true}, {"0", false}};
    for (size_t w = 0; w < PE_LEN(words); w++) {
        if (strcmp(text, words[w].text) == 0) {
            pe_setting_set_bool(config, row, level, words[w].value);
            return PE_OK;
        }
    }
    return pe_setting_refuse_text(config, row, level, text, why);
}

/* A flag is one item; a variable holds as many as it has words. */
static pe_status parse_list(pe_config *config, const pe_setting_row *row, pe_setting_level level,
                            const char *text, pe_problem *why)
{
    static const char space[] = " \t\r\n";
    if (level == PE_LEVEL_FLAG)
        return pe_setting_add_item(config, row, level, text, strlen(text), why);
    pe_status status = pe_setting_add_item(config, row, level, NULL, 0, why);
    for (const char *word = text + strspn(text, space); status == PE_OK && *word != '\0';) {
        const size_t bytes = strcspn(word, space);
        status = pe_setting_add_item(config, row, level, word, bytes, why);
        word += bytes;
        word += strspn(word, space);
    }
    return status;
}

pe_status pe_setting_parse(pe_config *config, const pe_setting_row *row, pe_setting_level level,
                           const char *text, pe_problem *why)
{
    int64_t number;
    switch (row->kind) {
    case PE_SETTING_INT:
        if (!parse_int(text, &number))
            return pe_setting_refuse_text(config, row, level, text, why);
        return pe_setting_set_int(config, row, level, number, why);
    case PE_SETTING_BOOL:
        return parse_bool(config, row, level, text, why);
    case PE_SETTING_LIST:
        return parse_list(config, row, level, text, why);
    case PE_SETTING_TEXT:
    case PE_SETTING_ADDRESS:
    case PE_SETTING_CHOICE:
        break;
    }
    return pe_setting_set_text(config, row, level, text, why);
}
