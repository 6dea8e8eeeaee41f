/* SPDX-License-Identifier: MIT */
/* arguments.c - the arguments of a command that asks: words, its own flags, parameters, settings. */
#include "cli/ask.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"
#include "base/percent.h"
#include "config/settings.h"
#include "encodings/registry.h"

#define PLACE(member) offsetof(pe_arguments, member)

const pe_flag_row pe_flags[] = {
    {PE_FLAG_OUTPUT, "output", "FILE", "Where the answer goes (-o FILE); -: standard output.",
     PLACE(output)},
    {PE_FLAG_FORMAT, "format", "NAME", "The format of the answer.", PLACE(format)},
    {PE_FLAG_BODY, "body", "FILE", "What is sent with the request; -: standard input.",
     PLACE(body)},
    {PE_FLAG_CONFIG, "config", "FILE", "The model's configuration, such as config.json.",
     PLACE(config)},
    {PE_FLAG_AGAINST, "against", "FILE", "The safetensors file that is checked.", PLACE(against)},
    {.name = NULL},
};

#define NAMES_MAX 128

pe_status pe_arguments_no_name(const char *what, const char *name, const char *near,
                               const char *const *names, size_t n, const char *list,
                               pe_problem *why)
{
    const char *all[NAMES_MAX];
    pe_buffer family = {0}; /* encodings that begin so */
    size_t known = 0;
    for (; known < n; known++)
        all[known] = names[known];
    for (size_t r = 0; strstr(what, "encoding") != NULL && pe_registry[r] != NULL; r++) {
        if (known < NAMES_MAX)
            all[known++] = pe_registry[r]->name;
        if (*name != '\0' && strncmp(pe_registry[r]->name, name, strlen(name)) == 0)
            pe_buffer_format(&family, "%s%s", family.bytes > 0 ? ", " : "", pe_registry[r]->name);
    }
    if (family.bytes > 0)
        near = pe_buffer_text(&family);
    else if (near == NULL)
        near = pe_nearest_name(name, all, known);
    const pe_status status =
        near != NULL ? pe_fail(why, PE_INVALID_PARAMETER, "",
                               "no %s is called %.100s, did you mean %s?", what, name, near)
                     : pe_fail(why, PE_INVALID_PARAMETER, "",
                               "no %s is called %.100s; %s lists them", what, name, list);
    pe_buffer_free(&family);
    return status;
}

/* ---- one flag ---- */

struct flag {
    char name[64]; /* with underscores */
    const char *value;
    int width; /* arguments it takes */
};

/* A truth needs no value (--bidirectional), but takes one. */
static bool stands_alone(const char *name, const char *next)
{
    bool truth = false;
    for (size_t r = 0; pe_registry[r] != NULL && !truth; r++) {
        const pe_param *param = pe_params_find(pe_registry[r]->param_sets, name);
        truth = param != NULL && param->kind == PE_KIND_BOOL;
    }
    return truth && (next == NULL || (strcmp(next, "true") != 0 && strcmp(next, "false") != 0));
}

static pe_status split(int n, char **arguments, struct flag *out, pe_problem *why)
{
    const char *argument = arguments[0], *next = n > 1 ? arguments[1] : NULL;
    *out = (struct flag){.width = 1};
    if (strcmp(argument, "-o") == 0)
        argument = "--output";
    const char *name = strncmp(argument, "--", 2) == 0 ? argument + 2 : argument;
    const size_t bytes = strcspn(name, "=");
    if (name[0] == '-' || bytes == 0 || bytes >= sizeof out->name)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "unknown flag %.100s%s", argument,
                       strncmp(argument, "-o", 2) == 0 ? "; the file is named by -o FILE" : "");
    memcpy(out->name, name, bytes);
    for (char *c = out->name; *c != '\0'; c++)
        if (*c == '-')
            *c = '_';
    if (name[bytes] == '=') {
        out->value = name + bytes + 1;
    } else if (stands_alone(out->name, next)) {
        out->value = "true";
    } else if (next != NULL) {
        out->value = next;
        out->width = 2;
    } else {
        return pe_fail(why, PE_INVALID_PARAMETER, out->name, "%s needs a value", arguments[0]);
    }
    return PE_OK;
}

/* Source: RFC 3986, section 2.3; what is not unreserved is encoded. */
void pe_arguments_add(pe_buffer *query, const char *name, const char *value)
{
    static const char plain[] = "-._~,:";
    pe_buffer_str(query, query->bytes == 0 ? "" : "&");
    pe_percent_encode(pe_slice_of(name), plain, query);
    pe_buffer_str(query, "=");
    pe_percent_encode(pe_slice_of(value), plain, query);
}

