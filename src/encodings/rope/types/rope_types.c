/* SPDX-License-Identifier: MIT */
/* rope_types.c - the table of rope types, and the types that change all frequencies alike. */
#include "encodings/rope/rope.h"

/* Bits beyond out's precision that intermediate results keep. */
enum { GUARD = 64 };

/* linear: theta_i / factor. */
static void linear_scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    (void)i;
    mpfr_div_d(theta, theta, f->key[PE_ROPE_FACTOR], MPFR_RNDN);
}

static float linear_scale32(const void *formula, size_t i, float inv)
{
    const pe_rope_formula *f = formula;
    (void)i;
    return inv / (float)f->key[PE_ROPE_FACTOR];
}

/* out = theta * growth^(d/(d-2)): the last pair's frequency falls by growth, the first's stays. */
static void grow_base(const pe_rope_formula *f, mpfr_ptr growth, mpfr_ptr out)
{
    mpfr_t exponent;
    mpfr_init2(exponent, mpfr_get_prec(growth));
    mpfr_set_d(exponent, f->dim, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, f->dim - 2, MPFR_RNDN);
    mpfr_pow(growth, growth, exponent, MPFR_RNDN);
    mpfr_mul_d(out, growth, f->theta, MPFR_RNDN);
    mpfr_clear(exponent);
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

#define NO_EXPONENT "its exponent d/(d - 2) has no value at d = 2"

const pe_rope_type pe_rope_default = {.name = "default"};

const pe_rope_type pe_rope_linear = {
    .name = "linear",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .scale = linear_scale,
    .scale32 = linear_scale32,
};

const pe_rope_type pe_rope_ntk = {
    .name = "ntk",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .min_dim = 4,
    .min_dim_is = NO_EXPONENT,
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
    .min_dim_is = NO_EXPONENT,
    .base = ntk_alpha_base,
};

const pe_rope_type pe_rope_dynamic = {
    .name = "dynamic",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_MAX_POSITIONS) |
             PE_ROPE_BIT(PE_ROPE_SEQ_LEN),
    .needs = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_MAX_POSITIONS),
    .min_dim = 4,
    .min_dim_is = NO_EXPONENT,
    .base = dynamic_base,
};

/* linear's division of the pairs that turn */
const pe_rope_type pe_rope_proportional = {
    .name = "proportional",
    .reads = PE_ROPE_BIT(PE_ROPE_FACTOR),
    .defaults = {{PE_ROPE_FACTOR, 1}},
    .n_defaults = 1,
    .whole_head = true,
    .scale = linear_scale,
    .scale32 = linear_scale32,
};

const pe_rope_type *const pe_rope_types[] = {&pe_rope_default,   &pe_rope_linear,
                                             &pe_rope_ntk,       &pe_rope_dynamic,
                                             &pe_rope_yarn,      &pe_rope_longrope,
                                             &pe_rope_llama3,    &pe_rope_proportional,
                                             &pe_rope_ntk_alpha, &pe_rope_ntk_fixed,
                                             &pe_rope_ntk_mixed, &pe_rope_ntk_by_parts,
                                             &pe_rope_part_ntk,  NULL};
const char *const pe_rope_type_names[] = {
    "default",      "linear",    "ntk",       "dynamic",   "yarn",         "longrope", "llama3",
    "proportional", "ntk_alpha", "ntk_fixed", "ntk_mixed", "ntk_by_parts", "part_ntk", NULL};
