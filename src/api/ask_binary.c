/* SPDX-License-Identifier: MIT */
/* ask_binary.c - a request from a binary body and a query. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "api/body.h"
#include "api/reading.h"

typedef pe_status (*body_reader)(const pe_binary_body *body, size_t max_elements,
                                 pe_body_tensor *tensors, size_t *n, pe_problem *why);

static const struct {
    const char *media_type;
    body_reader read;
} readers[] = {
    {"application/x-npy", pe_body_npy},
    {"application/octet-stream", pe_body_raw},
    {"application/vnd.safetensors", pe_body_safetensors},
};

static pe_status read_tensors(const pe_binary_body *body, const pe_read_limits *limits,
                              pe_body_tensor *tensors, size_t *n, pe_problem *why)
{
    for (size_t i = 0; i < PE_LEN(readers); i++)
        if (strcasecmp(readers[i].media_type, body->media_type) == 0)
            return readers[i].read(body, limits->max_elements, tensors, n, why);
    return pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "", "a body of type %.60s is not read here",
                   body->media_type);
}

/* ---- numbers ------------------------------------------------------------------------------------
 */

/* Where row-major element e stands when the first axis runs fastest. */
static size_t fortran_index(const pe_shape *shape, size_t e)
{
    size_t index = 0, stride = 1, span = 1;
    for (size_t axis = shape->ndim; axis-- > 0;)
        span *= shape->dim[axis];
    for (size_t axis = 0; axis < shape->ndim; axis++) {
        span /= shape->dim[axis]; /* of the axes behind this one */
        index += e / span % shape->dim[axis] * stride;
        stride *= shape->dim[axis];
    }
    return index;
}

/* Copy row-major, each number rounded once to the array's dtype. */
static void convert(const pe_body_tensor *from, pe_array *to)
{
    const size_t size = pe_dtype_bytes(from->dtype), out_size = pe_dtype_bytes(to->dtype);
    char *out = to->data;
    if (to->dtype == from->dtype && !from->fortran) {
        memcpy(out, from->data, from->elements * size);
        return;
    }
    for (size_t e = 0; e < from->elements; e++, out += out_size) {
        const unsigned char *in =
            from->data + (from->fortran ? fortran_index(&from->shape, e) : e) * size;
        if (to->dtype == from->dtype)
            memcpy(out, in, size);
        else
            pe_dtype_store(to->dtype, pe_dtype_load(from->dtype, in), out);
    }
}

/* An exponent field of all ones is an infinity or a NaN. Each loop is one pass without branches. */
static bool all_below_64(const uint64_t *bits, size_t n, uint64_t exponent)
{
    unsigned any = 0;
    for (size_t i = 0; i < n; i++)
        any |= (bits[i] & exponent) == exponent;
    return any == 0;
}

static bool all_below_32(const uint32_t *bits, size_t n, uint32_t exponent)
{
    unsigned any = 0;
    for (size_t i = 0; i < n; i++)
        any |= (bits[i] & exponent) == exponent;
    return any == 0;
}

static bool all_below_16(const uint16_t *bits, size_t n, unsigned exponent)
{
    unsigned any = 0;
    for (size_t i = 0; i < n; i++)
        any |= (bits[i] & exponent) == exponent;
    return any == 0;
}

static bool all_finite(const pe_array *array)
{
    const size_t n = array->elements;
    switch (array->dtype) {
    case PE_FLOAT64:
        return all_below_64(array->data, n, UINT64_C(0x7ff) << 52);
    case PE_FLOAT32:
        return all_below_32(array->data, n, UINT32_C(0xff) << 23);
    case PE_FLOAT16:
        return all_below_16(array->data, n, 0x7c00);
    case PE_BFLOAT16:
        return all_below_16(array->data, n, 0x7f80);
    case PE_INT32:
    case PE_DTYPES:
        break;
    }
    return true;
}

/* Non-finite elements mean "masked" in what we answer; as input they have no meaning. */
static pe_status check_finite(const pe_array *array, const pe_body_tensor *from, const char *place,
                              pe_problem *why)
{
    const size_t size = pe_dtype_bytes(array->dtype);
    size_t e = 0;
    if (all_finite(array))
        return PE_OK;
    while (isfinite(pe_dtype_load(array->dtype, (const char *)array->data + e * size)))
        e++;
    const size_t index = from->fortran ? fortran_index(&from->shape, e) : e;
    const unsigned char *in = from->data + index * pe_dtype_bytes(from->dtype);
    if (isfinite(pe_dtype_load(from->dtype, in)))
        return pe_fail(why, PE_INVALID_PARAMETER, place, "element %zu of %s overflows %s", e, place,
                       pe_dtype_name(array->dtype));
    return pe_fail(why, PE_INVALID_PARAMETER, place, "element %zu of %s is not a finite number", e,
                   place);
}

