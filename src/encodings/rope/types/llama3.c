/* SPDX-License-Identifier: MIT */
/* llama3.c - Llama 3.1: slow pairs stretched, fast pairs kept, by turns over the context. */
#include "encodings/rope/types/rope_types.h"
#include "plan/plan.h"

static void scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    pe_rope_by_turns(f, f->key[PE_ROPE_LOW_FREQ_FACTOR], f->key[PE_ROPE_HIGH_FREQ_FACTOR], i,
                     theta);
}

/* The reference's steps, each rounded to float32; scalars are computed in float64 first. PyTorch
 * divides a number by a tensor as the number times the tensor's reciprocal. */
static float scale32(const void *formula, size_t i PE_UNUSED, float inv)
{
    const pe_rope_formula *f = formula;
    const double low = f->key[PE_ROPE_LOW_FREQ_FACTOR], high = f->key[PE_ROPE_HIGH_FREQ_FACTOR];
    const float original = (float)f->key[PE_ROPE_ORIGINAL], factor = (float)f->key[PE_ROPE_FACTOR];
    const float period = 1.0F / inv, wavelength = period * (float)6.283185307179586; /* 2 pi */
    if (wavelength > (float)(f->key[PE_ROPE_ORIGINAL] / low))
        return inv / factor;
    if (wavelength < (float)(f->key[PE_ROPE_ORIGINAL] / high) || low == high)
        return inv;
    const float frequency = 1.0F / wavelength, turns = frequency * original;
    const float s = (turns - (float)low) / (float)(high - low);
    const float slow = (1.0F - s) * inv, fast = s * inv;
    const float slow_part = slow / factor;
    return slow_part + fast;
}

static pe_status check(const pe_values *values, pe_rope_formula *formula, pe_problem *why)
{
    return pe_rope_keys_check(values, formula, PE_ROPE_HIGH_FREQ_FACTOR, PE_ROPE_LOW_FREQ_FACTOR,
                              why);
}

/* Wavelengths between which frequencies are blended. */
static void add_scalars(const pe_rope_formula *formula, pe_plan *plan)
{
    const double original = formula->key[PE_ROPE_ORIGINAL];
    pe_plan_add_scalar(plan, "low_freq_wavelen", original / formula->key[PE_ROPE_LOW_FREQ_FACTOR]);
    pe_plan_add_scalar(plan, "high_freq_wavelen",
                       original / formula->key[PE_ROPE_HIGH_FREQ_FACTOR]);
}

#define LLAMA3_KEYS                                                                                \
    (PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_ORIGINAL) |                                 \
     PE_ROPE_BIT(PE_ROPE_LOW_FREQ_FACTOR) | PE_ROPE_BIT(PE_ROPE_HIGH_FREQ_FACTOR))

/**
 * rope/compare assumes the factors of Llama 3.1.
 *
 * Source  _compute_llama3_parameters in huggingface/transformers at b4b5244c.
 */
const pe_rope_type pe_rope_llama3 = {
    .name = "llama3",
    .reads = LLAMA3_KEYS,
    .needs = LLAMA3_KEYS,
    .compared_with = {{PE_ROPE_LOW_FREQ_FACTOR, 1}, {PE_ROPE_HIGH_FREQ_FACTOR, 4}},
    .n_compared_with = 2,
    .check = check,
    .scale = scale,
    .scale32 = scale32,
    .add_scalars = add_scalars,
};
