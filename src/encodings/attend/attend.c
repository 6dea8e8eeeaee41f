/* SPDX-License-Identifier: MIT */
/* attend.c - attention as a whole: the schemes by which positions enter it, a row each, its
 * probabilities, and the values that they mix. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "encodings/attention/attention.h"
#include "encodings/registry.h"
#include "encodings/relative/alibi.h"
#include "encodings/relative/t5.h"
#include "encodings/rope/rope_apply.h"
#include "encodings/rope/rope_params.h"
#include "encodings/sinusoidal/sinusoidal.h"
#include "kernels/kernels.h"

/* Numbers of the keys of a head, and of its values, so that a row takes some ten milliseconds. */
#define KEY_NUMBERS_MAX   ((size_t)1 << 23)
#define VALUE_NUMBERS_MAX ((size_t)1 << 21)

/* What a number of the values costs in a sum, in elements of a plain table. */
#define VALUE_WORK 2

enum { PROBABILITIES, OUTPUT };

/* The state of the plan. Queries, keys and values are rows of doubles, those of all heads one
 * after the other. */
typedef struct attend {
    pe_attention attention; /* first: pe_attention_fill reads it */
    const struct attend_scheme *scheme;
    size_t queries, keys; /* of a head */
    size_t heads;         /* the innermost of the leading axes; 1 where there is none */
    pe_pair scale;
    bool causal;
    pe_array q, k, v; /* v: no data where there are no values */
    pe_array mask;    /* numbers 0 and 1; no data where there is none */
    size_t mask_rows; /* rows of it: 1, those of a head, or those of all heads */
    double *query_at; /* [queries] */
    double *key_at;   /* [keys] */
    pe_pair slope;    /* alibi: of every head, where it was given; else 0 and */
    pe_alibi_heads alibi;
    pe_buckets buckets; /* t5: and [num_buckets, heads] doubles */
    pe_array weights;
} attend;

/* A way to tell positions to attention. */
typedef struct attend_scheme {
    const char *name;
    const pe_param_set *sets[7]; /* the parameters that it alone reads, NULL-terminated */
    /* Check its parameters, and make what it needs in the state. The queries and keys are there.
     * NULL: there is nothing to do. */
    pe_status (*prepare)(pe_plan *plan, pe_values *values, pe_problem *why);
    /* What is added to the score of a query and a key of a head. NULL: nothing. */
    pe_pair (*bias)(const attend *of, size_t head, double query, double key);
} attend_scheme;

static const pe_param alibi_params[] = {
    PE_PARAM("num_heads", INT, .optional = true, .min = 1, .max = PE_ALIBI_HEADS_MAX,
             .plan_work = PE_PLAN_WORK_POWER, .fallback_text = "the axis of q before its tokens",
             .unit = "heads", .help = "For alibi: attention heads of the model.", .example = "8"),
    PE_PARAM("slope", REAL, .optional = true, .min = 0, .max = 1e30,
             .help = "For alibi: the slope of every head, in place of those of num_heads.",
             .example = "0.5"),
};

static const pe_param t5_params[] = {
    PE_PARAM("weights", TENSOR, .aliases = PE_NAMES("relative_embeddings", "table"), .min_dims = 2,
             .max_dims = 2, .optional = true,
             .help = "For t5: a bias for each bucket and head, [num_buckets, heads].",
             .example = "[[0.5],[0.25],[1],[2]]"),
};

/* The slopes of alibi, then the buckets of t5. */
enum { ALIBI_VARIANTS = 2 };
static const char *const variants[] = {"press", "formula", "t5", "mpnet", "wavlm", NULL};

static const pe_param variant_params[] = {
    PE_PARAM("variant", CHOICE, .optional = true, .choices = variants,
             .fallback_text = "alibi: press; t5: t5",
             .help = "For alibi: the slopes of a number of heads that is no power of two, press or "
                     "formula. For t5: the model whose buckets are meant, t5, mpnet or wavlm.",
             .example = "press"),
};

/* Of q and k. */
static const char *const positions[] = {"query_positions", "key_positions"};

static double *row_of(const pe_array *rows, size_t r)
{
    return (double *)rows->data + r * rows->shape.dim[rows->shape.ndim - 1];
}

/* ---- sinusoidal: the encodings are added to queries and keys ---- */

