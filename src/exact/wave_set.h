/* SPDX-License-Identifier: MIT */
/* wave_set.h - what a frequency set holds. For the files of exact/ and their tests. */
#ifndef PE_EXACT_WAVE_SET_H
#define PE_EXACT_WAVE_SET_H

#include <stdatomic.h>

#include "exact/phase.h"
#include "exact/round.h"
#include "exact/wave.h"

/** More frequencies than the widest resource has; keeps indices of a chunk of rows in 32 bits. */
#define PE_WAVE_MAX 65536

/** How many elements each arithmetic decided, for tests that want to see all of them at work. */
typedef struct pe_wave_paths {
    uint64_t kernel;   /* proven by the kernel */
    uint64_t direct;   /* of these: evaluated without a rotation, or once more after one */
    uint64_t fixed128; /* by 128-bit arithmetic */
    uint64_t mpfr;     /* a sine or cosine by MPFR */
    uint64_t exact;    /* position or frequency zero */
} pe_wave_paths;

enum { PE_PATH_KERNEL, PE_PATH_DIRECT, PE_PATH_FIXED128, PE_PATH_MPFR, PE_PATH_EXACT, PE_PATHS };

/** What a set keeps of offsets: those of its kernel for step 1 and for one step more, offset_rows
 * of each, and digits for lists. */
typedef enum { PE_WAVE_OFFSETS, PE_WAVE_DIGITS, PE_WAVE_STEP, PE_WAVE_KEPT } pe_wave_kept;

struct pe_wave {
    pe_wave_spec spec; /* formula: a copy, owned */
    /** Some frequency has no fixed-point form: every element is evaluated by MPFR. */
    bool unfit;
    pe_turns *turns; /* [n]: theta_i * position_scale / 2 pi; exact sets */
    uint64_t *step_hi,
        *step_lo; /* [n + PE_PAD]: the upper words of the fractions again, as planes */
    float *inv;   /* [n]: float32 sets */
    size_t live;  /* frequencies from here on are zero */
    /** Made when first wanted: NULL until then, published once, never changed after; [split]. */
    _Atomic(double *) kept[PE_WAVE_KEPT][2];
    _Atomic int64_t step; /* of PE_WAVE_STEP: the first that was wanted, 0 until then */
    size_t offset_rows;
    bool whole_turns;            /* some frequency has them */
    bool unit;                   /* amplitude is 1 */
    double amplitude[PE_DTYPES]; /* rounded to each */
    double amplitude_hi, amplitude_lo;
    pe_fixed128 amplitude_fixed; /* m == 0 when the amplitude is zero */
    atomic_ullong paths[PE_PATHS];
};

/** One element, as the quantity pe_exact_round evaluates. */
typedef struct pe_element {
    const pe_wave *wave;
    double position;
    size_t i;
    bool cosine;
    bool bare; /* without the amplitude */
} pe_element;

/** For pe_exact_round; context is a pe_element. */
void pe_element_eval(const void *context, size_t index, mpfr_ptr out);

/** The angle of a float32 set, with every step rounded to float32. */
float pe_wave_angle32(const pe_wave *wave, double position, size_t i);

/** Rows of a table that are being made, for one call. */
typedef struct pe_wave_job {
    const pe_wave *wave;
    const pe_positions *positions;
    const pe_wave_layout *layout;
    pe_dtype dtype;
    bool bare;      /* without the amplitude */
    size_t from, n; /* frequencies [from, from + n), which the layout counts from 0 */
    size_t live;    /* of these, the ones before the first that is zero */
    size_t item;    /* bytes of an element */
    uint64_t counts[PE_PATHS];
} pe_wave_job;

/** pe_wave_table_rows of a float32 set. */
pe_status pe_wave_rows32(const pe_wave_job *job, size_t first, size_t rows, void *out,
                         pe_problem *why) PE_MUST_CHECK;

/** Frequencies [from, from + n) of rows [first, first + rows). */
typedef struct pe_wave_tile {
    size_t first, rows, from, n;
} pe_wave_tile;

/** pe_wave_table_rows of a tile, without the amplitude. The layout counts from the tile's first
 * frequency. */
pe_status pe_wave_bare_tile(const pe_wave_table *table, const pe_wave_tile *tile, void *out,
                            pe_problem *why) PE_MUST_CHECK;

/** What the set keeps, of all its frequencies; `step` is not 0. The first caller makes it as wanted.
 * NULL: memory is short, or the set keeps those of another step.   Threads  any. */
const double *pe_wave_shared_offsets(const pe_wave *wave, pe_wave_kept kept, int64_t step,
                                     const pe_offsets *wanted);

/** Offsets for the steps of a call of so many rows, as many as pay for themselves: wanted->rows.
 * The caller frees them. NULL: none do, or memory is short. */
double *pe_wave_own_offsets(size_t rows, pe_offsets *wanted);

/** The digits (pe_run) beside such offsets, in three times their room. */
void pe_wave_digits(const pe_offsets *near, double *out);

/** Counts since the set was made.   Threads  any. */
pe_wave_paths pe_wave_paths_read(const pe_wave *wave);

#endif
