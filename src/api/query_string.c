/* SPDX-License-Identifier: MIT */
/* query_string.c - a request from its query string. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/value_reading.h"
#include "base/percent.h"
#include "base/utf8.h"
#include "encodings/registry.h"

/* Reading under way. */
typedef struct query_walk {
    pe_query *query;
    const pe_read_limits *limits;
    pe_slice string;
    size_t refused; /* pairs */
} query_walk;

/* A plus sign is itself: exponents have them, and no value of ours has a space. */
static pe_status decode(char *text, size_t *bytes, pe_problem *why)
{
    if (!pe_percent_decode(text, bytes))
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "the query must have two hexadecimal digits after each %%");
    if (memchr(text, '\0', *bytes) != NULL || !pe_utf8_valid(text, *bytes))
        return pe_fail(why, PE_MALFORMED_REQUEST, "", "the query must be UTF-8 text without %%00");
    text[*bytes] = '\0';
    return PE_OK;
}

/* The value of a row by one of its names, or by a synonym, which may write it in another way. */
static pe_status set_row(const query_walk *walk, const pe_suggested_value *meant, const char *name,
                         pe_slice text, pe_problem *why)
{
    char range[PE_COUNTED_BYTES];
    pe_value *value = meant->value;
    pe_param named = *value->param; /* problems say the name that was sent */
    const pe_value_reading to = {
        .param = &named, .value = value, .place = name, .limits = walk->limits};
    named.name = name;
    if (value->given)
        return pe_query_fail_given(value, name, name, why);
    value->given = true; /* if refused, too: another would replace what it holds */
    pe_query_mark(meant, name);
    if (meant->as != NULL)
        text = pe_query_written(meant->as, text, range);
    return pe_value_text_parse(&to, text, why);
}

/* Does the query give this name, as it is? */
static bool gives(pe_slice string, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = string.text, *end = at + string.bytes; at < end; at++) {
        if ((size_t)(end - at) > length && memcmp(at, name, length) == 0 && at[length] == '=')
            return true;
        at = memchr(at, '&', (size_t)(end - at));
        if (at == NULL)
            return false;
    }
    return false;
}

static pe_status set(query_walk *walk, const char *name, pe_slice text, pe_problem *why)
{
    const size_t which = pe_query_output_find(walk->query->resource, name);
    pe_value *value = pe_values_called(&walk->query->values, name);
    pe_suggested_value meant = {.value = value};
    if (which < PE_OUTPUT_N && (value == NULL || gives(walk->string, value->param->name))) {
        if (walk->query->output[which].given)
            return pe_query_fail_repeated(name, name, why);
        walk->query->output[which].given = true;
        return pe_query_output_set(walk->query, which, text, false, why);
    }
    if (value != NULL || pe_suggestion_take(&walk->query->values, name, text, &meant))
        return set_row(walk, &meant, name, text, why);
    return walk->refused > PE_MISTAKES_MAX
               ? PE_UNKNOWN_PARAMETER
               : pe_query_fail_unknown(walk->query, false, name, name, text, why);
}

/* One name=value; `pair` is writable, with room for a NUL after it and after its '='. */
static pe_status read_pair(query_walk *walk, char *pair, size_t bytes, pe_problem *why)
{
    char *equals = memchr(pair, '=', bytes);
    size_t name_bytes = equals != NULL ? (size_t)(equals - pair) : bytes;
    char *value = equals != NULL ? equals + 1 : pair + bytes;
    size_t value_bytes = (size_t)(pair + bytes - value);
    PE_TRY(decode(value, &value_bytes, why));
    PE_TRY(decode(pair, &name_bytes, why));
    return set(walk, pair, (pe_slice){value, value_bytes}, why);
}

/* `so_far`: of the pairs before. Mistakes for which there is no room are counted. */
static pe_status read_next(query_walk *walk, char *pair, size_t bytes, pe_status so_far,
                           pe_problem *why)
{
    pe_problem mistake;
    if (pe_status_is_ours(so_far))
        return so_far;
    const pe_status status = read_pair(walk, pair, bytes, &mistake);
    if (status != PE_OK && walk->refused++ > PE_MISTAKES_MAX) {
        why->n_unreported++;
        return so_far;
    }
    return PE_ALSO(so_far, status);
}

static pe_status read_string(query_walk *walk, pe_problem *why)
{
    const pe_slice string = walk->string;
    pe_status status = PE_OK;
    char *copy = malloc(string.bytes + 1);
    if (copy == NULL)
        return pe_fail_memory(why);
    if (string.bytes > 0)
        memcpy(copy, string.text, string.bytes);
    for (char *at = copy, *end = copy + string.bytes;
         at < end && walk->refused < PE_MISTAKES_COUNTED;) {
        char *stop = memchr(at, '&', (size_t)(end - at));
        if (stop == NULL)
            stop = end;
        if (stop > at) /* nothing between two '&' is no parameter */
            status = read_next(walk, at, (size_t)(stop - at), status, why);
        at = stop + 1;
    }
    free(copy);
    return status;
}

pe_status pe_query_string_read(pe_query *query, pe_slice string, const pe_read_limits *limits,
                               pe_problem *why)
{
    query_walk walk = {.query = query, .limits = limits, .string = string};
    return read_string(&walk, why);
}

pe_status pe_query_string_text(pe_slice string, const char *name, char *out, size_t room,
                               pe_problem *why)
{
    pe_query query;
    pe_problem mistake = {0};
    query_walk walk = {.query = &query,
                       .limits = &(pe_read_limits){0},
                       .string = string,
                       .refused = PE_MISTAKES_MAX + 1}; /* none is looked into */
    PE_TRY(pe_query_begin(&pe_rope_table, &query, why));
    const pe_status status = read_string(&walk, &mistake);
    const char *text = pe_values_find(&query.values, name)->text;
    snprintf(out, room, "%s", text != NULL ? text : "");
    pe_query_free(&query);
    return pe_status_is_ours(status) ? pe_fail_memory(why) : PE_OK;
}

bool pe_query_figure_peek(pe_slice string, const pe_format **format, pe_figure_options *out)
{
    pe_query query;
    pe_problem mistake;
    query_walk walk = {.query = &query,
                       .limits = &(pe_read_limits){0},
                       .string = string,
                       .refused = PE_MISTAKES_MAX + 1};
    if (pe_query_begin(&pe_rope_table, &query, &mistake) != PE_OK)
        return false;
    (void)!read_string(&walk, &mistake);
    *format = query.format;
    *out = pe_query_rendering(&query).figure;
    const bool named = query.output[PE_OUTPUT_FORMAT].given;
    pe_query_free(&query);
    if (out->width * out->height > (size_t)PE_FIGURE_WIDTH * PE_FIGURE_HEIGHT) {
        out->width = PE_FIGURE_WIDTH; /* more would take long */
        out->height = PE_FIGURE_HEIGHT;
    }
    return !named || (*format != NULL && (*format)->is_figure);
}

pe_status pe_query_string_parse(const pe_resource *resource, pe_slice string,
                                const pe_read_limits *limits, pe_query *out, pe_problem *why)
{
    pe_query query;
    PE_TRY(pe_query_begin(resource, &query, why));
    return pe_query_finish(&query, pe_query_string_read(&query, string, limits, why), limits, out,
                           why);
}
