/* SPDX-License-Identifier: MIT */
/* rope_cos_sin.h - cosines and sines of a rotation, one token after another. */
#ifndef PE_ENCODINGS_ROPE_ROPE_COS_SIN_H
#define PE_ENCODINGS_ROPE_ROPE_COS_SIN_H

#include "encodings/rope/rope_axes.h"

/** Those of one axis. */
typedef struct pe_rope_axis_rows {
    const pe_positions *positions; /* borrowed */
    pe_positions part;             /* what they are, where there are several axes; borrows */
    pe_block block;                /* entry NULL: none held */
    int64_t block_at;
    double *own; /* computed: cosines [OWN_ROWS, n], then sines */
    size_t own_first, own_rows;
    bool dense; /* come in blocks */
} pe_rope_axis_rows;

/**
 * Rows of float64 cosines and sines at the positions of a sequence. Rows of integer positions come
 * from shared blocks, one of which is held at a time. Rows of other positions are computed, and so
 * are rows so wide, or positions so far apart, that most of a block would be wasted.
 *
 * Positions [axes, ...] are one for each axis. Without axes (NULL), or with one position for all of
 * them, pair i has frequency i. Does not move: it points into itself.
 */
typedef struct pe_rope_cos_sin {
    pe_tables *tables; /* borrowed, and so are the two below */
    const pe_shared_wave *wave;
    const pe_rope_axes *axes;
    pe_rope_axis_rows of[PE_ROPE_AXES_MAX];
    double *mixed; /* of several axes: cosines [pairs], then sines */
} pe_rope_cos_sin;

/** Does a shared block hold several of these positions? Else each row is computed for itself. */
bool pe_rope_cos_sin_are_dense(const pe_positions *positions);

/** Release it with pe_rope_cos_sin_close, also when this fails. */
pe_status pe_rope_cos_sin_open(pe_rope_cos_sin *rows, pe_tables *tables, const pe_shared_wave *wave,
                               const pe_rope_axes *axes, const pe_positions *positions,
                               pe_problem *why) PE_MUST_CHECK;
void pe_rope_cos_sin_close(pe_rope_cos_sin *rows);

/**
 * Make rows first, first + 1, ... first + *got - 1 of the positions available, 1 <= *got <= most.
 */
pe_status pe_rope_cos_sin_load(pe_rope_cos_sin *rows, size_t first, size_t most, size_t *got,
                               pe_problem *why) PE_MUST_CHECK;

/** cos, sin [n] of row r, which the last load made available. */
void pe_rope_cos_sin_at(const pe_rope_cos_sin *rows, size_t r, const double **cos,
                        const double **sin);

#endif
