/* SPDX-License-Identifier: MIT */
/* read.c - the settings: defaults, then the file, then the environment, then flags. */
#include "config/settings.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/log.h"
#include "base/named_file.h"
#include "config/setting.h"

#define PREFIX "POSENC_"

/* ---- defaults ---- */

static pe_status set_defaults(pe_config *config, pe_problem *why)
{
    pe_status status = PE_OK;
    for (const pe_setting_row *row = pe_setting_rows; row < pe_setting_rows + PE_SETTINGS; row++) {
        const pe_setting_target to = {config, row, PE_LEVEL_DEFAULT};
        json_t *value = row->kind == PE_SETTING_INT    ? json_integer(row->number)
                        : row->kind == PE_SETTING_BOOL ? json_boolean(row->number != 0)
                        : row->kind == PE_SETTING_LIST ? json_array()
                                                       : json_string(row->text);
        if (status == PE_OK)
            status = value != NULL ? pe_setting_set(&to, value, why) : pe_fail_memory(why);
        json_decref(value);
    }
    return status;
}

/* ---- the file ---- */

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

/* Read the file at path over the defaults; `required`: it must exist. *found tells whether it does. */
static pe_status take_file(pe_config *config, const char *path, bool required, bool *found,
                           pe_problem *why)
{
    struct stat file;
    const char *key;
    json_t *object, *member;
    pe_problem mistake;
    *found = required || stat(path, &file) == 0 || (errno != ENOENT && errno != ENOTDIR);
    if (!*found)
        return PE_OK;
    PE_TRY(load_object(path, &object, why));
    config->file = strdup(path);
    pe_status status = config->file == NULL ? pe_fail_memory(why) : PE_OK;
    json_object_foreach(object, key, member)
    {
        if (config->file != NULL)
            status = pe_problem_gather(status, take_member(config, key, member, &mistake), &mistake,
                                       why);
    }
    json_decref(object);
    return status;
}

/* --config is another file elsewhere: the configuration of a model. */
static void warn_old(const char *name, const char *newer)
{
    char detail[128];
    snprintf(detail, sizeof detail, "%s is an old name of the settings file, which is %s now", name,
             newer);
    PE_LOG(PE_LOG_WARN, "old_name", PE_TEXT("detail", detail));
}

/* The value of --settings or POSENC_SETTINGS, or of their old names, the flag first; NULL when none is
 * given. */
static const char *asked_file(const char *flag, char **environment)
{
    static const char *const names[] = {PREFIX "SETTINGS=", PREFIX "CONFIG="};
    for (; flag == NULL && environment != NULL && *environment != NULL; environment++)
        for (size_t i = 0; i < PE_LEN(names); i++)
            if (strncmp(*environment, names[i], strlen(names[i])) == 0) {
                flag = *environment + strlen(names[i]);
                if (i > 0)
                    warn_old(PREFIX "CONFIG", PREFIX "SETTINGS");
            }
    return flag;
}

static pe_status read_file(pe_config *config, const char *asked, pe_problem *why)
{
    static const char *const places[] = {"config/posenc.json", "/etc/posenc/posenc.json"};
    bool found = false;
    pe_status status = PE_OK;
    if (asked != NULL)
        return asked[0] == '\0' ? PE_OK : take_file(config, asked, true, &found, why);
    for (size_t p = 0; p < PE_LEN(places) && status == PE_OK && !found; p++)
        status = take_file(config, places[p], false, &found, why);
    return status;
}

/* ---- the environment ---- */

/* Kubernetes tells a pod of every service in its namespace: of one called posenc in POSENC_PORT,
 * POSENC_SERVICE_HOST, POSENC_SERVICE_PORT, POSENC_PORT_8080_TCP, POSENC_PORT_8080_TCP_ADDR ..., of
 * posenc-admin in POSENC_ADMIN_PORT ... */
static bool is_service_link(pe_slice name, const char *value)
{
    static const char *const schemes[] = {"tcp://", "udp://", "sctp://"};
    for (size_t s = 0; s < PE_LEN(schemes); s++)
        if (strncmp(value, schemes[s], strlen(schemes[s])) == 0)
            return true;
    const char *service = strstr(name.text, "SERVICE_"), *port = strstr(name.text, "PORT_");
    const char *end = name.text + name.bytes;
    return (service != NULL && service < end) ||
           (port != NULL && port < end && isdigit((unsigned char)port[5]));
}

