/* SPDX-License-Identifier: MIT */
/* query.c - what queries, JSON and binary bodies share: unknown names, the representation,
 * canonical queries. */
#include "api/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/reading.h"
#include "base/nearest.h"
#include "formats/negotiate.h"

const char *const pe_representation_names[PE_REPRESENTATION_N] = {
    [PE_REPRESENTATION_FORMAT] = "format",
    [PE_REPRESENTATION_ENCODING] = "encoding_format",
    [PE_REPRESENTATION_TENSOR] = "tensor",
};
const char *const pe_encoding_formats[] = {"float", "base64", NULL};

size_t pe_representation_find(const char *name)
{
    size_t i = 0;
    while (i < PE_REPRESENTATION_N && strcmp(pe_representation_names[i], name) != 0)
        i++;
    return i;
}

static pe_status set_encoding(pe_ask *ask, const char *text, pe_problem *why)
{
    for (size_t i = 0; pe_encoding_formats[i] != NULL; i++)
        if (strcmp(pe_encoding_formats[i], text) == 0) {
            ask->base64 = i == 1;
            return PE_OK;
        }
    return pe_fail(why, PE_INVALID_PARAMETER, "encoding_format",
                   "encoding_format must be one of float, base64; got \"%.40s\"", text);
}

static pe_status set_tensor(pe_ask *ask, const char *text, pe_problem *why)
{
    const size_t bytes = strlen(text);
    if (bytes >= sizeof ask->tensor)
        return pe_fail(why, PE_INVALID_PARAMETER, "tensor", "no tensor is named \"%.40s\"", text);
    memcpy(ask->tensor, text, bytes + 1);
    return PE_OK;
}

pe_status pe_representation_set(pe_ask *ask, size_t which, const char *text, pe_problem *why)
{
    if (text[0] == '\0')
        return pe_fail(why, PE_MALFORMED_REQUEST, pe_representation_names[which], "%s is empty",
                       pe_representation_names[which]);
    if (which == PE_REPRESENTATION_FORMAT)
        return pe_format_parse(text, &ask->format, why);
    return which == PE_REPRESENTATION_ENCODING ? set_encoding(ask, text, why)
                                               : set_tensor(ask, text, why);
}

/* ---- names that are wrong -----------------------------------------------------------------------
 */

/* Every name that may be meant: rows (those of tensors only in a body), the representation's, the
 * nested object. */
static size_t list_names(const pe_resource *resource, bool in_body, const char **names)
{
    size_t n = 0;
    for (size_t i = 0; i < resource->n_params; i++)
        if (in_body || resource->params[i].kind != PE_KIND_TENSOR)
            names[n++] = resource->params[i].name;
    for (size_t i = 0; i < PE_REPRESENTATION_N; i++)
        names[n++] = pe_representation_names[i];
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

pe_status pe_fail_unknown(const pe_resource *resource, bool in_body, const char *where,
                          const char *name, pe_problem *why)
{
    for (size_t i = 0; i < PE_LEN(elsewhere); i++)
        if (strcmp(elsewhere[i].name, name) == 0)
            return pe_fail(why, PE_INVALID_PARAMETER, where, "%s %s%s", elsewhere[i].before,
                           resource->path, elsewhere[i].after);
    const char **names = calloc(resource->n_params + PE_REPRESENTATION_N + 1, sizeof *names);
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

pe_status pe_fail_repeated(const char *where, const char *name, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, where, "%.64s is given more than once", name);
}

/* ---- life ---------------------------------------------------------------------------------------
 */

pe_status pe_ask_begin(const pe_resource *resource, pe_ask *out, pe_problem *why)
{
    *out = (pe_ask){.resource = resource};
    return pe_values_make(resource->params, resource->n_params, &out->values, why);
}

/* Of the name in the path: resources whose path has one have a row for it. */
static pe_value *name_value(const pe_ask *ask)
{
    size_t i = 0;
    while (ask->values.params[i].kind != PE_KIND_NAME)
        i++;
    return &ask->values.value[i];
}

pe_status pe_ask_name(pe_ask *ask, const char *name, size_t bytes, pe_problem *why)
{
    pe_value *value = name_value(ask);
    if (value->given)
        return pe_fail(why, PE_MALFORMED_REQUEST, "name",
                       "name is the path's, and no parameter beside it");
    value->text = strndup(name, bytes);
    if (value->text == NULL)
        return pe_fail_memory(why);
    value->present = value->given = true;
    return PE_OK;
}

void pe_ask_canonical_path(const pe_ask *ask, pe_buffer *out)
{
    const char *path = ask->resource->path;
    const size_t before = strcspn(path, "{");
    pe_buffer_add(out, path, before);
    if (path[before] == '\0')
        return;
    pe_buffer_str(out, name_value(ask)->text);
    pe_buffer_str(out, strchr(path, '}') + 1);
}

void pe_ask_free(pe_ask *ask)
{
    if (ask == NULL)
        return;
    pe_values_free(&ask->values);
    *ask = (pe_ask){0};
}

pe_dtype pe_ask_dtype(const pe_ask *ask)
{
    const pe_values *values = &ask->values;
    for (size_t i = 0; i < values->n; i++) {
        const pe_param *param = &values->params[i];
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

void pe_ask_locate(const pe_ask *ask, pe_problem *why)
{
    char where[sizeof why->where];
    size_t bytes = strcspn(why->where, "/");
    for (size_t i = 0; i < ask->values.n; i++) {
        const char *name = ask->values.params[i].name, *parent = ask->values.value[i].parent;
        if (parent == NULL || strlen(name) != bytes || memcmp(name, why->where, bytes) != 0)
            continue;
        int length = snprintf(where, sizeof where, "%s/%s", parent, why->where);
        if (length > 0 && (size_t)length < sizeof where)
            memcpy(why->where, where, (size_t)length + 1);
        return;
    }
}

/* ---- canonical query ----------------------------------------------------------------------------
 */

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
static void representation_values(const pe_ask *ask, const pe_format *format, const char *value[3])
{
    const bool json = format == pe_formats[0];
    value[0] = json && ask->base64 ? "base64" : NULL;
    value[1] = json ? NULL : format->name;
    value[2] = !format->holds_many && ask->tensor[0] != '\0' ? ask->tensor : NULL;
}

void pe_ask_canonical_query(const pe_ask *ask, const pe_format *format, pe_buffer *out)
{
    static const char *const names[3] = {"encoding_format", "format", "tensor"};
    const size_t start = out->bytes;
    const char *value[3];
    pe_buffer query = {0};
    representation_values(ask, format, value);
    pe_values_query(&ask->values, &query);

    const char *at = pe_buffer_text(&query), *end = at + (query.failed ? 0 : query.bytes);
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
    out->failed |= query.failed;
    pe_buffer_free(&query);
}
