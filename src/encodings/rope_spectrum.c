/* SPDX-License-Identifier: MIT */
/* rope_spectrum.c - frequencies, wavelengths and stretches as tensors. */
#include "encodings/rope_spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/rope_axes.h"

/* An evaluation in MPFR costs as much as so many elements of a table: some microseconds. */
#define EVALUATION_WORK 4096

typedef struct spectrum {
    pe_shared_wave set[PE_SPECTRUM_OTHER + 1];
    const pe_spectrum_row *rows;
    size_t n_rows;
    int32_t *pair_axis; /* NULL: there is one */
} spectrum;

typedef struct element {
    const spectrum *of;
    const pe_spectrum_row *row;
} element;

static const pe_wave *wave_of(const spectrum *state, const pe_spectrum_row *row)
{
    return state->set[row->set].wave;
}

/* For pe_exact_round; theta_i is not 0. */
static void eval(const void *context, size_t i, mpfr_ptr out)
{
    const element *e = context;
    mpfr_t theta, unscaled;
    mpfr_inits2(mpfr_get_prec(out) + 8, theta, unscaled, (mpfr_ptr)0);
    pe_wave_theta(wave_of(e->of, e->row), i, theta);
    switch (e->row->kind) {
    case PE_SPECTRUM_FREQUENCY:
        mpfr_set(out, theta, MPFR_RNDN);
        break;
    case PE_SPECTRUM_WAVELENGTH:
        mpfr_const_pi(out, MPFR_RNDN);
        mpfr_mul_2ui(out, out, 1, MPFR_RNDN);
        mpfr_div(out, out, theta, MPFR_RNDN);
        break;
    case PE_SPECTRUM_STRETCH:
        pe_wave_theta(e->of->set[PE_SPECTRUM_UNSCALED].wave, i, unscaled);
        mpfr_div(out, unscaled, theta, MPFR_RNDN);
        break;
    }
    mpfr_clears(theta, unscaled, (mpfr_ptr)0);
}

static bool stands_still(const pe_wave *wave, size_t i)
{
    mpfr_t theta;
    mpfr_init2(theta, 32);
    pe_wave_theta(wave, i, theta);
    const bool zero = mpfr_zero_p(theta);
    mpfr_clear(theta);
    return zero;
}

static double value(const spectrum *state, const pe_spectrum_row *row, pe_dtype dtype, size_t i)
{
    if (stands_still(wave_of(state, row), i))
        return row->kind == PE_SPECTRUM_FREQUENCY ? 0 : (double)INFINITY;
    return pe_exact_round(dtype, eval, &(element){state, row}, i);
}

static pe_status fill(const pe_plan *plan, size_t t, size_t first, size_t units, void *out,
                      pe_problem *why)
{
    const spectrum *state = plan->state;
    const pe_dtype dtype = plan->tensors[t].dtype;
    unsigned char *to = out;
    (void)why;
    if (t == state->n_rows) {
        memcpy(out, state->pair_axis + first, units * sizeof *state->pair_axis);
        return PE_OK;
    }
    for (size_t u = 0; u < units; u++, to += pe_dtype_bytes(dtype))
        pe_dtype_store(dtype, value(state, &state->rows[t], dtype, first + u), to);
    return PE_OK;
}

static void free_state(void *of)
{
    spectrum *state = of;
    for (size_t s = 0; s < PE_LEN(state->set); s++)
        pe_shared_wave_unref(&state->set[s]);
    free(state->pair_axis);
    free(state);
}

/* The parameters' bounds keep every value within the other types: below 2 pi * 1e12 * 1e18 * 1e6.
 */
static pe_status check_overflow(const pe_plan *plan, pe_problem *why)
{
    const spectrum *state = plan->state;
    for (size_t t = 0; t < state->n_rows; t++) {
        const pe_tensor *tensor = &plan->tensors[t];
        if (tensor->dtype != PE_FLOAT16)
            continue;
        for (size_t i = 0; i < tensor->elements; i++)
            if (isinf(value(state, &state->rows[t], tensor->dtype, i)) &&
                !stands_still(wave_of(state, &state->rows[t]), i))
                return pe_fail(why, PE_INVALID_PARAMETER, "dtype",
                               "%s of pair %zu overflows float16, whose largest value is 65504",
                               tensor->name, i);
    }
    return PE_OK;
}

static pe_status add_pair_axis(const pe_rope_axes *axes, const pe_shape *shape,
                               const pe_limits *limits, pe_plan *out, pe_problem *why)
{
    spectrum *state = out->state;
    state->pair_axis = malloc(axes->pairs * sizeof *state->pair_axis);
    if (state->pair_axis == NULL)
        return pe_fail_memory(why);
    for (size_t k = 0; k < axes->n_runs; k++)
        for (size_t i = 0; i < axes->run[k].count; i++)
            state->pair_axis[axes->run[k].first + i] = (int32_t)axes->run[k].axis;
    return pe_plan_add_tensor(out, limits, "pair_axis", PE_INT32, shape, 1, why);
}

pe_status pe_rope_spectrum_plan(const pe_rope *rope, const pe_rope *other, pe_tables *tables,
                                pe_dtype dtype, const pe_spectrum_row *rows, size_t n,
                                const pe_limits *limits, pe_plan *out, pe_problem *why)
{
    const pe_shape shape = {1, {rope->pairs}};
    spectrum *state = calloc(1, sizeof *state);
    if (state == NULL)
        return pe_fail_memory(why);
    state->rows = rows;
    state->n_rows = n;
    out->state = state;
    out->free_state = free_state;
    out->fill = fill;
    pe_shared_wave *set = state->set;
    pe_status status = pe_rope_wave(rope, tables, PE_ROPE_PLAIN, &set[PE_SPECTRUM_SCALED], why);
    if (status == PE_OK)
        status = pe_rope_unscaled_wave(rope, tables, &set[PE_SPECTRUM_UNSCALED], why);
    if (status == PE_OK && other != NULL)
        status = pe_rope_wave(other, tables, PE_ROPE_PLAIN, &set[PE_SPECTRUM_OTHER], why);
    for (size_t t = 0; t < n && status == PE_OK; t++)
        status = pe_plan_add_tensor(out, limits, rows[t].name, dtype, &shape, 1, why);
    for (size_t t = 0; t < out->n_tensors; t++)
        out->tensors[t].work = EVALUATION_WORK;
    if (status == PE_OK && rope->axes != NULL)
        status = add_pair_axis(rope->axes, &shape, limits, out, why);
    return status != PE_OK ? status : check_overflow(out, why);
}
