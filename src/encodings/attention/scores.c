/* SPDX-License-Identifier: MIT */
/* scores.c - what the resources of attention scores share: dot products, and whether they fit. */
#include "encodings/attention/scores.h"

#include <assert.h>
#include <math.h>

#include "kernels/kernels.h"

const void *pe_scores_row(const pe_array *array, size_t r)
{
    const size_t bytes = array->shape.dim[1] * pe_dtype_bytes(array->dtype);
    return (const unsigned char *)array->data + r * bytes;
}

/* Sums in eight lanes, then the lanes in order. */
double pe_scores_dot(const double *x, const double *y, size_t n)
{
    double lane[8] = {0}, sum = 0;
    size_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (size_t l = 0; l < 8; l++)
            lane[l] += x[j + l] * y[j + l];
    for (; j < n; j++)
        sum += x[j] * y[j];
    for (size_t l = 0; l < 8; l++)
        sum += lane[l];
    return sum;
}

double pe_scores_norm_max(const pe_array *array, double *wide)
{
    double most = 0;
    const size_t d = array->shape.dim[1];
    for (size_t r = 0; r < array->shape.dim[0]; r++) {
        pe_kernels_get()->widen(array->dtype, pe_scores_row(array, r), d, wide);
        const double norm = sqrt(pe_scores_dot(wide, wide, d));
        if (!(norm <= most))
            most = isnan(norm) ? (double)INFINITY : norm;
    }
    return most;
}

bool pe_scores_fit(double bound, pe_dtype dtype)
{
    return bound <= pe_dtype_max(dtype) * 0.999;
}

pe_status pe_scores_check(const pe_plan *plan, const char *where, pe_problem *why)
{
    enum { CHUNK = 1024 };
    const pe_tensor *tensor = &plan->tensors[0];
    const size_t bytes = pe_dtype_bytes(tensor->dtype);
    assert(tensor->unit == 1);
    for (size_t first = 0; first < tensor->units; first += CHUNK) {
        _Alignas(64) unsigned char some[CHUNK * sizeof(double)];
        const size_t left = tensor->units - first, n = left < CHUNK ? left : CHUNK;
        const pe_region region = pe_plan_units(plan, 0, first, n);
        const pe_status status = plan->fill(plan, &region, some, why);
        if (status != PE_OK)
            return status;
        for (size_t i = 0; i < n; i++)
            if (!isfinite(pe_dtype_load(tensor->dtype, some + i * bytes)))
                return pe_fail(why, PE_INVALID_PARAMETER, where, "a score overflows %s",
                               pe_dtype_name(tensor->dtype));
    }
    return PE_OK;
}
