/* SPDX-License-Identifier: MIT */
/* slow.h - an independent model of the encodings, straight from the formulas in MPFR; slow and
 * plain. */
#ifndef PE_TESTS_SUPPORT_SLOW_H
#define PE_TESTS_SUPPORT_SLOW_H

#include <mpfr.h>
#include <stdbool.h>

#include "base/array.h"

/** Bits everything here is computed with: enough for positions below 2^53 and any rounding met. */
#define SLOW_BITS 512

/** x rounded to dtype (ties to even, subnormals included) as a double; zero as +0. */
double slow_round(pe_dtype dtype, mpfr_srcptr x);

/** One RoPE-like frequency set. */
typedef struct slow_rope {
    const char *type; /* "default", "linear", "ntk", "dynamic" */
    double theta, dim, factor, max_position_embeddings, seq_len;
} slow_rope;

/** theta_i of the set, at out's precision. */
void slow_rope_frequency(const slow_rope *rope, size_t i, mpfr_ptr out);

/** base^(-i/den): one sinusoidal frequency; frequency 0 is 1. */
void slow_frequency(double base, size_t i, double den, mpfr_ptr out);

/** sin or cos of position * frequency, rounded to dtype. */
double slow_wave(mpfr_srcptr frequency, double position, bool cosine, pe_dtype dtype);

#endif
