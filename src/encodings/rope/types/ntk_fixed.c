/* SPDX-License-Identifier: MIT */
/* ntk_fixed.c - NTK with fixed coefficients: every pair stretched, the last one by factor. */
#include "encodings/rope/types/rope_types.h"
#include "base/power.h"

enum { GUARD = 64 };

static void base(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    mpfr_set_d(out, f->theta, MPFR_RNDN);
    mpfr_mul_d(out, out, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
}

/* out = factor^(2/d) */
static void divisor(const pe_rope_formula *f, mpfr_ptr out)
{
    mpfr_set_d(out, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
    pe_power_raise(out, 2, f->dim);
}

static void scale(const void *formula, size_t i PE_UNUSED, mpfr_ptr theta)
{
    mpfr_t stretch;
    mpfr_init2(stretch, mpfr_get_prec(theta) + GUARD);
    divisor(formula, stretch);
    mpfr_div(theta, theta, stretch, MPFR_RNDN);
    mpfr_clear(stretch);
}

/* The reference divides by a float64 number, which PyTorch rounds to float32 first. */
static float scale32(const void *formula, size_t i PE_UNUSED, float inv)
{
    mpfr_t stretch;
    mpfr_init2(stretch, 53);
    divisor(formula, stretch);
    const float by = (float)mpfr_get_d(stretch, MPFR_RNDN);
    mpfr_clear(stretch);
    return inv / by;
}

/**
 *     theta_i = (rope_theta factor)^(-2i/d) / factor^(2/d)
 *
 * Source  Su 2023, kexue.fm/archives/9706, as NTKScalingRotaryEmbedding without mixed_b in
 *         vllm-project/vllm at cf027b86af71251a8e937a56751636686b4429e4,
 *         vllm/model_executor/layers/rotary_embedding/ntk_scaling_rope.py.
 */
const pe_rope_type pe_rope_ntk_fixed = {
    .name = "ntk_fixed",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .base = base,
    .scale = scale,
    .scale32 = scale32,
};
