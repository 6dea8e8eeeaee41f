/* SPDX-License-Identifier: MIT */
/* rope_rotated.h - the rotated tensors of a request as the answer. */
#ifndef PE_ENCODINGS_ROPE_ROPE_ROTATED_H
#define PE_ENCODINGS_ROPE_ROPE_ROTATED_H

#include "encodings/rope/rope_apply.h"

extern const pe_param_set pe_rope_seq_axis_params;
extern const pe_param_set pe_rope_vectors_params; /* what is rotated: vectors, or q and k */

/** A row: a tensor that may be rotated. */
#define PE_ROPE_TENSOR_ROW(label, called, what)                                                    \
    PE_PARAM(label, TENSOR, .aliases = called, .optional = true, .min_dims = 2,                    \
             .max_dims = PE_MAX_DIMS,                                                              \
             .help = what ", with any leading axes. The channels are the last axis.",              \
             .example = "[[1,0,0,1],[0,1,1,0],[1,1,0,0],[0,0,1,1]]")

/**
 * Either vectors, or q and/or k, with as many tokens each; head_dim is filled in from them.
 * Errors  MISSING_PARAMETER, INVALID_PARAMETER.
 */
pe_status pe_rope_rotated_check(pe_values *values, size_t *tokens, pe_problem *why) PE_MUST_CHECK;

/**
 * head_dim is the last axis of the tensor named `name`: fill it in where absent, check it where
 * present. The tensor must have at least two axes and one vector.
 */
pe_status pe_rope_rotated_head_dim(pe_values *values, const char *name,
                                   pe_problem *why) PE_MUST_CHECK;

/**
 * How many tokens there are along seq_axis: the same number in each tensor of these names that is
 * present.
 * Errors  INVALID_PARAMETER: pe_rope_rotated_head_dim's; seq_axis is no axis or the last; the
 *         numbers differ.
 */
pe_status pe_rope_rotated_tokens(pe_values *values, const char *const *names, size_t n,
                                 size_t *tokens, pe_problem *why) PE_MUST_CHECK;

/** The value of "positions", 0:tokens where it is absent. */
const pe_positions *pe_rope_rotated_positions(pe_values *values, size_t tokens);

/** How the tensors of one request are rotated. Borrows everything. */
typedef struct pe_rope_rotated {
    pe_values *values;
    pe_rope_rotation rotation;
    const char *positions; /* the parameter rotation.positions came from */
    bool one_for_all;      /* a single position may serve all tokens */
} pe_rope_rotated;

/**
 * Rotate the tensor named `name` and add it to the plan under the name `shown`: at most two to a
 * plan, which hands them out from then on.
 * Errors  INVALID_PARAMETER: seq_axis; positions that do not fit the tensor; a rotated value that
 *         overflows the dtype. TOO_MANY_ELEMENTS, INTERNAL.
 */
pe_status pe_rope_rotated_add(const pe_rope_rotated *answer, const char *name, const char *shown,
                              pe_plan *plan, pe_problem *why) PE_MUST_CHECK;

/**
 * The rotation that turns them, after checks of the tensors as pe_rope_plan_beside. Where it alone
 * is at fault, and positions have one axis whatever it is, theirs is told beside its mistakes.
 * answer: values and positions.
 */
pe_status pe_rope_rotated_read(pe_status so_far, const pe_rope_rotated *answer, pe_plan *plan,
                               pe_rope *out, pe_problem *why) PE_MUST_CHECK;

/** Rotate those of vectors, q and k that are there and add them. Errors  pe_rope_rotated_add's. */
pe_status pe_rope_rotated_all(const pe_rope_rotated *answer, pe_plan *plan,
                              pe_problem *why) PE_MUST_CHECK;

#endif
