/* SPDX-License-Identifier: MIT */
/* table_arguments.c - what the arguments of `posenc table` ask for. */
#include "cli/table_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/nearest.h"
#include "base/percent.h"
#include "config/settings.h"
#include "encodings/registry.h"

#define NAMES_MAX 64

/* ---- the encoding ---- */

bool pe_table_arguments_family(const char *name, pe_buffer *out)
{
    size_t n = 0;
    for (size_t r = 0; pe_registry[r] != NULL && name[0] != '\0'; r++)
        if (strncmp(pe_registry[r]->name, name, strlen(name)) == 0)
            pe_buffer_format(out, "%s%s", n++ > 0 ? ", " : "", pe_registry[r]->name);
    return n > 0;
}

static pe_status no_resource(const char *name, pe_problem *why)
{
    const char *names[NAMES_MAX];
    size_t n = 0;
    pe_buffer family = {0};
    for (; n < NAMES_MAX && pe_registry[n] != NULL; n++)
        names[n] = pe_registry[n]->name;
    const char *near = pe_nearest_name(name, names, n);
    if (pe_table_arguments_family(name, &family))
        near = pe_buffer_text(&family);
    const pe_status status =
        pe_fail(why, PE_NOT_FOUND, "", "no encoding is called %.100s%s%s%s", name,
                near == NULL ? "; posenc table --help lists them" : ", did you mean ",
                near == NULL ? "" : near, near == NULL ? "" : "?");
    pe_buffer_free(&family);
    return status;
}

/* ---- parameters ---- */

/* A flag of a parameter in its parts. */
struct flag {
    char name[64]; /* with underscores */
    const char *value;
    int width; /* arguments it takes */
};

/* A truth needs no value (--bidirectional), but takes one. */
static bool stands_alone(const pe_resource *resource, const char *name, const char *next)
{
    const pe_param *param = pe_params_find(resource->param_sets, name);
    return param != NULL && param->kind == PE_KIND_BOOL &&
           (next == NULL || (strcmp(next, "true") != 0 && strcmp(next, "false") != 0));
}