static void warn_ignored(const char *variable, size_t bytes, const char *reason)
{
    char name[128] = "";
    memcpy(name, variable, bytes < sizeof name ? bytes : sizeof name - 1);
    PE_LOG(PE_LOG_WARN, "variable_ignored", PE_TEXT("name", name), PE_TEXT("reason", reason));
}

/* The value that a variable POSENC_* gives a setting. One that names none is logged. */
static pe_status read_variable(pe_config *config, const char *variable, pe_slice name,
                               pe_problem *why)
{
    if (pe_slice_is(name, "SETTINGS") || pe_slice_is(name, "CONFIG"))
        return PE_OK;
    for (const pe_setting_row *row = pe_setting_rows; row < pe_setting_rows + PE_SETTINGS; row++) {
        const pe_setting_target to = {config, row, PE_LEVEL_ENVIRONMENT};
        size_t k = 0; /* the row's name in capitals */
        while (k < name.bytes && row->name[k] != '\0' &&
               name.text[k] == (char)toupper((unsigned char)row->name[k]))
            k++;
        if (k == name.bytes && row->name[k] == '\0')
            return pe_setting_set_parsed(&to, name.text + name.bytes + 1, why);
    }
    warn_ignored(variable, strcspn(variable, "="), "no setting has this name");
    return PE_OK;
}

static pe_status read_environment(pe_config *config, char **environment, pe_problem *why)
{
    const char *link = NULL;
    pe_problem mistake;
    pe_status status = PE_OK;
    for (; environment != NULL && *environment != NULL; environment++) {
        const char *variable = *environment;
        const size_t bytes = strcspn(variable, "=");
        if (strncmp(variable, PREFIX, strlen(PREFIX)) != 0 || variable[bytes] == '\0')
            continue;
        const pe_slice name = {variable + strlen(PREFIX), bytes - strlen(PREFIX)};
        if (is_service_link(name, variable + bytes + 1))
            link = variable;
        else
            status = pe_problem_gather(status, read_variable(config, variable, name, &mistake),
                                       &mistake, why);
    }
    if (link != NULL)
        warn_ignored(link, strcspn(link, "="),
                     "it and its like are service links of Kubernetes; enableServiceLinks: false "
                     "keeps them away");
    return status;
}

/* ---- flags ---- */

/* A flag in its parts: --name, --name=value or --name value. */
struct flag {
    char name[64];
    const pe_setting_row *row; /* NULL: --settings, or unknown */
    bool config;               /* --settings, or its old name --config */
    const char *value;         /* NULL when it has none */
    int width;                 /* arguments it takes */
};

static struct flag split_flag(int n, char **arguments)
{
    struct flag flag = {.width = 1};
    const char *argument = strcmp(arguments[0], "-p") == 0 ? "--port" : arguments[0];
    if (strncmp(argument, "--", 2) != 0)
        return flag;
    const size_t bytes = strcspn(argument + 2, "=");
    if (bytes >= sizeof flag.name)
        return flag;
    memcpy(flag.name, argument + 2, bytes);
    const pe_setting_synonym *synonym = pe_setting_synonym_of(flag.name);
    flag.row = pe_setting_find(synonym != NULL ? synonym->setting : flag.name);
    flag.config = strcmp(flag.name, "settings") == 0 || strcmp(flag.name, "config") == 0;
    if (argument[2 + bytes] == '=') {
        flag.value = argument + 2 + bytes + 1;
        return flag;
    }
    if (synonym != NULL && synonym->value != NULL) {
        flag.value = synonym->value;
        return flag;
    }
    /* A truth may follow its flag, or not: `--access-log` alone is true. */
    const bool truth = flag.row != NULL && flag.row->kind == PE_SETTING_BOOL;
    const bool known = flag.row != NULL || flag.config;
    const char *next = n > 1 ? arguments[1] : "";
    const bool says = strcmp(next, "true") == 0 || strcmp(next, "false") == 0;
    if (n > 1 && (!truth || says) && (known || next[0] != '-')) {
        flag.value = next;
        flag.width = 2;
    } else if (truth) {
        flag.value = "true";
    }
    return flag;
}

