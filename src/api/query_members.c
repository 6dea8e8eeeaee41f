/* SPDX-License-Identifier: MIT */
/* query_members.c - a request from its query string, or from a JSON object. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json_read.h"
#include "api/value_reading.h"
#include "base/percent.h"
#include "base/utf8.h"
#include "encodings/registry.h"
#include "plan/resource.h"

/* What was given for a value. */
typedef struct slot {
    pe_value *value;
    pe_slice text;
    const char *as; /* what is written for it, as in a query; NULL: it is its text */
} slot;

/*
 * Members, or pairs of a query, are walked once, and each one's text is kept in a slot. Values are
 * read afterwards: dtype first, because it says what tensors are rounded to.
 */
typedef struct members {
    pe_query *query;
    const pe_read_limits *limits;
    slot *slots; /* in the order in which values were given, each once */
    size_t given;
    pe_slice output[PE_OUTPUT_N];
    bool is_name[PE_OUTPUT_N]; /* a row goes by this name, too */
    pe_slice nested;
    bool json;
    bool inside;      /* of the nested object */
    pe_status failed; /* of the first mistake */
    size_t refused;   /* members */
    pe_problem *why;  /* the mistakes */
} members;

/* A mistake does not end the reading, but many do: all are told at once, as far as there is room. */
static void note(members *m, pe_status status, const pe_problem *mistake)
{
    m->failed = pe_problem_collect(m->failed, status, mistake, m->why);
}

/* "name", or in a body "parent/name" with the characters escaped that RFC 6901 gives a meaning. */
static void place_of(const members *m, const char *parent, const char *name, char *out,
                     size_t bytes)
{
    size_t at = 0;
    if (parent != NULL)
        at = (size_t)snprintf(out, bytes, "%s/", parent);
    for (; *name != '\0' && at + 3 < bytes; name++) {
        const bool escaped = m->json && (*name == '~' || *name == '/');
        if (escaped)
            out[at++] = '~';
        out[at++] = (char)(!escaped ? *name : *name == '~' ? '0' : '1');
    }
    out[at] = '\0';
}

static void give(members *m, pe_value *value, pe_slice text, const char *as)
{
    value->given = true; /* if refused, too */
    m->slots[m->given++] = (slot){value, text, as};
}

/* A member of the body or of the nested object; the latter holds plain parameters only, but that of
 * a claim. What an unknown one may have meant is looked up only while there is room to tell it: that
 * costs a thousand times more than sending it. */
static pe_status keep_member(members *m, const char *key, pe_slice text, pe_problem *why)
{
    const pe_resource *resource = m->query->resource;
    const size_t which = m->inside ? PE_OUTPUT_N : pe_query_output_find(resource, key);
    char place[128];
    bool theirs = false;
    if (m->query->other != NULL) {
        PE_TRY(m->query->other(m->query->other_state, key, text, m->inside, &theirs, why));
        if (theirs)
            return PE_OK;
    }
    pe_suggested_value meant = {.value = pe_values_called(&m->query->values, key)};
    if (which < PE_OUTPUT_N) {
        m->is_name[which] = meant.value != NULL;
        return pe_query_keep(&m->output[which], key, text, why);
    }
    const char *nested = m->json && !m->inside ? resource->nested : NULL;
    if (nested != NULL && strcmp(key, "rope_scaling") == 0 &&
        strcmp(nested, "rope_parameters") == 0)
        nested = key; /* as configurations of before transformers 5 call it */
    if (nested != NULL && strcmp(key, nested) == 0) /* null: that nothing is scaled */
        return pe_slice_is(text, "null") ? PE_OK : pe_query_keep(&m->nested, key, text, why);
    place_of(m, m->inside ? resource->nested : NULL, key, place, sizeof place);
    pe_value *value = meant.value;
    if (value == NULL && pe_suggestion_take(&m->query->values, key, text, &meant))
        value = meant.value;
    if (value == NULL ||
        (m->inside && m->query->other == NULL &&
         (value->param->kind == PE_KIND_TENSOR || value->param->kind == PE_KIND_TEXT)))
        return m->refused > PE_MISTAKES_MAX
                   ? PE_UNKNOWN_PARAMETER
                   : pe_query_fail_unknown(m->query, m->json, place, key, text, why);
    if (value->given)
        return pe_query_fail_given(value, place, key, why);
    value->is_synonym = meant.alias != NULL;
    value->is_switch = meant.as != NULL;
    value->alias = value->is_synonym ? meant.alias : pe_param_alias(value->param, key);
    value->parent = m->inside ? resource->nested : NULL;
    give(m, value, text, meant.as);
    return PE_OK;
}

