/* SPDX-License-Identifier: MIT */
/* scores.h - what the resources of attention scores share: dot products, and whether they fit. */
#ifndef PE_ENCODINGS_ATTENTION_SCORES_H
#define PE_ENCODINGS_ATTENTION_SCORES_H

#include "plan/plan.h"

/** Row r of a two-axis array. */
const void *pe_scores_row(const pe_array *array, size_t r);

/** x . y in float64, in an order that is the same at every vector width. */
double pe_scores_dot(const double *x, const double *y, size_t n);

/** The largest Euclidean norm of the rows of a two-axis array, infinite when one overflows; wide:
 * room for a row. */
double pe_scores_norm_max(const pe_array *array, double *wide);

/** Does a score of at most `bound` fit dtype, with room for rounding of every kind? */
bool pe_scores_fit(double bound, pe_dtype dtype);

/**
 * Compute the plan's first tensor to see whether all of it is finite.
 * Errors  INVALID_PARAMETER at `where`: a score overflows; those of fill.
 */
pe_status pe_scores_check(const pe_plan *plan, const char *where, pe_problem *why) PE_MUST_CHECK;

#endif
