/* SPDX-License-Identifier: MIT */
/* rope_spectrum.c - frequencies, wavelengths and stretches as tensors. */
#include "encodings/rope/rope_spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/rope/rope_axes.h"
#include "base/yield.h"
#include "exact/round.h"

typedef struct spectrum {
    pe_shared_wave set[PE_SPECTRUM_OTHER + 1];
    const pe_spectrum_row *rows;
    size_t n_rows;
    int32_t *pair_axis; /* NULL: there is one */
} spectrum;

/* ---- one value ---- */

static void turn(mpfr_ptr out)
{
    mpfr_const_pi(out, MPFR_RNDN);
    mpfr_mul_2ui(out, out, 1, MPFR_RNDN);
}

void pe_rope_spectrum_eval(const pe_spectrum_values *values, size_t i, mpfr_ptr out)
{
    const mpfr_prec_t bits = mpfr_get_prec(out) + 8;
    mpfr_t theta, value;
    mpfr_inits2(bits, theta, value, (mpfr_ptr)0);
    pe_wave_theta(values->wave, i, theta);
    switch (values->kind) {
    case PE_SPECTRUM_FREQUENCY:
        mpfr_set(value, theta, MPFR_RNDN);
        break;
    case PE_SPECTRUM_WAVELENGTH:
        turn(value);
        mpfr_div(value, value, theta, MPFR_RNDN);
        break;
    case PE_SPECTRUM_STRETCH:
        pe_wave_theta(values->unscaled, i, value);
        mpfr_div(value, value, theta, MPFR_RNDN);
        break;
    case PE_SPECTRUM_TURNS:
        turn(value);
        mpfr_div(value, theta, value, MPFR_RNDN);
        mpfr_mul_d(value, value, values->length, MPFR_RNDN);
        break;
    case PE_SPECTRUM_REACH:
        pe_wave_theta(values->unscaled, i, value);
        mpfr_div(value, theta, value, MPFR_RNDN);
        mpfr_mul_d(value, value, values->target, MPFR_RNDN);
        mpfr_div_d(value, value, values->length, MPFR_RNDN);
        break;
    }
    mpfr_set(out, value, MPFR_RNDN);
    mpfr_clears(theta, value, (mpfr_ptr)0);
}

static void eval(const void *context, size_t i, mpfr_ptr out)
{
    pe_rope_spectrum_eval(context, i, out);
}

/* In 128 bits, which are enough but for one value in 2^60 or so. */
static pe_fixed128 fixed_value(const pe_spectrum_values *values, size_t i)
{
    const pe_fixed128 theta = pe_wave_theta_fixed(values->wave, i);
    pe_fixed128 other = pe_wave_two_pi, value, by;
    if (values->kind == PE_SPECTRUM_STRETCH && values->unscaled == values->wave && theta.m != 0)
        return pe_fixed128_from_double(1);
    if (values->kind == PE_SPECTRUM_STRETCH || values->kind == PE_SPECTRUM_REACH)
        other = pe_wave_theta_fixed(values->unscaled, i);
    switch (values->kind) {
    case PE_SPECTRUM_FREQUENCY:
        return theta;
    case PE_SPECTRUM_WAVELENGTH:
    case PE_SPECTRUM_STRETCH:
        return pe_fixed128_div(&other, &theta);
    case PE_SPECTRUM_TURNS:
        value = pe_fixed128_div(&theta, &other);
        by = pe_fixed128_from_double(values->length);
        return pe_fixed128_mul(&value, &by);
    case PE_SPECTRUM_REACH:
        break;
    }
    value = pe_fixed128_div(&theta, &other);
    by = pe_fixed128_from_double(values->target);
    value = pe_fixed128_mul(&value, &by);
    by = pe_fixed128_from_double(values->length);
    return pe_fixed128_div(&value, &by);
}

static bool stands_still(const pe_wave *wave, size_t i)
{
    mpfr_t theta;
    if (pe_wave_theta_is_zero(wave, i))
        return true;
    if (pe_wave_theta_fixed(wave, i).m != 0)
        return false;
    mpfr_init2(theta, 32);
    pe_wave_theta(wave, i, theta);
    const bool zero = mpfr_zero_p(theta);
    mpfr_clear(theta);
    return zero;
}

