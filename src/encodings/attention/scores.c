/* SPDX-License-Identifier: MIT */
/* scores.c - what the resources of attention scores share: dot products, and whether they fit. */
#include "encodings/attention/scores.h"

#include <math.h>
#include <stdlib.h>

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

static bool all_finite(pe_dtype dtype, const unsigned char *at, size_t n)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    bool finite = true;
    for (size_t i = 0; i < n; i++)
        finite &= isfinite(pe_dtype_load(dtype, at + i * bytes)) != 0;
    return finite;
}

pe_status pe_scores_check(const pe_plan *plan, const char *where, pe_problem *why)
{
    enum { CHUNK = 1024 };
    const pe_tensor *tensor = &plan->tensors[0];
    const size_t most = tensor->unit < CHUNK ? CHUNK / tensor->unit : 1;
    void *some = malloc(most * tensor->unit * sizeof(double));
    pe_status status = some == NULL ? pe_fail_memory(why) : PE_OK;
    for (size_t first = 0; status == PE_OK && first < tensor->units; first += most) {
        const size_t left = tensor->units - first, n = left < most ? left : most;
        const pe_region region = pe_plan_units(plan, 0, first, n);
        status = plan->fill(plan, &region, some, why);
        if (status == PE_OK && !all_finite(tensor->dtype, some, n * tensor->unit))
            status = pe_fail(why, PE_INVALID_PARAMETER, where, "a score overflows %s",
                             pe_dtype_name(tensor->dtype));
    }
    free(some);
    return status;
}
