/* SPDX-License-Identifier: MIT */
/* file.c - the settings' file: one JSON object. */
#include "config/setting.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/named_file.h"

/* All settings with their sentences take 10 KB. */
#define FILE_BYTES ((size_t)1 << 20)

/* A member of the file: a value, or an object that explains its "value". */
static pe_status take_member(pe_config *config, const char *key, const json_t *member,
                             pe_problem *why)
{
    const pe_setting_row *row = pe_setting_find(key);
    if (row == NULL || strcmp(row->name, key) != 0) {
        const pe_setting_row *near = pe_setting_nearest(key);
        return pe_fail(why, PE_INVALID_PARAMETER, key, "unknown key \"%.64s\" in %.200s%s%s%s", key,
                       config->file, near == NULL ? "" : ", did you mean \"",
                       near == NULL ? "" : near->name, near == NULL ? "" : "\"?");
    }
    const pe_setting_target to = {config, row, PE_LEVEL_FILE};
    const json_t *value = json_is_object(member) ? json_object_get(member, "value") : member;
    if (value == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, key,
                       "%s in %.200s must be a value, or an object that has a \"value\"", key,
                       config->file);
    return pe_setting_set(&to, value, why);
}

static pe_status take_object(pe_config *config, json_t *object, pe_problem *why)
{
    const char *key;
    json_t *member;
    pe_problem mistake;
    pe_status status = PE_OK;
    json_object_foreach(object, key, member) status =
        pe_problem_gather(status, take_member(config, key, member, &mistake), &mistake, why);
    return status;
}

static pe_status load_object(const char *path, json_t **out, pe_problem *why)
{
    const pe_named_file file = {"config", path, FILE_BYTES};
    json_error_t error;
    char *text;
    size_t bytes;
    PE_TRY(pe_named_file_read(&file, &text, &bytes, why));
    json_t *object = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    pe_named_file_free(text, bytes);
    if (object == NULL) {
        const char *flag =
            strstr(error.text, " without JSON_ALLOW_NUL"); /* of the library's callers */
        return pe_fail(why, PE_INVALID_PARAMETER, "config", "%.200s, line %d: %.*s", path,
                       error.line, flag != NULL ? (int)(flag - error.text) : 160, error.text);
    }
    if (!json_is_object(object)) {
        json_decref(object);
        return pe_fail(why, PE_INVALID_PARAMETER, "config", "%.200s must hold a JSON object", path);
    }
    *out = object;
    return PE_OK;
}

pe_status pe_config_read_file(pe_config *config, const char *path, bool required, bool *found,
                              pe_problem *why)
{
    struct stat file;
    json_t *object;
    *found = required || stat(path, &file) == 0 || (errno != ENOENT && errno != ENOTDIR);
    if (!*found)
        return PE_OK;
    PE_TRY(load_object(path, &object, why));
    config->file = strdup(path);
    pe_status status =
        config->file == NULL ? pe_fail_memory(why) : take_object(config, object, why);
    json_decref(object);
    return status;
}
