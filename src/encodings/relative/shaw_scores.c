/* SPDX-License-Identifier: MIT */
/* shaw_scores.c - what relative positions add to attention scores. */
#include <stdlib.h>

#include "encodings/attention/attention.h"
#include "encodings/registry.h"
#include "encodings/relative/shaw.h"
#include "kernels/kernels.h"

static const pe_param queries_params[] = {
    PE_PARAM("queries", TENSOR, .aliases = PE_NAMES("q"), .required = true, .min_dims = 2,
             .max_dims = 2, .help = "Queries, [n, d]. They are at the last n key positions.",
             .example = "[[1,0],[0.5,2]]"),
};

static const pe_param keys_params[] = {
    PE_RELATIVE_KEY_LENGTH("n"),
};

typedef struct state {
    size_t keys;
    pe_shaw_clip clip;
    pe_array queries, embeddings;
} state;

/* ---- a run of scores ---- */

/* Scratch of one fill. */
typedef struct worker {
    const state *state;
    double *query, *embedding; /* [d] */
} worker;

/* The score of the query at hand and embedding `index`, n times; returns where the next goes. */
static unsigned char *put(const worker *work, size_t index, size_t n, unsigned char *out)
{
    const pe_array *embeddings = &work->state->embeddings;
    const size_t d = embeddings->shape.dim[1], bytes = pe_dtype_bytes(embeddings->dtype);
    unsigned char score[8];
    if (n == 0)
        return out;
    pe_kernels_get()->widen(embeddings->dtype, pe_scores_row(embeddings, index), d,
                            work->embedding);
    pe_dtype_store(embeddings->dtype, pe_scores_dot(work->query, work->embedding, d) + 0.0, score);
    pe_relative_repeat(score, bytes, n, out);
    return out + n * bytes;
}

/* Keys [from, from + n) of query i. */
static unsigned char *put_run(const worker *work, size_t i, size_t from, size_t n,
                              unsigned char *out)
{
    const state *s = work->state;
    const size_t first_query = s->keys - s->queries.shape.dim[0];
    const int64_t relative = (int64_t)from - (int64_t)(first_query + i);
    const pe_shaw_zones zones = pe_shaw_zones_of(&s->clip, relative, n);
    pe_kernels_get()->widen(s->queries.dtype, pe_scores_row(&s->queries, i),
                            s->queries.shape.dim[1], work->query);
    out = put(work, 0, zones.before, out);
    for (size_t k = 0; k < zones.inside; k++)
        out = put(work, zones.first + k, 1, out);
    return put(work, (size_t)(s->clip.left + s->clip.right), zones.behind, out);
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const state *s = plan->state;
    const size_t d = s->queries.shape.dim[1], keys = s->keys;
    unsigned char *at = out;
    double *room = calloc(2 * d, sizeof *room);
    if (room == NULL)
        return pe_fail_memory(why);
    const worker work = {s, room, room + d};
    const size_t first = region->first, units = region->units;
    for (size_t done = 0, n; done < units; done += n) {
        const size_t i = (first + done) / keys, from = (first + done) % keys;
        n = units - done < keys - from ? units - done : keys - from;
        at = put_run(&work, i, from, n, at);
    }
    free(room);
    return PE_OK;
}

/* ---- planning ---- */

static pe_status plan_scores(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_shaw_clip clip;
    const pe_array *queries = pe_values_tensor(values, "queries");
    const size_t channels = pe_values_tensor(values, "relative_embeddings")->shape.dim[1];
    PE_TRY(pe_relative_keys(values, (int64_t)queries->shape.dim[0], "key_length", why));
    if (queries->shape.dim[1] != channels)
        return pe_fail(why, PE_INVALID_PARAMETER, "queries",
                       "queries and relative_embeddings must have the same number of channels, "
                       "got %zu and %zu",
                       queries->shape.dim[1], channels);
    PE_TRY(pe_shaw_read_embeddings(values, &clip, why));
    const size_t keys = pe_values_size(values, "key_length");
    const pe_shape shape = {2, {queries->shape.dim[0], keys}};
    PE_TRY(pe_plan_add_tensor(out, "scores", queries->dtype, &shape, 1, why));
    PE_TRY(pe_plan_set_work(out, 0, PE_DOT_WORK(queries->shape.dim[1]), why));
    PE_TRY(pe_plan_begin(out, sizeof(state), fill, why));
    state *s = out->state;
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
    .formula = "score[i, j] = queries[i] . relative_embeddings[" PE_SHAW_FORMULA "]",
    .labels = PE_LABELS({.axes = "query, key", .value = "score"}),
    .source = PE_SHAW_SOURCE,
    .param_sets = {PE_PARAMS(queries_params), &pe_shaw_embeddings_params, PE_PARAMS(keys_params),
                   &pe_shaw_clip_by_rows_params, &pe_params_output_exact},
    .plan = plan_scores,
};