static pe_status add_rows(const pe_sinusoid *sinusoid, const pe_positions *at, pe_array *x,
                          pe_problem *why)
{
    const size_t n = at->count, d = sinusoid->width, all = x->elements / d;
    double *row = malloc(d * sizeof *row);
    pe_status status = row == NULL ? pe_fail_memory(why) : PE_OK;
    for (size_t i = 0; i < n && status == PE_OK; i++) {
        const pe_region region = {.first = i, .units = 1, .columns = d};
        status = pe_sinusoid_fill(sinusoid, at, &region, row, why);
        for (size_t r = i; r < all && status == PE_OK; r += n)
            pe_kernels_get()->add(PE_FLOAT64, row_of(x, r), row, d, row_of(x, r));
    }
    free(row);
    return status;
}

static pe_status add_sinusoids(pe_plan *plan, pe_values *values, pe_problem *why)
{
    attend *of = plan->state;
    pe_sinusoid sinusoid;
    pe_sinusoid_spec spec = pe_sinusoid_read(values, of->q.shape.dim[of->q.shape.ndim - 1]);
    spec.dtype = PE_FLOAT64;
    spec.scale = 1; /* the parameter is attention's */
    pe_status status = pe_sinusoid_make(&spec, plan->tables, &sinusoid, why);
    pe_array *const x[] = {&of->q, &of->k};
    for (size_t i = 0; i < PE_LEN(x) && status == PE_OK; i++)
        status = add_rows(&sinusoid, pe_values_positions(values, positions[i]), x[i], why);
    pe_sinusoid_free(&sinusoid);
    return status;
}

/* ---- rope: queries and keys are rotated ---- */

static pe_status rotate(pe_plan *plan, pe_values *values, pe_problem *why)
{
    attend *of = plan->state;
    pe_rope rope;
    pe_shared_wave wave;
    const size_t d = of->q.shape.dim[of->q.shape.ndim - 1];
    if (!pe_values_present(values, "head_dim"))
        pe_values_set_int(values, "head_dim", (int64_t)d);
    if (pe_values_size(values, "head_dim") != d || d < 2)
        return pe_fail(why, PE_INVALID_PARAMETER, "head_dim",
                       "head_dim must be the last axis of q, %zu, and at least 2, got %lld", d,
                       (long long)pe_values_int(values, "head_dim"));
    PE_TRY(pe_rope_plan(values, plan, &rope, why));
    PE_TRY(pe_rope_wave(&rope, PE_ROPE_ATTENDED, &wave, why));
    pe_status status = PE_OK;
    pe_array *const x[] = {&of->q, &of->k};
    for (size_t i = 0; i < PE_LEN(x) && status == PE_OK; i++) {
        const pe_rope_rotation rotation = {.rope = &rope,
                                           .wave = &wave,
                                           .positions = pe_values_positions(values, positions[i]),
                                           .axes = rope.axes};
        status = pe_rope_apply_array(&rotation, x[i]->shape.ndim - 2, x[i], why);
    }
    pe_tables_unref(&wave);
    return status;
}

/* ---- alibi: a slope times the distance is taken off ---- */

static pe_status make_slopes(pe_plan *plan, pe_values *values, pe_problem *why)
{
    attend *of = plan->state;
    if (pe_values_present(values, "slope")) {
        /* One slope for all stands in the place of what others are made from. */
        static const char *const others[] = {"num_heads", "heads", "alibi_bias_max", "variant"};
        for (size_t i = 0; i < PE_LEN(others); i++) {
            if (pe_values_given(values, others[i]))
                return pe_fail(why, PE_INVALID_PARAMETER, others[i],
                               "%s does not go with slope, which is that of every head", others[i]);
            pe_values_find(values, others[i])->present = false;
        }
        of->slope.hi = pe_values_real(values, "slope");
        return PE_OK;
    }
    if (!pe_values_present(values, "num_heads")) {
        if (of->heads > PE_ALIBI_HEADS_MAX)
            return pe_fail(why, PE_INVALID_PARAMETER, "q", "q must have at most %d heads, got %zu",
                           PE_ALIBI_HEADS_MAX, of->heads);
        pe_values_set_int(values, "num_heads", (int64_t)of->heads);
    }
    PE_TRY(pe_alibi_heads_check(values, why));
    const size_t wanted = pe_values_positions(values, "heads")->count;
    if (wanted != of->heads)
        return pe_fail(why, PE_INVALID_PARAMETER, "heads",
                       "heads must name as many as q has, %zu, got %zu; slope is one slope for "
                       "all of them",
                       of->heads, wanted);
    return pe_alibi_heads_plan(values, plan, &of->alibi, why);
}

