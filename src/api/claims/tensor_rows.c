/* SPDX-License-Identifier: MIT */
/* tensor_rows.c - what the numbers of a tensor show, without knowing what they are for. */
#include "api/claims/tensor_rows.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"

bool pe_tensor_rows_read(const pe_stored *tensor, size_t last_axes, pe_tensor_rows *out)
{
    const pe_shape *shape = &tensor->shape;
    *out = (pe_tensor_rows){tensor, 1, 1};
    if (shape->ndim < last_axes || tensor->elements == 0)
        return false;
    for (size_t d = 0; d < shape->ndim; d++) {
        if (d + last_axes >= shape->ndim)
            out->width *= shape->dim[d];
        else
            out->n *= shape->dim[d];
    }
    return true;
}

double pe_tensor_rows_at(const pe_tensor_rows *r, size_t row, size_t column)
{
    return pe_stored_number(r->tensor, row * r->width + column);
}

/* Rows that are looked at. */
#define LOOKED_AT 32

/* Rows that are there. */
static size_t known(const pe_tensor_rows *r)
{
    const size_t there = r->tensor->there;
    return there == 0 ? r->n : there / (r->width * pe_stored_size(r->tensor));
}

static size_t looked_at(const pe_tensor_rows *r, size_t k)
{
    const size_t n = known(r);
    return n <= LOOKED_AT ? k : k * (n - 1) / (LOOKED_AT - 1);
}

static size_t looks(const pe_tensor_rows *r)
{
    const size_t n = known(r);
    return n < LOOKED_AT ? n : LOOKED_AT;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double pe_tensor_rows_amplitude(const pe_tensor_rows *r)
{
    double most[LOOKED_AT] = {0};
    const size_t n = looks(r);
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; c < r->width; c++) {
            const double x = fabs(pe_tensor_rows_at(r, looked_at(r, k), c));
            most[k] = isfinite(x) && x > most[k] ? x : most[k];
        }
    qsort(most, n, sizeof *most, by_size);
    return most[n * 3 / 4];
}

double pe_tensor_rows_share(const pe_tensor_rows *r, bool halves, pe_tensor_test *test)
{
    size_t tested = 0, held = 0;
    const double most = pe_tensor_rows_amplitude(r);
    for (size_t k = 0; k < looks(r); k++)
        for (size_t i = 0; i < r->width / 2; i++) {
            const size_t row = looked_at(r, k);
            const int is = halves ? test(pe_tensor_rows_at(r, row, i),
                                         pe_tensor_rows_at(r, row, i + r->width / 2), most)
                                  : test(pe_tensor_rows_at(r, row, 2 * i),
                                         pe_tensor_rows_at(r, row, 2 * i + 1), most);
            tested += is >= 0;
            held += is > 0;
        }
    return tested == 0 || r->width % 2 != 0 ? (double)NAN : (double)held / (double)tested;
}

/* Sines near 0, and cosines near their amplitude, are equal in any table. */
int pe_tensor_are_equal(double a, double b, double amplitude)
{
    if (!isfinite(a) || !isfinite(b) || fabs(a) <= 1e-3 * amplitude || fabs(a) > 0.99 * amplitude)
        return -1;
    return fabs(a - b) <= 1e-4 * fabs(a);
}

/* A pair on the circle. */
int pe_tensor_are_a_pair(double a, double b, double amplitude)
{
    if (!isfinite(a) || !isfinite(b))
        return -1;
    return fabs(hypot(a, b) - amplitude) < 0.02 * amplitude;
}

bool pe_tensor_rows_count(const pe_tensor_rows *r)
{
    const double first = pe_tensor_rows_at(r, 0, 0),
                 step = r->n > 1 ? pe_tensor_rows_at(r, 1, 0) - first : 0;
    if (r->n < 3 || !isfinite(first) || !isfinite(step) || step == 0)
        return false;
    for (size_t k = 0; k < looks(r); k++) {
        const double row = (double)looked_at(r, k), wanted = first + step * row;
        if (fabs(pe_tensor_rows_at(r, looked_at(r, k), 0) - wanted) > 1e-2 * fabs(wanted) + 1e-3)
            return false;
    }
    return true;
}

bool pe_tensor_is_inv_freq(const pe_stored *tensor)
{
    pe_tensor_rows r;
    if (tensor->shape.ndim == 1)
        return true;
    if (!pe_tensor_rows_read(tensor, 1, &r) || (r.n > 1 && r.width > 1) || tensor->elements < 3)
        return false;
    double before = 1, last = 1;
    for (size_t e = 0; e < tensor->elements; e++) {
        const double x = r.n > 1 ? pe_tensor_rows_at(&r, e, 0) : pe_tensor_rows_at(&r, 0, e);
        if (!(x > 0) || (e == 0 ? fabs(x - 1) > 1e-2 : x >= last) ||
            (e == 2 && fabs(last * last - before * x) > 2e-2 * last * last))
            return false;
        before = last;
        last = x;
    }
    return true;
}

bool pe_tensor_rows_are_doubled(const pe_tensor_rows *r, size_t run)
{
    for (size_t k = 0; k < r->n && r->width % (2 * run) == 0; k++) {
        pe_yield_spend(r->width);
        for (size_t i = 0; i < r->width / 2; i++) {
            const size_t column = i + i / run * run;
            if (!(pe_tensor_rows_at(r, k, column) == pe_tensor_rows_at(r, k, column + run)))
                return false;
        }
    }
    return r->width % (2 * run) == 0;
}

void pe_tensor_halve(pe_stored *tensor, const pe_tensor_rows *r, size_t run)
{
    const size_t each = pe_stored_size(tensor), half = r->width / 2;
    unsigned char *data = (unsigned char *)(uintptr_t)tensor->data; /* the body's, or the claim's */
    for (size_t k = 0; k < r->n; k++)
        for (size_t i = 0; i < half; i += run)
            memmove(data + (k * half + i) * each, data + (k * r->width + 2 * i) * each, run * each);
    tensor->shape.dim[tensor->shape.ndim - 1] = half;
    tensor->elements /= 2;
    tensor->bytes /= 2;
}
