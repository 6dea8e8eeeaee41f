/* SPDX-License-Identifier: MIT */
/* attention.c - what the resources of attention probabilities share: scores to probabilities, row
 * by row. */
#include "encodings/attention/attention.h"

#include <stdlib.h>

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
    const pe_status status =
        pe_plan_add_tensor(plan, limits, "probabilities", dtype, shape, keys, why);
    return status != PE_OK ? status : pe_plan_set_work(plan, limits, 0, PE_SOFTMAX_WORK, why);
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
