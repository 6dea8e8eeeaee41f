/* SPDX-License-Identifier: MIT */
/* query_binary.c - a request from tensors in a binary body and its query string. */
#include <string.h>

#include "api/value_reading.h"
#include "plan/resource.h"

static pe_status set_tensor(pe_query *query, const pe_stored *from, const pe_read_limits *limits,
                            pe_problem *why)
{
    const bool first = from->name[0] == '\0' || strcmp(from->name, "data") == 0;
    const pe_value *called = pe_values_called(&query->values, from->name);
    size_t i = 0;
    while (i < query->values.n && (query->values.value[i].param->kind != PE_KIND_TENSOR ||
                                   !(first || called == &query->values.value[i])))
        i++;
    if (i == query->values.n) {
        if (from->name[0] == '\0')
            return pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "", "%s takes no tensor in its body",
                           query->resource->path);
        return pe_query_fail_unknown(query, true, from->name, from->name, (pe_slice){0}, why);
    }
    const pe_param *param = query->values.value[i].param;
    pe_value *value = &query->values.value[i];
    if (value->given)
        return pe_query_fail_given(value, from->name, from->name, why);
    value->given = true; /* if refused, too */
    if (from->elements == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, param->name, "%s must not be empty", param->name);
    PE_TRY(pe_stored_array(from, param->as_float64 ? PE_FLOAT64 : pe_values_dtype(&query->values),
                           &value->tensor, why));
    PE_TRY(pe_stored_check_finite(&value->tensor, from, param->name, why));
    const pe_value_reading to = {
        .param = param, .value = value, .place = param->name, .limits = limits};
    pe_status status = pe_value_check_tensor(&to, why);
    value->present = status == PE_OK;
    return status;
}

static pe_status read_body(pe_query *query, const pe_binary_body *body,
                           const pe_read_limits *limits, pe_problem *why)
{
    pe_stored room[PE_BINARY_BODY_TENSORS_MAX];
    pe_stored_list tensors = {room, PE_BINARY_BODY_TENSORS_MAX, 0};
    pe_problem mistake;
    pe_status status = pe_query_read(query, body->string, false, limits, why);
    const pe_status read = pe_binary_body_read(body, limits->max_elements, &tensors, &mistake);
    if (read != PE_OK) {
        *why = mistake;
        return read;
    }
    /* Absent dtype means the body's, where the resource knows it. */
    const char *of_body = pe_dtype_name(tensors.tensor[0].dtype);
    pe_value *dtype = pe_values_find(&query->values, "dtype");
    for (size_t c = 0; dtype != NULL && !dtype->present && dtype->param->choices[c] != NULL; c++)
        if (strcmp(dtype->param->choices[c], of_body) == 0) {
            dtype->choice = c;
            dtype->present = true;
        }
    for (size_t t = 0; t < tensors.n && !pe_status_is_ours(status); t++)
        status = PE_ALSO(status, set_tensor(query, &tensors.tensor[t], limits, &mistake));
    return status;
}

pe_status pe_query_binary_parse(const pe_resource *resource, const pe_binary_body *body,
                                const pe_read_limits *limits, pe_query *out, pe_problem *why)
{
    pe_query query;
    PE_TRY(pe_query_begin(resource, &query, why));
    return pe_query_finish(&query, read_body(&query, body, limits, why), limits, out, why);
}
