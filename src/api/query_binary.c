/* SPDX-License-Identifier: MIT */
/* query_binary.c - a request from a binary body and a query. */
#include <string.h>
#include <strings.h>

#include "api/value_reading.h"

/* The tensors of a body, up to PE_BINARY_BODY_TENSORS_MAX. */
typedef pe_status (*body_reader)(const pe_binary_body *body, size_t max_elements,
                                 pe_stored *tensors, size_t *n, pe_problem *why);

static pe_status read_npy(const pe_binary_body *body, size_t max_elements, pe_stored *tensors,
                          size_t *n, pe_problem *why)
{
    *n = 1;
    return pe_npy_read(body->data, body->bytes, max_elements, tensors, why);
}

static pe_status read_raw(const pe_binary_body *body, size_t max_elements, pe_stored *tensors,
                          size_t *n, pe_problem *why)
{
    *n = 1;
    return pe_body_raw(body, max_elements, tensors, why);
}

static pe_status read_safetensors(const pe_binary_body *body, size_t max_elements,
                                  pe_stored *tensors, size_t *n, pe_problem *why)
{
    const pe_status status = pe_safetensors_read(body->data, body->bytes, max_elements, tensors,
                                                 PE_BINARY_BODY_TENSORS_MAX, n, why);
    for (size_t t = 0; status == PE_OK && t < *n; t++)
        if (tensors[t].dtype == PE_DTYPES)
            return pe_fail(why, PE_INVALID_PARAMETER, "",
                           "the element type of tensor %s must be one of F32, F64, F16, BF16, I32",
                           tensors[t].name);
    return status;
}

static const struct {
    const char *media_type;
    body_reader read;
} readers[] = {
    {"application/x-npy", read_npy},
    {"application/octet-stream", read_raw},
    {"application/vnd.safetensors", read_safetensors},
};

pe_status pe_binary_body_read(const pe_binary_body *body, const pe_read_limits *limits,
                              pe_stored *tensors, size_t *n, pe_problem *why)
{
    for (size_t i = 0; i < PE_LEN(readers); i++)
        if (strcasecmp(readers[i].media_type, body->media_type) == 0)
            return readers[i].read(body, limits->max_elements, tensors, n, why);
    return pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "", "a body of type %.60s is not read here",
                   body->media_type);
}

/* ---- rows ---- */

/* The row a tensor of the body goes to; values.n when there is none. */
static size_t find_row(const pe_values *values, const char *name)
{
    const bool first = name[0] == '\0' || strcmp(name, "data") == 0;
    for (size_t i = 0; i < values->n; i++)
        if (values->value[i].param->kind == PE_KIND_TENSOR &&
            (first || strcmp(values->value[i].param->name, name) == 0))
            return i;
    return values->n;
}

/* Absent dtype means the body's, where the resource knows it. */
static void default_dtype(pe_query *query, pe_dtype of_body)
{
    for (size_t i = 0; i < query->values.n; i++) {
        const pe_param *param = query->values.value[i].param;
        pe_value *value = &query->values.value[i];
        if (param->kind != PE_KIND_CHOICE || strcmp(param->name, "dtype") != 0 || value->present)
            continue;
        for (size_t choice = 0; param->choices[choice] != NULL; choice++)
            if (strcmp(param->choices[choice], pe_dtype_name(of_body)) == 0) {
                value->choice = choice;
                value->present = true;
            }
    }
}

static pe_status set_tensor(pe_query *query, const pe_stored *from, const pe_read_limits *limits,
                            pe_problem *why)
{
    const size_t i = find_row(&query->values, from->name);
    if (i == query->values.n)
        return from->name[0] == '\0'
                   ? pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "", "%s takes no tensor in its body",
                             query->resource->path)
                   : pe_query_fail_unknown(query->resource, true, from->name, from->name, why);
    const pe_param *param = query->values.value[i].param;
    pe_value *value = &query->values.value[i];
    if (value->given)
        return pe_query_fail_repeated(param->name, param->name, why);
    if (from->elements == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, param->name, "%s must not be empty", param->name);
    pe_status status = pe_stored_array(from, param->as_float64 ? PE_FLOAT64 : pe_query_dtype(query),
                                       &value->tensor, why);
    if (status == PE_OK)
        status = pe_stored_check_finite(&value->tensor, from, param->name, why);
    if (status != PE_OK)
        return status;
    value->present = value->given = true;
    const pe_value_reading to = {
        .param = param, .value = value, .place = param->name, .limits = limits};
    return pe_value_check_tensor(&to, why);
}

static pe_status read_body(pe_query *query, const pe_binary_body *body,
                           const pe_read_limits *limits, pe_problem *why)
{
    pe_stored tensors[PE_BINARY_BODY_TENSORS_MAX];
    size_t n = 0;
    pe_status status = pe_binary_body_read(body, limits, tensors, &n, why);
    if (status != PE_OK)
        return status;
    default_dtype(query, tensors[0].dtype);
    for (size_t t = 0; t < n && status == PE_OK; t++)
        status = set_tensor(query, &tensors[t], limits, why);
    return status;
}

pe_status pe_query_binary_parse(const pe_resource *resource, const char *string,
                                size_t string_bytes, const pe_binary_body *body,
                                const pe_read_limits *limits, pe_query *out, pe_problem *why)
{
    pe_query query;
    pe_status status = pe_query_begin(resource, &query, why);
    if (status == PE_OK)
        status = pe_query_string_read(&query, string, string_bytes, limits, why);
    if (status == PE_OK)
        status = read_body(&query, body, limits, why);
    if (status == PE_OK)
        status = pe_query_finish(&query, why);
    if (status != PE_OK) {
        pe_query_free(&query);
        return status;
    }
    *out = query;
    return PE_OK;
}
