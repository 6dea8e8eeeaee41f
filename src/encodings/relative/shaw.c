/* SPDX-License-Identifier: MIT */
/* shaw.c - clipped relative positions: indices, their embeddings, scores and probabilities. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "encodings/attention/attention.h"
#include "encodings/registry.h"
#include "encodings/relative/relative.h"
#include "kernels/kernels.h"
#include "plan/common_params.h"
#include "plan/plan.h"

/* Sums of two of them, and one more, are int32. */
#define CLIP_MAX 1073741823.0 /* 2^30 - 1 */

#define FORMULA "max(-left_max, min(right_max, key - query)) + left_max"
#define SOURCE  "Shaw et al. 2018, arXiv:1803.02155, equations 3 and 4"

#define WIDTH_MAX 65536

#define SIDE(side, fallback, text)                                                                 \
    PE_PARAM(side, INT, .optional = true, .fallback_text = (fallback), .min = 0, .max = CLIP_MAX,  \
             .unit = "tokens", .help = (text), .example = "4")
#define BOTH_SIDES(fallback)                                                                       \
    SIDE("max_relative_position", fallback,                                                        \
         "Relative positions are clipped to this many on both sides. It replaces left_max and "    \
         "right_max.")
#define LEFT                                                                                       \
    SIDE("left_max", "max_relative_position",                                                      \
         "Relative positions are clipped to this many before the query.")
#define RIGHT                                                                                      \
    SIDE("right_max", "max_relative_position",                                                     \
         "Relative positions are clipped to this many after the query.")

static const pe_param clip_params[] = {BOTH_SIDES(NULL), LEFT, RIGHT};
static const pe_param clip_by_rows_params[] = {BOTH_SIDES("(rows - 1)/2"), LEFT, RIGHT};

static const pe_param embeddings_params[] = {
    PE_PARAM("relative_embeddings", TENSOR, .aliases = PE_NAMES("weights", "table"),
             .required = true, .min_dims = 2, .max_dims = 2,
             .help = "Embeddings of the relative positions from -left_max to right_max, [rows, d].",
             .example = "[[1,0],[0,1],[1,1]]"),
};

/* ---- the clipping ---- */

typedef struct clipping {
    int64_t left, right;
} clipping;

/* Both spellings get one canonical form: max_relative_position, where present, becomes left_max and
 * right_max. */
static pe_status read_clip(pe_values *values, clipping *out, pe_problem *why)
{
    static const char *const sides[] = {"left_max", "right_max"};
    pe_value *both = pe_values_find(values, "max_relative_position");
    pe_problem mistake;
    pe_status status = PE_OK;
    for (size_t s = 0; s < PE_LEN(sides) && both->present; s++) {
        if (pe_values_given(values, sides[s]))
            status = PE_ALSO(
                status,
                pe_fail(&mistake, PE_INVALID_PARAMETER, sides[s],
                        "%s is given beside max_relative_position, which says the same of both "
                        "sides",
                        sides[s]));
        pe_values_set_int(values, sides[s], both->integer);
    }
    both->present = false;
    PE_TRY(status);
    const bool left = pe_values_present(values, "left_max");
    const bool right = pe_values_present(values, "right_max");
    if (!left && !right)
        return pe_fail(why, PE_MISSING_PARAMETER, "max_relative_position",
                       "max_relative_position is required, or left_max and right_max");
    if (!left || !right)
        return pe_fail(why, PE_MISSING_PARAMETER, left ? "right_max" : "left_max",
                       "%s is required beside %s", left ? "right_max" : "left_max",
                       left ? "left_max" : "right_max");
    *out = (clipping){pe_values_int(values, "left_max"), pe_values_int(values, "right_max")};
    return PE_OK;
}

/*
 * From max_relative_position, or left_max and right_max, beside relative_embeddings, whose rows
 * must be left + right + 1. Both spellings get one canonical form: the second. Without either an
 * odd number of rows is split evenly.
 * Errors  MISSING_PARAMETER; INVALID_PARAMETER: both spellings are given; another number of rows,
 *         or more than 65536 channels.
 */
