/* SPDX-License-Identifier: MIT */
/* relative_skew.c - logits by relative position moved to the keys they belong to. */
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "plan/common_params.h"
#include "plan/plan.h"

static const char *const futures[] = {"zero", "reshaped", NULL};

static const pe_param own[] = {
    PE_PARAM("logits", TENSOR, .required = true, .min_dims = 3, .max_dims = 3,
             .help = "Logits by relative position, [heads, n, r]. r is n where keys after the "
                     "query are masked, and 2n - 1 where none are.",
             .example = "[[[1,2,3],[4,5,6],[7,8,9]]]"),
    PE_PARAM("future", CHOICE, .choices = futures,
             .help = "Where r is n, what keys after the query have: zero, or reshaped, the logits "
                     "of the next query, as a padded array has them there when it is read with "
                     "other rows (they are masked later).",
             .example = "reshaped"),
};

typedef struct state {
    size_t length, relative;
    bool reshaped;
    pe_array logits; /* [heads, length, relative] */
} state;

/* Column key - query + length - 1, as far as there are columns; then zeros, or one and the next
 * row. */
static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const state *s = plan->state;
    const size_t bytes = pe_dtype_bytes(s->logits.dtype), end = s->relative;
    unsigned char *to = out;
    for (size_t u = region->first; u < region->first + region->units; u++, to += bytes) {
        const size_t row = u / s->length, key = u % s->length;
        const size_t column = key + s->length - 1 - row % s->length;
        const unsigned char *logits = (const unsigned char *)s->logits.data + row * end * bytes;
        if (column < end || (column > end && s->reshaped))
            memcpy(to, logits + (column - (column > end)) * bytes, bytes);
        else
            memset(to, 0, bytes);
    }
    return PE_OK;
}

static pe_status plan_skew(pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_array *logits = pe_values_tensor(values, "logits");
    const size_t n = logits->shape.dim[1], relative = logits->shape.dim[2];
    if (relative != n && relative != 2 * n - 1)
        return pe_fail(why, PE_INVALID_PARAMETER, "logits",
                       "logits of %zu queries must have %zu relative positions, or %zu with those "
                       "after the query, got %zu",
                       n, n, 2 * n - 1, relative);
    const pe_shape shape = {3, {logits->shape.dim[0], n, n}};
    PE_TRY(pe_plan_add_tensor(out, "logits", logits->dtype, &shape, 1, why));
    PE_TRY(pe_plan_begin(out, sizeof(state), fill, why));
    state *s = out->state;
    s->length = n;
    s->relative = relative;
    s->reshaped = pe_values_choice(values, "future") == 1;
    if (relative < 2 * n - 1)
        pe_plan_warn(out, "logits of keys after the query are %s",
                     s->reshaped ? "those of other positions, to be masked"
                                 : "0 here; upstream leaves numbers of other positions there, to "
                                   "be masked (future=reshaped)");
    pe_plan_take(out, values, "logits", &s->logits);
    return PE_OK;
}

/**
 * out[h, i, j] = logits[h, i, j - i + n - 1], copied bit for bit. Where there is no such column: 0;
 * with future=reshaped that for j = i + 1 alone, then logits[h, i + 1, j - i - 2].
 *
 * Shapes  logits: [heads, n, n] (j <= i alone) or [heads, n, 2n - 1] -> [heads, n, n].
 */
const pe_resource pe_relative_skew = {
    PE_NAMED("relative", "/skew"),
    .kind = PE_TRANSFORM,
    .claimed_otherwise = true,
    .summary = "Logits by relative position, moved to the columns of their keys.",
    .formula = "out[h, i, j] = logits[h, i, j - i + n - 1]; 0 for j > i where there are n columns",
    .labels = PE_LABELS({.axes = "query, key", .value = "logit"}),
    .source = "Huang et al. 2018, arXiv:1809.04281, section 3.4.1; "
              "_relative_position_to_absolute_position_masked of "
              "tensorflow/tensor2tensor@bafdc1b67730430d38d6ab802cbd51f9d053ba2e",
    .param_sets = {PE_PARAMS(own), &pe_params_output_exact},
    .plan = plan_skew,
};
