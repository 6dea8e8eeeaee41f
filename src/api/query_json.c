/* SPDX-License-Identifier: MIT */
/* query_json.c - a request from a JSON object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json_read.h"
#include "api/value_reading.h"
#include "plan/resource.h"

/* Where the body has a row's value; text is NULL while it has none. */
typedef struct slot {
    pe_slice json;
    bool nested;
    const char *as; /* what is written for it, as in a query; NULL: it is its text */
} slot;

/*
 * The body is walked once, and each member's text is kept in the slot of its row. Values are read
 * afterwards: dtype first, because it says what tensors are rounded to.
 */
typedef struct body {
    pe_query *query;
    const pe_read_limits *limits;
    slot *rows; /* parallel to the values */
    pe_slice output[PE_OUTPUT_N];
    pe_slice nested;
    bool inside;      /* of the nested object */
    pe_status failed; /* of the first mistake */
    size_t refused;   /* members */
    pe_problem *why;  /* the mistakes */
} body;

/* A mistake does not end the reading, but many do: all are told at once, as far as there is room. */
static void note(body *b, pe_status status, const pe_problem *mistake)
{
    b->failed = pe_problem_collect(b->failed, status, mistake, b->why);
}

/* "name" or "parent/name", with the characters escaped that RFC 6901 gives a meaning. */
static void place_of(const char *parent, const char *name, char *out, size_t bytes)
{
    size_t at = 0;
    if (parent != NULL)
        at = (size_t)snprintf(out, bytes, "%s/", parent);
    for (; *name != '\0' && at + 3 < bytes; name++) {
        if (*name == '~' || *name == '/') {
            out[at++] = '~';
            out[at++] = *name == '~' ? '0' : '1';
        } else {
            out[at++] = *name;
        }
    }
    out[at] = '\0';
}

/* Configurations of before transformers 5 call rope_parameters so. */
static bool is_nested(const pe_resource *resource, const char *key)
{
    return resource->nested != NULL &&
           (strcmp(key, resource->nested) == 0 ||
            (strcmp(key, "rope_scaling") == 0 && strcmp(resource->nested, "rope_parameters") == 0));
}

/* A member of the body or of the nested object; the latter holds plain parameters only, but that of
 * a claim. What an
 * unknown one may have meant is looked up only while there is room to tell it: that costs a
 * thousand times more than sending it. */
static pe_status keep_member(void *state, const char *key, pe_slice json, pe_problem *why)
{
    body *b = state;
    const pe_resource *resource = b->query->resource;
    const size_t which = b->inside ? PE_OUTPUT_N : pe_query_output_find(resource, key);
    char place[128];
    if (which < PE_OUTPUT_N)
        return pe_query_keep(&b->output[which], key, json, why);
    if (!b->inside && is_nested(resource, key) && pe_slice_is(json, "null"))
        return PE_OK; /* as configurations say that nothing is scaled */
    if (!b->inside && is_nested(resource, key))
        return pe_query_keep(&b->nested, key, json, why);
    place_of(b->inside ? resource->nested : NULL, key, place, sizeof place);
    pe_value *value = pe_values_called(&b->query->values, key);
    pe_suggested_value meant = {.value = value};
    if (value == NULL && pe_suggestion_take(&b->query->values, key, json, &meant))
        value = meant.value;
    if (value == NULL || (b->inside && ((value->param->kind == PE_KIND_TENSOR &&
                                         !pe_resource_is_claimable(resource)) ||
                                        value->param->kind == PE_KIND_TEXT)))
        return b->refused > PE_MISTAKES_MAX
                   ? PE_UNKNOWN_PARAMETER
                   : pe_query_fail_unknown(b->query, true, place, key, json, why);
    slot *row = &b->rows[value - b->query->values.value];
    if (row->json.text != NULL)
        return pe_query_fail_given(value, place, key, why);
    pe_query_mark(&meant, key);
    *row = (slot){json, b->inside, meant.as};
    return PE_OK;
}

static pe_status keep_or_note(void *state, const char *key, pe_slice json, pe_problem *why)
{
    body *b = state;
    pe_problem mistake;
    const pe_status status = keep_member(state, key, json, &mistake);
    if (pe_status_is_ours(status))
        return pe_fail_memory(why);
    if (status != PE_OK && b->refused++ > PE_MISTAKES_MAX)
        b->why->n_unreported++;
    else
        note(b, status, &mistake);
    if (b->refused < PE_MISTAKES_COUNTED)
        return PE_OK;
    *why = *b->why;
    return b->failed;
}

