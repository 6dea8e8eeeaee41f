/* SPDX-License-Identifier: MIT */
/* alibi.h - what the ALiBi resources share: slopes, and the heads that have them. */
#ifndef PE_ENCODINGS_RELATIVE_ALIBI_H
#define PE_ENCODINGS_RELATIVE_ALIBI_H

#include "plan/common_params.h"
#include "plan/price.h"
#include "tables/tables.h"

#define PE_ALIBI_HEADS_MAX 4096

#define PE_ALIBI_SOURCE                                                                            \
    "Press et al. 2022, arXiv:2108.12409, section 3; other head counts: "                          \
    "ofirpress/attention_with_linear_biases@4b92f28a005ead2567abe2359f633e73e08f3833"

extern const pe_param_set pe_alibi_num_heads_params;
extern const pe_param_set pe_alibi_heads_params; /* the heads wanted */
extern const pe_param_set pe_alibi_slope_params; /* alibi_bias_max, variant */
extern const pe_param_set pe_alibi_bias_max_params;

/** The slope 2^(-bias_max * num / den). A plain value. */
typedef struct pe_alibi_slope {
    double bias_max, num, den;
} pe_alibi_slope;

/** A slope ready to be multiplied: hi + lo (106 bits), lo 0 only for a power of two. */
typedef struct pe_alibi_head {
    pe_alibi_slope slope;
    double hi, lo;
} pe_alibi_head;

/** out[j] = slope * (first + j*step), correctly rounded. */
void pe_alibi_ramp(const pe_alibi_head *head, pe_dtype dtype, int64_t first, int64_t step, size_t n,
                   unsigned char *out);

/** The heads of an answer. Immutable once made. */
typedef struct pe_alibi_heads {
    pe_positions chosen; /* of all heads, those wanted */
    pe_shared_numbers shared;
    const pe_alibi_head *head; /* of all heads, shared; hi is 0 where nobody wants one */
} pe_alibi_heads;

/**
 * The parameter heads, all of them where absent (it becomes part of the canonical form).
 * Errors  INVALID_PARAMETER: one is not below num_heads.
 */
pe_status pe_alibi_heads_check(pe_values *values, pe_problem *why) PE_MUST_CHECK;

/** Of checked values, in the state of a plan, which releases it.   Errors  OVERLOADED (memory). */
pe_status pe_alibi_heads_plan(const pe_values *values, pe_plan *plan, pe_alibi_heads *out,
                              pe_problem *why) PE_MUST_CHECK;

/** The i-th of the heads wanted. */
const pe_alibi_head *pe_alibi_heads_at(const pe_alibi_heads *heads, size_t i);

/** INVALID_PARAMETER at `where` when some slope times distance overflows dtype. */
pe_status pe_alibi_heads_fit(const pe_alibi_heads *heads, pe_dtype dtype, size_t distance,
                             const char *where, pe_problem *why) PE_MUST_CHECK;

#endif
