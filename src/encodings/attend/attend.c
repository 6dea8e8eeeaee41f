/* SPDX-License-Identifier: MIT */
/* attend.c - attention as a whole: probabilities, and the values that they mix. */
#include "encodings/attend/attend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "encodings/attention/attention.h"
#include "encodings/registry.h"
#include "encodings/rope/rope_params.h"
#include "encodings/sinusoidal/sinusoidal.h"
#include "kernels/kernels.h"

/* Numbers of the keys of a head, and of its values, so that a row takes some ten milliseconds. */
#define KEY_NUMBERS_MAX   ((size_t)1 << 23)
#define VALUE_NUMBERS_MAX ((size_t)1 << 21)

/* What a number of the values costs in a sum, in elements of a plain table. */
#define VALUE_WORK 2

enum { PROBABILITIES, OUTPUT };

/* ---- scores and sums ---- */

/* scale * (q . k) + bias */
static void scores(const void *of, size_t row, double *scratch PE_UNUSED, pe_pair *score)
{
    const pe_attend *s = of;
    const size_t d = s->q.shape.dim[s->q.shape.ndim - 1], query = row % s->queries;
    const size_t head = row / s->queries;
    const double *q = (const double *)s->q.data + row * d;
    const double *k = (const double *)s->k.data + head * s->keys * d, *mask = s->mask.data;
    const size_t line = s->mask_rows == 1 ? 0 : s->mask_rows == s->queries ? query : row;
    for (size_t j = 0; j < s->keys; j++, k += d) {
        score[j] = (pe_pair){-HUGE_VAL, 0};
        if (pe_yield_must_end() || (s->causal && s->key_at[j] > s->query_at[query]) ||
            (mask != NULL && mask[line * s->keys + j] == 0))
            continue;
        score[j] = pe_pair_mul(s->scale, pe_pair_dot(q, k, d));
        if (s->scheme->bias != NULL)
            score[j] = pe_pair_add(
                score[j], s->scheme->bias(s, head % s->heads, s->query_at[query], s->key_at[j]));
    }
}

/* A row of the output. Behind the weights [keys] there is room for pairs: scores and probabilities
 * [keys], and sums [channels]. */
static void put_row(const pe_attend *s, size_t row, pe_dtype dtype, pe_fixed128 *weight,
                    unsigned char *out)
{
    const size_t channels = s->v.shape.dim[s->v.shape.ndim - 1], bytes = pe_dtype_bytes(dtype);
    const double *v = (const double *)s->v.data + row / s->queries * s->keys * channels;
    pe_pair *score = (pe_pair *)(weight + s->keys), *probability = score + s->keys;
    pe_pair *sums = probability + s->keys;
    scores(s, row, NULL, score);
    pe_softmax_pairs(score, s->keys, weight, probability);
    memset(sums, 0, channels * sizeof *sums);
    for (size_t j = 0; j < s->keys; j++, v += channels)
        if (probability[j].hi != 0)
            pe_pair_accumulate(probability[j], v, channels, sums);
    for (size_t c = 0; c < channels; c++) {
        const pe_pair sum = pe_pair_sum(sums[c].hi, sums[c].lo);
        const double value = dtype == PE_FLOAT64 ? sum.hi : pe_pair_to_odd(sum);
        pe_dtype_store(dtype, value + 0.0, out + c * bytes);
    }
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const pe_attend *s = plan->state;
    if (region->tensor == PROBABILITIES)
        return pe_attention_fill(plan, region, out, why);
    const size_t channels = region->columns;
    const pe_dtype dtype = plan->tensors[OUTPUT].dtype;
    pe_fixed128 *weight =
        malloc(s->keys * sizeof *weight + (2 * s->keys + channels) * sizeof(pe_pair));
    if (weight == NULL)
        return pe_fail_memory(why);
    for (size_t u = 0; u < region->units; u++)
        put_row(s, region->first + u, dtype, weight,
                (unsigned char *)out + u * channels * pe_dtype_bytes(dtype));
    free(weight);
    return PE_OK;
}

/* ---- shapes ---- */