double pe_rope_spectrum_value(const pe_spectrum_values *values, pe_dtype dtype, size_t i)
{
    const bool inverse =
        values->kind == PE_SPECTRUM_WAVELENGTH || values->kind == PE_SPECTRUM_STRETCH;
    double value;
    pe_yield_spend(PE_SPECTRUM_WORK);
    const pe_fixed128 near = fixed_value(values, i);
    if (pe_fixed128_round(&near, dtype, &value))
        return value;
    if (stands_still(values->wave, i))
        return inverse ? (double)INFINITY : 0;
    return pe_exact_round(dtype, eval, values, i);
}

/* No value overflows the other types: the bounds of the parameters keep all below
 * 2 pi * 1e12 * 1e18 * 1e6. */
pe_status pe_rope_spectrum_check(const pe_spectrum_values *values, const char *name, pe_dtype dtype,
                                 size_t pairs, pe_problem *why)
{
    for (size_t i = 0; dtype == PE_FLOAT16 && i < pairs; i++)
        if (isinf(pe_rope_spectrum_value(values, PE_FLOAT16, i)) && !stands_still(values->wave, i))
            return pe_fail(why, PE_INVALID_PARAMETER, "dtype",
                           "%s of pair %zu overflows float16, whose largest value is 65504", name,
                           i);
    return PE_OK;
}

/* ---- tensors ---- */

static pe_spectrum_values values_of(const spectrum *state, const pe_spectrum_row *row)
{
    return (pe_spectrum_values){.kind = row->kind,
                                .wave = state->set[row->set].wave,
                                .unscaled = state->set[PE_SPECTRUM_UNSCALED].wave};
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const spectrum *state = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    unsigned char *to = out;
    if (region->tensor == state->n_rows) {
        memcpy(out, state->pair_axis + region->first, region->units * sizeof *state->pair_axis);
        return PE_OK;
    }
    const pe_spectrum_values values = values_of(state, &state->rows[region->tensor]);
    for (size_t u = 0; u < region->units; u++, to += pe_dtype_bytes(dtype))
        pe_dtype_store(dtype, pe_rope_spectrum_value(&values, dtype, region->first + u), to);
    return PE_OK;
}

pe_status pe_rope_spectrum_plan(const pe_rope_spectrum *asked, pe_plan *out, pe_problem *why)
{
    const pe_rope *rope = asked->rope;
    const pe_rope_axes *axes = rope->axes;
    const pe_shape shape = {1, {rope->pairs}};
    PE_TRY(pe_plan_begin(out, sizeof(spectrum), fill, why));
    spectrum *state = out->state;
    pe_shared_wave *set = state->set;
    state->rows = asked->rows;
    state->n_rows = asked->n;
    for (size_t t = 0; t < state->n_rows; t++) {
        PE_TRY(pe_plan_add_tensor(out, state->rows[t].name, asked->dtype, &shape, 1, why));
        PE_TRY(pe_plan_set_work(out, t, PE_SPECTRUM_WORK, why));
    }
    /* The frequency sets that the rows are of. */
    pe_plan_owns(out, &set[PE_SPECTRUM_UNSCALED], pe_tables_unref);
    PE_TRY(pe_rope_wave_plan(rope, PE_ROPE_PLAIN, out, &set[PE_SPECTRUM_SCALED], why));
    PE_TRY(pe_rope_wave_unscaled(rope, &set[PE_SPECTRUM_UNSCALED], why));
    if (asked->other != NULL)
        PE_TRY(pe_rope_wave_plan(asked->other, PE_ROPE_PLAIN, out, &set[PE_SPECTRUM_OTHER], why));
    if (axes != NULL) {
        state->pair_axis = malloc(axes->pairs * sizeof *state->pair_axis);
        pe_plan_owns(out, state->pair_axis, free);
        if (state->pair_axis == NULL)
            return pe_fail_memory(why);
        for (size_t k = 0; k < axes->n_runs; k++)
            for (size_t i = 0; i < axes->run[k].count; i++)
                state->pair_axis[axes->run[k].first + i] = (int32_t)axes->run[k].axis;
        PE_TRY(pe_plan_add_tensor(out, "pair_axis", PE_INT32, &shape, 1, why));
    }
    for (size_t t = 0; t < state->n_rows; t++) {
        const pe_spectrum_values values = values_of(state, &state->rows[t]);
        PE_TRY(
            pe_rope_spectrum_check(&values, state->rows[t].name, asked->dtype, rope->pairs, why));
    }
    return PE_OK;
}
