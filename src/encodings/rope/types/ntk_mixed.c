/* SPDX-License-Identifier: MIT */
/* ntk_mixed.c - NTK in mixed radix: the stretch grows over the pairs as a power of their
 * number. */
#include "encodings/rope/types/rope_types.h"
#include "exact/round.h"
#include "plan/common_params.h"

enum { GUARD = 64 };

/* theta_i / exp(a (i + 1)^b), a = ln(factor) / (d/2)^b: the exponent is ln(factor)
 * ((2i + 2)/d)^b */
static void scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    mpfr_t log_factor, share, b;
    mpfr_inits2(mpfr_get_prec(theta) + GUARD, log_factor, share, b, (mpfr_ptr)0);
    mpfr_set_d(b, f->key[PE_ROPE_MIXED_B], MPFR_RNDN);
    mpfr_set_ui(share, 2 * (i + 1), MPFR_RNDN);
    mpfr_div_d(share, share, f->dim, MPFR_RNDN);
    mpfr_pow(share, share, b, MPFR_RNDN);
    mpfr_set_d(log_factor, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
    mpfr_log(log_factor, log_factor, MPFR_RNDN);
    mpfr_mul(share, share, log_factor, MPFR_RNDN);
    mpfr_exp(share, share, MPFR_RNDN);
    mpfr_div(theta, theta, share, MPFR_RNDN);
    mpfr_clears(log_factor, share, b, (mpfr_ptr)0);
}

/* exp(x) or ln(x), rounded to float32 */
static float rounded(int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), float x)
{
    mpfr_t y;
    mpfr_init2(y, 24);
    mpfr_set_flt(y, x, MPFR_RNDN);
    function(y, y, MPFR_RNDN);
    const float result = mpfr_get_flt(y, MPFR_RNDN);
    mpfr_clear(y);
    return result;
}

/* (d/2)^b as the reference's float64 */
static double power_of_half(const pe_rope_formula *f)
{
    mpfr_t half, b;
    mpfr_inits2(53, half, b, (mpfr_ptr)0);
    mpfr_set_d(half, f->dim / 2, MPFR_RNDN);
    mpfr_set_d(b, f->key[PE_ROPE_MIXED_B], MPFR_RNDN);
    mpfr_pow(half, half, b, MPFR_RNDN);
    const double result = mpfr_get_d(half, MPFR_RNDN);
    mpfr_clears(half, b, (mpfr_ptr)0);
    return result;
}

/* The reference's steps, each rounded to float32: a, (i + 1)^b, their product, its exponential. */
static float scale32(const void *formula, size_t i, float inv)
{
    const pe_rope_formula *f = formula;
    const float log_factor = rounded(mpfr_log, (float)f->key[PE_ROPE_FACTOR]);
    const float a = log_factor / (float)power_of_half(f);
    const float power = pe_exact_powf((float)(i + 1), (float)f->key[PE_ROPE_MIXED_B]);
    return inv / rounded(mpfr_exp, a * power);
}

/* In float32 a power of (d/2)^b that overflows leaves nothing of the stretch. */
static pe_status check(const pe_values *values, pe_rope_formula *formula, pe_problem *why)
{
    if (pe_values_choice(values, "numerics") == PE_NUMERICS_EXACT ||
        power_of_half(formula) <= pe_dtype_max(PE_FLOAT32))
        return PE_OK;
    return pe_values_invalid(values, "mixed_b", why,
                             "(rotary_dim/2)^mixed_b overflows float32, so numerics=float32 has no "
                             "value");
}

/**
 *     theta_i = rope_theta^(-2i/d) / exp(a (i + 1)^mixed_b),   a = ln(factor) / (d/2)^mixed_b
 *
 * Source  Su 2023, kexue.fm/archives/9706, as NTKScalingRotaryEmbedding with mixed_b in
 *         vllm-project/vllm at cf027b86af71251a8e937a56751636686b4429e4,
 *         vllm/model_executor/layers/rotary_embedding/ntk_scaling_rope.py.
 */
const pe_rope_type pe_rope_ntk_mixed = {
    .name = "ntk_mixed",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_MIXED_B),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_MIXED_B),
    .check = check,
    .scale = scale,
    .scale32 = scale32,
};
