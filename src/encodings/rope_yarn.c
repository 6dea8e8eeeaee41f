/* SPDX-License-Identifier: MIT */
/* rope_yarn.c - YaRN: fast pairs keep their frequency, slow ones are stretched, a ramp between. */
#include "encodings/rope.h"

#include <math.h>

enum { GUARD = 64 };

/* ---- the ramp -----------------------------------------------------------------------------------
 */

/* out = d ln(original / (2 pi turns)) / (2 ln theta): the pair that turns so often over it. */
static void correction_dim(const pe_rope_formula *f, double turns, mpfr_ptr out)
{
    mpfr_t log_base;
    mpfr_init2(log_base, mpfr_get_prec(out));
    mpfr_const_pi(out, MPFR_RNDN);
    mpfr_mul_2ui(out, out, 1, MPFR_RNDN);
    mpfr_mul_d(out, out, turns, MPFR_RNDN);
    mpfr_d_div(out, f->key[PE_ROPE_ORIGINAL], out, MPFR_RNDN);
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_mul_d(out, out, f->dim, MPFR_RNDN);
    mpfr_set_d(log_base, f->theta, MPFR_RNDN);
    mpfr_log(log_base, log_base, MPFR_RNDN);
    mpfr_mul_2ui(log_base, log_base, 1, MPFR_RNDN);
    mpfr_div(out, out, log_base, MPFR_RNDN);
    mpfr_clear(log_base);
}

/* low = max(dim(beta_fast), 0), high = min(dim(beta_slow), d - 1), rounded outwards if truncate;
 * pi keeps either from being an integer, so their floor and ceiling are decided. */
static void bounds(const pe_rope_formula *f, mpfr_ptr low, mpfr_ptr high)
{
    correction_dim(f, f->key[PE_ROPE_BETA_FAST], low);
    correction_dim(f, f->key[PE_ROPE_BETA_SLOW], high);
    if (f->key[PE_ROPE_TRUNCATE] != 0) {
        mpfr_floor(low, low);
        mpfr_ceil(high, high);
    }
    if (mpfr_sgn(low) < 0)
        mpfr_set_ui(low, 0, MPFR_RNDN);
    if (mpfr_cmp_d(high, f->dim - 1) > 0)
        mpfr_set_d(high, f->dim - 1, MPFR_RNDN);
}

/* ramp = clamp((i - low) / (high - low), 0, 1); high a thousandth more where they are equal */
static void ramp(const pe_rope_formula *f, size_t i, mpfr_ptr out)
{
    mpfr_t low, high;
    mpfr_inits2(mpfr_get_prec(out), low, high, (mpfr_ptr)0);
    if (f->key[PE_ROPE_TRUNCATE] != 0) { /* whole numbers, found when the type was checked */
        mpfr_set_d(low, f->low, MPFR_RNDN);
        mpfr_set_d(high, f->high, MPFR_RNDN);
    } else {
        bounds(f, low, high);
    }
    mpfr_ui_sub(out, i, low, MPFR_RNDN);
    if (mpfr_equal_p(low, high)) {
        mpfr_mul_ui(out, out, 1000, MPFR_RNDN);
    } else {
        mpfr_sub(high, high, low, MPFR_RNDN);
        mpfr_div(out, out, high, MPFR_RNDN);
    }
    if (mpfr_sgn(out) < 0)
        mpfr_set_ui(out, 0, MPFR_RNDN);
    if (mpfr_cmp_ui(out, 1) > 0)
        mpfr_set_ui(out, 1, MPFR_RNDN);
    mpfr_clears(low, high, (mpfr_ptr)0);
}

/* theta_i ((1 - ramp) + ramp / factor) */
static void scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    const mpfr_prec_t bits = mpfr_get_prec(theta) + GUARD;
    mpfr_t share, rest;
    mpfr_inits2(bits, share, rest, (mpfr_ptr)0);
    ramp(f, i, share);
    mpfr_ui_sub(rest, 1, share, MPFR_RNDN);
    mpfr_div_d(share, share, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
    mpfr_add(share, share, rest, MPFR_RNDN);
    mpfr_mul(theta, theta, share, MPFR_RNDN);
    mpfr_clears(share, rest, (mpfr_ptr)0);
}