/* The axes before the last two, and the last one or the one before it, must be those of q or k. */
static pe_status check_like(const pe_values *values, const char *name, const char *other,
                            size_t from_end, pe_problem *why)
{
    const pe_shape *shape = &pe_values_tensor(values, name)->shape;
    const pe_shape *like = &pe_values_tensor(values, other)->shape;
    bool same = shape->ndim == like->ndim;
    for (size_t a = 0; same && a + 2 < shape->ndim; a++)
        same = shape->dim[a] == like->dim[a];
    if (!same)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must have the same axes as %s before the last two", name, other);
    const size_t axis = shape->ndim - from_end;
    if (shape->dim[axis] == like->dim[axis])
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, name, "%s must have as many %s as %s, %zu, got %zu",
                   name, from_end == 1 ? "channels" : "tokens", other, like->dim[axis],
                   shape->dim[axis]);
}

static pe_status check_size(const pe_values *values, const char *name, size_t most, pe_problem *why)
{
    const pe_shape *shape = &pe_values_tensor(values, name)->shape;
    const size_t keys = shape->dim[shape->ndim - 2], width = shape->dim[shape->ndim - 1];
    if (keys > PE_SOFTMAX_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s must have at most %d tokens, got %zu",
                       name, PE_SOFTMAX_MAX, keys);
    if (width > most / keys)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must have at most %zu numbers for each head, got %zu", name, most,
                       keys * width);
    return PE_OK;
}

static pe_status check_positions(const pe_values *values, const char *name, size_t n,
                                 pe_problem *why)
{
    const pe_value *value = pe_values_find(values, name);
    if (!value->present || value->positions.count == n)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, name,
                   "%s must give one for each of the %zu tokens, got %zu", name, n,
                   value->positions.count);
}

/* [keys], [queries, keys], or the shape of the probabilities. */
static pe_status check_mask(const pe_values *values, size_t queries, size_t keys, pe_problem *why)
{
    const pe_shape *shape = &pe_values_tensor(values, "attention_mask")->shape;
    pe_shape whole = pe_values_tensor(values, "q")->shape;
    whole.dim[whole.ndim - 1] = keys;
    bool fits = !pe_values_present(values, "attention_mask") || shape->ndim <= 2 ||
                shape->ndim == whole.ndim;
    for (size_t a = 0; fits && a < shape->ndim; a++)
        fits = shape->dim[a] == whole.dim[whole.ndim - shape->ndim + a];
    if (fits)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "attention_mask",
                   "attention_mask must be [keys] = [%zu], [queries, keys] = [%zu, %zu], or "
                   "have the shape of the probabilities",
                   keys, queries, keys);
}

/* k beside q, v beside k; their positions and mask. */
static pe_status check_shapes(const pe_values *values, pe_problem *why)
{
    pe_problem mistake;
    const pe_shape *q = &pe_values_tensor(values, "q")->shape;
    const pe_shape *k = &pe_values_tensor(values, "k")->shape;
    const size_t queries = q->dim[q->ndim - 2], keys = k->dim[k->ndim - 2];
    pe_status status = check_like(values, "k", "q", 1, why);
    status = PE_ALSO(status, check_size(values, "k", KEY_NUMBERS_MAX, &mistake));
    if (pe_values_present(values, "v")) {
        status = PE_ALSO(status, check_like(values, "v", "k", 2, &mistake));
        status = PE_ALSO(status, check_size(values, "v", VALUE_NUMBERS_MAX, &mistake));
    }
    if (queries > keys && !pe_values_present(values, "query_positions"))
        status = PE_ALSO(
            status, pe_fail(&mistake, PE_INVALID_PARAMETER, "q",
                            "queries are the last of the key positions, so there must be as many "
                            "keys or more, got %zu queries and %zu keys; query_positions says "
                            "where they are instead",
                            queries, keys));
    status = PE_ALSO(status, check_positions(values, "key_positions", keys, &mistake));
    status = PE_ALSO(status, check_positions(values, "query_positions", queries, &mistake));
    return PE_ALSO(status, check_mask(values, queries, keys, &mistake));
}

/* ---- positions ---- */

static pe_status read_positions(pe_values *values, const char *name, int64_t first, size_t n,
                                pe_plan *plan, double **out, pe_problem *why)
{
    pe_values_set_range(values, name, first, n);
    *out = malloc(n * sizeof **out);
    if (*out == NULL)
        return pe_fail_memory(why);
    pe_plan_owns(plan, *out, free);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = pe_positions_at(pe_values_positions(values, name), i);
    return PE_OK;
}

/* ---- the plan ---- */

