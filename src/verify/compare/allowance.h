/* SPDX-License-Identifier: MIT */
/* allowance.h - how far float32 arithmetic may be off, for tables that are no pairs of one axis. */
#ifndef PE_VERIFY_COMPARE_ALLOWANCE_H
#define PE_VERIFY_COMPARE_ALLOWANCE_H

#include "verify/compare/guess.h"

/**
 * Roundings of an angle p w on the float32 path, in units of 2^-24: of the exponent and a logarithm
 * (2 |ln w|, at most 14), or of pair i's running product (3 for each factor: its power and the
 * product); the base (1), the power (an ulp: 2), its reciprocal (1), up to 4 steps of scaling, the
 * position (1) and the angle (1). A frequency of 1 is exact: only the last two are left.
 *
 * Where llama3 smooths between its bands, w = v ((1 - s)/factor + s) and s grows with v, so that
 * the errors of v come out (dw/dv) (v/w) times as large: up to 11 times with a factor of 32.
 */
double pe_allowance_roundings(const pe_values *values, double w, size_t i);

/** What float32 arithmetic of a table without pairs may be off by beside the rounding to the type,
 * in words. */
const char *pe_allowance_words(const pe_resource *resource);

/** Some consecutive elements of a tensor of the plan, and their claimed values. */
typedef struct pe_allowance_run {
    size_t tensor, first, n;
    const double *value;
    double *of_all; /* of a guess, kept from run to run; NAN before the first one */
    /** [columns] of cosines or sines alone: by how much the angle of each may be off at position 1, in
     * units of 2^-24; else NULL. */
    const double *per_position;
    size_t columns;
} pe_allowance_run;

/**
 * How far elements may be off beside the rounding to the type: by exact numbers that are kept in a
 * narrower type on the way, and by float32 arithmetic. u is the unit roundoff of the type, v that
 * of float32, 2^-24.
 *
 *     sines, cosines   0                A (24 v |angle| + 4 v)
 *       of rope/table  0                A (n v |angle| + 4 v), as pairs of one axis (verify.h)
 *     angles           0                24 v |x|
 *     frequencies      0                n v |x|, n of pe_allowance_roundings
 *     decay            0                the mean of n v |offset| w over all pairs, and 4 v
 *     scales of xPos   0                |x| (24 v |ln x| + 4 v |exponent| + 4 v)
 *     offsets          2 (1+u) u |x|    that and 24 v |angle| + 4 v
 *     scaled bases     2 (1+u) u |x|    that and n v |x|, of a stretch n for each frequency
 *     slopes of ALiBi  2 (1+u) u |x|    that and (k + 3) v |x|: the k-th power of a rounded base
 *     others           2 (1+u) u |x|    the same
 *
 * Errors  OVERLOADED (memory), those of the plan.
 */
pe_status pe_allowance_of_run(const pe_guess *guess, const pe_plan *plan,
                              const pe_allowance_run *run, double *exact, double *float32,
                              pe_problem *why) PE_MUST_CHECK;

#endif