static pe_pair slope_bias(const attend *of, size_t head, double query, double key)
{
    pe_pair slope = of->slope, distance = pe_pair_sum(query, -key);
    if (of->alibi.head != NULL) {
        const pe_alibi_head *one = pe_alibi_heads_at(&of->alibi, head);
        slope = (pe_pair){one->hi, one->lo};
    }
    if (distance.hi > 0)
        distance = (pe_pair){-distance.hi, -distance.lo};
    return pe_pair_mul(slope, distance);
}

/* ---- t5: the weight of a bucket is added ---- */

static pe_status make_buckets(pe_plan *plan, pe_values *values, pe_problem *why)
{
    attend *of = plan->state;
    int64_t farthest;
    const size_t variant = pe_values_choice(values, "variant") - ALIBI_VARIANTS;
    /* The farthest that a query and a key are apart; positions are integers. */
    double least[2], most[2];
    for (size_t i = 0; i < PE_LEN(positions); i++) {
        const pe_positions *at = pe_values_positions(values, positions[i]);
        if (at->fractional)
            return pe_fail(why, PE_INVALID_PARAMETER, positions[i],
                           "%s must be integers with scheme=t5, whose buckets are of whole "
                           "distances",
                           positions[i]);
        pe_positions_bounds(at, &least[i], &most[i]);
    }
    const double apart = fmax(most[0] - least[1], most[1] - least[0]);
    if (apart >= PE_RELATIVE_LENGTH_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, positions[0],
                       "query_positions and key_positions must lie less than 2^40 apart, got %.0f",
                       apart);
    farthest = apart > 0 ? (int64_t)apart : 0;
    PE_TRY(pe_t5_variant_read(values, variant, why));
    const size_t buckets = pe_values_size(values, "num_buckets");
    const pe_shape *shape = &of->weights.shape;
    if (shape->dim[0] != buckets || shape->dim[1] != of->heads)
        return pe_fail(why, PE_INVALID_PARAMETER, "weights",
                       "weights must be [num_buckets, heads] = [%zu, %zu], got [%zu, %zu]", buckets,
                       of->heads, shape->dim[0], shape->dim[1]);
    for (size_t i = 0; i < of->weights.elements; i++)
        if (!(fabs(((const double *)of->weights.data)[i]) < PE_ATTENTION_SCORE_MAX / 4))
            return pe_fail(why, PE_INVALID_PARAMETER, "weights",
                           "weights must stay below 2^898 in magnitude");
    return pe_t5_buckets_plan(values, variant, farthest, plan, &of->buckets, why);
}

static pe_pair bucket_bias(const attend *of, size_t head, double query, double key)
{
    int64_t same;
    const int32_t bucket = pe_t5_buckets_at(&of->buckets, (int64_t)(key - query), &same);
    return (pe_pair){row_of(&of->weights, (size_t)bucket)[head], 0};
}

/* ---- the table ---- */

static const attend_scheme none = {.name = "none"};
static const attend_scheme sinusoidal = {
    .name = "sinusoidal",
    .sets = {&pe_sinusoidal_wave_params, &pe_sinusoidal_amplitude_params},
    .prepare = add_sinusoids};
static const attend_scheme rope = {
    .name = "rope", .sets = {&pe_rope_last_axis_params, PE_ROPE_SETS}, .prepare = rotate};
static const attend_scheme alibi = {
    .name = "alibi",
    .sets = {PE_PARAMS(alibi_params), &pe_alibi_heads_params, &pe_alibi_bias_max_params},
    .prepare = make_slopes,
    .bias = slope_bias};
static const attend_scheme t5 = {.name = "t5",
                                 .sets = {PE_PARAMS(t5_params), &pe_t5_bucket_params},
                                 .prepare = make_buckets,
                                 .bias = bucket_bias};

static const char *const scheme_names[] = {"none", "sinusoidal", "rope", "alibi", "t5", NULL};
static const attend_scheme *const schemes[] = {&none, &sinusoidal, &rope, &alibi, &t5};

