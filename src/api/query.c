/* SPDX-License-Identifier: MIT */
/* query.c - the beginning and end of reading a request, and problems that name a parameter. */
#include "api/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

/* ---- life ---- */

pe_status pe_query_begin(const pe_resource *resource, pe_query *out, pe_problem *why)
{
    *out = (pe_query){.resource = resource,
                      .figure = {.width = PE_FIGURE_WIDTH, .height = PE_FIGURE_HEIGHT}};
    return pe_values_make(resource->param_sets, &out->values, why);
}

pe_status pe_query_finish(pe_query *query, pe_status status, pe_query *out, pe_problem *why)
{
    if (status == PE_OK)
        status = pe_query_model_fill(query, why);
    if (status == PE_OK)
        status = pe_values_defaults(&query->values, why);
    if (status == PE_OK)
        *out = *query;
    else
        pe_query_free(query);
    return status;
}

void pe_query_free(pe_query *query)
{
    if (query == NULL)
        return;
    pe_values_free(&query->values);
    *query = (pe_query){0};
}

/* ---- single values ---- */

/* Resources whose path has a name have a row for it. */
static pe_value *name_value(const pe_query *query)
{
    size_t i = 0;
    while (query->values.value[i].param->kind != PE_KIND_NAME)
        i++;
    return &query->values.value[i];
}

pe_status pe_query_set_name(pe_query *query, pe_slice name, pe_problem *why)
{
    pe_value *value = name_value(query);
    if (value->given)
        return pe_fail(why, PE_MALFORMED_REQUEST, "name",
                       "name is part of the path and must not be a parameter, too");
    value->text = strndup(name.text, name.bytes);
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

pe_dtype pe_query_dtype(const pe_query *query)
{
    pe_dtype dtype = PE_FLOAT64;
    const pe_value *value = pe_values_find(&query->values, "dtype");
    if (value == NULL)
        return dtype;
    const pe_param *param = value->param;
    const char *name = param->choices[value->present ? value->choice : (size_t)param->fallback];
    (void)pe_dtype_find(pe_slice_of(name), &dtype);
    return dtype;
}

void pe_query_locate(const pe_query *query, pe_problem *why)
{
    char where[sizeof why->where];
    const pe_slice name = {why->where, strcspn(why->where, "/")};
    for (size_t i = 0; i < query->values.n; i++) {
        const char *parent = query->values.value[i].parent;
        if (parent == NULL || !pe_slice_is(name, query->values.value[i].param->name))
            continue;
        const int length = snprintf(where, sizeof where, "%s/%s", parent, why->where);
        if (length > 0 && (size_t)length < sizeof where)
            memcpy(why->where, where, (size_t)length + 1);
        return;
    }
}

/* ---- problems ---- */

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
    {"model", "no model of the catalogue sets parameters of", "; give them one by one"},
    {"layer_type", "layer_type changes no parameter of", ""},
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
    free(names);
    if (near != NULL)
        return pe_fail(why, PE_UNKNOWN_PARAMETER, where,
                       "unknown parameter %.64s, did you mean %s?", name, near);
    return pe_fail(why, PE_UNKNOWN_PARAMETER, where,
                   "unknown parameter %.64s; GET /v1 lists those of %s", name, resource->path);
}

pe_status pe_query_fail_repeated(const char *where, const char *name, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, where, "%.64s is given more than once", name);
}

pe_status pe_query_keep(pe_slice *kept, const char *name, pe_slice text, pe_problem *why)
{
    if (kept->text != NULL)
        return pe_query_fail_repeated(name, name, why);
    *kept = text;
    return PE_OK;
}