static pe_status read_embeddings(pe_values *values, clipping *out, pe_problem *why)
{
    const pe_shape *shape = &pe_values_tensor(values, "relative_embeddings")->shape;
    const size_t rows = shape->dim[0];
    const bool given = pe_values_present(values, "max_relative_position") ||
                       pe_values_present(values, "left_max") ||
                       pe_values_present(values, "right_max");
    if (!given && rows % 2 == 1)
        pe_values_set_int(values, "max_relative_position", (int64_t)(rows / 2));
    PE_TRY(read_clip(values, out, why));
    if (rows != (size_t)(out->left + out->right + 1))
        return pe_fail(why, PE_INVALID_PARAMETER, "relative_embeddings",
                       "relative_embeddings must have left_max + right_max + 1 = %lld rows, got "
                       "%zu",
                       (long long)(out->left + out->right + 1), rows);
    if (shape->dim[1] > WIDTH_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "relative_embeddings",
                       "relative_embeddings must have at most %d channels, got %zu", WIDTH_MAX,
                       shape->dim[1]);
    return PE_OK;
}

/*
 * n keys from `relative` on: `before` of them have index 0, then `inside` have first, first + 1,
 * ... and the others have left + right.
 */
typedef struct zones {
    size_t before, inside, behind;
    size_t first;
} zones;

/* How many of n keys come before the one at `relative` plus `distance`. */
static size_t keys_before(int64_t distance, size_t n)
{
    return distance < 0 ? 0 : (size_t)distance < n ? (size_t)distance : n;
}

static zones zones_of(const clipping *clip, int64_t relative, size_t n)
{
    zones z = {.before = keys_before(-clip->left - relative, n)};
    const size_t through = keys_before(clip->right + 1 - relative, n);
    z.inside = through - z.before;
    z.behind = n - through;
    z.first = (size_t)(relative + (int64_t)z.before + clip->left);
    return z;
}

/* ---- the table ---- */

typedef struct indices_state {
    pe_relative table;
    clipping clip;
    bool backwards;
} indices_state;
_Static_assert(offsetof(indices_state, table) == 0, "the window's state begins with it");

static void run_indices(const void *of, size_t layer PE_UNUSED, int64_t relative, size_t n,
                        unsigned char *out)
{
    const indices_state *s = of;
    const zones z = zones_of(&s->clip, relative, n);
    const int32_t last = (int32_t)(s->clip.left + s->clip.right);
    int32_t *to = (int32_t *)(void *)out; /* out is aligned, and so is every element */
    for (size_t i = 0; i < z.before; i++)
        to[i] = 0;
    for (size_t i = 0; i < z.inside; i++)
        to[z.before + i] = (int32_t)(z.first + i);
    for (size_t i = n - z.behind; i < n; i++)
        to[i] = last;
    for (size_t i = 0; i < n && s->backwards; i++)
        to[i] = last - to[i];
}

static pe_status plan_indices(pe_values *values, pe_plan *out, pe_problem *why)
{
    clipping clip;
    pe_problem mistake;
    pe_status status = pe_relative_lengths(values, why);
    status = PE_ALSO(status, read_clip(values, &clip, &mistake));
    PE_TRY(status);
    const pe_relative_window window = {.tensor = "indices",
                                       .dtype = PE_INT32,
                                       .run = run_indices,
                                       .state_bytes = sizeof(indices_state)};
    PE_TRY(pe_relative_plan(&window, values, out, why));
    indices_state *s = out->state;
    s->clip = clip;
    s->backwards = pe_values_choice(values, "distance") == 1;
    return PE_OK;
}

static const char *const distances[] = {"key_less_query", "query_less_key", NULL};

static const pe_param indices_params[] = {
    PE_PARAM("distance", CHOICE, .choices = distances,
             .help = "What rows count: the key's position less the query's, as published, or the "
                     "query's less the key's, so that the last row is of keys before the query "
                     "(relative_key of BERT).",
             .example = "query_less_key"),
};

/** Shapes  [query_length, key_length], int32 from 0 to left_max + right_max; with
 *          distance=query_less_key left_max + right_max less that, as BertSelfAttention of
 *          huggingface/transformers 4.50.0. */
const pe_resource pe_shaw_indices = {
    PE_NAMED("shaw", "/indices"),
    .kind = PE_TABLE,
    .summary = "Clipped relative positions, as row numbers of their embeddings.",
    .formula = FORMULA,
    .labels = PE_LABELS({.axes = "query, key", .value = "index"}),
    .source = SOURCE,
    .param_sets = {&pe_relative_window_params, PE_PARAMS(clip_params), PE_PARAMS(indices_params),
                   &pe_params_output_int32},
    .plan = plan_indices,
};

typedef struct lookup_state {
    pe_relative table; /* of vectors */
    clipping clip;
    pe_array embeddings;
} lookup_state;
_Static_assert(offsetof(lookup_state, table) == 0, "the window's state begins with it");

