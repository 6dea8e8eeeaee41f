/* SPDX-License-Identifier: MIT */
/* setting.h - settings as rows of a table, and how one takes a value. Private to config/. */
#ifndef PE_CONFIG_SETTING_H
#define PE_CONFIG_SETTING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/slice.h"
#include "base/status.h"
#include "config/settings.h"

typedef enum pe_setting_kind {
    PE_SETTING_INT,
    PE_SETTING_BOOL,
    PE_SETTING_TEXT,
    PE_SETTING_ADDRESS,
    PE_SETTING_CHOICE,
    PE_SETTING_LIST
} pe_setting_kind;

typedef struct pe_setting_row {
    const char *name; /* "max_body_bytes" */
    pe_setting_kind kind;
    size_t at; /* offset of its member in pe_settings */
    int64_t number;
    const char *text; /* the default: number of INT and BOOL, text of the others */
    int64_t min, max;
    const char *unit, *help;
} pe_setting_row;

/** Where a value came from; a later one wins. */
typedef enum pe_setting_level {
    PE_LEVEL_DEFAULT,
    PE_LEVEL_FILE,
    PE_LEVEL_ENVIRONMENT,
    PE_LEVEL_FLAG
} pe_setting_level;

enum {
#define SETTING(name, ...) PE_SETTING_INDEX_##name,
#include "settings.inc"
#undef SETTING
    PE_SETTINGS /* how many there are */
};

extern const pe_setting_row pe_setting_rows[PE_SETTINGS];

struct pe_config {
    pe_settings settings;
    pe_setting_level level[PE_SETTINGS]; /* of each row's value */
    char *file;                          /* path of the file that was read, or NULL */
};

/** By file key; dashes stand for underscores. NULL when there is none. */
const pe_setting_row *pe_setting_find(const char *name);

/** What other servers call the flag of a setting. */
typedef struct pe_setting_synonym {
    const char *name, *setting;
    const char *value; /* of the flag, which takes none; or NULL */
} pe_setting_synonym;
extern const pe_setting_synonym pe_setting_synonyms[]; /* ends with a name of NULL */
const pe_setting_synonym *pe_setting_synonym_of(const char *name);

/** The nearest row to a mistyped name, or NULL. */
const pe_setting_row *pe_setting_nearest(const char *name);
/** Its name as a level spells it: "--max-body-bytes", "POSENC_MAX_BODY_BYTES", "max_body_bytes". */
void pe_setting_spell(const pe_setting_row *row, pe_setting_level level, pe_buffer *out);
/** Choice k of a CHOICE row: its length, 0 past the last. */
size_t pe_setting_choice(const pe_setting_row *row, size_t k, const char **start);

/** The row's member, to be read as its kind says. */
const void *pe_setting_member(const pe_settings *settings, const pe_setting_row *row);

/** A setting to be set, and the level that sets it. */
typedef struct pe_setting_target {
    pe_config *config;
    const pe_setting_row *row;
    pe_setting_level level;
} pe_setting_target;

/** Check the value against the row, whose kind has one JSON type, and note the level. */
pe_status pe_setting_set(const pe_setting_target *to, const json_t *value,
                         pe_problem *why) PE_MUST_CHECK;
/** From the text of a variable or of a flag's value, whatever the kind. */
pe_status pe_setting_set_parsed(const pe_setting_target *to, const char *text,
                                pe_problem *why) PE_MUST_CHECK;

#endif
