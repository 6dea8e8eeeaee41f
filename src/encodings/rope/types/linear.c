/* SPDX-License-Identifier: MIT */
/* linear.c - every pair stretched by the factor: linear, and proportional. */
#include "encodings/rope/types/rope_types.h"

/* theta_i / factor */
static void scale(const void *formula, size_t i PE_UNUSED, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    mpfr_div_d(theta, theta, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
}

static float scale32(const void *formula, size_t i PE_UNUSED, float inv)
{
    const pe_rope_formula *f = formula;
    return inv / (float)f->key[PE_ROPE_FACTOR];
}

/** Source  Chen et al. 2023, arXiv:2306.15595. */
const pe_rope_type pe_rope_linear = {
    .name = "linear",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .scale = scale,
    .scale32 = scale32,
};

/**
 * The same for the share of the pairs that rotates.
 * Source  huggingface/transformers at b4b5244c, modeling_rope_utils.py.
 */
const pe_rope_type pe_rope_proportional = {
    .name = "proportional",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .defaults = {{PE_ROPE_FACTOR, 1}},
    .n_defaults = 1,
    .whole_head = true,
    .scale = scale,
    .scale32 = scale32,
};
