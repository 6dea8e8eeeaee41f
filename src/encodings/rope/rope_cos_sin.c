/* SPDX-License-Identifier: MIT */
/* rope_cos_sin.c - cosines and sines of a rotation, one token after another. */
#include "encodings/rope/rope_cos_sin.h"

#include <math.h>
#include <stdlib.h>

/* Rows of at most this many pairs come in blocks: a block is 4 MB then. */
#define BLOCK_PAIRS 4096
/* Rows that are computed at once when they do not come in blocks. */
#define OWN_ROWS 8

static bool in_blocks(const pe_rope_cos_sin *rows)
{
    return !rows->positions->fractional && pe_wave_count(rows->wave->wave) <= BLOCK_PAIRS;
}

static int64_t block_of(const pe_rope_cos_sin *rows, size_t r)
{
    const int64_t at = (int64_t)pe_positions_at(rows->positions, r);
    return at >= 0 ? at / PE_BLOCK_ROWS : -((-at - 1) / PE_BLOCK_ROWS) - 1;
}

static pe_status load_block(pe_rope_cos_sin *rows, size_t first, size_t most, size_t *got,
                            pe_problem *why)
{
    const int64_t block = block_of(rows, first);
    size_t n = 1;
    if (rows->block.entry == NULL || rows->block_at != block) {
        if (rows->block.entry != NULL)
            pe_tables_block_unref(&rows->block);
        PE_TRY(pe_tables_block(rows->tables, rows->wave, block, &rows->block, why));
        rows->block_at = block;
    }
    while (n < most && block_of(rows, first + n) == block)
        n++;
    *got = n;
    return PE_OK;
}

static pe_status load_own(pe_rope_cos_sin *rows, size_t first, size_t most, size_t *got,
                          pe_problem *why)
{
    const size_t n = pe_wave_count(rows->wave->wave), count = most < OWN_ROWS ? most : OWN_ROWS;
    const pe_wave_layout layout = {
        .stride = 1, .cos_at = 0, .sin_at = (ptrdiff_t)(n * OWN_ROWS), .row = n};
    if (rows->own == NULL)
        rows->own = calloc(n, 2 * OWN_ROWS * sizeof *rows->own);
    if (rows->own == NULL)
        return pe_fail_memory(why);
    rows->own_first = first;
    *got = count;
    const pe_wave_table table = {rows->wave->wave, rows->positions, &layout, PE_FLOAT64};
    return pe_wave_table_rows(&table, first, count, rows->own, why);
}

pe_status pe_rope_cos_sin_load(pe_rope_cos_sin *rows, size_t first, size_t most, size_t *got,
                               pe_problem *why)
{
    return in_blocks(rows) ? load_block(rows, first, most, got, why)
                           : load_own(rows, first, most, got, why);
}

void pe_rope_cos_sin_at(const pe_rope_cos_sin *rows, size_t r, const double **cos,
                        const double **sin)
{
    const size_t n = pe_wave_count(rows->wave->wave);
    if (in_blocks(rows)) {
        const double at = pe_positions_at(rows->positions, r);
        const size_t row = (size_t)((int64_t)at - rows->block_at * PE_BLOCK_ROWS);
        *cos = rows->block.cos + row * n;
        *sin = rows->block.sin + row * n;
        return;
    }
    *cos = rows->own + (r - rows->own_first) * n;
    *sin = *cos + n * OWN_ROWS;
}

void pe_rope_cos_sin_close(pe_rope_cos_sin *rows)
{
    if (rows->block.entry != NULL)
        pe_tables_block_unref(&rows->block);
    free(rows->own);
    rows->own = NULL;
}
