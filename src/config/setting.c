/* SPDX-License-Identifier: MIT */
/* setting.c - the settings as rows of a table, their names and what they want. */
#include "config/setting.h"

#include <ctype.h>
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
#define ROW(member, its_kind, fallback, low, high, its_unit, sentence)                             \
    {.name = #member,                                                                              \
     .kind = PE_SETTING_##its_kind,                                                                \
     .at = offsetof(pe_settings, member),                                                          \
     DEFAULT_##its_kind(fallback),                                                                 \
     .min = (low),                                                                                 \
     .max = (high),                                                                                \
     .unit = (its_unit),                                                                           \
     .help = (sentence)},

const pe_setting_row pe_setting_rows[PE_SETTINGS] = {PE_SETTINGS_MAP(ROW)};

const pe_setting_synonym pe_setting_synonyms[] = {
    {"cert", "tls_certificate", NULL},
    {"tls_cert", "tls_certificate", NULL},
    {"tls_crt", "tls_certificate", NULL},
    {"cors", "cors_origin", NULL},
    {"bind", "host", NULL},
    {"rate_limit", "address_rate", NULL},
    {"verbose", "log_level", "debug"},
    {"debug", "log_level", "debug"},
    {"quiet", "log_level", "error"},
    {"address", "host", NULL},
    {"ssl_cert", "tls_certificate", NULL},
    {"ssl_key", "tls_key", NULL},
    {"key", "tls_key", NULL},
    {"allow_origin", "cors_origin", NULL},
    {"api_keys", "keys_file", NULL},
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

pe_status pe_setting_refuse(const pe_setting_target *to, const json_t *got, pe_problem *why)
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
