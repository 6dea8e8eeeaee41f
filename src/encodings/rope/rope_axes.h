/* SPDX-License-Identifier: MIT */
/* rope_axes.h - rotations whose pairs turn by positions on several axes. */
#ifndef PE_ENCODINGS_ROPE_ROPE_AXES_H
#define PE_ENCODINGS_ROPE_ROPE_AXES_H

#include "encodings/rope/rope.h"

/** Pairs [first, first + count) turn by the position on `axis`, with frequencies at, at + 1, ... of
 * the set. */
typedef struct pe_rope_axis_run {
    uint32_t axis, at, first, count;
} pe_rope_axis_run;

/** Which axis and which frequency each pair has, as runs in the order of pairs. */
typedef struct pe_rope_axes {
    size_t n, pairs;
    bool own; /* pair i has frequency i */
    size_t n_runs;
    pe_rope_axis_run run[];
} pe_rope_axes;

/** From the axis and the frequency of each pair; `at` NULL: pair i has frequency i. Released with
 * free. NULL when memory ran out. */
pe_rope_axes *pe_rope_axes_make(size_t n, size_t pairs, const unsigned char *axis,
                                const uint32_t *at);

/** Positions of several axes must have one row for each of them.   Errors  INVALID_PARAMETER. */
pe_status pe_rope_axes_check(const pe_rope_axes *axes, const char *name,
                             const pe_positions *positions, pe_problem *why) PE_MUST_CHECK;

/** The position of token r on an axis. */
typedef double (*pe_rope_axis_position)(const void *context, size_t axis, size_t r);

/** A table of tokens. Borrows everything. */
typedef struct pe_rope_axes_spec {
    const pe_rope_axes *axes;
    const pe_wave *wave;
    pe_rope_axis_position position;
    const void *context; /* of position */
    const pe_wave_layout *layout;
    pe_dtype dtype;
} pe_rope_axes_spec;

/**
 * Rows [first, first + rows) of the table: pe_wave_table_rows with a position for each axis.
 *
 * Shapes    out: as layout says, for rows of axes->pairs pairs.
 * Accuracy  pe_wave_table_rows'.
 * Errors    OVERLOADED (memory).   Threads  any.
 */
pe_status pe_rope_axes_table(const pe_rope_axes_spec *table, size_t first, size_t rows, void *out,
                             pe_problem *why) PE_MUST_CHECK;

#endif
