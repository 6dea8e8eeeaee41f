/* SPDX-License-Identifier: MIT */
/* rope_scores.c - attention logits of rotated queries and keys, by relative position. */
#include <stdlib.h>

#include "encodings/attention/attention.h"
#include "encodings/rope/rope_params.h"
#include "encodings/rope/rope_rotated.h"

typedef struct scores {
    pe_rope rope;
    pe_shared_wave wave; /* amplitude: the attention factor squared */
    pe_shared_wave bare; /* amplitude 1; of fractional positions only */
    bool per_pair;       /* the terms of pairs, not their sum */
    bool apart;          /* some position is fractional: queries are rotated, too */
    pe_array q, k;       /* [m, head_dim], [n, head_dim] */
    pe_positions query_at, key_at;
} scores;

/* ---- a run of logits ---- */

/* Scratch of one fill. */
typedef struct worker {
    const scores *state;
    pe_rope_cos_sin rows, query_rows;
    pe_positions delta;  /* key_at - the position of the query at hand; apart: key_at */
    double *query, *key; /* [head_dim] */
} worker;

static void rotate(const pe_rope *rope, const pe_rope_cos_sin *rows, size_t r, double *vector)
{
    const double *cos, *sin;
    pe_rope_cos_sin_at(rows, r, &cos, &sin);
    pe_kernels_get()->rotate(PE_FLOAT64, rope->pairing, rope->pairs, cos, sin, 1, rope->head_dim,
                             vector + rope->rotary_offset, vector + rope->rotary_offset);
}

/* The difference of two integers is exact, that of two fractions need not be. */
static pe_status set_query(worker *work, size_t i, pe_problem *why)
{
    const scores *state = work->state;
    size_t got;
    pe_kernels_get()->widen(state->q.dtype, pe_scores_row(&state->q, i), state->rope.head_dim,
                            work->query);
    if (!state->apart) {
        /* The distances of query i to all keys become the positions of the rows. */
        const pe_positions *keys = &work->state->key_at;
        const double at = pe_positions_at(&work->state->query_at, i);
        if (keys->list == NULL)
            work->delta.first = keys->first - (int64_t)at;
        else
            for (size_t j = 0; j < keys->count; j++)
                work->delta.list[j] = keys->list[j] - at;
        return PE_OK;
    }
    const pe_status status = pe_rope_cos_sin_load(&work->query_rows, i, 1, &got, why);
    if (status == PE_OK)
        rotate(&state->rope, &work->query_rows, i, work->query);
    return status;
}

/* q . R_delta k: pair by pair, or all of it, the pass-through channels included. */
static void put_score(worker *work, size_t j, pe_dtype dtype, unsigned char *out)
{
    const scores *state = work->state;
    const pe_rope *rope = &state->rope;
    const bool half = rope->pairing == PE_PAIRING_HALF;
    const size_t step = half ? 1 : 2, far = half ? rope->pairs : 1, bytes = pe_dtype_bytes(dtype);
    const double *q = work->query, *k = work->key;
    pe_kernels_get()->widen(state->k.dtype, pe_scores_row(&state->k, j), rope->head_dim, work->key);
    rotate(rope, &work->rows, j, work->key);
    if (!state->per_pair)
        pe_dtype_store(dtype, pe_scores_dot(q, k, rope->head_dim), out);
    q += rope->rotary_offset;
    k += rope->rotary_offset;
    for (size_t i = 0; i < rope->pairs && state->per_pair; i++, q += step, k += step)
        pe_dtype_store(dtype, q[0] * k[0] + q[far] * k[far], out + i * bytes);
}

