/* SPDX-License-Identifier: MIT */
/* settings.h - one table of settings: defaults, then the file, then the environment, then flags. */
#ifndef PE_CONFIG_SETTINGS_H
#define PE_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"

/*
 * The rows of config/settings.json: flag --max-body-bytes, variable POSENC_MAX_BODY_BYTES and file key
 * "max_body_bytes" come from the name. Kinds:
 *
 *     INT      int64_t, from min to max
 *     BOOL     bool
 *     TEXT     char[256] of min to max bytes
 *     ADDRESS  char[256], an IPv4 or IPv6 address, or a name
 *     CHOICE   char[256], one of the choices
 *     LIST     at most max strings: repeated flags, words in the variable, an array in the file
 */
#define PE_SETTING_TEXT_MAX 256
#define PE_SETTING_LIST_MAX 64

/** Most items of the setting `listen`. */
#define PE_SETTING_PLACES_MAX 8

typedef struct pe_setting_list {
    size_t n;
    char *item[PE_SETTING_LIST_MAX]; /* owned */
} pe_setting_list;

typedef struct pe_settings {
#define PE_SETTING_MEMBER_INT(name)     int64_t name;
#define PE_SETTING_MEMBER_BOOL(name)    bool name;
#define PE_SETTING_MEMBER_TEXT(name)    char name[PE_SETTING_TEXT_MAX];
#define PE_SETTING_MEMBER_ADDRESS(name) char name[PE_SETTING_TEXT_MAX];
#define PE_SETTING_MEMBER_CHOICE(name)  char name[PE_SETTING_TEXT_MAX];
#define PE_SETTING_MEMBER_LIST(name)    pe_setting_list name;
#define SETTING(name, kind, ...)        PE_SETTING_MEMBER_##kind(name)
#include "settings.inc"
#undef SETTING
} pe_settings;

/** The settings, and where each came from: "default", the file's path, "POSENC_PORT", "--port". */
typedef struct pe_config pe_config;

/**
 * Read everything, each level over the one before: defaults; the file; POSENC_* of environment (may
 * be NULL); flags. arguments: the n_arguments after the subcommand's name.
 *
 * The file is that of --settings or POSENC_SETTINGS (empty: none; --config and POSENC_CONFIG are
 * their old names, which warn); else config/posenc.json in the working directory or
 * /etc/posenc/posenc.json when there is one. Its members are plain values, or
 * objects with a "value" beside whatever explains it, as pe_config_print writes.
 *
 * A variable POSENC_* that names no setting is ignored and logged as a warning. So are the service
 * links of Kubernetes (POSENC_PORT=tcp://..., POSENC_SERVICE_HOST), all by one line.
 *
 * Errors  INVALID_PARAMETER: an unknown key or flag (names the nearest known), a value that does
 *         not fit (names its bounds), a file that cannot be read.
 */
pe_status pe_config_read(int n_arguments, char **arguments, char **environment, pe_config **out,
                         pe_problem *why) PE_MUST_CHECK;
void pe_config_free(pe_config *config);
const pe_settings *pe_config_settings(const pe_config *config);

/** Has nobody asked for another value than the default? A file that repeats the default has not, a
 * flag and a variable have. */
bool pe_config_is_default(const pe_config *config, const char *name);

/** The path of the file that was read, or NULL. */
const char *pe_config_file(const pe_config *config);

/** A setting with another value; the values are JSON. */
typedef struct pe_config_change {
    const char *name, *was, *is;
} pe_config_change;

/** Call found(context, change) for each setting whose values differ, in the table's order. */
void pe_config_compare(const pe_config *before, const pe_config *after,
                       void (*found)(void *context, const pe_config_change *change), void *context);

/**
 * The setting ("port", "settings") whose flag is at arguments[0]; NULL: it is no setting's. *width: how
 * many arguments it takes, 1 ("--port=80", "--access-log") or 2 ("--port 80").
 */
const char *pe_config_flag_setting(int n_arguments, char **arguments, int *width);

/** JSON: {"port": {"value": 8080, "source": "default", "min": 0, ..., "help": ...}, ...}, which is
 * a valid file, too. */
void pe_config_print(const pe_config *config, pe_buffer *out);
/** The same, with the settings that applies(name) taken from `fresh`, unless that is NULL. */
void pe_config_print_over(const pe_config *config, const pe_config *fresh,
                          bool (*applies)(const char *name), pe_buffer *out);
/** One line per flag for `posenc help`. */
void pe_config_help(pe_buffer *out);

#endif
