/* SPDX-License-Identifier: MIT */
/* rope_cos_sin.c - cosines and sines of a rotation, one token after another. */
#include "encodings/rope/rope_cos_sin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of at most this many pairs come in blocks: a block is 4 MB then. */
#define BLOCK_PAIRS 4096
/* Rows that are computed at once when they do not come in blocks. */
#define OWN_ROWS 8
/* Positions that lie farther apart than this on average do not come in blocks. */
#define FAR_APART 8

static size_t width(const pe_rope_cos_sin *rows)
{
    return pe_wave_count(rows->wave->wave);
}

/* ---- of one axis ---- */

bool pe_rope_cos_sin_are_dense(const pe_positions *positions)
{
    double least, most;
    pe_positions_bounds(positions, &least, &most);
    return !positions->fractional && most - least <= FAR_APART * (double)positions->count;
}

static bool in_blocks(const pe_rope_cos_sin *rows, const pe_rope_axis_rows *of)
{
    return of->dense && width(rows) <= BLOCK_PAIRS;
}

static int64_t block_of(const pe_rope_axis_rows *of, size_t r)
{
    const int64_t at = (int64_t)pe_positions_at(of->positions, r);
    return at >= 0 ? at / PE_BLOCK_ROWS : -((-at - 1) / PE_BLOCK_ROWS) - 1;
}

static pe_status load_block(const pe_rope_cos_sin *rows, pe_rope_axis_rows *of, size_t first,
                            size_t most, size_t *got, pe_problem *why)
{
    const int64_t block = block_of(of, first);
    size_t n = 1;
    if (of->block.entry == NULL || of->block_at != block) {
        if (of->block.entry != NULL)
            pe_tables_unref(&of->block);
        PE_TRY(pe_tables_block(rows->tables, rows->wave, block, &of->block, why));
        of->block_at = block;
    }
    while (n < most && block_of(of, first + n) == block)
        n++;
    *got = n;
    return PE_OK;
}

static pe_status load_own(const pe_rope_cos_sin *rows, pe_rope_axis_rows *of, size_t first,
                          size_t most, size_t *got, pe_problem *why)
{
    const size_t n = width(rows), count = most < OWN_ROWS ? most : OWN_ROWS;
    *got = 1;
    if (rows->axes != NULL && first > of->own_first && first < of->own_first + of->own_rows)
        return PE_OK; /* there already: of several axes one token is loaded at a time */
    const pe_wave_layout layout = {
        .stride = 1, .cos_at = 0, .sin_at = (ptrdiff_t)(n * OWN_ROWS), .row = n};
    if (of->own == NULL)
        of->own = calloc(n, 2 * OWN_ROWS * sizeof *of->own);
    if (of->own == NULL)
        return pe_fail_memory(why);
    of->own_first = first;
    *got = of->own_rows = count;
    const pe_wave_table table = {rows->wave->wave, of->positions, &layout, PE_FLOAT64};
    return pe_wave_table_rows(&table, first, count, of->own, why);
}

static pe_status load(const pe_rope_cos_sin *rows, pe_rope_axis_rows *of, size_t first, size_t most,
                      size_t *got, pe_problem *why)
{
    return (in_blocks(rows, of) ? load_block : load_own)(rows, of, first, most, got, why);
}

static void find(const pe_rope_cos_sin *rows, const pe_rope_axis_rows *of, size_t r,
                 const double **cos, const double **sin)
{
    const size_t n = width(rows);
    if (in_blocks(rows, of)) {
        const double at = pe_positions_at(of->positions, r);
        const size_t row = (size_t)((int64_t)at - of->block_at * PE_BLOCK_ROWS);
        *cos = of->block.cos + row * n;
        *sin = of->block.sin + row * n;
        return;
    }
    *cos = of->own + (r - of->own_first) * n;
    *sin = *cos + n * OWN_ROWS;
}

/* ---- of all ---- */

pe_status pe_rope_cos_sin_open(pe_rope_cos_sin *rows, pe_tables *tables, const pe_shared_wave *wave,
                               const pe_rope_axes *axes, const pe_positions *positions,
                               pe_problem *why)
{
    *rows = (pe_rope_cos_sin){.tables = tables, .wave = wave, .of[0].positions = positions};
    rows->of[0].dense = pe_rope_cos_sin_are_dense(positions);
    if (axes == NULL || positions->shape.ndim < 2) /* one position for all axes */
        return PE_OK;
    rows->axes = axes;
    for (size_t axis = 0; axis < axes->n; axis++) {
        rows->of[axis].part = pe_positions_part(positions, axis, axes->n);
        rows->of[axis].positions = &rows->of[axis].part;
        rows->of[axis].dense = pe_rope_cos_sin_are_dense(&rows->of[axis].part);
    }
    rows->mixed = malloc(2 * axes->pairs * sizeof *rows->mixed);
    return rows->mixed != NULL ? PE_OK : pe_fail_memory(why);
}

pe_status pe_rope_cos_sin_load(pe_rope_cos_sin *rows, size_t first, size_t most, size_t *got,
                               pe_problem *why)
{
    const pe_rope_axes *axes = rows->axes;
    if (axes == NULL)
        return load(rows, &rows->of[0], first, most, got, why);
    for (size_t axis = 0; axis < axes->n; axis++) {
        const double *cos, *sin;
        PE_TRY(load(rows, &rows->of[axis], first, most, got, why));
        find(rows, &rows->of[axis], first, &cos, &sin);
        for (size_t k = 0; k < axes->n_runs; k++) {
            const pe_rope_axis_run *run = &axes->run[k];
            if (run->axis != axis)
                continue;
            memcpy(rows->mixed + run->first, cos + run->at, run->count * sizeof *cos);
            memcpy(rows->mixed + axes->pairs + run->first, sin + run->at, run->count * sizeof *sin);
        }
    }
    *got = 1;
    return PE_OK;
}

void pe_rope_cos_sin_at(const pe_rope_cos_sin *rows, size_t r, const double **cos,
                        const double **sin)
{
    if (rows->axes == NULL) {
        find(rows, &rows->of[0], r, cos, sin);
        return;
    }
    *cos = rows->mixed;
    *sin = rows->mixed + rows->axes->pairs;
}

void pe_rope_cos_sin_close(pe_rope_cos_sin *rows)
{
    for (size_t axis = 0; axis < PE_ROPE_AXES_MAX; axis++) {
        if (rows->of[axis].block.entry != NULL)
            pe_tables_unref(&rows->of[axis].block);
        free(rows->of[axis].own);
    }
    free(rows->mixed);
}
