/* SPDX-License-Identifier: MIT */
/* part_ntk.c - linear for slow pairs, NTK between, kept for fast ones, with ramps between. */
#include "encodings/rope/types/rope_types.h"
#include "base/power.h"
#include "exact/round.h"

enum { GUARD = 128 };

/* out = (1 - ramp from low to high) * most */
static void share(double low, double high, double most, size_t i, mpfr_ptr out)
{
    mpfr_t from, to;
    mpfr_inits2(53, from, to, (mpfr_ptr)0);
    mpfr_set_d(from, low, MPFR_RNDN);
    mpfr_set_d(to, high, MPFR_RNDN);
    if (!pe_rope_pair_ramp_is_beside(i, low, high, out))
        pe_rope_pair_ramp_at(i, from, to, out);
    mpfr_ui_sub(out, 1, out, MPFR_RNDN);
    mpfr_mul_d(out, out, most, MPFR_RNDN);
    mpfr_clears(from, to, (mpfr_ptr)0);
}

/* x += share (y - x) */
static void mix(mpfr_ptr x, mpfr_srcptr by, mpfr_srcptr y)
{
    mpfr_t step;
    mpfr_init2(step, mpfr_get_prec(x));
    mpfr_sub(step, y, x, MPFR_RNDN);
    mpfr_fma(x, step, by, x, MPFR_RNDN);
    mpfr_clear(step);
}

/* out = factor^(-2i/(d - 2)): theta_i of the base theta factor^(d/(d-2)), over theta_i */
static void ntk(const pe_rope_formula *f, size_t i, mpfr_ptr out)
{
    mpfr_set_d(out, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
    pe_power_raise(out, -2 * (double)i, f->dim - 2);
}

/* theta_i times: 1/factor, mixed with ntk, mixed with 1 */
static void scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    mpfr_t x, y, by, kept;
    mpfr_inits2(mpfr_get_prec(theta) + GUARD, x, y, by, kept, (mpfr_ptr)0);
    share(f->low2, f->high2, f->key[PE_ROPE_EXTRAPOLATION_FACTOR], i, kept);
    if (mpfr_cmp_ui(kept, 1) != 0) {
        mpfr_set_ui(x, 1, MPFR_RNDN);
        mpfr_div_d(x, x, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
        share(f->low, f->high, f->key[PE_ROPE_NTK_FACTOR], i, by);
        if (!mpfr_zero_p(by)) {
            ntk(f, i, y);
            mix(x, by, y);
        }
        mpfr_set_ui(y, 1, MPFR_RNDN);
        mix(x, kept, y);
        mpfr_mul(theta, theta, x, MPFR_RNDN);
    }
    mpfr_clears(x, y, by, kept, (mpfr_ptr)0);
}

static float share32(double low, double high, double most, size_t i)
{
    return (1.0F - pe_rope_pair_ramp32(i, low, high)) * (float)most;
}

/* x (1 - by) + y by, as the reference has it */
static float mix32(float x, float by, float y)
{
    const float left = x * (1.0F - by), right = y * by;
    return left + right;
}

/* theta factor^(d/(d-2)) as the reference's float64, rounded to float32 */
static float ntk_base32(const pe_rope_formula *f)
{
    mpfr_t base, exponent;
    mpfr_inits2(53, base, exponent, (mpfr_ptr)0);
    mpfr_set_d(exponent, f->dim / (f->dim - 2), MPFR_RNDN);
    mpfr_set_d(base, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
    mpfr_pow(base, base, exponent, MPFR_RNDN);
    mpfr_mul_d(base, base, f->theta, MPFR_RNDN);
    const float result = (float)mpfr_get_d(base, MPFR_RNDN);
    mpfr_clears(base, exponent, (mpfr_ptr)0);
    return result;
}

static float scale32(const void *formula, size_t i, float inv)
{
    const pe_rope_formula *f = formula;
    const float exponent = (float)(2 * i) / (float)f->dim;
    const float p = pe_exact_powf((float)f->theta, exponent);
    const float linear = 1.0F / ((float)f->key[PE_ROPE_FACTOR] * p);
    const float ntk32 = 1.0F / pe_exact_powf(ntk_base32(f), exponent);
    const float most = share32(f->low, f->high, f->key[PE_ROPE_NTK_FACTOR], i);
    const float kept = share32(f->low2, f->high2, f->key[PE_ROPE_EXTRAPOLATION_FACTOR], i);
    return mix32(mix32(linear, most, ntk32), kept, inv);
}

static pe_status check(const pe_values *values, pe_rope_formula *formula, pe_problem *why)
{
    PE_TRY(pe_rope_pair_ramp_check(values, formula, why));
    /* "found experimentally for LLaMA", there */
    static const pe_rope_pair_ramp ntk = {1.25, 0.75, true}, kept = {16, 2, true};
    pe_rope_pair_ramp_round(formula, &ntk, &formula->low, &formula->high);
    pe_rope_pair_ramp_round(formula, &kept, &formula->low2, &formula->high2);
    return PE_OK;
}

/**
 *     theta_i = mix(mix(linear, m, ntk), n, kept),   mix(x, w, y) = x (1 - w) + y w
 *
 * of theta_i / factor, that of the base theta factor^(d/(d-2)), and theta_i itself;
 * m = (1 - ramp(1.25, 0.75 turns)) ntk_factor, n = (1 - ramp(16, 2 turns)) extrapolation_factor.
 *
 * Source  bloc97 2023, LlamaPartNTKScaledRotaryEmbedding in jquesnelle/yarn at
 *         995db5b575e75230b3384d658f8b944c9662f775.
 */
const pe_rope_type pe_rope_part_ntk = {
    .name = "part_ntk",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_ORIGINAL) |
             PE_ROPE_BIT(PE_ROPE_NTK_FACTOR) | PE_ROPE_BIT(PE_ROPE_EXTRAPOLATION_FACTOR),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .defaults = {{PE_ROPE_NTK_FACTOR, 1}, {PE_ROPE_EXTRAPOLATION_FACTOR, 1}},
    .n_defaults = 2,
    .min_dim = 4,
    .min_dim_is = PE_ROPE_NO_EXPONENT,
    .check = check,
    .scale = scale,
    .scale32 = scale32,
};
