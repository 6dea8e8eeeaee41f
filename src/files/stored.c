/* SPDX-License-Identifier: MIT */
/* stored.c - the numbers of stored tensors. */
#include "files/stored.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "base/size.h"
#include "base/yield.h"
#include "kernels/kernels.h"

pe_status pe_stored_check_real(const pe_stored *tensor, pe_problem *why)
{
    return !tensor->is_complex ? PE_OK
                               : pe_fail(why, PE_INVALID_PARAMETER, "",
                                         "numbers must be real; send complex ones as their parts, "
                                         "along a last axis of 2");
}

bool pe_stored_split_complex(pe_stored *tensor)
{
    if (tensor->shape.ndim == PE_MAX_DIMS)
        return false;
    tensor->is_complex = true;
    tensor->shape.dim[tensor->shape.ndim++] = 2;
    return true;
}

size_t pe_stored_size(const pe_stored *tensor)
{
    return tensor->wide ? sizeof(int64_t) : pe_dtype_bytes(tensor->dtype);
}

pe_status pe_stored_check_size(pe_stored *tensor, const char *what, size_t bytes,
                               size_t max_elements, pe_problem *why)
{
    size_t elements = 0, needed = 0;
    const size_t size = pe_stored_size(tensor);
    if (!pe_array_elements(&tensor->shape, &elements) || elements > max_elements) {
        pe_fail(why, PE_TOO_MANY_ELEMENTS, "", "%s names more than %zu elements", what,
                max_elements);
        why->max_elements = max_elements;
        why->requested_elements = elements > 0 ? elements : UINT64_MAX;
        return why->status;
    }
    if (!pe_size_mul(elements, size, &needed) || needed != bytes)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "%s names %zu elements of %s, which take %zu bytes, got %zu bytes", what,
                       elements, tensor->wide ? "int64" : pe_dtype_name(tensor->dtype), needed,
                       bytes);
    tensor->elements = elements;
    tensor->bytes = bytes;
    return PE_OK;
}

/* A number of the file, its bytes in our order. */
static uint64_t bits_at(const pe_stored *from, const unsigned char *at)
{
    uint64_t bits = 0;
    const size_t size = pe_stored_size(from);
    memcpy(&bits, at, size);
    return from->swapped ? __builtin_bswap64(bits) >> (64 - 8 * size) : bits;
}

/* Numbers next to each other, bit for bit but for the order of their bytes. Of wide ones, which
 * have been checked, the low half. */
static void copy_run(const pe_stored *from, const unsigned char *in, size_t n, void *out)
{
    const size_t size = pe_stored_size(from), out_size = pe_dtype_bytes(from->dtype);
    if (!from->swapped && !from->wide) {
        memcpy(out, in, n * size);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = bits_at(from, in + i * size);
        memcpy((char *)out + i * out_size, &bits, out_size);
    }
}

/* Numbers that are doubles on their way from one type to another. */
#define WIDE ((size_t)512)

/* The same, each rounded once. */
static void convert_run(const pe_stored *from, const unsigned char *in, size_t n, pe_dtype to,
                        char *out)
{
    const size_t in_size = pe_stored_size(from), out_size = pe_dtype_bytes(to);
    const pe_kernels *kernels = pe_kernels_get();
    const bool same = from->dtype == to;
    double wide[WIDE];
    unsigned char ours[sizeof wide];
    for (size_t i = 0, some; i < n; i += some) {
        some = pe_size_min(WIDE, n - i);
        copy_run(from, in + i * in_size, some, same ? (void *)(out + i * out_size) : ours);
        if (!same) {
            kernels->widen(from->dtype, ours, some, wide);
            kernels->narrow(to, wide, some, out + i * out_size);
        }
        pe_yield_look(some / 8);
    }
}

/* ---- the first axis runs fastest ----------------------------------------------------------------
 *
 * h counts through all axes but the last as the file does, their first one fastest, and t through the
 * last. An element is at h + front * t of the file, so that a square of neighbours in h and in t is a
 * few runs on either side. Both parts of a complex number are one element.
 */

/* Neighbours in h, and in t. */
#define SQUARE ((size_t)32)

/* A square of elements: n_h neighbours in h by n_t in t, from element t on. */
typedef struct square {
    size_t n_h, n_t, t, front;
    unsigned char at[SQUARE * SQUARE * 2 * sizeof(double)]; /* at[h][t] */
} square;

/* Elements of `size` bytes. */
static inline void gather(const unsigned char *in, size_t size, square *s)
{
    for (size_t t = 0; t < s->n_t; t++)
        for (size_t h = 0; h < s->n_h; h++)
            memcpy(s->at + (h * SQUARE + t) * size, in + (h + (s->t + t) * s->front) * size, size);
}

static size_t parts_of(const pe_stored *tensor)
{
    return tensor->is_complex ? 2 : 1;
}

/* Without the axis of the parts. */
static pe_shape axes_of(const pe_stored *tensor)
{
    pe_shape shape = tensor->shape;
    shape.ndim -= tensor->is_complex;
    return shape;
}

/* The row of the array that count h of the file is. */
static size_t row_of(const pe_shape *shape, size_t h)
{
    size_t row = 0;
    for (size_t axis = 0; axis + 1 < shape->ndim; h /= shape->dim[axis++])
        row = row * shape->dim[axis] + h % shape->dim[axis];
    return row;
}