/* Each variant is of one scheme; the first of them is its default. */
static pe_status read_variant(pe_values *values, const attend_scheme *scheme, pe_problem *why)
{
    pe_value *variant = pe_values_find(values, "variant");
    const attend_scheme *of = variant->choice < ALIBI_VARIANTS ? &alibi : &t5;
    if (variant->present && of != scheme)
        return pe_fail(why, PE_INVALID_PARAMETER, "variant",
                       "variant=%s is read by scheme=%s only, scheme is %s",
                       variants[variant->choice], of->name, scheme->name);
    if (!variant->present && (scheme == &alibi || scheme == &t5)) {
        variant->choice = scheme == &t5 ? ALIBI_VARIANTS : 0;
        variant->present = true;
    }
    return PE_OK;
}

/* Schemes with a base call it differently: it is that of the one that is chosen. */
static void take_base(pe_values *values, const char *to, const char *from)
{
    pe_value *wanted = pe_values_find(values, to), *other = pe_values_find(values, from);
    if (wanted->given || !other->given)
        return;
    wanted->real = other->real;
    wanted->present = wanted->given = true;
    wanted->parent = other->parent;
    wanted->alias = other->alias != NULL ? other->alias : other->param->name;
    other->present = other->given = false;
}

/* What another scheme reads is refused where it was given, and its default is no part of a
 * request. */
static pe_status drop_unread(pe_values *values, pe_value *value, const attend_scheme *scheme,
                             pe_problem *why)
{
    const attend_scheme *reader = NULL;
    for (size_t i = 0; i < PE_LEN(schemes) && reader == NULL; i++)
        if (pe_params_find(schemes[i]->sets, value->param->name) == value->param)
            reader = schemes[i];
    if (reader == NULL || reader == scheme)
        return PE_OK;
    if (value->given)
        return pe_values_invalid(values, value->param->name, why,
                                 "%s is read by scheme=%s only, scheme is %s", value->param->name,
                                 reader->name, scheme->name);
    value->present = false;
    return PE_OK;
}

/* The scheme of a request. Parameters that only others read become absent.
 * Errors  INVALID_PARAMETER: one of those was given. */
static pe_status read_scheme(pe_values *values, const attend_scheme **out, pe_problem *why)
{
    pe_status status = PE_OK;
    pe_problem mistake;
    const attend_scheme *scheme = schemes[pe_values_choice(values, "scheme")];
    if (scheme == &rope)
        take_base(values, "rope_theta", "base");
    if (scheme == &sinusoidal)
        take_base(values, "base", "rope_theta");
    for (size_t i = 0; i < values->n; i++)
        status = PE_ALSO(status, drop_unread(values, &values->value[i], scheme, &mistake));
    *out = scheme;
    if (scheme == &t5 && !pe_values_present(values, "weights"))
        status = PE_ALSO(
            status, pe_fail(&mistake, PE_MISSING_PARAMETER, "weights",
                            "weights is required with scheme=t5: a bias for each bucket and head"));
    if (scheme == &rope)
        status = PE_ALSO(status, pe_rope_read_bare(values, &mistake));
    return PE_ALSO(status, read_variant(values, scheme, &mistake));
}

/* ---- scores and sums ---- */

/* scale * (q . k) + bias */
static void scores(const void *of, size_t row, double *scratch PE_UNUSED, pe_pair *score)
{
    const attend *s = of;
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
static void put_row(const attend *s, size_t row, pe_dtype dtype, pe_fixed128 *weight,
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
    const attend *s = plan->state;
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
    attend *s = plan->state;
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
    const attend_scheme *scheme;
    pe_problem mistake;
    pe_status status = read_scheme(values, &scheme, why);
    status = PE_ALSO(status, check_shapes(values, &mistake));
    if (status == PE_OK)
        status = add_tensors(values, out, why);
    PE_TRY(status);
    PE_TRY(pe_plan_begin(out, sizeof(attend), fill, why));
    attend *s = out->state;
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
    PE_PARAM("scheme", CHOICE, .choices = scheme_names,
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
                   PE_PARAMS(alibi_params), &pe_alibi_heads_params, &pe_alibi_bias_max_params,
                   PE_PARAMS(t5_params), &pe_t5_bucket_params, PE_PARAMS(variant_params),
                   &pe_params_output_exact},
    .nested = "rope_parameters",
    .plan = plan_attention,
};
