/* SPDX-License-Identifier: MIT */
/* yarn.c - YaRN: fast pairs keep their frequency, slow ones are stretched, a ramp between. */
#include "encodings/rope/types/rope_types.h"
#include "exact/round.h"
#include "plan/plan.h"

enum { GUARD = 64 };

/* ---- frequencies ---- */

static pe_rope_pair_ramp ramp_of(const pe_rope_formula *f)
{
    return (pe_rope_pair_ramp){f->key[PE_ROPE_BETA_FAST], f->key[PE_ROPE_BETA_SLOW],
                               f->key[PE_ROPE_TRUNCATE] != 0};
}

static void ramp_at(const pe_rope_formula *f, size_t i, mpfr_ptr out)
{
    mpfr_t low, high;
    if (pe_rope_pair_ramp_is_beside(i, f->low, f->high, out))
        return;
    mpfr_inits2(mpfr_get_prec(out), low, high, (mpfr_ptr)0);
    if (f->key[PE_ROPE_TRUNCATE] != 0) { /* whole numbers, found when the type was checked */
        mpfr_set_d(low, f->low, MPFR_RNDN);
        mpfr_set_d(high, f->high, MPFR_RNDN);
    } else {
        const pe_rope_pair_ramp ramp = ramp_of(f);
        pe_rope_pair_ramp_ends(f, &ramp, low, high);
    }
    pe_rope_pair_ramp_at(i, low, high, out);
    mpfr_clears(low, high, (mpfr_ptr)0);
}

