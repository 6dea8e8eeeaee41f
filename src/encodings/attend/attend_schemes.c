/* SPDX-License-Identifier: MIT */
/* attend_schemes.c - the schemes by which positions enter attention, a row each. */
#include "encodings/attend/attend.h"

#include <math.h>
#include <stdlib.h>

#include "encodings/rope/rope_apply.h"
#include "encodings/rope/rope_params.h"
#include "encodings/sinusoidal/sinusoidal.h"
#include "kernels/kernels.h"

static const pe_param alibi_params[] = {
    PE_PARAM("num_heads", INT, .optional = true, .min = 1, .max = PE_ALIBI_HEADS_MAX,
             .plan_work = PE_PLAN_WORK_POWER, .fallback_text = "the axis of q before its tokens",
             .unit = "heads", .help = "For alibi: attention heads of the model.", .example = "8"),
    PE_PARAM("slope", REAL, .optional = true, .min = 0, .max = 1e30,
             .help = "For alibi: the slope of every head, in place of those of num_heads.",
             .example = "0.5"),
};
const pe_param_set pe_attend_alibi_params = {alibi_params, PE_LEN(alibi_params)};

static const pe_param t5_params[] = {
    PE_PARAM("weights", TENSOR, .aliases = PE_NAMES("relative_embeddings", "table"), .min_dims = 2,
             .max_dims = 2, .optional = true,
             .help = "For t5: a bias for each bucket and head, [num_buckets, heads].",
             .example = "[[0.5],[0.25],[1],[2]]"),
};
const pe_param_set pe_attend_t5_params = {t5_params, PE_LEN(t5_params)};

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
const pe_param_set pe_attend_variant_params = {variant_params, PE_LEN(variant_params)};

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
    pe_attend *of = plan->state;
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
    pe_attend *of = plan->state;
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
    pe_attend *of = plan->state;
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

static pe_pair slope_bias(const pe_attend *of, size_t head, double query, double key)
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
    pe_attend *of = plan->state;
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

static pe_pair bucket_bias(const pe_attend *of, size_t head, double query, double key)
{
    int64_t same;
    const int32_t bucket = pe_t5_buckets_at(&of->buckets, (int64_t)(key - query), &same);
    return (pe_pair){row_of(&of->weights, (size_t)bucket)[head], 0};
}

/* ---- the table ---- */

static const pe_attend_scheme none = {.name = "none"};
static const pe_attend_scheme sinusoidal = {
    .name = "sinusoidal",
    .sets = {&pe_sinusoidal_wave_params, &pe_sinusoidal_amplitude_params},
    .prepare = add_sinusoids};
static const pe_attend_scheme rope = {
    .name = "rope", .sets = {&pe_rope_last_axis_params, PE_ROPE_SETS}, .prepare = rotate};
static const pe_attend_scheme alibi = {
    .name = "alibi",
    .sets = {&pe_attend_alibi_params, &pe_alibi_heads_params, &pe_alibi_bias_max_params},
    .prepare = make_slopes,
    .bias = slope_bias};
static const pe_attend_scheme t5 = {.name = "t5",
                                    .sets = {&pe_attend_t5_params, &pe_t5_bucket_params},
                                    .prepare = make_buckets,
                                    .bias = bucket_bias};

const char *const pe_attend_scheme_names[] = {"none", "sinusoidal", "rope", "alibi", "t5", NULL};
static const pe_attend_scheme *const schemes[] = {&none, &sinusoidal, &rope, &alibi, &t5};

/* Each variant is of one scheme; the first of them is its default. */
static pe_status read_variant(pe_values *values, const pe_attend_scheme *scheme, pe_problem *why)
{
    pe_value *variant = pe_values_find(values, "variant");
    const pe_attend_scheme *of = variant->choice < ALIBI_VARIANTS ? &alibi : &t5;
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
static pe_status drop_unread(pe_values *values, pe_value *value, const pe_attend_scheme *scheme,
                             pe_problem *why)
{
    const pe_attend_scheme *reader = NULL;
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

pe_status pe_attend_scheme_read(pe_values *values, const pe_attend_scheme **out, pe_problem *why)
{
    pe_status status = PE_OK;
    pe_problem mistake;
    const pe_attend_scheme *scheme = schemes[pe_values_choice(values, "scheme")];
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
