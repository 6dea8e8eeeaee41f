/* SPDX-License-Identifier: MIT */
/* precision.c - faults that keep numbers in narrow types on the way. */
#include "base/yield.h"
#include "plan/common_params.h"
#include "plan/plan.h"
#include "verify/mistakes/faults.h"

#include <math.h>
#include <stdlib.h>

#include "encodings/registry.h"
#include "verify/upload/geometry.h"

#define ROUND_WORK 3 /* units, of an element */

/* Are all elements of the upload numbers of this type, which is narrower than theirs? One number
 * that stands everywhere tells nothing of it. */
static bool is_stored_as(const pe_guess *guess, const pe_narrow_type *narrow)
{
    bool differ = false;
    const pe_claim *claim = guess->claim;
    for (size_t u = 0; u < claim->n_uploads; u++) {
        const pe_array *array = &claim->uploads[u].array;
        const size_t bytes = pe_dtype_bytes(array->dtype);
        if (pe_narrow_type_of_dtype(array->dtype)->bits <= narrow->bits || array->dtype == PE_INT32)
            return false;
        for (size_t e = 0; e < array->elements; e++) {
            const double x = pe_dtype_load(array->dtype, (const char *)array->data + e * bytes);
            const double slack = narrow->scale != 0
                                     ? pe_narrow_type_ulp(pe_narrow_type_of_dtype(array->dtype), x)
                                     : 0;
            const bool is_other = isfinite(x) && fabs(pe_narrow_type_round(narrow, x) - x) > slack;
            if (is_other || !pe_yield_item(e, ROUND_WORK))
                return false;
            differ |= x != pe_dtype_load(array->dtype, array->data);
        }
    }
    return differ;
}

/* Waves are made of frequencies and angles. */
static bool has_waves(const pe_guess *guess)
{
    return pe_geometry_pair_layout(guess->claim->resource) != NULL;
}

static bool store(pe_guess *guess, const pe_narrow_type *narrow, bool truncated)
{
    if (guess->distortion.stored != NULL || (narrow->scale != 0 && !has_waves(guess)) ||
        !is_stored_as(guess, narrow))
        return false;
    guess->distortion.stored = narrow;
    guess->distortion.truncated = truncated;
    return true;
}

bool pe_changes_store(pe_guess *guess, const pe_fault *fault)
{
    return store(guess, &pe_narrow_types[(size_t)fault->value], fault->and_value > 0);
}

/* The distortion takes the type, once. */
static bool take(const pe_narrow_type **of, const pe_narrow_type *narrow, bool is_meant)
{
    const bool may = !is_meant || *of == NULL;
    *of = is_meant ? narrow : *of;
    return may;
}

/* Small positions are not moved; that is a mistake where angles are rounded, too. */
bool pe_changes_round(pe_guess *guess, const pe_fault *fault)
{
    pe_distortion *by = &guess->distortion;
    const unsigned what = (unsigned)fault->and_value;
    const pe_narrow_type *narrow = &pe_narrow_types[(size_t)fault->value];
    const int bits = pe_narrow_type_of_dtype(guess->claim->uploads[0].array.dtype)->bits;
    const pe_fault positions = {.op = fault->op};
    const bool moved = fault->op == NULL || pe_changes_round_positions(guess, &positions);
    if (!has_waves(guess) || (!moved && (what & PE_ROUNDED_ANGLES) == 0) ||
        ((what & PE_ROUNDED_WAVES) != 0 && bits <= narrow->bits) ||
        !take(&by->frequencies, narrow, (what & PE_ROUNDED_FREQUENCIES) != 0) ||
        !take(&by->angles, narrow, (what & PE_ROUNDED_ANGLES) != 0) ||
        !take(&by->waves, narrow, (what & PE_ROUNDED_WAVES) != 0))
        return false;
    by->values_inexact = true;
    return (what & PE_ROUNDED_ELEMENTS) == 0 || bits <= pe_narrow_types[PE_NARROW_FLOAT16].bits ||
           store(guess, narrow, false);
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
    PE_TRY(pe_values_defaults(values, why));
    return pe_plan_make(&pe_rope_frequencies, values, context->tables, context->limits, out, why);
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

bool pe_changes_float32_frequencies(pe_guess *guess, const pe_fault *fault PE_UNUSED)
{
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
    free(factors->list); /* of a claim without them, which an earlier fault left */
    factors->list = x;
    factors->list_length = exact.elements;
    factors->present = true;
    guess->distortion.values_inexact = true;
    pe_array_free(&rounded);
    return true;
}
