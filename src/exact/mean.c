/* SPDX-License-Identifier: MIT */
/* mean.c - the mean of the cosines of a position. */
#include "exact/set.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cosines kept at a time. */
#define BLOCK 16384

/* a + b = sum + err exactly (Knuth). */
static double two_sum(double a, double b, double *err)
{
    const double sum = a + b, part = sum - a;
    *err = (a - (sum - part)) + (b - part);
    return sum;
}

/* hi + lo as a double whose last bit is odd unless it is exact, so that one more rounding, to a
 * narrower type, is the only one. |lo| <= ulp(hi)/2. */
static double round_to_odd(double hi, double lo)
{
    uint64_t bits;
    memcpy(&bits, &hi, sizeof bits);
    if (lo != 0 && hi != 0 && (bits & 1) == 0)
        bits += (lo > 0) == (hi > 0) ? 1 : UINT64_MAX;
    memcpy(&hi, &bits, sizeof hi);
    return hi;
}

/* The mean of x, summed in double-double from first to last. */
static double mean(const double *x, size_t n, pe_dtype dtype)
{
    double hi = 0, lo = 0;
    for (size_t i = 0; i < n; i++) {
        double err;
        hi = two_sum(hi, x[i], &err);
        lo += err;
    }
    double rest;
    hi = two_sum(hi, lo, &rest);
    const double count = (double)n, quotient = hi / count;
    const double tail = (fma(-quotient, count, hi) + rest) / count;
    hi = two_sum(quotient, tail, &lo);
    return dtype == PE_FLOAT64 ? hi : round_to_odd(hi, lo);
}

pe_status pe_wave_mean_cos(const pe_wave_table *table, size_t first, size_t rows, void *out,
                           pe_problem *why)
{
    const size_t n = table->wave->spec.n;
    const pe_dtype dtype = table->dtype;
    assert(n != 0);
    const size_t fit = n < BLOCK ? BLOCK / n : 1, most = rows < fit ? rows : fit;
    /* What is not above this rounds to 0, which has no sign. */
    const double zero = ldexp(0.5, pe_fixed128_precision(dtype).least);
    const pe_wave_layout layout = {1, -1, 0, n};
    const pe_wave_table bare = {table->wave, table->positions, &layout, PE_FLOAT64};
    double *cosines = malloc(most * n * sizeof *cosines + 1);
    if (cosines == NULL)
        return pe_fail_memory(why);
    pe_status status = PE_OK;
    for (size_t r = 0; status == PE_OK && r < rows; r += most) {
        const size_t some = rows - r < most ? rows - r : most;
        status = pe_wave_bare_rows(&bare, first + r, some, cosines, why);
        for (size_t k = 0; status == PE_OK && k < some; k++) {
            const double value = mean(cosines + k * n, n, dtype);
            pe_dtype_store(dtype, fabs(value) <= zero ? 0 : value,
                           (char *)out + (r + k) * pe_dtype_bytes(dtype));
        }
    }
    free(cosines);
    return status;
}