/* Mistakes for which there is no room are counted; fails where that is enough of them. */
static pe_status note_member(members *m, pe_status status, const pe_problem *mistake,
                             pe_problem *why)
{
    if (pe_status_is_ours(status))
        return pe_fail_memory(why);
    if (status != PE_OK && m->refused++ > PE_MISTAKES_MAX)
        m->why->n_unreported++;
    else
        note(m, status, mistake);
    if (m->refused < PE_MISTAKES_COUNTED)
        return PE_OK;
    *why = *m->why;
    return m->failed;
}

static pe_status json_member(void *state, const char *key, pe_slice json, pe_problem *why)
{
    pe_problem mistake;
    return note_member(state, keep_member(state, key, json, &mistake), &mistake, why);
}

static pe_status walk_json(members *m, pe_slice text, pe_problem *why)
{
    const char *name = m->query->resource->nested;
    pe_problem mistake;
    PE_TRY(pe_json_members_walk(text, m->limits->max_depth, json_member, m, why));
    if (m->nested.text == NULL)
        return PE_OK;
    if (m->nested.text[0] != '{') {
        note(m, pe_fail(&mistake, PE_INVALID_PARAMETER, name, "%s must be an object", name),
             &mistake);
        return PE_OK;
    }
    m->inside = true;
    return pe_json_members_walk(m->nested, m->limits->max_depth - 1, json_member, m, why);
}

/* A part of a copy, in its place, with a NUL behind it. A plus sign is itself: exponents have them,
 * and no value of ours has a space. */
static pe_status decode(pe_slice *part, pe_problem *why)
{
    char *text = (char *)(uintptr_t)part->text;
    if (!pe_percent_decode(text, &part->bytes))
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "the query must have two hexadecimal digits after each %%");
    if (memchr(text, '\0', part->bytes) != NULL || !pe_utf8_valid(text, part->bytes))
        return pe_fail(why, PE_MALFORMED_REQUEST, "", "the query must be UTF-8 text without %%00");
    text[part->bytes] = '\0';
    return PE_OK;
}

static pe_status walk_string(members *m, pe_slice left, pe_problem *why)
{
    while (left.bytes > 0) {
        pe_problem mistake;
        pe_slice value = pe_slice_next(&left, '&');
        if (value.bytes == 0)
            continue; /* nothing between two '&' is no parameter */
        pe_slice name = pe_slice_next(&value, '=');
        pe_status status = decode(&value, &mistake);
        if (status == PE_OK)
            status = decode(&name, &mistake);
        if (status == PE_OK)
            status = keep_member(m, name.text, value, &mistake);
        PE_TRY(note_member(m, status, &mistake, why));
    }
    return PE_OK;
}

/* What a synonym's text stands for: "0:N", or less of it, for the text N of a number of positions;
 * or what is written. */
#define COUNTED_BYTES 32
static pe_slice written(const char *as, pe_slice text, char out[COUNTED_BYTES])
{
    if (strcmp(as, "0:N") != 0)
        return pe_slice_of(as);
    snprintf(out, COUNTED_BYTES, "0:%.*s", PE_SHOWN(text));
    return pe_slice_of(out);
}

static pe_status read_slot(const members *m, const slot *row, pe_dtype dtype, pe_problem *why)
{
    pe_value *value = row->value;
    char place[128], range[COUNTED_BYTES];
    pe_param named = *value->param; /* problems say the name that was sent */
    if (value->alias != NULL)
        named.name = value->alias;
    place_of(m, value->parent, named.name, place, sizeof place);
    if (m->failed != PE_OK && row->text.bytes > PE_READ_LARGE)
        return PE_OK; /* it costs more than one more mistake is worth */
    const pe_value_reading to = {
        .param = &named, .value = value, .place = place, .limits = m->limits, .dtype = dtype};
    return row->as == NULL ? pe_value_parse(&to, row->text, m->json, why)
                           : pe_value_parse(&to, written(row->as, row->text, range), false, why);
}

