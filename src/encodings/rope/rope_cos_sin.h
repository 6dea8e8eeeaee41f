/* SPDX-License-Identifier: MIT */
/* rope_cos_sin.h - cosines and sines of a rotation, one token after another. */
#ifndef PE_ENCODINGS_ROPE_ROPE_COS_SIN_H
#define PE_ENCODINGS_ROPE_ROPE_COS_SIN_H

#include "encodings/rope/rope.h"

/**
 * Rows of float64 cosines and sines at the positions of a sequence. Rows of integer positions come
 * from shared blocks, one of which is held at a time. Rows of other positions are computed, and so
 * are rows so wide that most of a block would be wasted.
 *
 * Zero-initialise all but tables, wave and positions (borrowed). Release with
 * pe_rope_cos_sin_close.
 */
typedef struct pe_rope_cos_sin {
    pe_tables *tables;
    const pe_shared_wave *wave;
    const pe_positions *positions;
    pe_block block; /* entry NULL: none held */
    int64_t block_at;
    double *own; /* computed: cosines [OWN_ROWS, n], then sines */
    size_t own_first;
} pe_rope_cos_sin;

/**
 * Make rows first, first + 1, ... first + *got - 1 of the positions available, 1 <= *got <= most.
 */
pe_status pe_rope_cos_sin_load(pe_rope_cos_sin *rows, size_t first, size_t most, size_t *got,
                               pe_problem *why) PE_MUST_CHECK;

/** cos, sin [n] of row r, which the last load made available. */
void pe_rope_cos_sin_at(const pe_rope_cos_sin *rows, size_t r, const double **cos,
                        const double **sin);

void pe_rope_cos_sin_close(pe_rope_cos_sin *rows);

#endif
