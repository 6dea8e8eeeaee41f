/* SPDX-License-Identifier: MIT */
/* setting.c - the settings as rows of a table: their names, what they want, how they take a value. */
#include "config/setting.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"

/* The default goes where its kind keeps it. */
#define DEFAULT_INT(value)     .number = (value)
#define DEFAULT_BOOL(value)    .number = (value)
#define DEFAULT_TEXT(value)    .text = (value)
#define DEFAULT_ADDRESS(value) .text = (value)
#define DEFAULT_CHOICE(value)  .text = (value)
#define DEFAULT_LIST(value)    .text = (value)
#define SETTING(member, its_kind, fallback, low, high, its_unit, sentence)                         \
    {.name = #member,                                                                              \
     .kind = PE_SETTING_##its_kind,                                                                \
     .at = offsetof(pe_settings, member),                                                          \
     DEFAULT_##its_kind(fallback),                                                                 \
     .min = (low),                                                                                 \
     .max = (high),                                                                                \
     .unit = (its_unit),                                                                           \
     .help = (sentence)},

const pe_setting_row pe_setting_rows[PE_SETTINGS] = {
#include "settings.inc"
};

const pe_setting_synonym pe_setting_synonyms[] = {
#include "settings_synonyms.inc"
    {0},
};

/* ---- names ---- */

/* What was typed, with underscores for dashes; cut where no setting's name is that long. */
static void underscored(const char *name, char *out, size_t bytes)
{
    size_t n = 0;
    for (; name[n] != '\0' && n + 1 < bytes; n++)
        out[n] = name[n];
    out[n] = '\0';
    for (size_t k = 0; k < n; k++)
        if (out[k] == '-')
            out[k] = '_';
}

const pe_setting_row *pe_setting_find(const char *name)
{
    char wanted[64];
    underscored(name, wanted, sizeof wanted);
    for (size_t r = 0; r < PE_SETTINGS; r++)
        if (strcmp(pe_setting_rows[r].name, wanted) == 0)
            return &pe_setting_rows[r];
    return NULL;
}

void pe_setting_spell(const pe_setting_row *row, pe_setting_level level, pe_buffer *out)
{
    if (level == PE_LEVEL_FLAG)
        pe_buffer_str(out, "--");
    if (level == PE_LEVEL_ENVIRONMENT)
        pe_buffer_str(out, "POSENC_");
    for (const char *c = row->name; *c != '\0'; c++) {
        char spelled = *c;
        if (level == PE_LEVEL_FLAG && spelled == '_')
            spelled = '-';
        if (level == PE_LEVEL_ENVIRONMENT)
            spelled = (char)toupper((unsigned char)spelled);
        pe_buffer_add(out, &spelled, 1);
    }
}

