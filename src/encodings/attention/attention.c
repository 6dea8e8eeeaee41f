/* SPDX-License-Identifier: MIT */
/* attention.c - what the resources of attention probabilities share: scores to probabilities, row
 * by row. */
#include "encodings/attention/attention.h"

#include <stdlib.h>

#include "exact/round.h"

static const pe_param scale_params[] = {
    PE_PARAM("scale", REAL, .optional = true, .min = 0, .max = 1e30, .fallback_text = "1/sqrt(d)",
             .help = "The factor of the scores.", .example = "0.125"),
};
const pe_param_set pe_attention_scale_params = {scale_params, PE_LEN(scale_params)};

static void eval_inverse_root(const void *context, size_t d, mpfr_ptr out)
{
    (void)context;
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

pe_status pe_attention_plan(pe_plan *plan, const pe_limits *limits, const pe_shape *shape,
                            pe_dtype dtype, const char *where, pe_problem *why)
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
    PE_TRY(pe_plan_add_tensor(plan, limits, "probabilities", dtype, shape, keys, why));
    return pe_plan_set_work(plan, limits, 0, PE_SOFTMAX_WORK, why);
}

pe_status pe_attention_fill(const pe_plan *plan, const pe_region *region, void *out,
                            pe_problem *why)
{
    const pe_attention *attention = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    const size_t keys = attention->keys, bytes = keys * pe_dtype_bytes(dtype);
    double *scratch = malloc(attention->scratch * sizeof *scratch);
    pe_pair *score = malloc(keys * sizeof *score);
    pe_fixed128 *weight = malloc(keys * sizeof *weight);
    pe_status status = PE_OK;
    if (scratch == NULL || score == NULL || weight == NULL)
        status = pe_fail_memory(why);
    for (size_t u = 0; status == PE_OK && u < region->units; u++) {
        attention->scores(plan->state, region->first + u, scratch, score);
        pe_softmax(score, keys, dtype, weight, (unsigned char *)out + u * bytes);
    }
    free(scratch);
    free(score);
    free(weight);
    return status;
}