static pe_status walk_nested(body *b, pe_problem *why)
{
    const char *name = b->query->resource->nested;
    pe_problem mistake;
    if (b->nested.text == NULL)
        return PE_OK;
    if (b->nested.text[0] != '{') {
        note(b, pe_fail(&mistake, PE_INVALID_PARAMETER, name, "%s must be an object", name),
             &mistake);
        return PE_OK;
    }
    b->inside = true;
    return pe_json_members_walk(b->nested, b->limits->max_depth - 1, keep_or_note, b, why);
}

static pe_status read_row(body *b, size_t i, pe_dtype dtype, pe_problem *why)
{
    const pe_resource *resource = b->query->resource;
    const char *parent = b->rows[i].nested ? resource->nested : NULL;
    pe_value *value = &b->query->values.value[i];
    char place[128];
    if (b->rows[i].json.text == NULL || value->given)
        return PE_OK;
    pe_param named = *value->param; /* problems say the name that was sent */
    if (value->alias != NULL)
        named.name = value->alias;
    place_of(parent, named.name, place, sizeof place);
    value->parent = parent;
    value->given = true; /* if refused, too */
    if (b->failed != PE_OK && b->rows[i].json.bytes > PE_READ_LARGE)
        return PE_OK; /* it costs more than one more mistake is worth */
    const pe_value_reading to = {
        .param = &named, .value = value, .place = place, .limits = b->limits, .dtype = dtype};
    char range[PE_COUNTED_BYTES];
    const slot *row = &b->rows[i];
    return row->as != NULL
               ? pe_value_text_parse(&to, pe_query_written(row->as, row->json, range), why)
               : pe_value_json_parse(&to, row->json, why);
}

/* Each member is noted first: that fails where the body itself is broken, whatever its members
 * are. */
static pe_status read_members(body *b, pe_slice text)
{
    pe_problem mistake;
    pe_status status = pe_json_members_walk(text, b->limits->max_depth, keep_or_note, b, &mistake);
    if (status == PE_OK)
        status = walk_nested(b, &mistake);
    if (status != PE_OK) {
        *b->why = mistake;
        return status;
    }
    /* What figures and a row share a name for is the row's, while it has no value of its own. */
    for (size_t i = 0; i < PE_OUTPUT_N; i++) {
        pe_value *value = pe_values_called(&b->query->values, pe_query_output_rows[i].name);
        slot *row = value == NULL ? NULL : &b->rows[value - b->query->values.value];
        if (row == NULL || row->json.text != NULL || b->output[i].text == NULL)
            continue;
        value->alias = pe_query_output_rows[i].name;
        row->json = b->output[i];
        b->output[i] = (pe_slice){0};
    }
    for (size_t i = 0; i < PE_OUTPUT_N; i++)
        if (b->output[i].text != NULL)
            note(b, pe_query_output_set(b->query, i, b->output[i], true, &mistake), &mistake);
    const pe_values *values = &b->query->values;
    for (size_t i = 0; i < values->n; i++)
        if (strcmp(values->value[i].param->name, "dtype") == 0)
            note(b, read_row(b, i, PE_FLOAT64, &mistake), &mistake);
    const pe_dtype dtype = pe_query_dtype(b->query);
    for (size_t large = 0; large < 2; large++)
        for (size_t i = 0; i < values->n && !pe_status_is_ours(b->failed); i++)
            if (large == (b->rows[i].json.bytes > PE_READ_LARGE))
                note(b, read_row(b, i, dtype, &mistake), &mistake);
    return b->failed;
}

pe_status pe_query_json_read(pe_query *query, pe_slice text, const pe_read_limits *limits,
                             pe_problem *why)
{
    body b = {.query = query, .limits = limits, .why = why};
    query->from_json = true;
    b.rows = calloc(query->values.n + 1, sizeof *b.rows);
    if (b.rows == NULL)
        return pe_fail_memory(why);
    const pe_status status = read_members(&b, text);
    free(b.rows);
    return status;
}

pe_status pe_query_json_parse(const pe_resource *resource, pe_slice json,
                              const pe_read_limits *limits, pe_query *out, pe_problem *why)
{
    pe_query query;
    PE_TRY(pe_query_begin(resource, &query, why));
    return pe_query_finish(&query, pe_query_json_read(&query, json, limits, why), limits, out, why);
}