size_t pe_setting_choice(const pe_setting_row *row, size_t k, const char **start)
{
    const char *word = row->unit;
    for (; k > 0 && *word != '\0'; k--) {
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    *start = word;
    return strcspn(word, " ");
}

const pe_setting_synonym *pe_setting_synonym_of(const char *name)
{
    char wanted[64];
    underscored(name, wanted, sizeof wanted);
    for (const pe_setting_synonym *s = pe_setting_synonyms; s->name != NULL; s++)
        if (strcmp(s->name, wanted) == 0)
            return s;
    return NULL;
}

const pe_setting_row *pe_setting_nearest(const char *name)
{
    char wanted[64];
    const char *names[PE_SETTINGS + PE_LEN(pe_setting_synonyms)];
    size_t n = 0;
    underscored(name, wanted, sizeof wanted);
    const size_t bytes = strlen(wanted);
    for (const pe_setting_row *row = pe_setting_rows; row < pe_setting_rows + PE_SETTINGS; row++) {
        if (bytes > 0 && strncmp(row->name, wanted, bytes) == 0 && row->name[bytes] == '_')
            return row; /* memory: memory_max */
        names[n++] = row->name;
    }
    for (const pe_setting_synonym *s = pe_setting_synonyms; s->name != NULL; s++)
        names[n++] = s->name;
    const char *nearest = pe_nearest_name(wanted, names, n);
    const pe_setting_synonym *synonym = nearest != NULL ? pe_setting_synonym_of(nearest) : NULL;
    return nearest == NULL ? NULL : pe_setting_find(synonym != NULL ? synonym->setting : nearest);
}

/* ---- what a row wants ---- */

/* INVALID_PARAMETER: what the row wants, and what came instead. */
static pe_status refuse(const pe_setting_target *to, const json_t *got, pe_problem *why)
{
    const char *word, *after;
    pe_buffer text = {0}, shown = {0};
    pe_setting_spell(to->row, to->level, &text);
    if (to->level == PE_LEVEL_FILE)
        pe_buffer_format(&text, " in %s", to->config->file);
    pe_buffer_str(&text, " must be ");
    const pe_setting_row *row = to->row;
    switch (row->kind) {
    case PE_SETTING_INT:
        pe_buffer_format(&text, "an integer from %" PRId64 " to %" PRId64 "%s", row->min, row->max,
                         strcmp(row->unit, "bytes") == 0 ? " or as 512M"
                         : strcmp(row->unit, "ms") == 0 || strcmp(row->unit, "s") == 0
                             ? " or as 30s"
                             : "");
        break;
    case PE_SETTING_BOOL:
        pe_buffer_str(&text, "true or false");
        break;
    case PE_SETTING_TEXT:
        pe_buffer_format(&text, "printable text of %" PRId64 " to %" PRId64 " bytes", row->min,
                         row->max);
        break;
    case PE_SETTING_ADDRESS:
        pe_buffer_str(&text, "an IPv4 or IPv6 address, or a name of one");
        break;
    case PE_SETTING_CHOICE:
        for (size_t k = 0, n; (n = pe_setting_choice(row, k, &word)) > 0; k++) {
            const bool last = pe_setting_choice(row, k + 1, &after) == 0;
            pe_buffer_format(&text, "%s%.*s",
                             k == 0 ? "one of "
                             : last ? " and "
                                    : ", ",
                             (int)n, word);
        }
        break;
    case PE_SETTING_LIST:
        pe_buffer_format(&text, "a list of at most %" PRId64 " printable texts", row->max);
        break;
    }
    char *json = json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT);
    if (json_is_string(got))
        pe_buffer_json_string(&shown, json_string_value(got));
    else
        pe_buffer_str(&shown, json != NULL ? json : "");
    free(json);
    pe_buffer_format(&text, ", got %.100s", pe_buffer_text(&shown));
    const pe_status status =
        pe_fail(why, PE_INVALID_PARAMETER, to->row->name, "%s", pe_buffer_text(&text));
    pe_buffer_free(&text);
    pe_buffer_free(&shown);
    return status;
}

const void *pe_setting_member(const pe_settings *settings, const pe_setting_row *row)
{
    return (const char *)settings + row->at;
}

bool pe_config_is_default(const pe_config *config, const char *name)
{
    const pe_setting_row *row = pe_setting_find(name);
    if (row == NULL)
        return true;
    const pe_setting_level level = config->level[row - pe_setting_rows];
    return level == PE_LEVEL_DEFAULT ||
           (level == PE_LEVEL_FILE && row->text != NULL &&
            strcmp(pe_setting_member(&config->settings, row), row->text) == 0);
}

/* ---- taking a value: of a JSON type, or as text ---- */

/* Control characters have no business in an address, a header or a log line. */
static bool printable(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

/* A name of a host may stand for its address; what it means is asked when it is listened at. */
static bool fits(const pe_setting_row *row, const char *text)
{
    static const char digits[] = "0123456789.",
                      letters[] =
                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
    unsigned char address[sizeof(struct in6_addr)];
    const char *word;
    const size_t bytes = strlen(text);
    assert(row->max < PE_SETTING_TEXT_MAX);
    if (row->kind == PE_SETTING_ADDRESS)
        return (strspn(text, letters) == bytes && strspn(text, digits) < bytes && bytes <= 253) ||
               inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
    if (row->kind == PE_SETTING_TEXT)
        return (int64_t)bytes >= row->min && (int64_t)bytes <= row->max && printable(text);
    for (size_t k = 0, n; (n = pe_setting_choice(row, k, &word)) > 0; k++)
        if (bytes == n && memcmp(text, word, n) == 0)
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
            return refuse(to, items, why);
        if (text[0] == '\0')
            continue;
        if ((int64_t)list->n == to->row->max || !printable(text))
            return refuse(to, item, why);
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
            return refuse(to, value, why);
        *(int64_t *)place = number;
        break;
    case PE_SETTING_BOOL:
        if (!json_is_boolean(value))
            return refuse(to, value, why);
        *(bool *)place = json_is_true(value);
        break;
    case PE_SETTING_TEXT:
    case PE_SETTING_ADDRESS:
    case PE_SETTING_CHOICE:
        if (text == NULL || !fits(row, text))
            return refuse(to, value, why);
        memcpy(place, text, strlen(text) + 1);
        break;
    case PE_SETTING_LIST:
        if (!json_is_array(value))
            return refuse(to, value, why);
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
