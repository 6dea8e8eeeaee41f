/* SPDX-License-Identifier: MIT */
/* rope_spectrum.h - frequencies, wavelengths and stretches as tensors. */
#ifndef PE_ENCODINGS_ROPE_ROPE_SPECTRUM_H
#define PE_ENCODINGS_ROPE_ROPE_SPECTRUM_H

#include "encodings/rope/rope.h"
#include "plan/plan.h"

typedef enum pe_spectrum_kind {
    PE_SPECTRUM_FREQUENCY,  /* theta_i */
    PE_SPECTRUM_WAVELENGTH, /* 2 pi / theta_i, in tokens */
    PE_SPECTRUM_STRETCH,    /* unscaled / scaled theta_i */
    PE_SPECTRUM_TURNS,      /* length theta_i / 2 pi */
    PE_SPECTRUM_REACH       /* target scaled theta_i / (length unscaled theta_i) */
} pe_spectrum_kind;

/** One kind of value of every pair. The sets are borrowed. */
typedef struct pe_spectrum_values {
    pe_spectrum_kind kind;
    const pe_wave *wave, *unscaled; /* unscaled: STRETCH and REACH */
    double length, target;          /* TURNS: length; REACH: both */
} pe_spectrum_values;

/** Value i, correctly rounded; where a frequency is 0 its wavelength and stretch are infinite.
 * Costs PE_SPECTRUM_WORK. */
double pe_rope_spectrum_value(const pe_spectrum_values *values, pe_dtype dtype, size_t i);
/** Does no value overflow dtype? Errors  INVALID_PARAMETER. */
pe_status pe_rope_spectrum_check(const pe_spectrum_values *values, const char *name, pe_dtype dtype,
                                 size_t pairs, pe_problem *why) PE_MUST_CHECK;
/** A value that is not 0, at out's precision. */
void pe_rope_spectrum_eval(const pe_spectrum_values *values, size_t i, mpfr_ptr out);

/** Units of work, measured. One in 2^60 or so is evaluated in MPFR: that takes 1 to 4 us. */
#define PE_SPECTRUM_WORK 16

/** Whose frequencies. */
typedef enum pe_spectrum_set {
    PE_SPECTRUM_UNSCALED,
    PE_SPECTRUM_SCALED,
    PE_SPECTRUM_OTHER /* of a second rotation */
} pe_spectrum_set;

/** One tensor [pairs]. */
typedef struct pe_spectrum_row {
    const char *name;
    pe_spectrum_kind kind;
    pe_spectrum_set set;
} pe_spectrum_row;

/** The tensors of a rotation. */
typedef struct pe_rope_spectrum {
    const pe_rope *rope, *other; /* other: NULL where no row is of its frequencies */
    pe_dtype dtype;
    const pe_spectrum_row *rows; /* [n], a constant array */
    size_t n;
} pe_rope_spectrum;

/**
 * Plan the tensors of all rows. Elements are correctly rounded; where a frequency is 0 its
 * wavelength and stretch are infinite. A rotation by several axes adds pair_axis.
 * Errors  INVALID_PARAMETER: one overflows dtype.
 */
pe_status pe_rope_spectrum_plan(const pe_rope_spectrum *asked, pe_plan *out,
                                pe_problem *why) PE_MUST_CHECK;

#endif
