/* SPDX-License-Identifier: MIT */
/* shaw_probabilities.c - attention probabilities with clipped relative positions. */
#include <math.h>
#include <stdlib.h>

#include "base/yield.h"
#include "encodings/attention/attention.h"
#include "encodings/registry.h"
#include "encodings/relative/shaw.h"
#include "kernels/kernels.h"

/* Numbers of the keys of a head, so that a row's scores take some ten milliseconds. */
#define KEY_NUMBERS_MAX ((size_t)1 << 23)

#define VECTORS(label, alias, what, shown)                                                         \
    PE_PARAM(label, TENSOR, .aliases = PE_NAMES(alias), .required = true, .min_dims = 3,           \
             .max_dims = 3, .help = (what), .example = (shown))

static const pe_param vectors_params[] = {
    VECTORS("q", "queries", "Queries, [heads, n, d]. They are at the last n key positions.",
            "[[[1,0],[0.5,2]]]"),
    VECTORS("k", "keys", "Keys, [heads, m, d].", "[[[0,1],[1,1]]]"),
};

/* Arrays as rows of vectors, whatever heads they belong to. */
typedef struct state {
    pe_attention attention;
    size_t queries; /* of a head */
    pe_pair scale;
    pe_shaw_clip clip;
    pe_array q, k, embeddings;
} state;

static pe_pair dot(const double *x, const pe_array *rows, size_t row, double *wide)
{
    const size_t d = rows->shape.dim[1];
    pe_kernels_get()->widen(rows->dtype, pe_scores_row(rows, row), d, wide);
    return pe_pair_dot(x, wide, d);
}

/* scale (q . k + q . embedding); the embedding's product is kept for the keys that share it. */
static void scores(const void *of, size_t row, double *scratch, pe_pair *score)
{
    const state *s = of;
    const size_t keys = s->attention.keys, d = s->q.shape.dim[1], head = row / s->queries;
    const int64_t query = (int64_t)(keys - s->queries + row % s->queries);
    double *q = scratch, *other = scratch + d;
    const int64_t none = -1;
    int64_t held = none;
    pe_pair position = {0, 0};
    pe_kernels_get()->widen(s->q.dtype, pe_scores_row(&s->q, row), d, q);
    for (size_t j = 0; j < keys; j++) {
        const int64_t relative = (int64_t)j - query;
        const int64_t index = (relative < -s->clip.left   ? -s->clip.left
                               : relative > s->clip.right ? s->clip.right
                                                          : relative) +
                              s->clip.left;
        if (index != held)
            position = dot(q, &s->embeddings, (size_t)index, other);
        held = index;
        score[j] = pe_yield_must_end()
                       ? (pe_pair){-HUGE_VAL, 0}
                       : pe_pair_mul(s->scale,
                                     pe_pair_add(dot(q, &s->k, head * keys + j, other), position));
    }
}

/* ---- the plan ---- */

static pe_status check_channels(const pe_values *values, pe_problem *why)
{
    const size_t *q = pe_values_tensor(values, "q")->shape.dim;
    const size_t *k = pe_values_tensor(values, "k")->shape.dim;
    const size_t d = pe_values_tensor(values, "relative_embeddings")->shape.dim[1];
    if (q[0] != k[0])
        return pe_fail(why, PE_INVALID_PARAMETER, "k",
                       "k must have as many heads as q, got %zu and %zu", k[0], q[0]);
    if (q[2] != d || k[2] != d)
        return pe_fail(why, PE_INVALID_PARAMETER, q[2] != d ? "q" : "k",
                       "q, k and relative_embeddings must have the same number of channels, got "
                       "%zu, %zu and %zu",
                       q[2], k[2], d);
    if (k[1] * d > KEY_NUMBERS_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "k",
                       "k must have at most %zu numbers for each head, got %zu", KEY_NUMBERS_MAX,
                       k[1] * d);
    return PE_OK;
}

/* Out of values, its heads and rows one axis. */
static void take_rows(pe_plan *plan, pe_values *values, const char *name, pe_array *out)
{
    pe_plan_take(plan, values, name, out);
    out->shape = (pe_shape){2, {out->shape.dim[0] * out->shape.dim[1], out->shape.dim[2]}};
}

static pe_status plan_probabilities(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_shaw_clip clip;
    pe_problem mistake;
    const pe_status status = check_channels(values, why);
    PE_TRY(PE_ALSO(status, pe_shaw_read_embeddings(values, &clip, &mistake)));
    const pe_array *q = pe_values_tensor(values, "q");
    const size_t keys = pe_values_tensor(values, "k")->shape.dim[1], d = q->shape.dim[2];
    const pe_shape shape = {3, {q->shape.dim[0], q->shape.dim[1], keys}};
    PE_TRY(pe_attention_plan(out, &shape, q->dtype, "q", why));
    PE_TRY(pe_plan_set_work(out, 0, PE_SOFTMAX_WORK + d, why));
    PE_TRY(pe_plan_begin(out, sizeof(state), pe_attention_fill, why));
    state *s = out->state;
    s->attention = (pe_attention){keys, 2 * d, scores};
    s->queries = q->shape.dim[1];
    s->scale = pe_attention_scale(values, d);
    s->clip = clip;
    take_rows(out, values, "q", &s->q);
    take_rows(out, values, "k", &s->k);
    pe_plan_take(out, values, "relative_embeddings", &s->embeddings);
    /* |scale q . (k + e)| <= scale |q| (|k| + |e|), with room for a factor of 2^100. */
    double q_norm, k_norm, embedding_norm;
    PE_TRY(pe_scores_norm_max(&s->q, &q_norm, why));
    PE_TRY(pe_scores_norm_max(&s->k, &k_norm, why));
    PE_TRY(pe_scores_norm_max(&s->embeddings, &embedding_norm, why));
    if (s->scale.hi * q_norm * (k_norm + embedding_norm) < PE_ATTENTION_SCORE_MAX)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "q",
                   "q and k are so large that a score may reach 2^900 in magnitude");
}

/**
 * Shapes    q: [heads, n, d], k: [heads, m, d], relative_embeddings: [left_max + right_max + 1, d]
 *           -> [heads, n, m].
 * Accuracy  scores are sums in pairs of doubles, 2^-104 d^2 scale |q| (|k| + |e|); then as
 *           pe_softmax.
 */
const pe_resource pe_shaw_probabilities = {
    PE_NAMED("shaw", "/probabilities"),
    .kind = PE_TRANSFORM,
    .summary = "Attention probabilities with the embeddings of relative positions.",
    .formula = "softmax over keys j of scale (q[h, i] . k[h, j] + q[h, i] . "
               "relative_embeddings[" PE_SHAW_FORMULA "])",
    .labels = PE_LABELS({.axes = "query, key", .value = "probability"}),
    .source = "Shaw et al. 2018, arXiv:1803.02155, equations 2 and 5; Wav2Vec2BertSelfAttention of "
              "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532",
    .param_sets = {PE_PARAMS(vectors_params), &pe_shaw_embeddings_params,
                   &pe_shaw_clip_by_rows_params, &pe_attention_scale_params,
                   &pe_params_output_exact},
    .plan = plan_probabilities,
};