static void run_lookup(const void *of, size_t layer PE_UNUSED, int64_t relative, size_t n,
                       unsigned char *out)
{
    const lookup_state *s = of;
    const size_t bytes = s->table.bytes;
    const unsigned char *embeddings = s->embeddings.data;
    const zones z = zones_of(&s->clip, relative, n);
    pe_relative_repeat(embeddings, bytes, z.before, out);
    out += z.before * bytes;
    if (z.inside > 0)
        memcpy(out, embeddings + z.first * bytes, z.inside * bytes);
    out += z.inside * bytes;
    pe_relative_repeat(embeddings + (size_t)(s->clip.left + s->clip.right) * bytes, bytes, z.behind,
                       out);
}

static pe_status plan_lookup(pe_values *values, pe_plan *out, pe_problem *why)
{
    clipping clip;
    PE_TRY(pe_relative_lengths(values, why));
    PE_TRY(read_embeddings(values, &clip, why));
    const pe_array *embeddings = pe_values_tensor(values, "relative_embeddings");
    const pe_relative_window window = {.tensor = "embeddings",
                                       .dtype = embeddings->dtype,
                                       .channels = embeddings->shape.dim[1],
                                       .run = run_lookup,
                                       .state_bytes = sizeof(lookup_state)};
    PE_TRY(pe_relative_plan(&window, values, out, why));
    lookup_state *s = out->state;
    s->clip = clip;
    pe_plan_take(out, values, "relative_embeddings", &s->embeddings);
    return PE_OK;
}

/** Shapes  relative_embeddings: [left_max + right_max + 1, d] -> [query_length, key_length, d], copied
 *          bit for bit. */
const pe_resource pe_shaw_lookup = {
    PE_NAMED("shaw", "/lookup"),
    .kind = PE_TRANSFORM,
    .summary = "The embedding of the relative position of every query and key.",
    .formula = "a[i, j] = relative_embeddings[" FORMULA "]",
    .labels = PE_LABELS({.axes = "query, key, channel", .value = "value"}),
    .source = SOURCE,
    .param_sets = {PE_PARAMS(embeddings_params), &pe_relative_window_params,
                   PE_PARAMS(clip_by_rows_params), &pe_params_output_exact},
    .plan = plan_lookup,
};

static const pe_param queries_params[] = {
    PE_PARAM("queries", TENSOR, .aliases = PE_NAMES("q"), .required = true, .min_dims = 2,
             .max_dims = 2, .help = "Queries, [n, d]. They are at the last n key positions.",
             .example = "[[1,0],[0.5,2]]"),
};

static const pe_param keys_params[] = {
    PE_RELATIVE_KEY_LENGTH("n"),
};

typedef struct scores_state {
    size_t keys;
    clipping clip;
    pe_array queries, embeddings;
} scores_state;

/* The score of a query and embedding `index`, n times; returns where the next goes. */
static unsigned char *put(const scores_state *s, const double *query, size_t index, size_t n,
                          double *embedding, unsigned char *out)
{
    const pe_array *embeddings = &s->embeddings;
    const size_t d = embeddings->shape.dim[1], bytes = pe_dtype_bytes(embeddings->dtype);
    unsigned char score[8];
    if (n == 0)
        return out;
    pe_kernels_get()->widen(embeddings->dtype, pe_scores_row(embeddings, index), d, embedding);
    pe_dtype_store(embeddings->dtype, pe_scores_dot(query, embedding, d) + 0.0, score);
    pe_relative_repeat(score, bytes, n, out);
    return out + n * bytes;
}

static pe_status fill_scores(const pe_plan *plan, const pe_region *region, void *out,
                             pe_problem *why)
{
    const scores_state *s = plan->state;
    const size_t d = s->queries.shape.dim[1], keys = s->keys;
    const size_t first_query = keys - s->queries.shape.dim[0];
    unsigned char *at = out;
    double *query = calloc(2 * d, sizeof *query);
    if (query == NULL)
        return pe_fail_memory(why);
    double *embedding = query + d;
    const size_t first = region->first, units = region->units;
    for (size_t done = 0, n; done < units; done += n) {
        const size_t i = (first + done) / keys, from = (first + done) % keys;
        n = pe_size_min(units - done, keys - from);
        const zones z = zones_of(&s->clip, (int64_t)from - (int64_t)(first_query + i), n);
        pe_kernels_get()->widen(s->queries.dtype, pe_scores_row(&s->queries, i), d, query);
        at = put(s, query, 0, z.before, embedding, at);
        for (size_t k = 0; k < z.inside; k++)
            at = put(s, query, z.first + k, 1, embedding, at);
        at = put(s, query, (size_t)(s->clip.left + s->clip.right), z.behind, embedding, at);
    }
    free(query);
    return PE_OK;
}

