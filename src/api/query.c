/* SPDX-License-Identifier: MIT */
/* query.c - what queries, JSON and binary bodies share: unknown names, the representation,
 * canonical queries. */
#include "api/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/value_reading.h"
#include "base/nearest.h"
#include "formats/negotiate.h"

const char *const pe_query_output_names[PE_OUTPUT_N] = {
    [PE_OUTPUT_FORMAT] = "format",
    [PE_OUTPUT_ENCODING] = "encoding_format",
    [PE_OUTPUT_TENSOR] = "tensor",
};
const char *const pe_query_output_encodings[] = {"float", "base64", NULL};

size_t pe_query_output_find(const char *name)
{
    size_t i = 0;
    while (i < PE_OUTPUT_N && strcmp(pe_query_output_names[i], name) != 0)
        i++;
    return i;
}

static pe_status set_encoding(pe_query *query, const char *text, pe_problem *why)
{
    for (size_t i = 0; pe_query_output_encodings[i] != NULL; i++)
        if (strcmp(pe_query_output_encodings[i], text) == 0) {
            query->base64 = i == 1;
            return PE_OK;
        }
    return pe_fail(why, PE_INVALID_PARAMETER, "encoding_format",
                   "encoding_format must be one of float, base64; got \"%.40s\"", text);
}

static pe_status set_tensor(pe_query *query, const char *text, pe_problem *why)
{
    const size_t bytes = strlen(text);
    if (bytes >= sizeof query->tensor)
        return pe_fail(why, PE_INVALID_PARAMETER, "tensor", "no tensor is named \"%.40s\"", text);
    memcpy(query->tensor, text, bytes + 1);
    return PE_OK;
}

pe_status pe_query_output_set(pe_query *query, size_t which, const char *text, pe_problem *why)
{
    if (text[0] == '\0')
        return pe_fail(why, PE_MALFORMED_REQUEST, pe_query_output_names[which], "%s is empty",
                       pe_query_output_names[which]);
    if (which == PE_OUTPUT_FORMAT)
        return pe_format_parse(text, &query->format, why);
    return which == PE_OUTPUT_ENCODING ? set_encoding(query, text, why)
                                       : set_tensor(query, text, why);
}

/* ---- names that
 * are wrong ----------------------------------------------------------------------- */

/* Every name that may be meant: rows (those of tensors only in a body), the representation's, the
 * nested object. */
static size_t list_names(const pe_resource *resource, bool in_body, const char **names)
{
    const pe_param *param;
    size_t n = 0;
    for (size_t i = 0; (param = pe_params_at(resource->param_sets, i)) != NULL; i++)
        if (in_body || param->kind != PE_KIND_TENSOR)
            names[n++] = param->name;
    for (size_t i = 0; i < PE_OUTPUT_N; i++)
        names[n++] = pe_query_output_names[i];
    if (in_body && resource->nested != NULL)
        names[n++] = resource->nested;
    return n;
}

/* Parameters that clients know of other resources; their absence means something. */
static const struct {
    const char *name, *before, *after; /* the path */
} elsewhere[] = {
    {"model", "no model of the catalogue says anything of", ": give its parameters one by one"},
    {"layer_type", "layers of a model do not differ in what they say of", ""},
};

pe_status pe_query_fail_unknown(const pe_resource *resource, bool in_body, const char *where,
                                const char *name, pe_problem *why)
{
    for (size_t i = 0; i < PE_LEN(elsewhere); i++)
        if (strcmp(elsewhere[i].name, name) == 0)
            return pe_fail(why, PE_INVALID_PARAMETER, where, "%s %s%s", elsewhere[i].before,
                           resource->path, elsewhere[i].after);
    const char **names =
        calloc(pe_params_count(resource->param_sets) + PE_OUTPUT_N + 1, sizeof *names);
    if (names == NULL)
        return pe_fail_memory(why);
    const char *near = pe_nearest_name(name, names, list_names(resource, in_body, names));
    if (near != NULL)
        pe_fail(why, PE_UNKNOWN_PARAMETER, where, "unknown parameter %.64s, did you mean %s?", name,
                near);
    else
        pe_fail(why, PE_UNKNOWN_PARAMETER, where,
                "unknown parameter %.64s; GET /v1 lists those of %s", name, resource->path);
    free(names);
    return PE_UNKNOWN_PARAMETER;
}

pe_status pe_query_fail_repeated(const char *where, const char *name, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, where, "%.64s is given more than once", name);
}

/* ---- life ---- */

pe_status pe_query_begin(const pe_resource *resource, pe_query *out, pe_problem *why)
{
    *out = (pe_query){.resource = resource};
    return pe_values_make(resource->param_sets, &out->values, why);
}

