/* SPDX-License-Identifier: MIT */
/* attention.h - what the resources of attention share: dot products, and scores to probabilities, row by row. */
#ifndef PE_ENCODINGS_ATTENTION_ATTENTION_H
#define PE_ENCODINGS_ATTENTION_ATTENTION_H

#include "exact/softmax.h"
#include "plan/plan.h"

/** Row r of a two-axis array. */
const void *pe_scores_row(const pe_array *array, size_t r);

/** x . y in float64, in an order that is the same at every vector width. */
double pe_scores_dot(const double *x, const double *y, size_t n);

/** The largest Euclidean norm of the rows of an array, along its last axis; infinite when one
 * overflows.   Errors  OVERLOADED (memory). */
pe_status pe_scores_norm_max(const pe_array *array, double *out, pe_problem *why) PE_MUST_CHECK;

/** Are all of these numbers finite? */
bool pe_scores_finite(pe_dtype dtype, const void *data, size_t n);

/**
 * Before anything is answered: is all of the plan's first tensor finite? |x . y| <= |x| |y|, and
 * mostly that, times `amplitude`, settles it. What it does not clear is computed once here and again
 * when it is sent.
 * Errors  INVALID_PARAMETER at `where`: a score overflows; those of fill; OVERLOADED (memory).
 */
pe_status pe_scores_check(const pe_plan *plan, const pe_array *x, const pe_array *y,
                          double amplitude, const char *where, pe_problem *why) PE_MUST_CHECK;

/** Magnitudes of scores stay below it: what pairs and pe_softmax take. */
#define PE_ATTENTION_SCORE_MAX 0x1p900

extern const pe_param_set pe_attention_scale_params;

/** The parameter scale, or 1/sqrt(d). */
pe_pair pe_attention_scale(const pe_values *values, size_t d);

/** How the scores of a row are made. First member of a resource's state. */
typedef struct pe_attention {
    size_t keys;    /* of a row */
    size_t scratch; /* doubles that scores wants */
    /** The scores of row `row` (of all queries of all heads); hi = -infinity where masked. */
    void (*scores)(const void *state, size_t row, double *scratch, pe_pair *score);
} pe_attention;

/**
 * Add the tensor of probabilities, [heads, queries, keys].
 *
 * Errors  INVALID_PARAMETER at `where`: more queries than keys, or more than PE_SOFTMAX_MAX keys;
 *         TOO_MANY_ELEMENTS.
 */
pe_status pe_attention_plan(pe_plan *plan, const pe_shape *shape, pe_dtype dtype, const char *where,
                            pe_problem *why) PE_MUST_CHECK;

/** The plan's fill: rows of scores made into probabilities. */
pe_status pe_attention_fill(const pe_plan *plan, const pe_region *region, void *out,
                            pe_problem *why);

#endif
