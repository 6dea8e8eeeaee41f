/* SPDX-License-Identifier: MIT */
/* wave.h - sets of frequencies, and correctly rounded sines and cosines at any position. */
#ifndef PE_EXACT_WAVE_H
#define PE_EXACT_WAVE_H

#include <mpfr.h>
#include <stddef.h>

#include "base/array.h"
#include "kernels/kernels.h"
#include "plan/positions.h"

/**
 * A frequency set as a formula, evaluated at whatever precision is asked for:
 *
 *     theta_i = scale(i, base^(-i * num / den)),   0 <= i < n;   theta_0 = scale(0, 1)
 *     row(pos)_i = amplitude * sin, cos(pos * position_scale * theta_i)
 *
 * Callbacks write their result into an mpfr_t at its own precision p, with relative error below
 * 2^(8-p). `formula` is plain old data that wave_make copies (formula_bytes).
 */
typedef struct pe_wave_spec {
    size_t n;
    double num, den;
    double position_scale; /* exact double, 1 for none */
    void (*base)(const void *formula, mpfr_ptr out);
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
size_t pe_wave_bytes(const pe_wave *wave); /* memory it holds, for cache accounting */
size_t pe_wave_count(const pe_wave *wave);

/**
 * Rows [first, first + rows) of the table of `positions` (frequencies 0..n-1), correctly rounded to
 * dtype (float16/bfloat16/float32/float64), zero as +0.
 *
 * Shapes    out: as layout says; elements the layout does not name are left alone.
 * Accuracy  the correctly rounded value of the formula for every |position| < 2^53, fractional ones
 * too. float32 set: as pe_wave_spec says. Errors    INTERNAL (memory).   Threads  any.
 */
pe_status pe_wave_table(const pe_wave *wave, const pe_positions *positions, size_t first,
                        size_t rows, const pe_wave_layout *layout, pe_dtype dtype, void *out,
                        pe_problem *why) PE_MUST_CHECK;

/**
 * Elements [column, column + columns) of row `row`, packed: what pe_wave_table would write there.
 * Parts of a wide row cost together little more than the row, those that begin at even columns
 * least.
 */
pe_status pe_wave_part(const pe_wave *wave, const pe_positions *positions, size_t row,
                       size_t column, size_t columns, const pe_wave_layout *layout, pe_dtype dtype,
                       void *out, pe_problem *why) PE_MUST_CHECK;

/** out[r] = (1/n) * sum_i cos(pos_r * theta_i), summed in double-double, rounded once to dtype. No
 * amplitude. */
pe_status pe_wave_mean_cos(const pe_wave *wave, const pe_positions *positions, size_t first,
                           size_t rows, pe_dtype dtype, void *out, pe_problem *why) PE_MUST_CHECK;

/** theta_i (float32 set: inv as a float32), as an MPFR number at out's precision, relative error <
 * 2^(8-p). */
void pe_wave_theta(const pe_wave *wave, size_t i, mpfr_ptr out);

/** The same within a relative 2^-50, without MPFR; 0 where theta_i is 0. NAN: it is too large or
 * too small for the set's fixed point. */
double pe_wave_theta_near(const pe_wave *wave, size_t i);

/* ---- correct rounding of anything that MPFR can evaluate ---- */

/** Evaluate quantity `index` at out's precision p with relative error below 2^(8-p) (0 exactly for
 * zero). */
typedef void (*pe_exact_eval)(const void *context, size_t index, mpfr_ptr out);

/**
 * The value rounded to dtype, as a double (ties to even; zero is +0; overflow is an infinity).
 * Tries 128, 256 ... 2048 bits; what 2048 bits cannot decide is a tie or representable, and is
 * rounded as such.
 */
double pe_exact_round(pe_dtype dtype, pe_exact_eval eval, const void *context, size_t index);

/** As hi + lo with |lo| <= ulp(hi)/2: the nearest double and the nearest double of the rest. lo ==
 * 0 only if hi is exact to 2048 bits. */
void pe_exact_pair(pe_exact_eval eval, const void *context, size_t index, double *hi, double *lo);

/** Correctly rounded float32 steps, for numerics=float32: r(x^y), both float32. */
float pe_exact_powf(float x, float y);

#endif