static pe_status fill_run(worker *work, const pe_region *region, pe_dtype dtype, unsigned char *out,
                          pe_problem *why)
{
    const size_t first = region->first, units = region->units;
    const size_t n = work->state->key_at.count, bytes = region->columns * pe_dtype_bytes(dtype);
    for (size_t done = 0, got; done < units; done += got) {
        const size_t i = (first + done) / n, j = (first + done) % n;
        const size_t most = units - done < n - j ? units - done : n - j;
        PE_TRY(done == 0 || j == 0 ? set_query(work, i, why) : PE_OK);
        PE_TRY(pe_rope_cos_sin_load(&work->rows, j, most, &got, why));
        for (size_t u = 0; u < got; u++, out += bytes)
            put_score(work, j + u, dtype, out);
    }
    return PE_OK;
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const scores *state = plan->state;
    worker work = {.state = state,
                   .query = malloc(state->rope.head_dim * sizeof(double)),
                   .key = malloc(state->rope.head_dim * sizeof(double))};
    pe_tables *tables = state->rope.tables;
    pe_status status = pe_positions_copy(&state->key_at, &work.delta, why);
    if (status == PE_OK)
        status = pe_rope_cos_sin_open(&work.rows, tables, &state->wave, NULL, &work.delta, why);
    if (status == PE_OK)
        status = pe_rope_cos_sin_open(&work.query_rows, tables, &state->bare, NULL,
                                      &state->query_at, why);
    if (status == PE_OK && (work.query == NULL || work.key == NULL))
        status = pe_fail_memory(why);
    if (status == PE_OK)
        status = fill_run(&work, region, plan->tensors[region->tensor].dtype, out, why);
    pe_rope_cos_sin_close(&work.rows);
    pe_rope_cos_sin_close(&work.query_rows);
    pe_positions_free(&work.delta);
    free(work.query);
    free(work.key);
    return status;
}

/* ---- planning ---- */

/* Positions of the rows of a tensor, 0:rows where absent. */
static pe_status check_positions(pe_values *values, const char *name, const char *tensor,
                                 pe_problem *why)
{
    const size_t rows = pe_values_tensor(values, tensor)->shape.dim[0];
    pe_values_set_range(values, name, 0, rows);
    const size_t count = pe_values_positions(values, name)->count;
    if (count != rows)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must give one for each of the %zu rows of %s, got %zu", name, rows,
                       tensor, count);
    return PE_OK;
}

static pe_status check(pe_values *values, pe_problem *why)
{
    static const char *const tensors[] = {"q", "k"};
    static const char *const positions[] = {"query_positions", "key_positions"};
    pe_problem mistake;
    pe_status status = PE_OK;
    for (size_t t = 0; t < 2; t++) {
        if (pe_values_tensor(values, tensors[t])->shape.ndim != 2)
            return pe_fail(why, PE_INVALID_PARAMETER, tensors[t],
                           "%s must have two axes, [rows, head_dim]", tensors[t]);
        status = PE_ALSO(status, pe_rope_rotated_head_dim(values, tensors[t], &mistake));
        status = PE_ALSO(status, check_positions(values, positions[t], tensors[t], &mistake));
    }
    PE_TRY(status);
    double q_least, q_most, k_least, k_most;
    pe_positions_bounds(pe_values_positions(values, "query_positions"), &q_least, &q_most);
    pe_positions_bounds(pe_values_positions(values, "key_positions"), &k_least, &k_most);
    if (k_most - q_least < PE_POSITION_LIMIT && q_most - k_least < PE_POSITION_LIMIT)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "key_positions",
                   "key_positions must lie less than 2^53 from query_positions");
}

/* Finding the angles of two positions, whatever the pairs; and a unit for each pair where distances
 * share no blocks. */