const char *pe_config_flag_setting(int n_arguments, char **arguments, int *width)
{
    const struct flag flag = split_flag(n_arguments, arguments);
    *width = flag.width;
    return flag.row != NULL ? flag.row->name : flag.config ? "settings" : NULL;
}

static pe_status check_flag(const char *argument, const struct flag *flag, pe_problem *why)
{
    pe_buffer hint = {0};
    if (flag->config || flag->row != NULL)
        return flag->value != NULL ? PE_OK
                                   : pe_fail(why, PE_INVALID_PARAMETER, flag->name,
                                             "--%s needs a value", flag->name);
    if (argument[0] != '-')
        return pe_fail(why, PE_INVALID_PARAMETER, "", "unexpected argument %.100s%s", argument,
                       strspn(argument, "0123456789") == strlen(argument)
                           ? "; a port is given as --port NUMBER"
                           : "; settings begin with --");
    const pe_setting_row *near = pe_setting_nearest(flag->name);
    if (near != NULL) {
        pe_buffer_str(&hint, ", did you mean ");
        pe_setting_spell(near, PE_LEVEL_FLAG, &hint);
        pe_buffer_str(&hint, "?");
    }
    const pe_status status = pe_fail(why, PE_INVALID_PARAMETER, flag->name, "unknown flag %.*s%s",
                                     (int)strcspn(argument, "="), argument, pe_buffer_text(&hint));
    pe_buffer_free(&hint);
    return status;
}

/* Checks, before there is a configuration, that every argument is a flag with its value, and finds
 * the last --settings; then gives the settings their values. */
static pe_status read_flags(pe_config *config, int n, char **arguments, const char **file,
                            pe_problem *why)
{
    pe_problem mistake;
    pe_status status = PE_OK;
    for (int a = 0; a < n;) {
        const struct flag flag = split_flag(n - a, arguments + a);
        const pe_setting_target to = {config, flag.row, PE_LEVEL_FLAG};
        pe_status one = PE_OK;
        if (config == NULL)
            one = check_flag(arguments[a], &flag, &mistake);
        else if (flag.row != NULL && flag.value != NULL)
            one = pe_setting_set_parsed(&to, flag.value, &mistake);
        status = pe_problem_gather(status, one, &mistake, why);
        if (flag.config && flag.value != NULL)
            *file = flag.value;
        if (config == NULL && strcmp(flag.name, "config") == 0)
            warn_old("--config", "--settings");
        a += flag.width;
    }
    return status;
}

/* ---- the interface ---- */

pe_status pe_config_read(int n_arguments, char **arguments, char **environment, pe_config **out,
                         pe_problem *why)
{
    const char *file = NULL;
    pe_problem mistake;
    pe_config *config = calloc(1, sizeof *config);
    if (config == NULL)
        return pe_fail_memory(why);
    pe_status status = set_defaults(config, why);
    if (status == PE_OK)
        status = read_flags(NULL, n_arguments, arguments, &file, why);
    status = pe_problem_gather(status, read_file(config, asked_file(file, environment), &mistake),
                               &mistake, why);
    status =
        pe_problem_gather(status, read_environment(config, environment, &mistake), &mistake, why);
    status = pe_problem_gather(status, read_flags(config, n_arguments, arguments, &file, &mistake),
                               &mistake, why);
    if (status == PE_OK)
        *out = config;
    else
        pe_config_free(config);
    return status;
}

void pe_config_free(pe_config *config)
{
    if (config == NULL)
        return;
    for (const pe_setting_row *row = pe_setting_rows; row < pe_setting_rows + PE_SETTINGS; row++) {
        const pe_setting_list *list = pe_setting_member(&config->settings, row);
        for (size_t k = 0; row->kind == PE_SETTING_LIST && k < list->n; k++)
            free(list->item[k]);
    }
    free(config->file);
    free(config);
}

const pe_settings *pe_config_settings(const pe_config *config)
{
    return &config->settings;
}

const char *pe_config_file(const pe_config *config)
{
    return config->file;
}
