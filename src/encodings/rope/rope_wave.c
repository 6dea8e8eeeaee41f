/* SPDX-License-Identifier: MIT */
/* rope_wave.c - the frequency sets of a rotation. */
#include <stdlib.h>

#include "base/power.h"
#include "encodings/rope/rope.h"
#include "exact/round.h"
#include "plan/plan.h"

static void plain_base(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    mpfr_set_d(out, f->theta, MPFR_RNDN);
}

static void scaled_base(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    if (f->float32 != 0 && f->type->base32 != NULL)
        mpfr_set_flt(out, f->type->base32(f), MPFR_RNDN);
    else
        f->type->base(formula, out);
}

static void attended(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    if (f->float32 != 0 && f->type->amplitude32 != NULL)
        mpfr_set_d(out, f->type->amplitude32(f), MPFR_RNDN);
    else
        f->type->amplitude(formula, out);
}

static void squared(const void *formula, mpfr_ptr out)
{
    attended(formula, out);
    mpfr_sqr(out, out, MPFR_RNDN);
}

static void undone(const void *formula, mpfr_ptr out)
{
    attended(formula, out);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

static void (*const amplitudes[])(const void *, mpfr_ptr) = {
    [PE_ROPE_PLAIN] = NULL,
    [PE_ROPE_ATTENDED] = attended,
    [PE_ROPE_SQUARED] = squared,
    [PE_ROPE_UNDONE] = undone,
};

/* ---- scaling: that of the type, then what every type has ---- */

static double alpha_at(const pe_rope_formula *f, size_t i)
{
    return f->list[f->n_list + f->n_freq_factors + i];
}

static void scale(const void *formula, size_t i, mpfr_ptr theta)
{
    const pe_rope_formula *f = formula;
    if (i >= f->turning) {
        mpfr_set_ui(theta, 0, MPFR_RNDN);
        return;
    }
    if (f->type->scale != NULL)
        f->type->scale(formula, i, theta);
    if (f->n_freq_factors != 0)
        mpfr_div_d(theta, theta, f->list[f->n_list + i], MPFR_RNDN);
    if (f->n_alphas != 0) {
        /* theta exp(alpha): LeRoPE. */
        mpfr_t factor;
        mpfr_init2(factor, mpfr_get_prec(theta) + 64); /* 53 bits of alpha */
        mpfr_set_d(factor, alpha_at(f, i), MPFR_RNDN);
        mpfr_exp(factor, factor, MPFR_RNDN);
        mpfr_mul(theta, theta, factor, MPFR_RNDN);
        mpfr_clear(factor);
    }
}

static float scale32(const void *formula, size_t i, float inv)
{
    const pe_rope_formula *f = formula;
    if (i >= f->turning)
        return 0;
    if (f->type->scale32 != NULL)
        inv = f->type->scale32(formula, i, inv);
    if (f->n_freq_factors != 0)
        inv = inv / (float)f->list[f->n_list + i];
    if (f->n_alphas != 0) {
        /* exp of a float32, rounded to float32 */
        mpfr_t factor;
        mpfr_init2(factor, 24);
        mpfr_set_flt(factor, (float)alpha_at(f, i), MPFR_RNDN);
        mpfr_exp(factor, factor, MPFR_RNDN);
        inv = inv * mpfr_get_flt(factor, MPFR_RNDN);
        mpfr_clear(factor);
    }
    return inv;
}

/* The frequencies of the axis of pair i, as pe_wave_spec's sequence. */
static size_t axis_sequence(const void *formula, size_t i, mpfr_ptr ratio)
{
    const pe_rope_formula *of = formula;
    const pe_rope_inv_freq *inv_freq = &of->inv_freq[of->n_inv_freqs - 1];
    while (i < inv_freq->first)
        inv_freq--;
    if (ratio == NULL)
        return inv_freq->first;
    mpfr_t base;
    mpfr_init2(base, mpfr_get_prec(ratio) + 16);
    mpfr_set_d(base, inv_freq->scale, MPFR_RNDN);
    if (inv_freq->scale != 1) /* theta s^(d/(d - 2)) */
        pe_power_raise(base, (double)inv_freq->dim, (double)inv_freq->dim - 2);
    mpfr_mul_d(base, base, inv_freq->theta, MPFR_RNDN);
    pe_power_raise(base, -2, (double)inv_freq->dim);
    mpfr_set(ratio, base, MPFR_RNDN);
    mpfr_clear(base);
    return inv_freq->first;
}

static bool is_scaled(const pe_rope *rope, const pe_rope_formula *f)
{
    return f->type->scale != NULL || f->n_freq_factors != 0 || f->turning < rope->pairs ||
           f->n_alphas != 0;
}

static pe_wave_spec spec_of(const pe_rope *rope, const pe_rope_formula *formula, size_t bytes,
                            pe_rope_amplitude amplitude)
{
    const pe_rope_type *type = formula->type;
    return (pe_wave_spec){
        .n = rope->pairs,
        .num = 2,
        .den = formula->dim,
        .position_scale = 1,
        .base = type->base != NULL ? scaled_base : plain_base,
        .sequence = formula->n_inv_freqs != 0 ? axis_sequence : NULL,
        .scale = is_scaled(rope, formula) ? scale : NULL,
        .amplitude = type->amplitude != NULL ? amplitudes[amplitude] : NULL,
        .float32 = rope->float32,
        .scale32 = rope->float32 && is_scaled(rope, formula) ? scale32 : NULL,
        .formula = formula,
        .formula_bytes = bytes,
    };
}

pe_status pe_rope_wave(const pe_rope *rope, pe_rope_amplitude amplitude, pe_shared_wave *out,
                       pe_problem *why)
{
    const pe_wave_spec spec = spec_of(rope, rope->formula, rope->formula_bytes, amplitude);
    return pe_tables_wave(rope->tables, &spec, out, why);
}

pe_status pe_rope_wave_plan(const pe_rope *rope, pe_rope_amplitude amplitude, pe_plan *plan,
                            pe_shared_wave *out, pe_problem *why)
{
    pe_plan_owns(plan, out, pe_tables_unref);
    return pe_rope_wave(rope, amplitude, out, why);
}

pe_status pe_rope_wave_unscaled(const pe_rope *rope, pe_shared_wave *out, pe_problem *why)
{
    size_t bytes;
    pe_rope_formula *formula = pe_rope_formula_make(&pe_rope_default, rope->formula->theta,
                                                    (size_t)rope->formula->dim, 0, &bytes);
    if (formula == NULL)
        return pe_fail_memory(why);
    formula->n_inv_freqs = rope->formula->n_inv_freqs;
    for (size_t k = 0; k < formula->n_inv_freqs; k++) {
        formula->inv_freq[k] = rope->formula->inv_freq[k];
        formula->inv_freq[k].scale = 1;
    }
    const pe_wave_spec spec = spec_of(rope, formula, bytes, PE_ROPE_PLAIN);
    const pe_status status = pe_tables_wave(rope->tables, &spec, out, why);
    free(formula);
    return status;
}

static void attention_eval(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    attended(context, out);
}

double pe_rope_wave_attention_factor(const pe_rope *rope)
{
    if (rope->formula->type->amplitude == NULL)
        return 1;
    return pe_exact_round(PE_FLOAT64, attention_eval, rope->formula, 0);
}

static void base_eval(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    const pe_rope_formula *formula = context;
    formula->type->base(formula, out);
}

double pe_rope_wave_base(const pe_rope *rope)
{
    if (rope->formula->type->base == NULL)
        return rope->formula->theta;
    return pe_exact_round(PE_FLOAT64, base_eval, rope->formula, 0);
}
