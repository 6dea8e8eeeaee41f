/* SPDX-License-Identifier: MIT */
/* kernels.h - arithmetic on arrays: the same functions once per instruction-set level. */
#ifndef PE_KERNELS_KERNELS_H
#define PE_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/** Which channels form pair i of a rotated vector of 2*pairs channels. */
typedef enum pe_pairing {
    PE_PAIRING_INTERLEAVED, /* (2i, 2i + 1): RoFormer, GPT-J */
    PE_PAIRING_HALF         /* (i, i + pairs): GPT-NeoX, Hugging Face */
} pe_pairing;

/**
 * Where a table row keeps the sine and cosine of frequency i: element i*stride + sin_at (cos_at).
 * interleaved {2, 0, 1, 2n}; sin_cos {1, 0, n, 2n}; cos alone {1, -1, 0, n}.
 */
typedef struct pe_wave_layout {
    ptrdiff_t stride;
    ptrdiff_t sin_at, cos_at; /* negative: not wanted */
    size_t row;               /* elements from one row to the next */
} pe_wave_layout;

/**
 * A run of table rows: the phase of frequency i in row r is start[i] + r*row_steps*step[i], fractions of a
 * turn in 128-bit fixed point (wrapping), kept as two planes of n words and
 * PE_PAD more, of any digits (but zeros are never proven, and take long). Or rows at listed
 * positions: the phase is list[r]*step[i].
 */
typedef struct pe_run {
    size_t n, rows;
    /** Rows are row_steps apart, rows * row_steps < 2^27. start == NULL: it is first*step, for
     * first + rows * row_steps < 2^27. */
    uint64_t first, row_steps;
    const uint64_t *start_hi, *start_lo, *step_hi, *step_lo;
    /** NULL, or [rows]: multiples of 2^-64 below 2^26 in magnitude. Where one is not whole, steps
     * are below a turn. start and first are not read then. */
    const double *list;
    double amplitude_hi,
        amplitude_lo; /* multiplies sine and cosine; hi + lo, 106 bits; 1 + 0 for none */
    /** What wave_offsets made of step: offset_rows rotations by 1/2, 3/2 ... rows; split for
     * float64. offset_rows 0: none, every row is evaluated by itself. */
    const double *offsets;
    size_t offset_rows;
    /** NULL, or rotations by which the offsets reach the listed whole positions below digit^3,
     * digit = 2 * offset_rows: as many by 1/2, 3/2 ... digits, then by 1/2, 3/2 ... digit^2 less
     * half a step, digit of them. */
    const double *digits;
    /** NULL, or raised by the number of elements that waves evaluated by themselves: in rows
     * without anchor, and where a rotation did not prove the rounding. */
    uint64_t *direct;
} pe_run;

/** Words that planes of phases have beyond their end, for vectors that begin before it. */
#define PE_PAD 7

/** Frequencies of a row of offsets, padded to whole vectors of every level. */
static inline size_t pe_kernels_padded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/** Rotations by first, first + stride, ... half steps, which waves turns anchors by. */
typedef struct pe_offsets {
    size_t n, rows;
    uint64_t first, stride;
    const uint64_t *step_hi, *step_lo; /* [n + PE_PAD] */
    bool split;
} pe_offsets;

/**
 * One variant. All variants give the same bits for the same arguments. Functions allocate nothing,
 * cannot fail, take any length (0 included) and any element alignment, and do not read or write
 * past their arrays. A NaN among rounded results is the one quiet NaN, positive and without
 * payload.
 */
typedef struct pe_kernels {
    const char *name; /* "baseline", "v3", "v4" */

    /**
     * Rows of sines and cosines, rounded to dtype (not INT32).
     *
     * Shapes    out: rows as layout says, dtype; layout is dense (stride 1) or has sine and cosine
     *           side by side (stride 2).
     *           doubtful: a bit map of run->rows * run->n bits, zeroed by the caller; bit r*n + i
     *           (of word (r*n + i) / 64) is set for every element whose rounding the wide result
     *           does not prove (either of its sine and cosine).
     * Accuracy  elements not marked are correctly rounded values of amplitude * sin(2 pi phase), of
     *           the phase as given (128 bits). Phases within 2^-100 turns of the truth change no
     *           unmarked element.
     * Returns   whether any element is marked.
     */
    bool (*waves)(const pe_run *run, const pe_wave_layout *layout, pe_dtype dtype, void *out,
                  uint64_t *doubtful);

    /**
     * Shapes    out: [rows, split ? 4 : 2, pe_kernels_padded(n)]: cosines, then sines; split: of
     *           each heads, then tails.
     * Accuracy  24.1 * 2^-80 split, else 1.4 * 2^-53.
     */
    void (*wave_offsets)(const pe_offsets *wanted, double *out);

    /** out[j] = in[j] exactly, as doubles.   Shapes  in: [n] dtype; out: [n]. */
    void (*widen)(pe_dtype dtype, const void *in, size_t n, double *out);
    /** out[j] = in[j] rounded once to dtype, ties to even.   Shapes  in: [n]; out: [n] dtype. */
    void (*narrow)(pe_dtype dtype, const double *in, size_t n, void *out);

    /**
     * Rotate `count` vectors of 2*pairs channels, `stride` elements apart, by the same angles:
     *     a' = a*cos[i] - b*sin[i],   b' = b*cos[i] + a*sin[i]
     * in double, rounded once to dtype. x == out is allowed.
     * Source    Su et al. 2021, arXiv:2104.09864, equation 34.
     * Shapes    x, out: count rows of 2*pairs, dtype; cos, sin: [pairs].
     */
    void (*rotate)(pe_dtype dtype, pe_pairing pairing, size_t pairs, const double *cos,
                   const double *sin, size_t count, size_t stride, const void *x, void *out);

    /** out[j] = round(x[j] + y[j]), sum in double.   Shapes  x, out: [n] dtype; y: [n]. */
    void (*add)(pe_dtype dtype, const void *x, const double *y, size_t n, void *out);

    /**
     * out[j] = m * (first + j*step) rounded to dtype, m = hi + lo (106 bits, |lo| <= ulp(hi)/2);
     * doubtful (room for n) receives each j whose rounding is not proven, unless lo is 0: then
     * every product is the exact rational and is rounded exactly (ties to even). |first + j*step| <
     * 2^53; hi is 0 or between 2^-900 and 2^900 in magnitude. Zero products are +0. Returns how
     * many were listed.
     */
    size_t (*ramp)(pe_dtype dtype, double hi, double lo, int64_t first, int64_t step, size_t n,
                   void *out, uint32_t *doubtful);
} pe_kernels;

/** The variant chosen at start. Before pe_kernels_select it is the best the CPU has. */
const pe_kernels *pe_kernels_get(void);

/**
 * Choose by name: "auto", "baseline", "v3", "v4". Once, before other threads run.
 * Errors  INVALID_PARAMETER: an unknown name (lists the known), or one this CPU cannot run.
 */
pe_status pe_kernels_select(const char *name, pe_problem *why) PE_MUST_CHECK;

/** The variants this CPU can run, baseline first; NULL-terminated. */
const pe_kernels *const *pe_kernels_all(void);

#endif
