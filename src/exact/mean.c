/* SPDX-License-Identifier: MIT */
/* mean.c - the mean of the cosines of a position. */
#include "exact/pair.h"
#include "exact/wave_set.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cosines kept at a time. */
#define BLOCK 16384

/* The mean of x, summed in double-double from first to last. */
static double mean(const double *x, size_t n, pe_dtype dtype)
{
    pe_pair sum = {0, 0};
    for (size_t i = 0; i < n; i++) {
        const pe_pair next = pe_pair_sum(sum.hi, x[i]);
        sum = (pe_pair){next.hi, sum.lo + next.lo};
    }
    sum = pe_pair_sum(sum.hi, sum.lo);
    const double count = (double)n, quotient = sum.hi / count;
    const double tail = (fma(-quotient, count, sum.hi) + sum.lo) / count;
    const pe_pair result = pe_pair_sum(quotient, tail);
    return dtype == PE_FLOAT64 ? result.hi : pe_pair_to_odd(result);
}

pe_status pe_wave_mean_cos(const pe_wave_table *table, size_t first, size_t rows, void *out,
                           pe_problem *why)
{
    const size_t n = table->wave->spec.n;
    const pe_dtype dtype = table->dtype;
    assert(n != 0);
    const size_t fit = n < BLOCK ? BLOCK / n : 1, most = rows < fit ? rows : fit;
    /* Up to this, values round to 0, which has no sign. */
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