#define PLACE_WORK 8

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    PE_TRY(pe_plan_begin(out, sizeof(scores), fill, why));
    scores *state = out->state;
    pe_status status = check(values, why);
    PE_TRY(pe_rope_plan_beside(status, values, out, &state->rope, why));
    const pe_positions *query_at = pe_values_positions(values, "query_positions");
    const pe_positions *key_at = pe_values_positions(values, "key_positions");
    state->per_pair = pe_values_bool(values, "per_pair");
    pe_plan_take(out, values, "q", &state->q);
    pe_plan_take(out, values, "k", &state->k);
    state->apart = query_at->fractional || key_at->fractional;
    PE_TRY(pe_plan_positions(out, values, "query_positions", &state->query_at, why));
    PE_TRY(pe_plan_positions(out, values, "key_positions", &state->key_at, why));
    const pe_dtype dtype = pe_values_dtype(values);
    const size_t d = state->rope.head_dim, unit = state->per_pair ? state->rope.pairs : 1;
    const pe_shape shape = {state->per_pair ? 3 : 2,
                            {state->q.shape.dim[0], state->k.shape.dim[0], unit}};
    PE_TRY(pe_plan_add_tensor(out, "logits", dtype, &shape, unit, why));
    const size_t place =
        PLACE_WORK + (pe_rope_cos_sin_are_dense(&state->key_at) ? 0 : state->rope.pairs);
    PE_TRY(pe_plan_set_work(out, 0, PE_DOT_WORK((d + unit - 1) / unit) + place / unit, why));
    PE_TRY(pe_rope_wave_plan(&state->rope, PE_ROPE_SQUARED, out, &state->wave, why));
    if (state->apart)
        PE_TRY(pe_rope_wave_plan(&state->rope, PE_ROPE_PLAIN, out, &state->bare, why));
    /* |q . R k| <= A^2 |q| |k| */
    const double attention = pe_rope_wave_attention_factor(&state->rope);
    const double amplitude = attention > 1 ? attention * attention : 1;
    return pe_scores_check(out, &state->q, &state->k, amplitude, "q", why);
}

#define TENSOR_ROW(label, called, what)                                                            \
    PE_PARAM(label, TENSOR, .aliases = called, .required = true, .min_dims = 2, .max_dims = 2,     \
             .help = what ", [rows, head_dim], before rotation.",                                  \
             .example = "[[1,0,0,1],[0,1,1,0]]")
#define POSITIONS_ROW(label, rows)                                                                 \
    PE_PARAM(label, POSITIONS, .optional = true, .fallback_text = (rows), .unit = "tokens",        \
             .help = "A position for each row.", .example = "0:8")

static const pe_param vectors_params[] = {
    TENSOR_ROW("q", PE_NAMES("queries"), "Queries"),
    TENSOR_ROW("k", PE_NAMES("keys"), "Keys"),
};

static const pe_param positions_params[] = {
    POSITIONS_ROW("query_positions", "0:m"),
    POSITIONS_ROW("key_positions", "0:n"),
    PE_PARAM("per_pair", BOOL,
             .help = "true gives the share of each pair of channels, [m, n, rotary_dim/2], in "
                     "place of their sum. Channels past rotary_dim have none.",
             .example = "false"),
};

/**
 * Through the relative angle, so that equal differences of positions give identical bits; where
 * some position is fractional both sides are rotated. Summed in float64 in a fixed order, rounded
 * once; the attention factor goes in squared, once for each side.
 *
 * Shapes  q: [m, head_dim], k: [n, head_dim] -> [m, n], not divided by sqrt(head_dim); per_pair:
 *         [m, n, rotary_dim/2].
 */
const pe_resource pe_rope_scores = {
    PE_NAMED("rope", "/scores"),
    .kind = PE_TRANSFORM,
    .summary = "Attention logits of rotated queries and keys, unscaled.",
    .formula = "logit(i, j) = (R_m q_i) . (R_n k_j) = q_i . (R_(n-m) k_j)",
    .labels = PE_LABELS({.axes = "query, key", .value = "score"}),
    .source = PE_ROPE_SOURCE,
    .param_sets = {PE_PARAMS(vectors_params), &pe_rope_last_axis_params, &pe_params_model,
                   PE_ROPE_SETS, PE_PARAMS(positions_params), &pe_params_output_exact},
    .nested = "rope_parameters",
    .plan = plan,
};
