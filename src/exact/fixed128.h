/* SPDX-License-Identifier: MIT */
/* fixed128.h - numbers of 128 significant bits with a proven error, and their sines and cosines. */
#ifndef PE_EXACT_FIXED128_H
#define PE_EXACT_FIXED128_H

#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/status.h"
#include "exact/pair.h"

__extension__ typedef unsigned __int128 pe_u128;

/**
 * (-1)^negative * m * 2^(exponent - 128), the top bit of m set, off by at most 2^err units of m's
 * last place. m == 0: nothing is known (a value too small for what it was computed from).
 */
typedef struct pe_fixed128 {
    pe_u128 m;
    int exponent;
    int err;
    bool negative;
} pe_fixed128;

/** Words of a phase: a fraction of a turn, least significant first. */
#define PE_PHASE_WORDS 3

/**
 * Sine and cosine of a phase, which is off by at most 2^err units of its last place (2^-192 turns).
 *
 * Source    Taylor series of sin and cos(pi/2 x), |x| <= 1/2, in fixed point.
 * Accuracy  2^-122 relative beyond what err makes; pe_fixed128.err says so.
 */
void pe_fixed128_sincos(const uint64_t phase[PE_PHASE_WORDS], int err, pe_fixed128 *sine,
                        pe_fixed128 *cosine);

/** t_0 - z (t_1 - z (t_2 - ...)) up to term `last`; terms are {high, low} words, z is times 2^128. Each
 * step cuts off at most one unit. */
pe_u128 pe_fixed128_series(const uint64_t terms[][2], int last, pe_u128 z);

/** m * 2^(exponent - 128), with the top bit of m set; err is of m as it came. */
pe_fixed128 pe_fixed128_normal(pe_u128 m, int exponent, int err, bool negative);

/** x * y; zero where one of them is unknown. */
pe_fixed128 pe_fixed128_mul(const pe_fixed128 *x, const pe_fixed128 *y);

/** x / y; zero where one of them is unknown. */
pe_fixed128 pe_fixed128_div(const pe_fixed128 *x, const pe_fixed128 *y);

/** x, as it is; unknown where it is 0. */
pe_fixed128 pe_fixed128_from_double(double x);

/** The 128-bit number nearest to x; x != 0. */
pe_fixed128 pe_fixed128_from_mpfr(mpfr_srcptr x);

/** The first 106 bits of |x|, 53 in each: hi is cut off, not rounded. 0 where x is unknown. */
pe_pair pe_fixed128_pair(const pe_fixed128 *x);

/**
 * x rounded to dtype (nearest; zero is +0; overflow is an infinity), or false when the error leaves
 * it open.
 */
bool pe_fixed128_round(const pe_fixed128 *x, pe_dtype dtype, double *out) PE_MUST_CHECK;

/** What a dtype can hold: significant bits, and the exponent of its smallest subnormal. */
typedef struct pe_precision {
    int bits, least;
} pe_precision;

pe_precision pe_fixed128_precision(pe_dtype dtype);

#endif