static pe_status plan_scores(pe_values *values, pe_plan *out, pe_problem *why)
{
    clipping clip;
    const pe_array *queries = pe_values_tensor(values, "queries");
    const size_t channels = pe_values_tensor(values, "relative_embeddings")->shape.dim[1];
    PE_TRY(pe_relative_keys(values, (int64_t)queries->shape.dim[0], "key_length", why));
    if (queries->shape.dim[1] != channels)
        return pe_fail(why, PE_INVALID_PARAMETER, "queries",
                       "queries and relative_embeddings must have the same number of channels, "
                       "got %zu and %zu",
                       queries->shape.dim[1], channels);
    PE_TRY(read_embeddings(values, &clip, why));
    const size_t keys = pe_values_size(values, "key_length");
    const pe_shape shape = {2, {queries->shape.dim[0], keys}};
    PE_TRY(pe_plan_add_tensor(out, "scores", queries->dtype, &shape, 1, why));
    PE_TRY(pe_plan_set_work(out, 0, PE_DOT_WORK(queries->shape.dim[1]), why));
    PE_TRY(pe_plan_begin(out, sizeof(scores_state), fill_scores, why));
    scores_state *s = out->state;
    s->keys = keys;
    s->clip = clip;
    pe_plan_take(out, values, "queries", &s->queries);
    pe_plan_take(out, values, "relative_embeddings", &s->embeddings);
    return pe_scores_check(out, &s->queries, &s->embeddings, 1, "queries", why);
}

/**
 * Summed in float64 in a fixed order, rounded once; not divided by sqrt(d), to be added to q_i . k_j.
 *
 * Shapes  queries: [n, d], relative_embeddings: [left_max + right_max + 1, d] -> [n, key_length].
 */
const pe_resource pe_shaw_scores = {
    PE_NAMED("shaw", "/scores"),
    .kind = PE_TRANSFORM,
    .summary =
        "The scores of relative positions: queries times the embeddings of relative positions.",
    .formula = "score[i, j] = queries[i] . relative_embeddings[" FORMULA "]",
    .labels = PE_LABELS({.axes = "query, key", .value = "score"}),
    .source = SOURCE,
    .param_sets = {PE_PARAMS(queries_params), PE_PARAMS(embeddings_params), PE_PARAMS(keys_params),
                   PE_PARAMS(clip_by_rows_params), &pe_params_output_exact},
    .plan = plan_scores,
};

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
typedef struct attention_state {
    pe_attention attention;
    size_t queries; /* of a head */
    pe_pair scale;
    clipping clip;
    pe_array q, k, embeddings;
} attention_state;

static pe_pair dot(const double *x, const pe_array *rows, size_t row, double *wide)
{
    const size_t d = rows->shape.dim[1];
    pe_kernels_get()->widen(rows->dtype, pe_scores_row(rows, row), d, wide);
    return pe_pair_dot(x, wide, d);
}

/* scale (q . k + q . embedding); the embedding's product is kept for the keys that share it. */
static void attention_scores(const void *of, size_t row, double *scratch, pe_pair *score)
{
    const attention_state *s = of;
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
    clipping clip;
    pe_problem mistake;
    const pe_status status = check_channels(values, why);
    PE_TRY(PE_ALSO(status, read_embeddings(values, &clip, &mistake)));
    const pe_array *q = pe_values_tensor(values, "q");
    const size_t keys = pe_values_tensor(values, "k")->shape.dim[1], d = q->shape.dim[2];
    const pe_shape shape = {3, {q->shape.dim[0], q->shape.dim[1], keys}};
    PE_TRY(pe_attention_plan(out, &shape, q->dtype, "q", why));
    PE_TRY(pe_plan_set_work(out, 0, PE_SOFTMAX_WORK + d, why));
    PE_TRY(pe_plan_begin(out, sizeof(attention_state), pe_attention_fill, why));
    attention_state *s = out->state;
    s->attention = (pe_attention){keys, 2 * d, attention_scores};
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
               "relative_embeddings[" FORMULA "])",
    .labels = PE_LABELS({.axes = "query, key", .value = "probability"}),
    .source = "Shaw et al. 2018, arXiv:1803.02155, equations 2 and 5; Wav2Vec2BertSelfAttention of "
              "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532",
    .param_sets = {PE_PARAMS(vectors_params), PE_PARAMS(embeddings_params),
                   PE_PARAMS(clip_by_rows_params), &pe_attention_scale_params,
                   &pe_params_output_exact},
    .plan = plan_probabilities,
};
