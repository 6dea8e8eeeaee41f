/* SPDX-License-Identifier: MIT */
/* set.h - what a frequency set holds; for the files of exact/ and their tests. */
#ifndef PE_EXACT_SET_H
#define PE_EXACT_SET_H

#include <stdatomic.h>

#include "exact/phase.h"
#include "exact/wave.h"

/** More frequencies than the widest resource has; keeps indices of a chunk of rows in 32 bits. */
#define PE_WAVE_MAX 65536

/** How elements got their bits, for tests that want to see every way taken. */
typedef struct pe_wave_paths {
    uint64_t kernel; /* proven by the kernel */
    uint64_t direct; /* counted once more: what it evaluated without, or after, a rotation */
    uint64_t wide;   /* by 128-bit arithmetic */
    uint64_t mpfr;   /* a sine or cosine by MPFR */
    uint64_t exact;  /* position or frequency zero */
} pe_wave_paths;

enum { PE_PATH_KERNEL, PE_PATH_DIRECT, PE_PATH_FIXED128, PE_PATH_MPFR, PE_PATH_EXACT, PE_PATHS };

struct pe_wave {
    pe_wave_spec spec; /* formula: a copy, owned */
    /** Some frequency has no fixed-point form: every element is evaluated by MPFR. */
    bool unfit;
    pe_turns *turns;             /* [n]: theta_i * position_scale / 2 pi; exact sets */
    uint64_t *step_hi, *step_lo; /* [n]: the upper words of the fractions again, as planes */
    float *inv;                  /* [n]: float32 sets */
    size_t live;                 /* frequencies from here on are zero */
    /**
     * Offsets of the kernel for step 1, and how many; [split]. Made when first wanted: NULL until
     * then, published once, never changed after.
     */
    _Atomic(double *) offsets[2];
    size_t offset_rows;
    bool unit;                   /* amplitude is 1 */
    double amplitude[PE_DTYPES]; /* rounded to each */
    double amplitude_hi, amplitude_lo;
    pe_fixed128 amplitude_wide; /* m == 0 when the amplitude is zero */
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

/** pe_wave_table for frequencies [from, from + n) of a float32 set, which layout counts from 0;
 * bare leaves the amplitude out. */
pe_status pe_wave_rows32(const pe_wave *wave, const pe_positions *positions, size_t first,
                         size_t rows, size_t from, size_t n, const pe_wave_layout *layout,
                         pe_dtype dtype, bool bare, void *out, pe_problem *why) PE_MUST_CHECK;

/** pe_wave_table without the amplitude. */
pe_status pe_wave_bare(const pe_wave *wave, const pe_positions *positions, size_t first,
                       size_t rows, const pe_wave_layout *layout, pe_dtype dtype, void *out,
                       pe_problem *why) PE_MUST_CHECK;

/** The set's offsets for step 1 (offset_rows of them): whoever wants them first makes them. NULL:
 * memory is short, and rows have to do without.   Threads  any. */
const double *pe_wave_shared_offsets(const pe_wave *wave, bool split);

/** Offsets for another step, for one call of `rows` rows: as many as pay for themselves, which
 * *count tells. The caller's to free; NULL when none do, or memory is short. */
double *pe_wave_own_offsets(const pe_wave *wave, const uint64_t *step_hi, const uint64_t *step_lo,
                            size_t rows, bool split, size_t *count);

/** Counts since the set was made.   Threads  any. */
pe_wave_paths pe_wave_paths_read(const pe_wave *wave);

#endif
