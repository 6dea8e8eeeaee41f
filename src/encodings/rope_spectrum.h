/* SPDX-License-Identifier: MIT */
/* rope_spectrum.h - frequencies, wavelengths and stretches as tensors. */
#ifndef PE_ENCODINGS_ROPE_SPECTRUM_H
#define PE_ENCODINGS_ROPE_SPECTRUM_H

#include "encodings/rope.h"

typedef enum pe_spectrum_kind {
    PE_SPECTRUM_FREQUENCY,  /* theta_i */
    PE_SPECTRUM_WAVELENGTH, /* 2 pi / theta_i, in tokens */
    PE_SPECTRUM_STRETCH     /* unscaled / scaled theta_i */
} pe_spectrum_kind;

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

/**
 * Plan the tensors of `rows` (a constant array). Elements are correctly rounded; where a frequency
 * is 0 its wavelength and stretch are infinite. A rotation by several axes adds pair_axis. `other`
 * is NULL where no row is of its frequencies.
 * Errors  INVALID_PARAMETER: one overflows dtype.
 */
pe_status pe_rope_spectrum_plan(const pe_rope *rope, const pe_rope *other, pe_tables *tables,
                                pe_dtype dtype, const pe_spectrum_row *rows, size_t n,
                                const pe_limits *limits, pe_plan *out,
                                pe_problem *why) PE_MUST_CHECK;

#endif
