/* SPDX-License-Identifier: MIT */
/* attention.c - what the resources of attention probabilities share: scores to probabilities, row
 * by row. */
#include "encodings/attention/attention.h"

#include <math.h>
#include <stdlib.h>

#include "base/yield.h"
#include "exact/round.h"
#include "kernels/kernels.h"

static const pe_param scale_params[] = {
    PE_PARAM("scale", REAL, .optional = true, .min = 0, .max = 1e30, .fallback_text = "1/sqrt(d)",
             .help = "The factor of the scores.", .example = "0.125"),
};
const pe_param_set pe_attention_scale_params = {scale_params, PE_LEN(scale_params)};

static void eval_inverse_root(const void *context PE_UNUSED, size_t d, mpfr_ptr out)
{
    mpfr_set_ui(out, d, MPFR_RNDN);
    mpfr_rec_sqrt(out, out, MPFR_RNDN);
}

pe_pair pe_attention_scale(const pe_values *values, size_t d)
{
    pe_pair scale = {0, 0};
    if (pe_values_present(values, "scale"))
        scale.hi = pe_values_real(values, "scale");
    else
        pe_exact_pair(eval_inverse_root, NULL, d, &scale.hi, &scale.lo);
    return scale;
}

pe_status pe_attention_plan(pe_plan *plan, const pe_shape *shape, pe_dtype dtype, const char *where,
                            pe_problem *why)
{
    const size_t queries = shape->dim[1], keys = shape->dim[2];
    if (queries > keys)
        return pe_fail(why, PE_INVALID_PARAMETER, where,
                       "queries are the last of the key positions, so there must be as many keys "
                       "or more, got %zu queries and %zu keys",
                       queries, keys);
    if (keys > PE_SOFTMAX_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, where,
                       "a row of probabilities may have at most %d keys, got %zu", PE_SOFTMAX_MAX,
                       keys);
    PE_TRY(pe_plan_add_tensor(plan, "probabilities", dtype, shape, keys, why));
    return pe_plan_set_work(plan, 0, PE_SOFTMAX_WORK, why);
}

pe_status pe_attention_fill(const pe_plan *plan, const pe_region *region, void *out,
                            pe_problem *why)
{
    const pe_attention *attention = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    const size_t keys = attention->keys, bytes = keys * pe_dtype_bytes(dtype);
    pe_fixed128 *weight = malloc(keys * sizeof *weight + keys * sizeof(pe_pair) +
                                 attention->scratch * sizeof(double));
    if (weight == NULL)
        return pe_fail_memory(why);
    pe_pair *score = (pe_pair *)(weight + keys);
    for (size_t u = 0; u < region->units; u++) {
        attention->scores(plan->state, region->first + u, (double *)(score + keys), score);
        pe_softmax(score, keys, dtype, weight, (unsigned char *)out + u * bytes);
    }
    free(weight);
    return PE_OK;
}

/* ---- dot products, and whether they fit ---- */

const void *pe_scores_row(const pe_array *array, size_t r)
{
    const size_t d = array->shape.dim[array->shape.ndim - 1],
                 bytes = d * pe_dtype_bytes(array->dtype);
    return (const unsigned char *)array->data + r * bytes;
}

/* Sums in eight lanes, then the lanes in order. */
double pe_scores_dot(const double *x, const double *y, size_t n)
{
    double lane[8] = {0}, sum = 0;
    size_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (size_t l = 0; l < 8; l++)
            lane[l] += x[j + l] * y[j + l];
    for (; j < n; j++)
        sum += x[j] * y[j];
    for (size_t l = 0; l < 8; l++)
        sum += lane[l];
    return sum;
}

pe_status pe_scores_norm_max(const pe_array *array, double *out, pe_problem *why)
{
    const size_t d = array->shape.dim[array->shape.ndim - 1], bytes = pe_dtype_bytes(array->dtype);
    const unsigned char *row = array->data;
    double *wide = malloc(d * sizeof *wide);
    if (wide == NULL)
        return pe_fail_memory(why);
    *out = 0;
    for (size_t r = 0; r < array->elements / d; r++, row += d * bytes) {
        pe_yield_look(PE_DOT_WORK(d));
        pe_kernels_get()->widen(array->dtype, row, d, wide);
        const double norm = sqrt(pe_scores_dot(wide, wide, d));
        if (!(norm <= *out))
            *out = isnan(norm) ? (double)INFINITY : norm;
    }
    free(wide);
    return PE_OK;
}

bool pe_scores_finite(pe_dtype dtype, const void *data, size_t n)
{
    double wide[512];
    const unsigned char *at = data;
    bool finite = true;
    for (size_t done = 0; done < n && finite; done += PE_LEN(wide)) {
        const size_t count = n - done < PE_LEN(wide) ? n - done : PE_LEN(wide);
        pe_kernels_get()->widen(dtype, at + done * pe_dtype_bytes(dtype), count, wide);
        for (size_t j = 0; j < count; j++)
            finite &= isfinite(wide[j]) != 0;
    }
    return finite;
}

pe_status pe_scores_check(const pe_plan *plan, const pe_array *x, const pe_array *y,
                          double amplitude, const char *where, pe_problem *why)
{
    enum { CHUNK = 1024 };
    double x_norm, y_norm;
    const pe_tensor *tensor = &plan->tensors[0];
    PE_TRY(pe_scores_norm_max(x, &x_norm, why));
    PE_TRY(pe_scores_norm_max(y, &y_norm, why));
    /* With room for rounding of every kind. */
    if (amplitude * x_norm * y_norm <= pe_dtype_max(tensor->dtype) * 0.999)
        return PE_OK;
    const size_t most = tensor->unit < CHUNK ? CHUNK / tensor->unit : 1;
    void *some = malloc(most * tensor->unit * sizeof(double));
    pe_status status = some == NULL ? pe_fail_memory(why) : PE_OK;
    for (size_t first = 0; status == PE_OK && first < tensor->units; first += most) {
        const size_t left = tensor->units - first, n = left < most ? left : most;
        const pe_region region = pe_plan_units(plan, 0, first, n);
        status = pe_plan_make_region(plan, &region, some, why);
        if (status == PE_OK && !pe_scores_finite(tensor->dtype, some, n * tensor->unit))
            status = pe_fail(why, PE_INVALID_PARAMETER, where, "a score overflows %s",
                             pe_dtype_name(tensor->dtype));
    }
    free(some);
    return status;
}
