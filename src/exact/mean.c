/* SPDX-License-Identifier: MIT */
/* mean.c - the mean of the cosines of a position. */
#include "exact/pair.h"
#include "exact/wave_set.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tile of cosines: narrow, so that an anchor serves many rows of a wide set, too. */
#define TILE             16384
#define TILE_ROWS        256
#define TILE_FREQUENCIES 256

/* The sums of rows, in double-double from the first frequency to the last. */
typedef struct sums {
    double hi[TILE_ROWS], lo[TILE_ROWS];
} sums;

/* Add n more columns of all rows. Rows are independent, so the additions of one do not wait for
 * those of another. */
static void add_tile(const double *x, size_t rows, size_t n, sums *to)
{
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0; r < rows; r++) {
            const pe_pair sum = pe_pair_sum(to->hi[r], x[r * n + i]);
            to->hi[r] = sum.hi;
            to->lo[r] += sum.lo;
        }
}

/* (hi + lo) / n, once rounded. */
static double quotient_of(double hi, double lo, size_t n, pe_dtype dtype)
{
    const pe_pair sum = pe_pair_sum(hi, lo);
    const double count = (double)n, quotient = sum.hi / count;
    const double tail = (fma(-quotient, count, sum.hi) + sum.lo) / count;
    const pe_pair rounded = pe_pair_sum(quotient, tail);
    return dtype == PE_FLOAT64 ? rounded.hi : pe_pair_to_odd(rounded);
}

static pe_status add_rows(const pe_wave_table *table, size_t first, size_t rows, double *room,
                          sums *out, pe_problem *why)
{
    const size_t all = table->wave->spec.n;
    pe_status status = PE_OK;
    *out = (sums){0};
    for (size_t from = 0; from < all && status == PE_OK; from += TILE_FREQUENCIES) {
        const size_t n = all - from < TILE_FREQUENCIES ? all - from : TILE_FREQUENCIES;
        const pe_wave_layout layout = {1, -1, 0, n};
        const pe_wave_table bare = {table->wave, table->positions, &layout, PE_FLOAT64};
        status = pe_wave_bare_tile(&bare, &(pe_wave_tile){first, rows, from, n}, room, why);
        if (status == PE_OK)
            add_tile(room, rows, n, out);
    }
    return status;
}

pe_status pe_wave_mean_cos(const pe_wave_table *table, size_t first, size_t rows, void *out,
                           pe_problem *why)
{
    const size_t n = table->wave->spec.n, bytes = pe_dtype_bytes(table->dtype);
    /* Up to this, values round to 0, which has no sign. */
    const double zero = ldexp(0.5, pe_fixed128_precision(table->dtype).least);
    assert(n != 0);
    const size_t columns = n < TILE_FREQUENCIES ? n : TILE_FREQUENCIES;
    const size_t most = TILE / columns < TILE_ROWS ? TILE / columns : TILE_ROWS;
    char *to = out;
    sums sum;
    double *room = malloc(TILE * sizeof *room);
    if (room == NULL)
        return pe_fail_memory(why);
    pe_status status = PE_OK;
    for (size_t r = 0; status == PE_OK && r < rows; r += most) {
        const size_t some = rows - r < most ? rows - r : most;
        status = add_rows(table, first + r, some, room, &sum, why);
        for (size_t k = 0; status == PE_OK && k < some; k++, to += bytes) {
            const double value = quotient_of(sum.hi[k], sum.lo[k], n, table->dtype);
            pe_dtype_store(table->dtype, fabs(value) <= zero ? 0 : value, to);
        }
    }
    free(room);
    return status;
}
