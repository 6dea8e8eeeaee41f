/* SPDX-License-Identifier: MIT */
/* rope_inv_freq.c - rotations by several axes, each of which has frequencies of its own. */
#include <stdlib.h>

#include "encodings/rope/rope.h"
#include "encodings/rope/rope_axes.h"
#include "base/power.h"

/* ---- frequencies ---- */

/* theta s^(d/(d - 2)) */
static void eval_base(const pe_rope_inv_freq *inv_freq, mpfr_ptr out)
{
    if (inv_freq->scale == 1) {
        mpfr_set_d(out, inv_freq->theta, MPFR_RNDN);
        return;
    }
    mpfr_set_d(out, inv_freq->scale, MPFR_RNDN);
    pe_power_raise(out, (double)inv_freq->dim, (double)inv_freq->dim - 2);
    mpfr_mul_d(out, out, inv_freq->theta, MPFR_RNDN);
}

size_t pe_rope_inv_freq_sequence(const void *formula, size_t i, mpfr_ptr ratio)
{
    const pe_rope_formula *of = formula;
    const pe_rope_inv_freq *inv_freq = &of->inv_freq[of->n_inv_freqs - 1];
    while (i < inv_freq->first)
        inv_freq--;
    if (ratio == NULL)
        return inv_freq->first;
    mpfr_t base;
    mpfr_init2(base, mpfr_get_prec(ratio) + 16);
    eval_base(inv_freq, base);
    pe_power_raise(base, -2, (double)inv_freq->dim);
    mpfr_set(ratio, base, MPFR_RNDN);
    mpfr_clear(base);
    return inv_freq->first;
}

void pe_rope_inv_freq_unscale(const pe_rope_formula *from, pe_rope_formula *to)
{
    to->n_inv_freqs = from->n_inv_freqs;
    for (size_t k = 0; k < from->n_inv_freqs; k++) {
        to->inv_freq[k] = from->inv_freq[k];
        to->inv_freq[k].scale = 1;
    }
}

/* ---- parameters ---- */

static pe_status read_dims(const pe_values *values, pe_rope *rope, pe_problem *why)
{
    const pe_value *dims = pe_values_find(values, "axes_dims");
    pe_rope_formula *formula = rope->formula;
    uint64_t sum = 0;
    formula->n_inv_freqs = dims->list_length;
    for (size_t k = 0; k < dims->list_length; k++) {
        const uint64_t dim = (uint64_t)dims->list[k];
        if (dim % 2 != 0)
            return pe_values_invalid(values, "axes_dims", why,
                                     "each number of axes_dims must be even, got %llu",
                                     (unsigned long long)dim);
        formula->inv_freq[k] = (pe_rope_inv_freq){sum / 2, dim, formula->theta, 1};
        sum += dim;
    }
    if (sum == rope->rotary_dim)
        return PE_OK;
    return pe_values_invalid(values, "axes_dims", why,
                             "axes_dims must sum to rotary_dim = %zu channels, got %llu",
                             rope->rotary_dim, (unsigned long long)sum);
}

/* A list of one number for each axis, or NULL where it is absent. */
static pe_status read_list(const pe_values *values, const char *name, size_t n, const double **out,
                           pe_problem *why)
{
    const pe_value *list = pe_values_find(values, name);
    *out = NULL;
    if (!pe_values_present(values, name))
        return PE_OK;
    *out = list->list;
    if (list->list_length == n)
        return PE_OK;
    return pe_values_invalid(values, name, why,
                             "%s must have a number for each of the %zu axes of axes_dims, got %zu",
                             name, n, list->list_length);
}

pe_status pe_rope_inv_freq_read(const pe_values *values, pe_rope *rope, pe_problem *why)
{
    const double *theta, *scale, *order;
    unsigned named = 0;
    /* What does not go with frequencies of each axis. */
    static const char *const others[] = {"mrope_section", "mrope_layout", "mrope_interleaved"};
    for (size_t i = 0; i < PE_LEN(others); i++)
        if (pe_values_present(values, others[i]))
            return pe_values_invalid(values, others[i], why, "%s does not go with axes_dims",
                                     others[i]);
    if (rope->formula->type != &pe_rope_default)
        return pe_values_invalid(values, "rope_type", why,
                                 "rope_type must be default with axes_dims, got %s; axes_scale "
                                 "stretches each axis",
                                 rope->formula->type->name);
    if (rope->float32)
        return pe_values_invalid(values, "numerics", why,
                                 "numerics must be exact with axes_dims: no float32 reference is "
                                 "followed");
    PE_TRY(read_dims(values, rope, why));
    pe_rope_formula *formula = rope->formula;
    const size_t n = formula->n_inv_freqs;
    PE_TRY(read_list(values, "axes_theta", n, &theta, why));
    PE_TRY(read_list(values, "axes_scale", n, &scale, why));
    for (size_t k = 0; k < n; k++) {
        pe_rope_inv_freq *inv_freq = &formula->inv_freq[k];
        inv_freq->theta = theta != NULL ? theta[k] : inv_freq->theta;
        inv_freq->scale = scale != NULL ? scale[k] : 1;
        if (inv_freq->scale != 1 && inv_freq->dim == 2)
            return pe_values_invalid(
                values, "axes_scale", why,
                "axes_scale must be 1 for an axis of 2 channels: " PE_ROPE_NO_EXPONENT);
    }
    /* The axis of each list of frequencies: every one once. */
    PE_TRY(read_list(values, "axis_order", n, &order, why));
    for (size_t k = 0; k < n && order != NULL; k++)
        named |= 1U << (size_t)order[k];
    if (order != NULL && named != (1U << n) - 1)
        return pe_values_invalid(values, "axis_order", why,
                                 "axis_order must name each of the axes 0 to %zu once", n - 1);
    unsigned char *axis = malloc(rope->pairs);
    if (axis == NULL)
        return pe_fail_memory(why);
    for (size_t k = 0; k < n; k++)
        for (uint64_t j = 0; j < formula->inv_freq[k].dim / 2; j++)
            axis[formula->inv_freq[k].first + j] =
                (unsigned char)(order != NULL ? (size_t)order[k] : k);
    rope->axes = pe_rope_axes_make(n, rope->pairs, axis, NULL);
    free(axis);
    return rope->axes != NULL ? PE_OK : pe_fail_memory(why);
}
