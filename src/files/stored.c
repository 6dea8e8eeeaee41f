/* SPDX-License-Identifier: MIT */
/* stored.c - the numbers of stored tensors. */
#include "files/stored.h"

#include <math.h>
#include <string.h>

pe_status pe_stored_check_size(pe_stored *tensor, const char *what, size_t bytes,
                               size_t max_elements, pe_problem *why)
{
    size_t elements = 0, needed = 0;
    const size_t size = pe_dtype_bytes(tensor->dtype);
    if (!pe_shape_elements(&tensor->shape, &elements) || elements > max_elements) {
        pe_fail(why, PE_TOO_MANY_ELEMENTS, "", "%s names more than %zu elements", what,
                max_elements);
        why->max_elements = max_elements;
        why->requested_elements = elements > 0 ? elements : UINT64_MAX;
        return why->status;
    }
    if (!pe_size_mul(elements, size, &needed) || needed != bytes)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "%s names %zu elements of %s, %zu bytes, but %zu came", what, elements,
                       pe_dtype_name(tensor->dtype), needed, bytes);
    tensor->elements = elements;
    tensor->bytes = bytes;
    return PE_OK;
}

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
static void convert(const pe_stored *from, pe_array *to)
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
pe_status pe_stored_check_finite(const pe_array *array, const pe_stored *from, const char *place,
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

static bool can_borrow(const pe_stored *from, pe_dtype dtype)
{
    return from->dtype == dtype && !from->fortran &&
           (uintptr_t)from->data % pe_dtype_bytes(dtype) == 0;
}

pe_status pe_stored_array(const pe_stored *from, pe_dtype dtype, pe_array *out, pe_problem *why)
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