/* ---- all of them ---- */

static pe_status take_flag(pe_arguments *to, unsigned flags, const char *argument,
                           const struct flag *flag, pe_problem *why)
{
    const char *names[PE_LEN(pe_flags)];
    size_t n = 0;
    const pe_flag_row *row = pe_flags;
    for (; row->name != NULL; row++) {
        if ((flags & row->flag) == 0)
            continue;
        if (strcmp(flag->name, row->name) == 0)
            break;
        names[n++] = row->name;
    }
    if (row->name == NULL && (flags & PE_FLAG_PARAMETERS) != 0) {
        pe_arguments_add(&to->query, flag->name, flag->value);
        return PE_OK;
    }
    const char *near = row->name == NULL ? pe_nearest_name(flag->name, names, n) : NULL;
    if (row->name == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, flag->name, "unknown flag %.*s%s%s%s",
                       (int)strcspn(argument, "="), argument,
                       near != NULL ? ", did you mean --" : "", near != NULL ? near : "",
                       near != NULL ? "?" : "");
    const char **value = (const char **)(void *)((char *)to + row->place);
    if (*value != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, flag->name,
                       "--%s is given twice, as %.100s and %.100s", flag->name, *value,
                       flag->value);
    if (*flag->value == '\0' || (flag->width == 2 && strncmp(flag->value, "--", 2) == 0))
        return pe_fail(why, PE_INVALID_PARAMETER, flag->name, "--%s needs a value", flag->name);
    *value = flag->value;
    return PE_OK;
}

/* Settings of a server that others can reach. */
static const char *const *const of_listeners =
    PE_NAMES("host", "port", "listen", "tls_certificate", "tls_key", "tls_minimum", "keys_file",
             "keys_max", "address_rate", "address_work_rate", "trusted_proxies", "proxy_protocol",
             "admin_listen", "admin_hosts", "hsts_seconds", "cors_origin");

/* The first of n arguments, with its value; *width: how many arguments that takes. */
static pe_status take(pe_arguments *to, unsigned flags, size_t words_max, int n, char **arguments,
                      int *width, pe_problem *why)
{
    struct flag flag = {.width = 1};
    const bool own = (flags & PE_FLAG_CONFIG) != 0 && strncmp(arguments[0], "--config", 8) == 0 &&
                     (arguments[0][8] == '\0' || arguments[0][8] == '=');
    const char *word = arguments[0];
    const bool named = (flags & PE_FLAG_PARAMETERS) != 0 && to->n_words == words_max &&
                       strchr(word, '=') != NULL; /* a parameter without its dashes */
    *width = 1;
    if (!named && (word[0] != '-' || word[1] == '\0')) {
        if (to->n_words == words_max)
            return pe_fail(why, PE_INVALID_PARAMETER, "", "unexpected argument %.100s%s", word,
                           strchr(word, '=') != NULL ? "; parameters begin with --" : "");
        to->word[to->n_words++] = word;
        return PE_OK;
    }
    const char *setting = own ? NULL : pe_config_flag_setting(n, arguments, width);
    if (setting != NULL) {
        for (size_t l = 0; of_listeners[l] != NULL; l++)
            if (strcmp(setting, of_listeners[l]) == 0)
                return pe_fail(
                    why, PE_INVALID_PARAMETER, setting,
                    "%.*s sets %s, of which this command makes no use: it listens nowhere",
                    (int)strcspn(word, "="), word, setting);
        memcpy(&to->settings[to->n_settings], arguments, (size_t)*width * sizeof *arguments);
        to->n_settings += *width;
        return PE_OK;
    }
    const pe_status status = split(n, arguments, &flag, why);
    *width = flag.width;
    return status != PE_OK ? status : take_flag(to, flags, arguments[0], &flag, why);
}

pe_status pe_arguments_read(int n, char **arguments, unsigned flags, size_t words_max,
                            pe_arguments *out, pe_problem *why)
{
    pe_problem mistake;
    pe_status status = PE_OK;
    out->settings = calloc((size_t)n + 1, sizeof *out->settings);
    if (out->settings == NULL)
        return pe_fail_memory(why);
    for (int a = 0, width = 0; a < n; a += width)
        status = pe_problem_gather(
            status, take(out, flags, words_max, n - a, arguments + a, &width, &mistake), &mistake,
            why);
    return status == PE_OK && out->query.failed ? pe_fail_memory(why) : status;
}

void pe_arguments_free(pe_arguments *arguments)
{
    pe_buffer_free(&arguments->query);
    free(arguments->settings);
    *arguments = (pe_arguments){0};
}