static pe_status read_values(members *m)
{
    const pe_values *values = &m->query->values;
    pe_problem mistake;
    for (size_t i = 0; i < PE_OUTPUT_N; i++) {
        const char *name = pe_query_output_rows[i].name;
        pe_value *value = m->is_name[i] ? pe_values_called(values, name) : NULL;
        if (value != NULL && !value->given) {
            value->alias = name; /* it has no value of its own */
            give(m, value, m->output[i], NULL);
        } else if (m->output[i].text != NULL) {
            note(m, pe_query_output_set(m->query, i, m->output[i], m->json, &mistake), &mistake);
        }
    }
    const pe_value *dtype = pe_values_find(values, "dtype");
    for (size_t k = 0; k < m->given; k++)
        if (m->slots[k].value == dtype)
            note(m, read_slot(m, &m->slots[k], PE_FLOAT64, &mistake), &mistake);
    const pe_dtype type = pe_values_dtype(values);
    for (size_t large = 0; large < 2; large++)
        for (size_t k = 0; k < m->given && !pe_status_is_ours(m->failed); k++)
            if (m->slots[k].value != dtype && large == (m->slots[k].text.bytes > PE_READ_LARGE))
                note(m, read_slot(m, &m->slots[k], type, &mistake), &mistake);
    return m->failed;
}

/* Each member is noted first: that fails where the body itself is broken, whatever its members
 * are. `refused`: so many mistakes are known. */
static pe_status read(pe_query *query, pe_slice text, bool json, size_t refused,
                      const pe_read_limits *limits, pe_problem *why)
{
    pe_problem broken;
    pe_status status = PE_OK;
    members m = {.query = query, .limits = limits, .json = json, .refused = refused, .why = why};
    char *copy = json ? NULL : malloc(text.bytes + 1);
    query->from_json = json;
    m.slots = calloc(query->values.n + 1, sizeof *m.slots);
    if (m.slots == NULL || (copy == NULL && !json))
        status = pe_fail_memory(&broken);
    else if (json)
        status = walk_json(&m, text, &broken);
    else if (text.bytes > 0)
        status =
            walk_string(&m, (pe_slice){memcpy(copy, text.text, text.bytes), text.bytes}, &broken);
    if (status == PE_OK)
        status = read_values(&m);
    else
        *why = broken;
    free(m.slots);
    free(copy);
    return status;
}

pe_status pe_query_read(pe_query *query, pe_slice text, bool json, const pe_read_limits *limits,
                        pe_problem *why)
{
    return read(query, text, json, 0, limits, why);
}

pe_status pe_query_parse(const pe_resource *resource, pe_slice text, bool json,
                         const pe_read_limits *limits, pe_query *out, pe_problem *why)
{
    pe_query query;
    PE_TRY(pe_query_begin(resource, &query, why));
    return pe_query_finish(&query, read(&query, text, json, 0, limits, why), limits, out, why);
}

/* What can be read of a string whose parameters may be any; no mistake is looked into. False: memory
 * is short. */
static bool peek(pe_slice string, pe_query *out)
{
    pe_problem mistake;
    pe_status status = pe_query_begin(&pe_rope_table, out, &mistake);
    mistake = (pe_problem){0};
    if (status == PE_OK)
        status = read(out, string, false, PE_MISTAKES_MAX + 1, &(pe_read_limits){0}, &mistake);
    return !pe_status_is_ours(status);
}

pe_status pe_query_string_text(pe_slice string, const char *name, char *out, size_t room,
                               pe_problem *why)
{
    pe_query query;
    const bool peeked = peek(string, &query);
    const char *text = peeked ? pe_values_find(&query.values, name)->text : NULL;
    snprintf(out, room, "%s", text != NULL ? text : "");
    pe_query_free(&query);
    return peeked ? PE_OK : pe_fail_memory(why);
}

bool pe_query_figure_peek(pe_slice string, const pe_format **format, pe_figure_options *out)
{
    pe_query query;
    const bool peeked = peek(string, &query);
    const bool named = query.output[PE_OUTPUT_FORMAT].given;
    *format = query.format;
    *out = pe_query_rendering(&query).figure;
    pe_query_free(&query);
    if (out->width * out->height > (size_t)PE_FIGURE_WIDTH * PE_FIGURE_HEIGHT) {
        out->width = PE_FIGURE_WIDTH; /* more would take long */
        out->height = PE_FIGURE_HEIGHT;
    }
    return peeked && (!named || (*format != NULL && (*format)->is_figure));
}