/* The reference blends 1/(factor*p) and 1/p, p = theta^(2i/d), with a ramp rounded to float32. */
static float scale32(const void *formula, size_t i, float inv)
{
    const pe_rope_formula *f = formula;
    const double high = f->low == f->high ? f->high + 0.001 : f->high;
    const float above = (float)i - (float)f->low, span = (float)(high - f->low);
    const float share = fminf(fmaxf(above / span, 0.0F), 1.0F);
    const float keep = 1.0F - share;
    const float p = pe_exact_powf((float)f->theta, (float)(2 * i) / (float)f->dim);
    const float slow = 1.0F / ((float)f->key[PE_ROPE_FACTOR] * p);
    const float slow_part = slow * (1.0F - keep), fast_part = inv * keep;
    return slow_part + fast_part;
}

/* ---- the attention factor -----------------------------------------------------------------------
 */

/* out = 1 + 0.1 mscale ln(factor) */
static void stretch_scale(const pe_rope_formula *f, double mscale, mpfr_ptr out)
{
    mpfr_set_d(out, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_mul_d(out, out, mscale, MPFR_RNDN);
    mpfr_div_ui(out, out, 10, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
}

static void amplitude(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    const double mscale = f->key[PE_ROPE_MSCALE], all = f->key[PE_ROPE_MSCALE_ALL_DIM];
    if (pe_rope_has(f, PE_ROPE_ATTENTION_FACTOR)) {
        mpfr_set_d(out, f->key[PE_ROPE_ATTENTION_FACTOR], MPFR_RNDN);
        return;
    }
    if (mscale == 0 || all == 0) {
        stretch_scale(f, 1, out);
        return;
    }
    mpfr_t divisor;
    mpfr_init2(divisor, mpfr_get_prec(out));
    stretch_scale(f, mscale, out);
    stretch_scale(f, all, divisor);
    mpfr_div(out, out, divisor, MPFR_RNDN);
    mpfr_clear(divisor);
}

/* ---- the type -----------------------------------------------------------------------------------
 */

static pe_status check(const pe_values *values, pe_rope_formula *formula, pe_problem *why)
{
    mpfr_t low, high;
    if (formula->theta <= 1)
        return pe_rope_fail(values, PE_INVALID_PARAMETER, "rope_theta", why,
                            "rope_theta must be above 1 with rope_type yarn, got %.17g",
                            formula->theta);
    if (formula->key[PE_ROPE_BETA_FAST] < formula->key[PE_ROPE_BETA_SLOW])
        return pe_rope_fail(values, PE_INVALID_PARAMETER, "beta_fast", why,
                            "beta_fast must be at least beta_slow, %.17g, got %.17g",
                            formula->key[PE_ROPE_BETA_SLOW], formula->key[PE_ROPE_BETA_FAST]);
    mpfr_inits2(256, low, high, (mpfr_ptr)0);
    bounds(formula, low, high);
    formula->low = mpfr_get_d(low, MPFR_RNDN) + 0.0;
    formula->high = mpfr_get_d(high, MPFR_RNDN) + 0.0;
    mpfr_clears(low, high, (mpfr_ptr)0);
    return PE_OK;
}

static void facts(const pe_rope_formula *formula, pe_plan *plan)
{
    pe_plan_add_scalar(plan, "low", formula->low);
    pe_plan_add_scalar(plan, "high", formula->high);
}

/**
 * Source  Peng et al. 2023, arXiv:2309.00071, as _compute_yarn_parameters in
 *         huggingface/transformers at b4b5244c does it.
 */
const pe_rope_type pe_rope_yarn = {
    .name = "yarn",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_ORIGINAL) |
             PE_ROPE_BIT(PE_ROPE_ATTENTION_FACTOR) | PE_ROPE_BIT(PE_ROPE_BETA_FAST) |
             PE_ROPE_BIT(PE_ROPE_BETA_SLOW) | PE_ROPE_BIT(PE_ROPE_MSCALE) |
             PE_ROPE_BIT(PE_ROPE_MSCALE_ALL_DIM) | PE_ROPE_BIT(PE_ROPE_TRUNCATE),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .defaults = {{PE_ROPE_BETA_FAST, 32}, {PE_ROPE_BETA_SLOW, 1}, {PE_ROPE_TRUNCATE, 1}},
    .n_defaults = 3,
    .check = check,
    .scale = scale,
    .scale32 = scale32,
    .amplitude = amplitude,
    .facts = facts,
};
