/* SPDX-License-Identifier: MIT */
/* precision.c - faults that keep numbers in narrow types on the way. */
#include "verify/mistakes/precision.h"

#include <math.h>

#include "encodings/registry.h"
#include "verify/mistakes/changes.h"
#include "verify/upload/geometry.h"

/* Are all elements of the upload numbers of this type, which is narrower than theirs? One number
 * that stands everywhere tells nothing of it. */
static bool is_stored_as(const pe_guess *guess, const pe_grain *grain)
{
    bool differ = false;
    const pe_claim *claim = guess->claim;
    for (size_t u = 0; u < claim->n_uploads; u++) {
        const pe_array *array = &claim->uploads[u].array;
        const size_t bytes = pe_dtype_bytes(array->dtype);
        if (pe_grain_of_dtype(array->dtype)->bits <= grain->bits || array->dtype == PE_INT32)
            return false;
        for (size_t e = 0; e < array->elements; e++) {
            const double x = pe_dtype_load(array->dtype, (const char *)array->data + e * bytes);
            if (isfinite(x) && pe_grain_round(grain, x) != x)
                return false;
            differ |= x != pe_dtype_load(array->dtype, array->data);
        }
    }
    return differ;
}

bool pe_precision_store(pe_guess *guess, const pe_fault *fault)
{
    const pe_grain *grain = &pe_grains[(size_t)fault->value];
    if (guess->distortion.stored != NULL || !is_stored_as(guess, grain))
        return false;
    guess->distortion.stored = grain;
    guess->distortion.truncated = fault->and_value > 0;
    return true;
}

/* Waves are made of frequencies and angles. */
static bool has_waves(const pe_guess *guess)
{
    return pe_geometry_pair_layout(guess->claim->resource) != NULL;
}

bool pe_precision_round_frequencies(pe_guess *guess, const pe_fault *fault)
{
    if (!has_waves(guess) || guess->distortion.frequencies != NULL)
        return false;
    guess->distortion.frequencies = &pe_grains[(size_t)fault->value];
    guess->distortion.values_inexact = true;
    return true;
}

bool pe_precision_round_angles(pe_guess *guess, const pe_fault *fault)
{
    if (!has_waves(guess) || guess->distortion.angles != NULL)
        return false;
    guess->distortion.angles = &pe_grains[(size_t)fault->value];
    guess->distortion.values_inexact = true;
    return true;
}

bool pe_precision_round_waves(pe_guess *guess, const pe_fault *fault)
{
    const pe_grain *grain = &pe_grains[(size_t)fault->value];
    if (!has_waves(guess) || guess->distortion.waves != NULL ||
        pe_grain_of_dtype(guess->claim->uploads[0].array.dtype)->bits <= grain->bits)
        return false;
    guess->distortion.waves = grain;
    guess->distortion.values_inexact = true;
    return true;
}

bool pe_precision_round_all(pe_guess *guess, const pe_fault *fault)
{
    const bool narrow = pe_grain_of_dtype(guess->claim->uploads[0].array.dtype)->bits > 11;
    return pe_precision_round_frequencies(guess, fault) &&
           pe_precision_round_angles(guess, fault) && (!narrow || pe_precision_store(guess, fault));
}

bool pe_precision_round_factors(pe_guess *guess, const pe_fault *fault)
{
    const pe_fault positions = {.value = fault->and_value};
    return pe_changes_round_positions(guess, &positions) &&
           pe_precision_round_frequencies(guess, fault);
}

bool pe_precision_round_phase(pe_guess *guess, const pe_fault *fault)
{
    const pe_fault positions = {.value = fault->and_value};
    (void)pe_changes_round_positions(guess, &positions); /* small ones are not moved */
    return pe_precision_round_frequencies(guess, fault) && pe_precision_round_angles(guess, fault);
}

/* ---- frequencies kept in float32 ---- */

/* Values for rope/frequencies; what they own is the guess's. */
static void borrow_values(const pe_guess *guess, size_t numerics, pe_values *out)
{
    for (size_t i = 0; i < out->n; i++) {
        const pe_value *from = pe_values_find(&guess->values, out->value[i].param->name);
        if (from == NULL)
            continue;
        out->value[i] = *from;
        out->value[i].given = false;
    }
    pe_values_find(out, "dtype")->choice = PE_FLOAT64;
    pe_values_find(out, "numerics")->choice = numerics;
}

static pe_status plan_frequencies(const pe_guess *guess, pe_values *values, pe_plan *out,
                                  pe_problem *why)
{
    const pe_verify_context *context = guess->context;
    const pe_status status = pe_values_defaults(values, why);
    if (status != PE_OK)
        return status;
    return pe_rope_frequencies.plan(values, context->tables, context->limits, out, why);
}

/* inv_freq of these values as float64. False: they have none; else *out is the caller's. */
static bool find_frequencies(const pe_guess *guess, size_t numerics, pe_array *out)
{
    pe_problem why;
    pe_values values;
    pe_plan plan = {0};
    bool found = false;
    if (pe_values_make(pe_rope_frequencies.param_sets, &values, &why) != PE_OK)
        return false;
    borrow_values(guess, numerics, &values);
    if (plan_frequencies(guess, &values, &plan, &why) == PE_OK &&
        pe_array_make(PE_FLOAT64, &plan.tensors[0].shape, out, &why) == PE_OK) {
        const pe_region all = pe_plan_units(&plan, 0, 0, plan.tensors[0].units);
        found = pe_plan_make_region(&plan, &all, out->data, &why) == PE_OK;
        if (!found)
            pe_array_free(out);
    }
    pe_plan_free(&plan);
    for (size_t i = 0; i < values.n; i++)
        values.value[i] = (pe_value){0};
    pe_values_free(&values);
    return found;
}

bool pe_precision_float32_frequencies(pe_guess *guess, const pe_fault *fault)
{
    (void)fault;
    pe_value *factors = pe_values_find(&guess->values, "freq_factors");
    pe_array exact, rounded;
    if (factors == NULL || factors->present || !find_frequencies(guess, PE_NUMERICS_EXACT, &exact))
        return false;
    if (!find_frequencies(guess, PE_NUMERICS_FLOAT32, &rounded)) {
        pe_array_free(&exact);
        return false;
    }
    double *x = exact.data;
    const double *r = rounded.data;
    for (size_t i = 0; i < exact.elements; i++)
        x[i] = r[i] > 0 ? x[i] / r[i] : 1;
    factors->list = x;
    factors->list_length = exact.elements;
    factors->present = true;
    guess->distortion.values_inexact = true;
    pe_array_free(&rounded);
    return true;
}
