/* SPDX-License-Identifier: MIT */
/* verify.h - is a table what it claims to be, and if not, which known mistake made it? */
#ifndef PE_VERIFY_VERIFY_H
#define PE_VERIFY_VERIFY_H

#include "verify/compare/report.h"

/**
 * Hold an upload against its claim; look for faults where it does not match (search.c).
 *
 * Rule      An upload matches when a sound implementation may hold each of its elements. Let x be
 *           the claimed value, T the dtype, and W the next wider type (float64 of float32 and
 *           float64, else float32).
 *             exact    |got - x| <= ulp_T(x)/2 + ulp_W(x)/2: rounded once, or twice on the way.
 *             float32  |got - x| <= A (n 2^-24 |p| w + 2^-22) + ulp_T(x)/2, where A is the
 *                      amplitude, p the position and w the frequency.
 *           The n roundings of 2^-24 are those of pe_allowance_roundings (allowance.h). The 2^-22
 *           are those of sine, amplitude and their product, each an ulp of 1.
 * Circle    Sine and cosine of a pair are of one angle, however far off that is. Where both are in
 *           the upload and one is not exact, the float32 rule also asks that
 *             | |(c, s)| - A | <= sqrt(2) (2^-22 A + ulp_T(A)/2).
 * Undecided Where A (...) is A or more, the float32 rule tells nothing of an element. It is
 *           undecided, unless it is exact.
 * Vectors   Of a rotated pair (a, b), both rules have A (|a| + |b|) in the place of A, and allow
 *           3 u_T (1 + u_T) A (|a| + |b|) more for tables, products and sums kept in T. The unit
 *           roundoff of T is u_T. The circle's radius is A |(a, b)|.
 * Infinite  An allowance that is not finite allows nothing but the claimed double itself.
 * Errors    INVALID_PARAMETER, MISSING_PARAMETER (uploads that do not fit the claim, at
 *           "table/cos"), TOO_MANY_ELEMENTS, those of the resource's plan.
 * Threads   any.
 */
pe_status pe_verify(pe_claim *claim, const pe_verify_context *context, pe_report *out,
                    pe_problem *why) PE_MUST_CHECK;

#endif
