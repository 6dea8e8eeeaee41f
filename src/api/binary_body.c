/* SPDX-License-Identifier: MIT */
/* binary_body.c - a body of plain numbers, described by X-Tensor-Shape and X-Tensor-Dtype. */
#include <string.h>

#include "api/value_reading.h"

/* "512, 64": digits and commas, spaces around the numbers. */
static bool parse_shape(const char *text, pe_shape *out)
{
    pe_shape shape = {0};
    do {
        size_t dim = 0;
        text += strspn(text, " \t");
        if (*text < '0' || *text > '9' || shape.ndim == PE_MAX_DIMS)
            return false;
        for (; *text >= '0' && *text <= '9'; text++)
            if (!pe_size_mul(dim, 10, &dim) || !pe_size_add(dim, (size_t)(*text - '0'), &dim))
                return false;
        shape.dim[shape.ndim++] = dim;
        text += strspn(text, " \t");
    } while (*text++ == ',');
    *out = shape;
    return text[-1] == '\0';
}

static bool parse_dtype(const char *text, pe_dtype *out)
{
    for (pe_dtype dtype = 0; dtype < PE_DTYPES; dtype++)
        if (strcmp(pe_dtype_name(dtype), text) == 0) {
            *out = dtype;
            return true;
        }
    return false;
}

pe_status pe_body_raw(const pe_binary_body *body, size_t max_elements, pe_stored *out,
                      pe_problem *why)
{
    pe_stored tensor = {.data = body->data};
    if (body->shape == NULL || body->dtype == NULL)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "a body of plain numbers needs the headers X-Tensor-Shape (512,64) and "
                       "X-Tensor-Dtype (float32); %s is missing",
                       body->shape == NULL ? "X-Tensor-Shape" : "X-Tensor-Dtype");
    if (!parse_shape(body->shape, &tensor.shape))
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "X-Tensor-Shape must be 1 to %d sizes like 512,64, got \"%.40s\"",
                       PE_MAX_DIMS, body->shape);
    if (!parse_dtype(body->dtype, &tensor.dtype))
        return pe_fail(why, PE_INVALID_PARAMETER, "",
                       "X-Tensor-Dtype must be one of float32, float64, float16, bfloat16, int32; "
                       "got \"%.40s\"",
                       body->dtype);
    pe_status status =
        pe_stored_check_size(&tensor, "X-Tensor-Shape", body->bytes, max_elements, why);
    if (status == PE_OK)
        *out = tensor;
    return status;
}