/* Of the name in the path: resources whose path has one have a row for it. */
static pe_value *name_value(const pe_query *query)
{
    size_t i = 0;
    while (query->values.value[i].param->kind != PE_KIND_NAME)
        i++;
    return &query->values.value[i];
}

pe_status pe_query_set_name(pe_query *query, const char *name, size_t bytes, pe_problem *why)
{
    pe_value *value = name_value(query);
    if (value->given)
        return pe_fail(why, PE_MALFORMED_REQUEST, "name",
                       "name is the path's, and no parameter beside it");
    value->text = strndup(name, bytes);
    if (value->text == NULL)
        return pe_fail_memory(why);
    value->present = value->given = true;
    return PE_OK;
}

void pe_query_canonical_path(const pe_query *query, pe_buffer *out)
{
    const char *path = query->resource->path;
    const size_t before = strcspn(path, "{");
    pe_buffer_add(out, path, before);
    if (path[before] == '\0')
        return;
    pe_buffer_str(out, name_value(query)->text);
    pe_buffer_str(out, strchr(path, '}') + 1);
}

void pe_query_free(pe_query *query)
{
    if (query == NULL)
        return;
    pe_values_free(&query->values);
    *query = (pe_query){0};
}

pe_dtype pe_query_dtype(const pe_query *query)
{
    const pe_values *values = &query->values;
    for (size_t i = 0; i < values->n; i++) {
        const pe_param *param = values->value[i].param;
        if (param->kind != PE_KIND_CHOICE || strcmp(param->name, "dtype") != 0)
            continue;
        size_t choice =
            values->value[i].present ? values->value[i].choice : (size_t)param->fallback;
        for (pe_dtype dtype = 0; dtype < PE_DTYPES; dtype++)
            if (strcmp(pe_dtype_name(dtype), param->choices[choice]) == 0)
                return dtype;
    }
    return PE_FLOAT64;
}

void pe_query_locate(const pe_query *query, pe_problem *why)
{
    char where[sizeof why->where];
    size_t bytes = strcspn(why->where, "/");
    for (size_t i = 0; i < query->values.n; i++) {
        const char *name = query->values.value[i].param->name,
                   *parent = query->values.value[i].parent;
        if (parent == NULL || strlen(name) != bytes || memcmp(name, why->where, bytes) != 0)
            continue;
        int length = snprintf(where, sizeof where, "%s/%s", parent, why->where);
        if (length > 0 && (size_t)length < sizeof where)
            memcpy(why->where, where, (size_t)length + 1);
        return;
    }
}

/* ----
 * canonical query ---------------------------------------------------------------------------- */

/* Names are compared up to their '='. */
static bool name_before(const char *a, size_t a_bytes, const char *b)
{
    size_t name = (size_t)((const char *)memchr(a, '=', a_bytes) - a);
    int order = strncmp(a, b, name);
    return order != 0 ? order < 0 : strlen(b) > name;
}

static void put(pe_buffer *out, size_t start, const char *text, size_t bytes)
{
    if (out->bytes > start)
        pe_buffer_str(out, "&");
    pe_buffer_add(out, text, bytes);
}

static void put_representation(pe_buffer *out, size_t start, const char *name, const char *value)
{
    put(out, start, name, strlen(name));
    pe_buffer_str(out, "=");
    pe_buffer_str(out, value);
}

/* What differs from the default, sorted by name; NULL where it does not. */
static void representation_values(const pe_query *query, const pe_format *format,
                                  const char *value[3])
{
    const bool json = format == pe_formats[0];
    value[0] = json && query->base64 ? "base64" : NULL;
    value[1] = json ? NULL : format->name;
    value[2] = !format->holds_many && query->tensor[0] != '\0' ? query->tensor : NULL;
}

void pe_query_canonical_string(const pe_query *query, const pe_format *format, pe_buffer *out)
{
    static const char *const names[3] = {"encoding_format", "format", "tensor"};
    const size_t start = out->bytes;
    const char *value[3];
    pe_buffer of_values = {0};
    representation_values(query, format, value);
    pe_values_query(&query->values, &of_values);

    const char *at = pe_buffer_text(&of_values),
               *end = at + (of_values.failed ? 0 : of_values.bytes);
    for (size_t i = 0; i < PE_LEN(names); i++) {
        if (value[i] == NULL)
            continue;
        while (at < end && name_before(at, (size_t)(end - at), names[i])) {
            size_t bytes = strcspn(at, "&");
            put(out, start, at, bytes);
            at += at + bytes < end ? bytes + 1 : bytes;
        }
        put_representation(out, start, names[i], value[i]);
    }
    if (at < end)
        put(out, start, at, (size_t)(end - at));
    out->failed |= of_values.failed;
    pe_buffer_free(&of_values);
}