static void convert_fortran(const pe_stored *from, pe_array *to)
{
    const size_t parts = parts_of(from), elements = from->elements / parts;
    const size_t size = parts * pe_stored_size(from);
    const size_t out_size = parts * pe_dtype_bytes(to->dtype);
    const pe_shape shape = axes_of(from);
    const size_t back = shape.ndim > 0 ? shape.dim[shape.ndim - 1] : 1;
    square s = {.front = elements / back};
    for (size_t h = 0; h < s.front; h += SQUARE) {
        s.n_h = pe_size_min(SQUARE, s.front - h);
        for (s.t = 0; s.t < back; s.t += SQUARE) {
            s.n_t = pe_size_min(SQUARE, back - s.t);
            const unsigned char *in = from->data + h * size;
            if (size == 2)
                gather(in, 2, &s);
            else if (size == 4)
                gather(in, 4, &s);
            else if (size == 8)
                gather(in, 8, &s);
            else
                gather(in, 16, &s);
            for (size_t i = 0; i < s.n_h; i++)
                convert_run(from, s.at + i * SQUARE * size, s.n_t * parts, to->dtype,
                            (char *)to->data + (row_of(&shape, h + i) * back + s.t) * out_size);
        }
    }
}

/* An infinity or a NaN has ones in all of its exponent, whose lowest bit then carries into the place of
 * the sign: of as many numbers at once as a word holds. */
static bool all_finite(const pe_array *array)
{
    static const uint64_t exponents[PE_DTYPES] = {[PE_FLOAT64] = 0x7ff0000000000000,
                                                  [PE_FLOAT32] = 0x7f8000007f800000,
                                                  [PE_FLOAT16] = 0x7c007c007c007c00,
                                                  [PE_BFLOAT16] = 0x7f807f807f807f80};
    const uint64_t exponent = exponents[array->dtype], lowest = exponent & ~(exponent << 1);
    const char *at = array->data;
    uint64_t word, carried = 0;
    size_t left = array->elements * pe_dtype_bytes(array->dtype);
    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        carried |= (word & exponent) + lowest;
    }
    word = 0;
    memcpy(&word, at, left);
    carried |= (word & exponent) + lowest;
    return (carried & (exponent << 1) & ~exponent) == 0;
}

void pe_stored_set_name(pe_stored *tensor, const char *name, size_t bytes)
{
    memcpy(tensor->name, name, bytes);
    tensor->name[bytes] = '\0';
    pe_hide_controls(tensor->name);
}

double pe_stored_number(const pe_stored *tensor, size_t e)
{
    const pe_shape shape = axes_of(tensor);
    const size_t parts = parts_of(tensor), part = e % parts;
    size_t index = e, stride = tensor->elements / parts;
    if (tensor->fortran) {
        e /= parts;
        index = part;
        for (size_t axis = shape.ndim; axis-- > 0; e /= shape.dim[axis]) {
            stride /= shape.dim[axis];
            index += parts * (e % shape.dim[axis] * stride);
        }
    }
    const uint64_t bits = bits_at(tensor, tensor->data + index * pe_stored_size(tensor));
    return tensor->wide ? (double)(int64_t)bits : pe_dtype_load(tensor->dtype, (const char *)&bits);
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
    if (isfinite(pe_stored_number(from, e)))
        return pe_fail(why, PE_INVALID_PARAMETER, place, "element %zu of %s overflows %s", e, place,
                       pe_dtype_name(array->dtype));
    return pe_fail(why, PE_INVALID_PARAMETER, place, "element %zu of %s is not a finite number", e,
                   place);
}

bool pe_stored_borrow(const pe_stored *from, pe_dtype dtype, pe_array *out)
{
    *out = (pe_array){.dtype = dtype,
                      .shape = from->shape,
                      .elements = from->elements,
                      .data = (void *)(uintptr_t)from->data, /* read only: borrowed */
                      .borrowed = true};
    return from->dtype == dtype && !from->fortran && !from->swapped && !from->wide;
}

pe_status pe_stored_array(const pe_stored *from, pe_dtype dtype, pe_array *out, pe_problem *why)
{
    const bool aligned = (uintptr_t)from->data % pe_dtype_bytes(dtype) == 0;
    if ((from->there > 0 || aligned) && pe_stored_borrow(from, dtype, out))
        return PE_OK;
    if (from->there > 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "dtype",
                       "numbers that are still to come cannot be converted");
    for (size_t e = 0; e < from->elements && from->wide; e++) {
        const double number = pe_stored_number(from, e);
        if (number < INT32_MIN || number > INT32_MAX)
            return pe_fail(why, PE_INVALID_PARAMETER, "",
                           "integers must be those of int32; element %zu%s%.40s is %.0f", e,
                           from->name[0] != '\0' ? " of " : "", from->name, number);
    }
    PE_TRY(pe_array_make(dtype, &from->shape, out, why));
    /* Copy row-major, each number rounded once to the array's dtype. */
    if (from->fortran && from->elements > 0)
        convert_fortran(from, out);
    else
        convert_run(from, from->data, from->elements, out->dtype, out->data);
    return PE_OK;
}