/* A tensor out of values as doubles; nothing where it is absent. */
static pe_status take_doubles(pe_values *values, const char *name, pe_plan *plan, pe_array *out,
                              pe_problem *why)
{
    const pe_array *given = pe_values_tensor(values, name);
    if (!pe_values_present(values, name))
        return PE_OK;
    if (given->dtype == PE_FLOAT64) {
        pe_plan_take(plan, values, name, out);
        return PE_OK;
    }
    PE_TRY(pe_array_make(PE_FLOAT64, &given->shape, out, why));
    pe_plan_owns_array(plan, out);
    const size_t width = given->shape.dim[given->shape.ndim - 1];
    for (size_t at = 0; at < given->elements; at += width) {
        pe_kernels_get()->widen(given->dtype, pe_scores_row(given, at / width), width,
                                (double *)out->data + at);
        pe_yield_look(PE_DOT_WORK(width));
    }
    return PE_OK;
}

static pe_status add_tensors(const pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_array *q = pe_values_tensor(values, "q");
    const pe_array *v = pe_values_tensor(values, "v");
    const pe_shape *k = &pe_values_tensor(values, "k")->shape;
    const size_t last = q->shape.ndim - 1, keys = k->dim[last - 1], d = q->shape.dim[last];
    pe_shape shape = q->shape;
    shape.dim[last] = keys;
    PE_TRY(pe_plan_add_tensor(out, "probabilities", q->dtype, &shape, keys, why));
    PE_TRY(pe_plan_set_work(out, PROBABILITIES, PE_SOFTMAX_WORK + d, why));
    if (!pe_values_present(values, "v"))
        return PE_OK;
    const size_t channels = v->shape.dim[last];
    shape.dim[last] = channels;
    pe_status status = pe_plan_add_tensor(out, "output", q->dtype, &shape, channels, why);
    const size_t work = keys * (PE_SOFTMAX_WORK + d) / channels + keys * VALUE_WORK + 1;
    return status == PE_OK ? pe_plan_set_work(out, OUTPUT, work, why) : status;
}

static pe_status set_state(pe_plan *plan, pe_values *values, pe_problem *why)
{
    pe_attend *s = plan->state;
    const pe_shape *whole = &plan->tensors[PROBABILITIES].shape;
    const size_t axes = whole->ndim;
    s->queries = whole->dim[axes - 2];
    s->keys = whole->dim[axes - 1];
    s->heads = axes > 2 ? whole->dim[axes - 3] : 1;
    s->attention = (pe_attention){s->keys, 1, scores};
    s->causal = pe_values_bool(values, "causal");
    const struct tensor {
        const char *name;
        pe_array *to;
    } tensors[] = {{"q", &s->q},
                   {"k", &s->k},
                   {"v", &s->v},
                   {"attention_mask", &s->mask},
                   {"weights", &s->weights}};
    for (size_t i = 0; i < PE_LEN(tensors); i++)
        PE_TRY(take_doubles(values, tensors[i].name, plan, tensors[i].to, why));
    s->scale = pe_attention_scale(values, s->q.shape.dim[axes - 1]);
    PE_TRY(read_positions(values, "key_positions", 0, s->keys, plan, &s->key_at, why));
    PE_TRY(read_positions(values, "query_positions", (int64_t)s->keys - (int64_t)s->queries,
                          s->queries, plan, &s->query_at, why));
    if (s->mask.data == NULL)
        return PE_OK;
    const pe_shape *shape = &s->mask.shape;
    s->mask_rows = 1;
    for (size_t a = 0; a + 1 < shape->ndim; a++)
        s->mask_rows *= shape->dim[a];
    for (size_t i = 0; i < s->mask.elements; i++) {
        const double bit = ((const double *)s->mask.data)[i];
        if (bit != 0 && bit != 1)
            return pe_fail(why, PE_INVALID_PARAMETER, "attention_mask",
                           "attention_mask must be 1 for a key that is seen and 0 for one that is "
                           "not, got %.17g",
                           bit);
    }
    return PE_OK;
}

