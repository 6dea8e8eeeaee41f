/* SPDX-License-Identifier: MIT */
/* rope_llama3.c - Llama 3.1: slow pairs are stretched, fast ones kept, a blend between. */
#include "encodings/rope.h"

#include <math.h>

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

/* theta_i ((1 - s) / factor + s), s = clamp((turns - low) / (high - low), 0, 1) */
static void scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    const double low = f->key[PE_ROPE_LOW_FREQ_FACTOR], high = f->key[PE_ROPE_HIGH_FREQ_FACTOR];
    mpfr_t s, rest;
    mpfr_inits2(mpfr_get_prec(theta) + GUARD, s, rest, (mpfr_ptr)0);
    turns_of(f, i, s);
    mpfr_sub_d(s, s, low, MPFR_RNDN);
    mpfr_set_d(rest, high, MPFR_RNDN);
    mpfr_sub_d(rest, rest, low, MPFR_RNDN);
    mpfr_div(s, s, rest, MPFR_RNDN);
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

/* The reference's steps, each rounded to float32; scalars are computed in float64 first. */
static float scale32(const void *formula, size_t i, float inv)
{
    const pe_rope_formula *f = formula;
    const double low = f->key[PE_ROPE_LOW_FREQ_FACTOR], high = f->key[PE_ROPE_HIGH_FREQ_FACTOR];
    const float original = (float)f->key[PE_ROPE_ORIGINAL], factor = (float)f->key[PE_ROPE_FACTOR];
    const float wavelength = (float)6.283185307179586 / inv; /* 2 pi */
    (void)i;
    if (wavelength > (float)(f->key[PE_ROPE_ORIGINAL] / low))
        return inv / factor;
    if (wavelength < (float)(f->key[PE_ROPE_ORIGINAL] / high))
        return inv;
    const float turns = original / wavelength;
    const float s = (turns - (float)low) / (float)(high - low);
    const float slow = (1.0F - s) * inv, fast = s * inv;
    const float slow_part = slow / factor;
    return slow_part + fast;
}

static pe_status check(const pe_values *values, pe_rope_formula *formula, pe_problem *why)
{
    const double low = formula->key[PE_ROPE_LOW_FREQ_FACTOR];
    const double high = formula->key[PE_ROPE_HIGH_FREQ_FACTOR];
    if (high > low)
        return PE_OK;
    return pe_rope_fail(values, PE_INVALID_PARAMETER, "high_freq_factor", why,
                        "high_freq_factor must be above low_freq_factor, %.17g, got %.17g", low,
                        high);
}

/* Wavelengths between which frequencies are blended. */
static void facts(const pe_rope_formula *formula, pe_plan *plan)
{
    const double original = formula->key[PE_ROPE_ORIGINAL];
    pe_plan_add_scalar(plan, "low_freq_wavelen", original / formula->key[PE_ROPE_LOW_FREQ_FACTOR]);
    pe_plan_add_scalar(plan, "high_freq_wavelen",
                       original / formula->key[PE_ROPE_HIGH_FREQ_FACTOR]);
}

#define KEYS                                                                                       \
    (PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_ORIGINAL) |                                 \
     PE_ROPE_BIT(PE_ROPE_LOW_FREQ_FACTOR) | PE_ROPE_BIT(PE_ROPE_HIGH_FREQ_FACTOR))

/** Source  _compute_llama3_parameters in huggingface/transformers at b4b5244c. */
const pe_rope_type pe_rope_llama3 = {
    .name = "llama3",
    .reads = KEYS,
    .needs = KEYS,
    .check = check,
    .scale = scale,
    .scale32 = scale32,
    .facts = facts,
};
