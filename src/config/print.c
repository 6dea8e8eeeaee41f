/* SPDX-License-Identifier: MIT */
/* print.c - the settings as JSON, and as lines of help. */
#include <inttypes.h>
#include <string.h>

#include "config/setting.h"

static void print_value(const pe_settings *settings, const pe_setting_row *row, pe_buffer *out)
{
    const void *member = pe_setting_member(settings, row);
    const pe_setting_list *list = member;
    switch (row->kind) {
    case PE_SETTING_INT:
        pe_buffer_format(out, "%" PRId64, *(const int64_t *)member);
        break;
    case PE_SETTING_BOOL:
        pe_buffer_str(out, *(const bool *)member ? "true" : "false");
        break;
    case PE_SETTING_TEXT:
    case PE_SETTING_ADDRESS:
    case PE_SETTING_CHOICE:
        pe_buffer_json_string(out, member);
        break;
    case PE_SETTING_LIST:
        pe_buffer_str(out, "[");
        for (size_t k = 0; k < list->n; k++) {
            pe_buffer_str(out, k == 0 ? "" : ", ");
            pe_buffer_json_string(out, list->item[k]);
        }
        pe_buffer_str(out, "]");
        break;
    }
}

/* The value, where it comes from, and what explains it: its unit, and its bounds or choices. */
static void print_row(const pe_config *config, const pe_setting_row *row, pe_buffer *out)
{
    const pe_setting_level level = config->level[row - pe_setting_rows];
    const char *word;
    pe_buffer_format(out, "%s\n  \"%s\": {\"value\": ", row == pe_setting_rows ? "" : ",",
                     row->name);
    print_value(&config->settings, row, out);
    pe_buffer_str(out, ", \"source\": ");
    if (level == PE_LEVEL_FILE) {
        pe_buffer_json_string(out, config->file);
    } else {
        pe_buffer_str(out, level == PE_LEVEL_DEFAULT ? "\"default" : "\"");
        if (level != PE_LEVEL_DEFAULT)
            pe_setting_spell(row, level, out); /* letters, digits, dashes and underscores */
        pe_buffer_str(out, "\"");
    }
    if (row->kind == PE_SETTING_CHOICE) {
        pe_buffer_str(out, ", \"choices\": [");
        for (size_t k = 0, n; (n = pe_setting_choice(row, k, &word)) > 0; k++)
            pe_buffer_format(out, "%s\"%.*s\"", k == 0 ? "" : ", ", (int)n, word);
        pe_buffer_str(out, "]");
    } else if (row->unit[0] != '\0') {
        pe_buffer_format(out, ", \"unit\": \"%s\"", row->unit);
    }
    if (row->kind == PE_SETTING_INT)
        pe_buffer_format(out, ", \"min\": %" PRId64 ", \"max\": %" PRId64, row->min, row->max);
    pe_buffer_str(out, ", \"help\": ");
    pe_buffer_json_string(out, row->help);
    pe_buffer_str(out, "}");
}

void pe_config_print_over(const pe_config *config, const pe_config *fresh,
                          bool (*applies)(const char *name), pe_buffer *out)
{
    pe_buffer_str(out, "{");
    for (const pe_setting_row *row = pe_setting_rows; row < pe_setting_rows + PE_SETTINGS; row++)
        print_row(fresh != NULL && applies(row->name) ? fresh : config, row, out);
    pe_buffer_str(out, "\n}\n");
}

void pe_config_print(const pe_config *config, pe_buffer *out)
{
    pe_config_print_over(config, NULL, NULL, out);
}

void pe_config_help(pe_buffer *out)
{
    pe_buffer_format(out, "  %-34s %s\n", "--settings FILE",
                     "Settings as JSON, see print-config [config/posenc.json]");
    for (const pe_setting_row *row = pe_setting_rows; row < pe_setting_rows + PE_SETTINGS; row++) {
        pe_buffer flag = {0};
        pe_setting_spell(row, PE_LEVEL_FLAG, &flag);
        /* What stands for the value of a flag: "INT", a choice of words, ... */
        static const char *const words[] = {
            [PE_SETTING_INT] = " N",       [PE_SETTING_BOOL] = "",
            [PE_SETTING_TEXT] = " TEXT",   [PE_SETTING_ADDRESS] = " ADDRESS",
            [PE_SETTING_CHOICE] = " WORD", [PE_SETTING_LIST] = " TARGET",
        };
        pe_buffer_str(&flag, words[row->kind]);
        pe_buffer_format(out, "  %-34s %s", pe_buffer_text(&flag), row->help);
        if (row->kind == PE_SETTING_CHOICE)
            pe_buffer_format(out, " One of: %s.", row->unit);
        if (row->kind == PE_SETTING_LIST)
            pe_buffer_str(out, " Repeatable.");
        else if (row->kind == PE_SETTING_INT)
            pe_buffer_format(out, " [%" PRId64 "%s%s]", row->number,
                             row->unit[0] == '\0' ? "" : " ", row->unit);
        else
            pe_buffer_format(out, " [%s]",
                             row->kind != PE_SETTING_BOOL ? row->text
                             : row->number != 0           ? "true"
                                                          : "false");
        pe_buffer_str(out, "\n");
        pe_buffer_free(&flag);
    }
    for (const pe_setting_synonym *s = pe_setting_synonyms; s->name != NULL; s++) {
        pe_buffer flag = {0};
        pe_setting_spell(&(pe_setting_row){.name = s->name}, PE_LEVEL_FLAG, &flag);
        pe_buffer_format(out, "  %-34s Another name of ", pe_buffer_text(&flag));
        pe_setting_spell(pe_setting_find(s->setting), PE_LEVEL_FLAG, out);
        pe_buffer_format(out, "%s%s.\n", s->value != NULL ? " " : "",
                         s->value != NULL ? s->value : "");
        pe_buffer_free(&flag);
    }
}

/* ---- changes ---- */

void pe_config_compare(const pe_config *before, const pe_config *after,
                       void (*found)(void *context, const pe_config_change *change), void *context)
{
    for (const pe_setting_row *row = pe_setting_rows; row < pe_setting_rows + PE_SETTINGS; row++) {
        pe_buffer was = {0}, is = {0};
        print_value(&before->settings, row, &was);
        print_value(&after->settings, row, &is);
        const pe_config_change change = {row->name, pe_buffer_text(&was), pe_buffer_text(&is)};
        if (strcmp(change.was, change.is) != 0)
            found(context, &change);
        pe_buffer_free(&was);
        pe_buffer_free(&is);
    }
}