static pe_status plan_attention(pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_attend_scheme *scheme;
    pe_problem mistake;
    pe_status status = pe_attend_scheme_read(values, &scheme, why);
    status = PE_ALSO(status, check_shapes(values, &mistake));
    if (status == PE_OK)
        status = add_tensors(values, out, why);
    PE_TRY(status);
    PE_TRY(pe_plan_begin(out, sizeof(pe_attend), fill, why));
    pe_attend *s = out->state;
    s->scheme = scheme;
    PE_TRY(set_state(out, values, why));
    if (scheme->prepare != NULL)
        PE_TRY(scheme->prepare(out, values, why));
    /* |scale q . k| <= scale |q| |k|; biases have bounds of their own. */
    double q_norm, k_norm;
    PE_TRY(pe_scores_norm_max(&s->q, &q_norm, why));
    PE_TRY(pe_scores_norm_max(&s->k, &k_norm, why));
    if (!(s->scale.hi * q_norm * k_norm < PE_ATTENTION_SCORE_MAX / 4))
        return pe_fail(why, PE_INVALID_PARAMETER, "q",
                       "q and k are so large that a score may reach 2^898 in magnitude");
    for (size_t i = 0; i < s->v.elements; i++)
        if (!(fabs(((const double *)s->v.data)[i]) < PE_ATTENTION_SCORE_MAX))
            return pe_fail(why, PE_INVALID_PARAMETER, "v", "v must stay below 2^900 in magnitude");
    return PE_OK;
}

#define VECTORS(label, alias, is_required, what, shown)                                            \
    PE_PARAM(label, TENSOR, .aliases = PE_NAMES(alias), .required = (is_required),                 \
             .optional = !(is_required), .min_dims = 2, .max_dims = PE_MAX_DIMS, .help = (what),   \
             .example = (shown))
#define POSITIONS(label, otherwise, what, shown)                                                   \
    PE_PARAM(label, POSITIONS, .optional = true, .fallback_text = (otherwise), .unit = "tokens",   \
             .help = (what), .example = (shown))

static const pe_param own[] = {
    VECTORS("q", "queries", true, "Queries, [..., m, d].", "[[1,0],[0.5,2]]"),
    VECTORS("k", "keys", true, "Keys, [..., n, d].", "[[0,1],[1,1]]"),
    VECTORS("v", "values", false, "Values, [..., n, channels]. Without them there is no output.",
            "[[1,2,3],[4,5,6]]"),
    PE_PARAM("scheme", CHOICE, .choices = pe_attend_scheme_names,
             .help = "How positions enter. sinusoidal: the encodings are added to q and k. rope: q "
                     "and k are rotated. alibi: slope times distance is taken off a score. t5: the "
                     "weight of a bucket is added.",
             .example = "rope"),
    PE_PARAM("causal", BOOL, .help = "true: a query sees no key at a later position.",
             .example = "false"),
    PE_PARAM("attention_mask", TENSOR, .optional = true, .integers_only = true, .as_float64 = true,
             .min_dims = 1, .max_dims = PE_MAX_DIMS,
             .help =
                 "1 for a key that is seen, 0 for one that is not: [n], [m, n], or the shape of "
                 "the probabilities. A query that sees no key has probabilities and output 0.",
             .example = "[1,0]"),
    POSITIONS("query_positions", "n - m:n", "A position for each query.", "0:2"),
    POSITIONS("key_positions", "0:n", "A position for each key.", "0:2"),
};

/**
 * Shapes    q: [..., m, d], k: [..., n, d] -> probabilities [..., m, n]; v: [..., n, channels] ->
 *           output [..., m, channels].
 * Accuracy  encodings are added, and vectors rotated, as doubles. Scores are sums in pairs of
 *           doubles, probabilities as pe_softmax's, outputs sums of their pairs in order of keys,
 *           rounded once.
 */
const pe_resource pe_attend_resource = {
    PE_NAMED("attention", ""),
    .kind = PE_TRANSFORM,
    .summary = "Attention under a scheme of positions: probabilities, and the values they mix.",
    .formula = "p[i, j] = softmax over j of scale q_i . k_j + bias(i, j), output_i = sum_j p[i, j] "
               "v_j; q, k or bias as the scheme says",
    .labels = PE_LABELS({"output", "query, channel", "output"},
                        {.axes = "query, key", .value = "probability"}),
    .source = "Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1; Su et al. 2021, "
              "arXiv:2104.09864; Press et al. 2022, arXiv:2108.12409; Raffel et al. 2020, "
              "arXiv:1910.10683",
    .param_sets = {PE_PARAMS(own), &pe_attention_scale_params, &pe_sinusoidal_wave_params,
                   &pe_sinusoidal_amplitude_params, &pe_rope_last_axis_params, PE_ROPE_SETS,
                   &pe_attend_alibi_params, &pe_alibi_heads_params, &pe_alibi_bias_max_params,
                   &pe_attend_t5_params, &pe_t5_bucket_params, &pe_attend_variant_params,
                   &pe_params_output_exact},
    .nested = "rope_parameters",
    .plan = plan_attention,
};
