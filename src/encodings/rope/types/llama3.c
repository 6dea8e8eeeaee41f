/* SPDX-License-Identifier: MIT */
/* llama3.c - by how often pairs turn over the original context: slow ones are stretched,
 * fast ones kept, a blend between. Llama 3.1, and NTK-by-parts with other names for its ends. */
#include "encodings/rope/rope.h"

/* The blend subtracts: bits enough for low and high factors one ulp apart and any factor. */
enum { GUARD = 128 };

/* turns = original * theta^(-2i/d) / (2 pi): how often pair i turns over the original context */
static void turns_of(const pe_rope_formula *f, size_t i, mpfr_ptr out)
{
    mpfr_t exponent;
    mpfr_init2(exponent, mpfr_get_prec(out));
    mpfr_set_d(exponent, -2 * (double)i, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, f->dim, MPFR_RNDN);
    mpfr_set_d(out, f->theta, MPFR_RNDN);
    mpfr_pow(out, out, exponent, MPFR_RNDN);
    mpfr_mul_d(out, out, f->key[PE_ROPE_ORIGINAL], MPFR_RNDN);
    mpfr_const_pi(exponent, MPFR_RNDN);
    mpfr_div(out, out, exponent, MPFR_RNDN);
    mpfr_div_2ui(out, out, 1, MPFR_RNDN);
    mpfr_clear(exponent);
}

/* theta_i ((1 - s) / factor + s), s = clamp((turns - low) / (high - low), 0, 1), which is a step
 * for low = high: then no number of turns is either, since pi divides them. */
static void blend(const pe_rope_formula *f, double low, double high, size_t i, mpfr_ptr theta)
{
    mpfr_t s, rest;
    mpfr_inits2(mpfr_get_prec(theta) + GUARD, s, rest, (mpfr_ptr)0);
    turns_of(f, i, s);
    mpfr_sub_d(s, s, low, MPFR_RNDN);
    mpfr_set_d(rest, high, MPFR_RNDN);
    mpfr_sub_d(rest, rest, low, MPFR_RNDN);
    mpfr_div(s, s, rest, MPFR_RNDN); /* +-infinity for the step */
    if (mpfr_sgn(s) < 0)
        mpfr_set_ui(s, 0, MPFR_RNDN);
    if (mpfr_cmp_ui(s, 1) > 0)
        mpfr_set_ui(s, 1, MPFR_RNDN);
    mpfr_ui_sub(rest, 1, s, MPFR_RNDN);
    mpfr_div_d(rest, rest, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
    mpfr_add(s, s, rest, MPFR_RNDN);
    mpfr_mul(theta, theta, s, MPFR_RNDN);
    mpfr_clears(s, rest, (mpfr_ptr)0);
}

/* ---- llama3 ---- */

static void llama3_scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    blend(f, f->key[PE_ROPE_LOW_FREQ_FACTOR], f->key[PE_ROPE_HIGH_FREQ_FACTOR], i, theta);
}

/* The reference's steps, each rounded to float32; scalars are computed in float64 first. */
static float llama3_scale32(const void *formula, size_t i, float inv)
{
    const pe_rope_formula *f = formula;
    const double low = f->key[PE_ROPE_LOW_FREQ_FACTOR], high = f->key[PE_ROPE_HIGH_FREQ_FACTOR];
    const float original = (float)f->key[PE_ROPE_ORIGINAL], factor = (float)f->key[PE_ROPE_FACTOR];
    const float wavelength = (float)6.283185307179586 / inv; /* 2 pi */
    (void)i;
    if (wavelength > (float)(f->key[PE_ROPE_ORIGINAL] / low))
        return inv / factor;
    if (wavelength < (float)(f->key[PE_ROPE_ORIGINAL] / high) || low == high)
        return inv;
    const float turns = original / wavelength;
    const float s = (turns - (float)low) / (float)(high - low);
    const float slow = (1.0F - s) * inv, fast = s * inv;
    const float slow_part = slow / factor;
    return slow_part + fast;
}

static pe_status llama3_check(const pe_values *values, pe_rope_formula *formula, pe_problem *why)
{
    const double low = formula->key[PE_ROPE_LOW_FREQ_FACTOR];
    const double high = formula->key[PE_ROPE_HIGH_FREQ_FACTOR];
    if (high >= low)
        return PE_OK;
    return pe_values_invalid(values, "high_freq_factor", why,
                             "high_freq_factor must be at least low_freq_factor, %.17g, got %.17g",
                             low, high);
}

/* Wavelengths between which frequencies are blended. */
static void llama3_facts(const pe_rope_formula *formula, pe_plan *plan)
{
    const double original = formula->key[PE_ROPE_ORIGINAL];
    pe_plan_add_scalar(plan, "low_freq_wavelen", original / formula->key[PE_ROPE_LOW_FREQ_FACTOR]);
    pe_plan_add_scalar(plan, "high_freq_wavelen",
                       original / formula->key[PE_ROPE_HIGH_FREQ_FACTOR]);
}

#define LLAMA3_KEYS                                                                                \
    (PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_ORIGINAL) |                                 \
     PE_ROPE_BIT(PE_ROPE_LOW_FREQ_FACTOR) | PE_ROPE_BIT(PE_ROPE_HIGH_FREQ_FACTOR))

/** Source  _compute_llama3_parameters in huggingface/transformers at b4b5244c. */
const pe_rope_type pe_rope_llama3 = {
    .name = "llama3",
    .reads = LLAMA3_KEYS,
    .needs = LLAMA3_KEYS,
    .check = llama3_check,
    .scale = llama3_scale,
    .scale32 = llama3_scale32,
    .facts = llama3_facts,
};

/* ---- ntk_by_parts ---- */

static void by_parts_scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    blend(f, f->key[PE_ROPE_BETA_SLOW], f->key[PE_ROPE_BETA_FAST], i, theta);
}

static pe_status by_parts_check(const pe_values *values, pe_rope_formula *formula, pe_problem *why)
{
    if (formula->key[PE_ROPE_BETA_FAST] >= formula->key[PE_ROPE_BETA_SLOW])
        return PE_OK;
    return pe_values_invalid(values, "beta_fast", why,
                             "beta_fast must be at least beta_slow, %.17g, got %.17g",
                             formula->key[PE_ROPE_BETA_SLOW], formula->key[PE_ROPE_BETA_FAST]);
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
    .check = by_parts_check,
    .scale = by_parts_scale,
};