static bool can_borrow(const pe_body_tensor *from, pe_dtype dtype)
{
    return from->dtype == dtype && !from->fortran &&
           (uintptr_t)from->data % pe_dtype_bytes(dtype) == 0;
}

static pe_status make_array(const pe_body_tensor *from, pe_dtype dtype, pe_array *out,
                            pe_problem *why)
{
    if (can_borrow(from, dtype)) {
        *out = (pe_array){.dtype = dtype,
                          .shape = from->shape,
                          .elements = from->elements,
                          .data = (void *)(uintptr_t)from->data, /* read only: borrowed */
                          .borrowed = true};
        return PE_OK;
    }
    pe_status status = pe_array_make(dtype, &from->shape, out, why);
    if (status == PE_OK)
        convert(from, out);
    return status;
}

/* ---- rows ---------------------------------------------------------------------------------------
 */

/* The row a tensor of the body goes to; values.n when there is none. */
static size_t find_row(const pe_values *values, const char *name)
{
    const bool first = name[0] == '\0' || strcmp(name, "data") == 0;
    for (size_t i = 0; i < values->n; i++)
        if (values->params[i].kind == PE_KIND_TENSOR &&
            (first || strcmp(values->params[i].name, name) == 0))
            return i;
    return values->n;
}

/* Absent dtype means the body's, where the resource knows it. */
static void default_dtype(pe_ask *ask, pe_dtype of_body)
{
    for (size_t i = 0; i < ask->values.n; i++) {
        const pe_param *param = &ask->values.params[i];
        pe_value *value = &ask->values.value[i];
        if (param->kind != PE_KIND_CHOICE || strcmp(param->name, "dtype") != 0 || value->present)
            continue;
        for (size_t choice = 0; param->choices[choice] != NULL; choice++)
            if (strcmp(param->choices[choice], pe_dtype_name(of_body)) == 0) {
                value->choice = choice;
                value->present = true;
            }
    }
}

static pe_status set_tensor(pe_ask *ask, const pe_body_tensor *from, const pe_read_limits *limits,
                            pe_problem *why)
{
    const size_t i = find_row(&ask->values, from->name);
    if (i == ask->values.n)
        return from->name[0] == '\0'
                   ? pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "", "%s takes no tensor in its body",
                             ask->resource->path)
                   : pe_fail_unknown(ask->resource, true, from->name, from->name, why);
    const pe_param *param = &ask->values.params[i];
    pe_value *value = &ask->values.value[i];
    if (value->given)
        return pe_fail_repeated(param->name, param->name, why);
    if (from->elements == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, param->name, "%s must not be empty", param->name);
    pe_status status =
        make_array(from, param->as_float64 ? PE_FLOAT64 : pe_ask_dtype(ask), &value->tensor, why);
    if (status == PE_OK)
        status = check_finite(&value->tensor, from, param->name, why);
    if (status != PE_OK)
        return status;
    value->present = value->given = true;
    const pe_reading to = {.param = param, .value = value, .place = param->name, .limits = limits};
    return pe_value_check_tensor(&to, why);
}

static pe_status read_body(pe_ask *ask, const pe_binary_body *body, const pe_read_limits *limits,
                           pe_problem *why)
{
    pe_body_tensor tensors[PE_BODY_TENSORS_MAX];
    size_t n = 0;
    pe_status status = read_tensors(body, limits, tensors, &n, why);
    if (status != PE_OK)
        return status;
    default_dtype(ask, tensors[0].dtype);
    for (size_t t = 0; t < n && status == PE_OK; t++)
        status = set_tensor(ask, &tensors[t], limits, why);
    return status;
}

pe_status pe_ask_from_binary(const pe_resource *resource, const char *query, size_t query_bytes,
                             const pe_binary_body *body, const pe_read_limits *limits, pe_ask *out,
                             pe_problem *why)
{
    pe_ask ask;
    pe_status status = pe_ask_begin(resource, &ask, why);
    if (status == PE_OK)
        status = pe_query_read(&ask, query, query_bytes, limits, why);
    if (status == PE_OK)
        status = read_body(&ask, body, limits, why);
    if (status == PE_OK)
        status = pe_values_defaults(&ask.values, why);
    if (status != PE_OK) {
        pe_ask_free(&ask);
        return status;
    }
    *out = ask;
    return PE_OK;
}
