/* SPDX-License-Identifier: MIT */
/* rope_waves.c - frequency sets of a rotation, as formulas. */
#include "encodings/rope.h"

#include <stdlib.h>

pe_rope_formula *pe_rope_formula_make(const pe_rope_type *type, double theta, size_t dim,
                                      size_t *bytes)
{
    pe_rope_formula *formula = calloc(1, sizeof *formula);
    if (formula == NULL)
        return NULL;
    formula->type = type;
    formula->theta = theta;
    formula->dim = (double)dim;
    *bytes = sizeof *formula;
    return formula;
}

static void plain_base(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
    mpfr_set_d(out, f->theta, MPFR_RNDN);
}

static void attended(const void *formula, mpfr_ptr out)
{
    const pe_rope_formula *f = formula;
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

static pe_wave_spec spec_of(const pe_rope *rope, const pe_rope_formula *formula, size_t bytes,
                            pe_rope_amplitude amplitude)
{
    const pe_rope_type *type = formula->type;
    return (pe_wave_spec){
        .n = rope->pairs,
        .num = 2,
        .den = formula->dim,
        .position_scale = 1,
        .base = type->base != NULL ? type->base : plain_base,
        .scale = type->scale,
        .amplitude = type->amplitude != NULL ? amplitudes[amplitude] : NULL,
        .float32 = rope->float32,
        .scale32 = rope->float32 ? type->scale32 : NULL,
        .formula = formula,
        .formula_bytes = bytes,
    };
}

pe_status pe_rope_wave(const pe_rope *rope, pe_tables *tables, pe_rope_amplitude amplitude,
                       pe_shared_wave *out, pe_problem *why)
{
    const pe_wave_spec spec = spec_of(rope, rope->formula, rope->formula_bytes, amplitude);
    return pe_tables_wave(tables, &spec, out, why);
}

pe_status pe_rope_unscaled_wave(const pe_rope *rope, pe_tables *tables, pe_shared_wave *out,
                                pe_problem *why)
{
    size_t bytes;
    pe_rope_formula *formula = pe_rope_formula_make(&pe_rope_default, rope->formula->theta,
                                                    (size_t)rope->formula->dim, &bytes);
    if (formula == NULL)
        return pe_fail_memory(why);
    const pe_wave_spec spec = spec_of(rope, formula, bytes, PE_ROPE_PLAIN);
    const pe_status status = pe_tables_wave(tables, &spec, out, why);
    free(formula);
    return status;
}

static void attention_eval(const void *context, size_t index, mpfr_ptr out)
{
    (void)index;
    attended(context, out);
}

double pe_rope_attention_factor(const pe_rope *rope)
{
    if (rope->formula->type->amplitude == NULL)
        return 1;
    return pe_exact_round(PE_FLOAT64, attention_eval, rope->formula, 0);
}
