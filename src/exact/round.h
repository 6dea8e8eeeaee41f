/* SPDX-License-Identifier: MIT */
/* round.h - correct rounding of anything that MPFR can evaluate. */
#ifndef PE_EXACT_ROUND_H
#define PE_EXACT_ROUND_H

#include <mpfr.h>
#include <stddef.h>

#include "base/dtype.h"

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
/** The same of a number that is no tensor, which PyTorch keeps as it is. */
float pe_exact_powf_double(float x, double y);
/** ln(x), x > 0, rounded to float64. */
double pe_exact_log(double x);

#endif
