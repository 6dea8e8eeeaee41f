/* SPDX-License-Identifier: MIT */
/* allowance.h - how far float32 arithmetic may be off, for tables that are no pairs of one axis. */
#ifndef PE_VERIFY_ALLOWANCE_H
#define PE_VERIFY_ALLOWANCE_H

#include "verify/guess.h"

/** Some consecutive elements of a tensor of the plan, and their claimed values. */
typedef struct pe_allowance_run {
    size_t tensor, first, n;
    const double *value;
} pe_allowance_run;

/**
 * How far elements may be off beside the rounding to the type: by exact numbers that are kept in a
 * narrower type on the way, and by float32 arithmetic. u is the unit roundoff of the type, v that
 * of float32, 2^-24.
 *
 *     sines, cosines   0                A (24 v |angle| + 4 v), as pairs of one axis (verify.h)
 *     angles           0                24 v |x|
 *     frequencies      0                24 v |x|: exponent, base, power, reciprocal, scaling
 *     scales of xPos   0                |x| (24 v |ln x| + 4 v |exponent| + 4 v)
 *     slopes of ALiBi  2 (1+u) u |x|    that and (k + 3) v |x|: the k-th power of a rounded base
 *     others           2 (1+u) u |x|    the same
 *
 * Errors  OVERLOADED (memory), those of the plan.
 */
pe_status pe_allowance_of_run(const pe_guess *guess, const pe_plan *plan,
                              const pe_allowance_run *run, double *exact, double *float32,
                              pe_problem *why) PE_MUST_CHECK;

#endif
