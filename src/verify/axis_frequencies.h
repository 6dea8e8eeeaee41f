/* SPDX-License-Identifier: MIT */
/* axis_frequencies.h - pairs of several axes: which axis and which frequency every pair has. */
#ifndef PE_VERIFY_AXIS_FREQUENCIES_H
#define PE_VERIFY_AXIS_FREQUENCIES_H

#include <math.h>

#include "verify/attempts.h"

#define PE_AXES_MAX 8

/** An axis's positions are those of the claimed axis `from`, times `times`, plus `plus`. */
typedef struct pe_axis_relation {
    bool known;
    size_t from;
    double times, plus;
} pe_axis_relation;

/** Pairs of several axes as they were measured, beside its claim. */
typedef struct pe_axes {
    const pe_comparison *of;
    pe_try *next; /* what is done with each guess */
    pe_try *bare; /* with one of other exponents, which say little without their base */
    pe_expect *expect;
    size_t n, tokens, pairs;
    double *claimed, *read; /* [n][tokens] owned by one block, as is angle */
    double *angle;          /* [pairs][tokens] measured, radians */
    size_t *axis;           /* [pairs] owned: which one the claim turns the pair by */
    pe_axis_relation by[PE_AXES_MAX];
} pe_axes;

/** The same angle within [-pi, pi]. */
static inline double pe_axes_wrap(double angle)
{
    return remainder(angle, 2 * acos(-1));
}

/** How far an angle may be off by the rounding of elements. */
static inline double pe_axes_slack(const pe_axes *x)
{
    return 1e-4 + 6 * pe_upload_view_roundoff(x->of->view);
}

/** Axis a of positions [n][tokens]: [tokens]. */
static inline double *pe_axes_positions(const pe_axes *x, double *at, size_t a)
{
    return at + a * x->tokens;
}

/** The tokens between which axis a goes farthest, by the claim: at its lowest position and at its
 * highest one. */
void pe_axes_find_ends(const pe_axes *x, size_t a, size_t *low, size_t *high);

/** Give a guess these positions, [axes][tokens], in the shape of its own.
 * Errors  INVALID_PARAMETER: one is beyond the bounds. */
pe_status pe_axes_set_positions(pe_guess *guess, const double *at, size_t count,
                                pe_problem *why) PE_MUST_CHECK;

/** Of positions as claimed, or shifted: guesses of other axes of the pairs, one ladder for all axes,
 * other exponents, and other bases, which the measured angles tell.
 * Errors  OVERLOADED (memory), those of what is done with them. */
pe_status pe_axis_frequencies_try(pe_search *s, const pe_axes *x, const pe_guess *claim,
                                  pe_problem *why) PE_MUST_CHECK;

#endif
