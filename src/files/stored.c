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
 * The axes are cut in two: h counts through the front ones as the file does, their first one
 * fastest, and t through the back ones as rows do, their last one fastest. An element is at
 *
 *     h + front * (t as the file counts)   of the file,
 *     t + back * (h as rows count)         of the array,
 *
 * so that a square of neighbours in h and in t is a few runs on either side. Both parts of a
 * complex number are one element.
 */

/* Neighbours in h, and in t. */
#define SQUARE ((size_t)32)

/* Some axes, in the order in which one count goes through them, with their strides in another. */
typedef struct odometer {
    size_t n;
    size_t dim[PE_MAX_DIMS], stride[PE_MAX_DIMS];
    size_t at[PE_MAX_DIMS], offset;
} odometer;

/* Axes [first, last), the first one fastest (step 1) or the last one; strides the other way round,
 * from `stride` on. */
static odometer odometer_of(const pe_shape *shape, size_t first, size_t last, bool first_fastest,
                            size_t stride)
{
    odometer o = {.n = last - first};
    for (size_t i = o.n; i-- > 0; stride *= o.dim[i]) {
        o.dim[i] = shape->dim[first_fastest ? first + i : last - 1 - i];
        o.stride[i] = stride;
    }
    return o;
}

/* The next `n` offsets. */
static void odometer_run(odometer *o, size_t n, size_t *offsets)
{
    for (size_t k = 0; k < n; k++) {
        offsets[k] = o->offset;
        for (size_t i = 0; i < o->n; i++) {
            o->offset += o->stride[i];
            if (++o->at[i] < o->dim[i])
                break;
            o->offset -= o->dim[i] * o->stride[i]; /* carry */
            o->at[i] = 0;
        }
    }
}

/* How many axes are the front ones: so that both counts are long. */
static size_t cut_of(const pe_shape *shape, size_t elements, size_t *front)
{
    size_t cut = 0, best = 0, count = 1;
    *front = 1;
    for (size_t axis = 0; axis < shape->ndim; axis++) {
        count *= shape->dim[axis];
        const size_t shorter = count < elements / count ? count : elements / count;
        if (shorter > best) {
            cut = axis + 1;
            best = shorter;
            *front = count;
        }
    }
    return cut;
}

/* A square of elements: n_h neighbours in h by n_t in t, at the file's offsets of the latter. */
typedef struct square {
    size_t n_h, n_t, offset[SQUARE];
    unsigned char at[SQUARE * SQUARE * 2 * sizeof(double)]; /* at[h][t] */
} square;

/* at[h][t] = in[h + offset[t]], elements of `size` bytes. */
static inline void gather(const unsigned char *in, size_t size, square *s)
{
    for (size_t t = 0; t < s->n_t; t++)
        for (size_t h = 0; h < s->n_h; h++)
            memcpy(s->at + (h * SQUARE + t) * size, in + (h + s->offset[t]) * size, size);
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

static void convert_fortran(const pe_stored *from, pe_array *to)
{
    const size_t parts = parts_of(from), elements = from->elements / parts;
    const size_t size = parts * pe_stored_size(from);
    const size_t out_size = parts * pe_dtype_bytes(to->dtype);
    const pe_shape shape = axes_of(from);
    square s;
    size_t front, array[SQUARE] = {0}; /* an analyzer does not see that the odometer fills it */
    const size_t cut = cut_of(&shape, elements, &front), back = elements / front;
    odometer of_h = odometer_of(&shape, 0, cut, true, back);
    odometer of_t = odometer_of(&shape, cut, shape.ndim, false, front);
    for (size_t h = 0; h < front; h += SQUARE) {
        s.n_h = pe_size_min(SQUARE, front - h);
        odometer_run(&of_h, s.n_h, array);
        for (size_t t = 0; t < back; t += SQUARE) {
            s.n_t = pe_size_min(SQUARE, back - t);
            odometer_run(&of_t, s.n_t, s.offset); /* after the last it begins anew */
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
                            (char *)to->data + (t + array[i]) * out_size);
        }
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

/* Where number e of the rows stands when the first axis runs fastest. */
static size_t fortran_index(const pe_stored *tensor, size_t e)
{
    const size_t parts = parts_of(tensor), part = e % parts;
    const pe_shape shape = axes_of(tensor);
    const odometer o = odometer_of(&shape, 0, shape.ndim, false, 1);
    size_t index = 0;
    e /= parts;
    for (size_t i = 0; i < o.n; e /= o.dim[i++])
        index += e % o.dim[i] * o.stride[i];
    return parts * index + part;
}

void pe_stored_set_name(pe_stored *tensor, const char *name, size_t bytes)
{
    memcpy(tensor->name, name, bytes);
    tensor->name[bytes] = '\0';
    pe_hide_controls(tensor->name);
}

double pe_stored_number(const pe_stored *tensor, size_t e)
{
    const size_t index = tensor->fortran ? fortran_index(tensor, e) : e;
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

static pe_status check_range(const pe_stored *from, pe_problem *why)
{
    for (size_t e = 0; e < from->elements && from->wide; e++) {
        const double number = pe_stored_number(from, e);
        if (number < INT32_MIN || number > INT32_MAX)
            return pe_fail(why, PE_INVALID_PARAMETER, "",
                           "integers must be those of int32; element %zu%s%.40s is %.0f", e,
                           from->name[0] != '\0' ? " of " : "", from->name, number);
    }
    return PE_OK;
}

pe_status pe_stored_array(const pe_stored *from, pe_dtype dtype, pe_array *out, pe_problem *why)
{
    const bool aligned = (uintptr_t)from->data % pe_dtype_bytes(dtype) == 0;
    if ((from->there > 0 || aligned) && pe_stored_borrow(from, dtype, out))
        return PE_OK;
    if (from->there > 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "dtype",
                       "numbers that are still to come cannot be converted");
    pe_status status = check_range(from, why);
    if (status == PE_OK)
        status = pe_array_make(dtype, &from->shape, out, why);
    if (status == PE_OK) {
        /* Copy row-major, each number rounded once to the array's dtype. */
        if (from->fortran && from->elements > 0)
            convert_fortran(from, out);
        else
            convert_run(from, from->data, from->elements, out->dtype, out->data);
    }
    return status;
}
