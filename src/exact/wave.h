/* SPDX-License-Identifier: MIT */
/* wave.h - sets of frequencies, and correctly rounded sines and cosines at any position. */
#ifndef PE_EXACT_WAVE_H
#define PE_EXACT_WAVE_H

#include <mpfr.h>
#include <stddef.h>

#include "base/array.h"
#include "exact/fixed128.h"
#include "kernels/kernels.h"
#include "plan/positions.h"

/**
 * A frequency set as a formula, evaluated at whatever precision is asked for:
 *
 *     theta_i = scale(i, base^(-i * num / den)),   0 <= i < n;   theta_0 = scale(0, 1)
 *     row(pos)_i = amplitude * sin, cos(pos * position_scale * theta_i)
 *
 * Of several sequences, one behind the other: theta_i = scale(i, ratio^(i - first)).
 *
 * Callbacks write their result into an mpfr_t at its own precision p, with relative error below
 * 2^(8-p). `formula` is plain old data that wave_make copies (formula_bytes).
 */
typedef struct pe_wave_spec {
    size_t n;
    double num, den;
    double position_scale; /* exact double, 1 for none */
    void (*base)(const void *formula, mpfr_ptr out);
    /** NULL: one sequence, of the base. Else returns the first index of the one that i is of, and
     * stores its ratio, unless that is NULL; num and den are not read. Not of a float32 set. */
    size_t (*sequence)(const void *formula, size_t i, mpfr_ptr ratio);
    void (*scale)(const void *formula, size_t i,
                  mpfr_ptr theta);                        /* NULL: identity. May make theta 0. */
    void (*amplitude)(const void *formula, mpfr_ptr out); /* NULL: 1 */
    /**
     * numerics=float32: the PyTorch reference path, every step rounded to float32:
     *     e = r(i*num/den), p = r(r(base)^e), inv = scale32(i, r(1/p)),
     *     angle = r(r(position_scale) * r(r(pos) * inv))
     * then cos and sin of that float32 angle rounded to float32, times r(amplitude) rounded to
     * float32, then rounded to the dtype asked for. The scale comes last, as in
     * huggingface/diffusers@58eb52c0803ea9af3abec60841c2a093bdf1f951, get_timestep_embedding.
     */
    bool float32;
    float (*scale32)(const void *formula, size_t i, float inv); /* NULL: identity */
    const void *formula;
    size_t formula_bytes;
} pe_wave_spec;

/** A frequency set ready for use. Immutable; any thread. */
typedef struct pe_wave pe_wave;

pe_status pe_wave_make(const pe_wave_spec *spec, pe_wave **out, pe_problem *why) PE_MUST_CHECK;
void pe_wave_free(pe_wave *wave);
size_t pe_wave_bytes(const pe_wave *wave); /* memory it may come to hold, for cache accounting */
/** Of all sets: what pe_wave_bytes counts and was not allocated so far.   Threads  any. */
size_t pe_wave_unmade_bytes(void);
size_t pe_wave_count(const pe_wave *wave);
double pe_wave_gain(const pe_wave *wave); /* the amplitude, correctly rounded to float64 */
/** What an element at these positions costs beside one that the kernel proves, in units of work: sines
 * of small angles are proven to doubles by 128 bits alone. */
size_t pe_wave_work(const pe_wave *wave, const pe_positions *positions, pe_dtype dtype);

/** The table of some positions of a set: of which type its elements are, and where they go. */
typedef struct pe_wave_table {
    const pe_wave *wave;
    const pe_positions *positions;
    const pe_wave_layout *layout;
    pe_dtype dtype; /* float16, bfloat16, float32 or float64 */
} pe_wave_table;

/**
 * Rows [first, first + rows) of a table (frequencies 0..n-1), correctly rounded, zero as +0.
 *
 * Shapes    out: as layout says; elements the layout does not name are left alone.
 * Accuracy  the correctly rounded value of the formula for every |position| < 2^53, fractional ones
 *           too. float32 set: as pe_wave_spec says.
 * Errors    OVERLOADED (memory).   Threads  any.
 */
pe_status pe_wave_table_rows(const pe_wave_table *table, size_t first, size_t rows, void *out,
                             pe_problem *why) PE_MUST_CHECK;

/**
 * Elements [column, column + columns) of one row, packed: what pe_wave_table_rows would write
 * there. The parts of a wide row cost together little more than the row; parts that begin at even
 * columns cost least.
 */
pe_status pe_wave_table_part(const pe_wave_table *table, size_t row, size_t column, size_t columns,
                             void *out, pe_problem *why) PE_MUST_CHECK;

/**
 * out[r] = (1/n) * sum_i cos(pos_r * theta_i), summed in double-double, rounded once to the dtype,
 * without the amplitude. The table's layout is not read.
 */
pe_status pe_wave_mean_cos(const pe_wave_table *table, size_t first, size_t rows, void *out,
                           pe_problem *why) PE_MUST_CHECK;

/** theta_i (of a float32 set: inv, a float32) at the precision p of out, with a relative error
 * below 2^(8-p). */
void pe_wave_theta(const pe_wave *wave, size_t i, mpfr_ptr out);

/** Is it surely 0? Where it has no fixed point, this does not tell. */
bool pe_wave_theta_is_zero(const pe_wave *wave, size_t i);

/** The same in 128 bits. Unknown where it is 0, or has no fixed point. */
pe_fixed128 pe_wave_theta_fixed(const pe_wave *wave, size_t i);

/** 2 pi */
extern const pe_fixed128 pe_wave_two_pi;

#endif