static pe_status split(const pe_table_arguments *table, int n, char **arguments, struct flag *out,
                       pe_problem *why)
{
    const char *argument = arguments[0], *next = n > 1 ? arguments[1] : NULL;
    *out = (struct flag){.width = 1};
    if (strcmp(argument, "-o") == 0)
        argument = "--output";
    if (strncmp(argument, "--", 2) != 0 || argument[2] == '\0')
        return pe_fail(why, PE_INVALID_PARAMETER, "", "unexpected argument %.100s%s", argument,
                       strncmp(argument, "-o", 2) == 0 ? "; the file is named by -o FILE"
                       : strchr(argument, '=') != NULL ? "; parameters begin with --"
                                                       : "");
    const size_t bytes = strcspn(argument + 2, "=");
    if (bytes >= sizeof out->name)
        return pe_fail(why, PE_INVALID_PARAMETER, "", "unknown flag %.100s", argument);
    memcpy(out->name, argument + 2, bytes);
    for (char *c = out->name; *c != '\0'; c++)
        if (*c == '-')
            *c = '_';
    if (argument[2 + bytes] == '=') {
        out->value = argument + 2 + bytes + 1;
    } else if (stands_alone(table->resource, out->name, next)) {
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
static void add_parameter(pe_buffer *query, const struct flag *flag)
{
    static const char plain[] = "-._~,:";
    pe_buffer_str(query, query->bytes == 0 ? "" : "&");
    pe_percent_encode(pe_slice_of(flag->name), plain, query);
    pe_buffer_str(query, "=");
    pe_percent_encode(pe_slice_of(flag->value), plain, query);
}

/* ---- where it goes ---- */

static pe_status find_format(pe_table_arguments *table, pe_problem *why)
{
    const char *name = table->format_name;
    pe_buffer known = {0};
    table->format = name != NULL ? pe_format_by_name(name) : pe_format_by_extension(table->output);
    if (table->format == NULL && name == NULL && strcmp(table->output, "-") == 0)
        table->format = pe_formats[0];
    if (table->format != NULL)
        return PE_OK;
    for (size_t f = 0; pe_formats[f] != NULL; f++)
        pe_buffer_format(&known, "%s%s", f == 0 ? "" : ", ",
                         name != NULL ? pe_formats[f]->name : pe_formats[f]->extension);
    const pe_status status =
        pe_fail(why, PE_INVALID_PARAMETER, "format", "%s %.100s; known are %s%s",
                name != NULL ? "no format is called" : "no format has the extension of the file",
                name != NULL ? name : table->output, pe_buffer_text(&known),
                name != NULL ? "" : ", or give --format");
    pe_buffer_free(&known);
    return status;
}

/* ---- the interface ---- */

/* The first of n arguments, with its value; *width: how many arguments that takes. */
static pe_status take(pe_table_arguments *table, int n, char **arguments, int *width,
                      pe_problem *why)
{
    const struct {
        const char *name;
        const char **value;
    } own[] = {{"output", &table->output}, {"body", &table->body}, {"format", &table->format_name}};
    struct flag flag;
    *width = pe_config_flag_width(n, arguments);
    if (*width > 0) {
        memcpy(&table->settings[table->n_settings], arguments, (size_t)*width * sizeof *arguments);
        table->n_settings += *width;
        return PE_OK;
    }
    const pe_status status = split(table, n, arguments, &flag, why);
    *width = flag.width;
    if (status != PE_OK)
        return status;
    size_t o = 0;
    while (o < PE_LEN(own) && strcmp(flag.name, own[o].name) != 0)
        o++;
    if (o == PE_LEN(own)) {
        add_parameter(&table->query, &flag);
        return PE_OK;
    }
    if (*own[o].value != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, flag.name,
                       "--%s is given twice, as %.100s and %.100s", flag.name, *own[o].value,
                       flag.value);
    if (*flag.value == '\0' || (flag.width == 2 && strncmp(flag.value, "--", 2) == 0))
        return pe_fail(why, PE_INVALID_PARAMETER, flag.name, "--%s needs a value", flag.name);
    *own[o].value = flag.value;
    return PE_OK;
}

static pe_status take_all(pe_table_arguments *table, int n, char **arguments, pe_problem *why)
{
    table->settings = calloc((size_t)n + 1, sizeof *table->settings);
    if (table->settings == NULL)
        return pe_fail_memory(why);
    pe_problem mistake;
    pe_status status = PE_OK;
    for (int a = 0, width = 0; a < n; a += width)
        status = pe_problem_gather(status, take(table, n - a, arguments + a, &width, &mistake),
                                   &mistake, why);
    table->output_given = table->output != NULL;
    if (!table->output_given)
        table->output = "-";
    status = pe_problem_gather(status, find_format(table, &mistake), &mistake, why);
    if (status != PE_OK)
        return status;
    return table->query.failed ? pe_fail_memory(why) : PE_OK;
}

pe_status pe_table_arguments_read(int n_arguments, char **arguments, pe_table_arguments *out,
                                  pe_problem *why)
{
    for (int a = 0; a < n_arguments; a++)
        out->help |= strcmp(arguments[a], "--help") == 0 || strcmp(arguments[a], "-h") == 0;
    if (n_arguments == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "an encoding is required; posenc table --help lists them");
    if (out->help && arguments[0][0] == '-')
        return PE_OK;
    if (arguments[0][0] == '-')
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "the encoding comes first: posenc table ENCODING %.100s ...; posenc table "
                       "--help lists them",
                       arguments[0]);
    out->resource = pe_registry_find(arguments[0]);
    if (out->resource == NULL)
        return no_resource(arguments[0], why);
    if (out->help)
        return PE_OK;
    return take_all(out, n_arguments - 1, arguments + 1, why);
}

void pe_table_arguments_free(pe_table_arguments *table)
{
    pe_buffer_free(&table->query);
    free(table->settings);
    *table = (pe_table_arguments){0};
}
