/* SPDX-License-Identifier: MIT */
/* alibi_probabilities.c - attention probabilities under linear biases. */
#include <math.h>
#include <stdlib.h>

#include "encodings/relative/alibi.h"
#include "encodings/attention/attention.h"
#include "encodings/registry.h"
#include "kernels/kernels.h"

static const pe_param logits_params[] = {
    PE_PARAM(
        "logits", TENSOR, .required = true, .min_dims = 3, .max_dims = 3,
        .help =
            "Attention scores, [heads, queries, keys]. The queries are at the last key positions.",
        .example = "[[[1,0],[0.5,2]]]"),
    PE_PARAM("scale", REAL, .min = 0, .max = 1e30, .fallback = 1,
             .help = "The factor of the scores. The biases are not multiplied.",
             .example = "0.125"),
    PE_PARAM("causal", BOOL, .fallback = 1,
             .help = "true: keys after the query are masked. false: their biases are those of keys "
                     "at the same distance before it.",
             .example = "true"),
};

static const pe_param num_heads_params[] = {
    PE_PARAM("num_heads", INT, .optional = true, .min = 1, .max = PE_ALIBI_HEADS_MAX,
             .plan_work = PE_PLAN_WORK_POWER, .fallback_text = "the first axis of logits",
             .unit = "heads", .help = "Attention heads of the model.", .example = "8"),
};

typedef struct state {
    pe_attention attention;
    double scale;
    bool causal;
    pe_alibi_heads heads;
    pe_array logits;
} state;

/* scale * logit - slope * distance */
static void scores(const void *of, size_t row, double *logit, pe_pair *score)
{
    const state *s = of;
    const size_t queries = s->logits.shape.dim[1], keys = s->logits.shape.dim[2];
    const size_t query = keys - queries + row % queries;
    const pe_alibi_head *head = pe_alibi_heads_at(&s->heads, row / queries);
    const pe_pair slope = {-head->hi, -head->lo};
    const unsigned char *logits = s->logits.data;
    pe_kernels_get()->widen(s->logits.dtype, logits + row * keys * pe_dtype_bytes(s->logits.dtype),
                            keys, logit);
    for (size_t j = 0; j < keys; j++) {
        const double distance = j < query ? (double)(query - j) : (double)(j - query);
        score[j] = s->causal && j > query ? (pe_pair){-HUGE_VAL, 0}
                                          : pe_pair_add(pe_pair_product(s->scale, logit[j]),
                                                        pe_pair_mul(slope, (pe_pair){distance, 0}));
    }
}

/* ---- the plan ---- */

/* As many heads are wanted as the logits have. */
static pe_status check_heads(pe_values *values, pe_problem *why)
{
    const size_t heads = pe_values_tensor(values, "logits")->shape.dim[0];
    if (!pe_values_present(values, "num_heads")) {
        if (pe_values_given(values, "heads"))
            return pe_fail(why, PE_MISSING_PARAMETER, "num_heads",
                           "num_heads is required beside heads: how many the model has");
        if (heads > PE_ALIBI_HEADS_MAX)
            return pe_fail(why, PE_INVALID_PARAMETER, "logits",
                           "logits must have at most %d heads, got %zu", PE_ALIBI_HEADS_MAX, heads);
        pe_values_set_int(values, "num_heads", (int64_t)heads);
    }
    PE_TRY(pe_alibi_heads_check(values, why));
    const size_t wanted = pe_values_positions(values, "heads")->count;
    if (wanted != heads)
        return pe_fail(why, PE_INVALID_PARAMETER, "logits",
                       "logits must have %zu heads, as many as are wanted, got %zu", wanted, heads);
    return PE_OK;
}

/* Only a float64 can be too large: scale has a bound of its own. */
static pe_status check_overflow(const pe_array *logits, double scale, pe_problem *why)
{
    const double *logit = logits->data;
    if (logits->dtype != PE_FLOAT64)
        return PE_OK;
    for (size_t i = 0; i < logits->elements; i++)
        if (!(fabs(logit[i]) * scale < PE_ATTENTION_SCORE_MAX))
            return pe_fail(why, PE_INVALID_PARAMETER, "logits",
                           "logits times scale must stay below 2^900 in magnitude, got %.9g times "
                           "%.9g",
                           logit[i], scale);
    return PE_OK;
}

static pe_status plan_probabilities(pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_array *logits = pe_values_tensor(values, "logits");
    const double scale = pe_values_real(values, "scale");
    PE_TRY(check_heads(values, why));
    PE_TRY(pe_attention_plan(out, &logits->shape, logits->dtype, "logits", why));
    PE_TRY(check_overflow(logits, scale, why));
    PE_TRY(pe_plan_begin(out, sizeof(state), pe_attention_fill, why));
    state *s = out->state;
    s->attention = (pe_attention){logits->shape.dim[2], logits->shape.dim[2], scores};
    s->scale = scale;
    s->causal = pe_values_bool(values, "causal");
    PE_TRY(pe_alibi_heads_plan(values, out, &s->heads, why));
    pe_plan_take(out, values, "logits", &s->logits);
    return PE_OK;
}

/**
 * Shapes    logits: [heads, queries, keys] -> the same.
 * Accuracy  as pe_softmax: the error before the one rounding is below 2^-100 (1 + the largest
 *           magnitude of a score).
 */
const pe_resource pe_alibi_probabilities = {
    PE_NAMED("alibi", "/probabilities"),
    .kind = PE_TRANSFORM,
    .summary = "Attention probabilities under ALiBi's biases.",
    .formula = "softmax over keys j of scale logits[h, i, j] - m_h |i - j|; causal: over j <= i",
    .labels = PE_LABELS({.axes = "head, query, key", .value = "probability"}),
    .source = PE_ALIBI_SOURCE "; ggml_compute_forward_soft_max of "
                              "ggml-org/ggml@d99724f2b141fed9e1a9f402213506c081433465",
    .param_sets = {PE_PARAMS(logits_params), &pe_params_model, PE_PARAMS(num_heads_params),
                   &pe_alibi_heads_params, &pe_alibi_slope_params, &pe_params_output_exact},
    .plan = plan_probabilities,
};