/* theta_i (keep + (1 - keep) / factor), keep = (1 - ramp) extrapolation_factor */
static void scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    const mpfr_prec_t bits = mpfr_get_prec(theta) + GUARD;
    mpfr_t keep, rest;
    mpfr_inits2(bits, keep, rest, (mpfr_ptr)0);
    ramp_at(f, i, keep);
    mpfr_ui_sub(keep, 1, keep, MPFR_RNDN);
    mpfr_mul_d(keep, keep, f->key[PE_ROPE_EXTRAPOLATION_FACTOR], MPFR_RNDN);
    if (mpfr_zero_p(keep)) {
        mpfr_div_d(theta, theta, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
    } else if (mpfr_cmp_ui(keep, 1) != 0) {
        mpfr_ui_sub(rest, 1, keep, MPFR_RNDN);
        mpfr_div_d(rest, rest, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
        mpfr_add(keep, keep, rest, MPFR_RNDN);
        mpfr_mul(theta, theta, keep, MPFR_RNDN);
    }
    mpfr_clears(keep, rest, (mpfr_ptr)0);
}

/* The reference blends 1/(factor*p) and 1/p, p = theta^(2i/d), with a ramp rounded to float32. */
static float scale32(const void *formula, size_t i, float inv)
{
    const pe_rope_formula *f = formula;
    const float ramp32 = pe_rope_pair_ramp32(i, f->low, f->high);
    const float keep = (1.0F - ramp32) * (float)f->key[PE_ROPE_EXTRAPOLATION_FACTOR];
    const float p = pe_exact_powf((float)f->theta, (float)(2 * i) / (float)f->dim);
    const float slow = 1.0F / ((float)f->key[PE_ROPE_FACTOR] * p);
    const float slow_part = slow * (1.0F - keep), fast_part = inv * keep;
    return slow_part + fast_part;
}

/* ---- the attention factor ---- */

void pe_rope_yarn_stretch(double factor, double mscale, mpfr_ptr out)
{
    mpfr_set_d(out, factor, MPFR_RNDN);
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_mul_d(out, out, mscale, MPFR_RNDN);
    mpfr_div_ui(out, out, 10, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
}

static void derived(const pe_rope_formula *f, mpfr_ptr out)
{
    const double mscale = f->key[PE_ROPE_MSCALE], all = f->key[PE_ROPE_MSCALE_ALL_DIM];
    const double factor = f->key[PE_ROPE_FACTOR];
    if (mscale == 0 || all == 0) {
        pe_rope_yarn_stretch(factor, 1, out);
        return;
    }
    mpfr_t divisor;
    mpfr_init2(divisor, mpfr_get_prec(out));
    pe_rope_yarn_stretch(factor, mscale, out);
    pe_rope_yarn_stretch(factor, all, divisor);
    mpfr_div(out, out, divisor, MPFR_RNDN);
    mpfr_clear(divisor);
}

static void amplitude(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    if (pe_rope_has(f, PE_ROPE_ATTENTION_FACTOR)) {
        mpfr_set_d(out, f->key[PE_ROPE_ATTENTION_FACTOR], MPFR_RNDN);
        return;
    }
    derived(f, out);
    if (pe_rope_has(f, PE_ROPE_ATTN_FACTOR))
        mpfr_mul_d(out, out, f->key[PE_ROPE_ATTN_FACTOR], MPFR_RNDN);
}

/* get_mscale of the reference, in float64: 0.1 mscale ln(factor) + 1, from left to right. */
static double stretch_scale64(const pe_rope_formula *f, double mscale)
{
    const double tenth = 0.1 * mscale, product = tenth * pe_exact_log(f->key[PE_ROPE_FACTOR]);
    return product + 1;
}

static double amplitude32(const pe_rope_formula *f)
{
    const double mscale = f->key[PE_ROPE_MSCALE], all = f->key[PE_ROPE_MSCALE_ALL_DIM];
    if (pe_rope_has(f, PE_ROPE_ATTENTION_FACTOR))
        return f->key[PE_ROPE_ATTENTION_FACTOR];
    const double derived = mscale == 0 || all == 0
                               ? stretch_scale64(f, 1)
                               : stretch_scale64(f, mscale) / stretch_scale64(f, all);
    return pe_rope_has(f, PE_ROPE_ATTN_FACTOR) ? derived * f->key[PE_ROPE_ATTN_FACTOR] : derived;
}

/* ---- the type ---- */

static pe_status check(const pe_values *values, pe_rope_formula *formula, pe_problem *why)
{
    const pe_rope_pair_ramp ramp = ramp_of(formula);
    PE_TRY(pe_rope_pair_ramp_check(values, formula, why));
    /* swapped by a client they are a mistake; verify asks what that mistake gives */
    if (pe_values_given(values, "beta_fast") || pe_values_given(values, "beta_slow"))
        PE_TRY(pe_rope_keys_check(values, formula, PE_ROPE_BETA_FAST, PE_ROPE_BETA_SLOW, why));
    if (pe_rope_has(formula, PE_ROPE_ATTENTION_FACTOR) && pe_rope_has(formula, PE_ROPE_ATTN_FACTOR))
        return pe_values_invalid(
            values, "attn_factor", why,
            "attn_factor multiplies the factor that attention_factor replaces: give one of them");
    pe_rope_pair_ramp_round(formula, &ramp, &formula->low, &formula->high);
    return PE_OK;
}

static void add_scalars(const pe_rope_formula *formula, pe_plan *plan)
{
    pe_plan_add_scalar(plan, "low", formula->low);
    pe_plan_add_scalar(plan, "high", formula->high);
}

/* One of the two alone has no effect in transformers, unlike in the code of the models. */
static void warn(const pe_rope_formula *f, pe_plan *plan)
{
    const bool mscale = f->key[PE_ROPE_MSCALE] != 0, all = f->key[PE_ROPE_MSCALE_ALL_DIM] != 0;
    if (mscale != all && !pe_rope_has(f, PE_ROPE_ATTENTION_FACTOR))
        pe_plan_warn(plan,
                     "%s has no effect without %s, as in huggingface/transformers: the attention "
                     "factor is 1 + 0.1 ln(factor)",
                     mscale ? "mscale" : "mscale_all_dim", mscale ? "mscale_all_dim" : "mscale");
}

/**
 * Source  Peng et al. 2023, arXiv:2309.00071, as _compute_yarn_parameters in
 *         huggingface/transformers at b4b5244c does it; extrapolation_factor and attn_factor as
 *         LlamaYaRNScaledRotaryEmbedding in jquesnelle/yarn at 995db5b5.
 */
const pe_rope_type pe_rope_yarn = {
    .name = "yarn",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_ORIGINAL) |
             PE_ROPE_BIT(PE_ROPE_ATTENTION_FACTOR) | PE_ROPE_BIT(PE_ROPE_BETA_FAST) |
             PE_ROPE_BIT(PE_ROPE_BETA_SLOW) | PE_ROPE_BIT(PE_ROPE_MSCALE) |
             PE_ROPE_BIT(PE_ROPE_MSCALE_ALL_DIM) | PE_ROPE_BIT(PE_ROPE_TRUNCATE) |
             PE_ROPE_BIT(PE_ROPE_EXTRAPOLATION_FACTOR) | PE_ROPE_BIT(PE_ROPE_ATTN_FACTOR),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .defaults = {{PE_ROPE_BETA_FAST, 32},
                 {PE_ROPE_BETA_SLOW, 1},
                 {PE_ROPE_TRUNCATE, 1},
                 {PE_ROPE_EXTRAPOLATION_FACTOR, 1}},
    .n_defaults = 4,
    .check = check,
    .scale = scale,
    .scale32 = scale32,
    .amplitude = amplitude,
    .amplitude32 = amplitude32,
    .add_scalars = add_scalars,
    .warn = warn,
};
