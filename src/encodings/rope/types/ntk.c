/* SPDX-License-Identifier: MIT */
/* ntk.c - a larger base keeps fast pairs and stretches slow ones: ntk, ntk_alpha, dynamic. */
#include "encodings/rope/types/rope_types.h"
#include "base/power.h"
#include "exact/round.h"
#include "plan/plan.h"

/* Bits beyond out's precision that intermediate results keep. */
enum { GUARD = 64 };

/* out = theta * growth^(d/(d-2)): the last pair's frequency falls by growth, the first's stays. */
static void grow_base(const pe_rope_formula *f, mpfr_ptr growth, mpfr_ptr out)
{
    pe_power_raise(growth, f->dim, f->dim - 2);
    mpfr_mul_d(out, growth, f->theta, MPFR_RNDN);
}

static void grow_base_by(const pe_rope_formula *f, double factor, mpfr_ptr out)
{
    mpfr_t growth;
    mpfr_init2(growth, mpfr_get_prec(out) + GUARD);
    mpfr_set_d(growth, factor, MPFR_RNDN);
    grow_base(f, growth, out);
    mpfr_clear(growth);
}

static void ntk_base(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    grow_base_by(f, f->key[PE_ROPE_FACTOR], out);
}

static void ntk_alpha_base(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    grow_base_by(f, f->key[PE_ROPE_ALPHA], out);
}

/* growth = factor*L/M - (factor - 1) = 1 + factor*(L - M)/M for L > M, else 1. */
static void dynamic_base(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    const double length = f->key[PE_ROPE_SEQ_LEN], most = f->key[PE_ROPE_MAX_POSITIONS];
    mpfr_t growth;
    mpfr_init2(growth, mpfr_get_prec(out) + GUARD);
    mpfr_set_d(growth, length > most ? length - most : 0, MPFR_RNDN);
    mpfr_mul_d(growth, growth, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
    mpfr_div_d(growth, growth, most, MPFR_RNDN);
    mpfr_add_ui(growth, growth, 1, MPFR_RNDN);
    grow_base(f, growth, out);
    mpfr_clear(growth);
}

/* The reference's steps where seq_len is a tensor, as while a model runs. */
static float dynamic_base32(const pe_rope_formula *f)
{
    const double factor = f->key[PE_ROPE_FACTOR];
    const float length = (float)f->key[PE_ROPE_SEQ_LEN],
                most = (float)f->key[PE_ROPE_MAX_POSITIONS];
    if (f->key[PE_ROPE_SEQ_LEN] <= f->key[PE_ROPE_MAX_POSITIONS])
        return (float)f->theta;
    const float stretched = length * (float)factor, share = stretched / most;
    const float growth = share - (float)(factor - 1);
    return pe_exact_powf_double(growth, f->dim / (f->dim - 2)) * (float)f->theta;
}

/* A dynamic rotation past the trained context depends on what came before. */
static void dynamic_warn(const pe_rope_formula *f, pe_plan *plan)
{
    if (f->key[PE_ROPE_SEQ_LEN] > f->key[PE_ROPE_MAX_POSITIONS])
        pe_plan_warn(plan,
                     "huggingface/transformers keeps the frequencies of the longest sequence seen "
                     "until one is shorter than max_position_embeddings: seq_len is that longest "
                     "length, and keys cached at other lengths were turned by other frequencies");
}

/** Source  bloc97 2023. */
const pe_rope_type pe_rope_ntk = {
    .name = "ntk",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .min_dim = 4,
    .min_dim_is = PE_ROPE_NO_EXPONENT,
    .base = ntk_base,
};

/**
 * ntk with the stretch under the name that Hunyuan's configurations give it.
 * Source  DynamicNTKAlphaRotaryEmbedding in vllm-project/vllm at cf027b86.
 */
const pe_rope_type pe_rope_ntk_alpha = {
    .name = "ntk_alpha",
    .reads = PE_ROPE_BIT(PE_ROPE_ALPHA),
    .needs = PE_ROPE_BIT(PE_ROPE_ALPHA),
    .min_dim = 4,
    .min_dim_is = PE_ROPE_NO_EXPONENT,
    .base = ntk_alpha_base,
};

/**
 * Source  emozilla 2023, as _compute_dynamic_ntk_parameters in huggingface/transformers at
 *         b4b5244c.
 */
const pe_rope_type pe_rope_dynamic = {
    .name = "dynamic",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_MAX_POSITIONS) |
             PE_ROPE_BIT(PE_ROPE_SEQ_LEN),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_MAX_POSITIONS),
    .min_dim = 4,
    .min_dim_is = PE_ROPE_NO_EXPONENT,
    .base = dynamic_base,
    .base32 = dynamic_base32,
    .warn = dynamic_warn,
};
