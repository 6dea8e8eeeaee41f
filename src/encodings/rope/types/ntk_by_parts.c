/* SPDX-License-Identifier: MIT */
/* ntk_by_parts.c - NTK by parts: the blend of llama3 with other names for its ends. */
#include "encodings/rope/types/rope_types.h"

static void scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    pe_rope_by_turns(f, f->key[PE_ROPE_BETA_SLOW], f->key[PE_ROPE_BETA_FAST], i, theta);
}

static pe_status check(const pe_values *values, pe_rope_formula *formula, pe_problem *why)
{
    return pe_rope_keys_check(values, formula, PE_ROPE_BETA_FAST, PE_ROPE_BETA_SLOW, why);
}

/**
 *     theta_i ((1 - gamma) / factor + gamma),
 *     gamma = clamp((turns - alpha) / (beta - alpha), 0, 1), turns = original theta_i / (2 pi)
 *
 * alpha is beta_slow and beta is beta_fast, as implementations of YaRN call them.
 *
 * Source  Peng et al. 2023, arXiv:2309.00071, section 3.2, definition 2, after bloc97 2023. What
 *         bloc97's code does is part_ntk.
 */
const pe_rope_type pe_rope_ntk_by_parts = {
    .name = "ntk_by_parts",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_ORIGINAL) |
             PE_ROPE_BIT(PE_ROPE_BETA_FAST) | PE_ROPE_BIT(PE_ROPE_BETA_SLOW),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .defaults = {{PE_ROPE_BETA_FAST, 32}, {PE_ROPE_BETA_SLOW, 1}},
    .n_defaults = 2,
    .exact_only = true,
    .check = check,
    .scale = scale,
};
