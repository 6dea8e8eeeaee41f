/* SPDX-License-Identifier: MIT */
/* learned_interpolate.c - a learned table of image patches at another resolution. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/learned/learned_rows.h"
#include "encodings/registry.h"

/* Weights are quotients of integers below 2^53 then. */
#define SIDE_MAX 4096

/* What an element costs for each patch that it is made of. */
#define TAP_WORK 4

/* Behind the NULL: what others have done in their place, which is told of an upload (verify), and
 * nobody can ask for. */
enum {
    BICUBIC,
    BILINEAR,
    MODES,
    NEAREST,
    NEAREST_EXACT,
    CROPPED,                     /* patch i itself */
    OTHER_CUBIC,                 /* a = -1/2, or -3/4 where patches are averaged */
    FROM_STARTS,                 /* patch i at i from/to: bicubic, and bilinear */
    SCALED_BY = FROM_STARTS + 2, /* from/(to + 0.1): the same two */
};
enum { BORDER, ZEROS };

static const char *const modes[] = {[BICUBIC] = "bicubic",
                                    [BILINEAR] = "bilinear",
                                    [NEAREST] = "nearest",
                                    [NEAREST_EXACT] = "nearest-exact",
                                    [CROPPED] = "cropped",
                                    [OTHER_CUBIC] = "bicubic of another a",
                                    [FROM_STARTS] = "bicubic, from i source/target",
                                    [FROM_STARTS + 1] = "bilinear, from i source/target",
                                    [SCALED_BY] = "bicubic, by a scale_factor",
                                    [SCALED_BY + 1] = "bilinear, by a scale_factor"};
static const char *const paddings[] = {[BORDER] = "border", [ZEROS] = "zeros", NULL};

static const pe_param resize_params[] = {
    PE_PARAM("source_grid", REAL_LIST, .optional = true, .min = 1, .max = SIDE_MAX, .list_max = 2,
             .fallback_text = "a square", .unit = "patches",
             .help = "Height and width of the table's grid. One number means a square.",
             .example = "4,4"),
    PE_PARAM("target_grid", REAL_LIST, .required = true, .min = 1, .max = SIDE_MAX, .list_max = 2,
             .unit = "patches",
             .help = "Height and width of the wanted grid. One number means a square.",
             .example = "6,3"),
    PE_PARAM("extra_tokens", INT, .optional = true, .min = 0, .max = 65536,
             .fallback_text = "1, or 0 where the patches take all rows", .unit = "rows",
             .help =
                 "How many first rows belong to no patch, as that of a class token. They are kept.",
             .example = "1"),
    PE_PARAM("mode", CHOICE, .choices = modes,
             .help = "The interpolation, as PyTorch has it. bicubic is the cubic of Keys with a = "
                     "-0.75, with antialias a = -0.5.",
             .example = "bicubic"),
    PE_PARAM("align_corners", BOOL,
             .help = "Do the first and the last patches of both grids lie at the same places? If "
                     "not, their outer edges do. Qwen3-VL has true.",
             .example = "false"),
    PE_PARAM("antialias", BOOL,
             .help = "Is a patch of a smaller grid made of all patches that it covers?",
             .example = "false"),
    PE_PARAM("padding_mode", CHOICE, .choices = paddings,
             .help = "Patches beyond the edge: those on it (interpolate; grid_sample in GLM-4V), "
                     "or zeros (grid_sample by default).",
             .example = "border"),
};

static const pe_param table_params[] = {
    PE_PARAM("table", TENSOR, .aliases = PE_NAMES("weights"), .required = true, .min_dims = 2,
             .max_dims = 2, .help = "The table, [extra_tokens + height * width, channels].",
             .example = "[[0,0],[1,0],[0,1],[1,1],[2,2]]"),
};

/* ---- weights ---- */

/* How one grid becomes the other, along an axis. */
typedef struct method {
    size_t mode, padding; /* mode: bicubic, bilinear or the one patch */
    size_t asked;         /* mode, as it was asked for */
    bool align_corners, antialias;
} method;

/* The patches that those of an axis are made of, and their weights: patch i of [begin[i],
 * begin[i + 1]). */
typedef struct axis {
    size_t *begin, *at;
    double *weight;
    size_t most; /* of one patch */
    double gain; /* the largest sum of magnitudes of weights */
} axis;

/*
 * 4 q^3 W(p/q), 0 <= p <= 2q, with a = -3/4, or -1/2 where patches are averaged:
 *
 *     4 W(x) = 4 (a + 2) x^3 - 4 (a + 3) x^2 + 4             x <= 1
 *     4 W(x) = 4 a x^3 - 20 a x^2 + 32 a x - 16 a            1 < x <= 2
 *
 * Source  Keys 1981, "Cubic convolution interpolation for digital image processing", equation 4
 *         with a free; q <= 2^13, so that all terms are below 2^48.
 */
static int64_t cubic(int64_t p, int64_t q, int64_t four_a)
{
    const int64_t inner = (four_a + 8) * p * p * p - (four_a + 12) * p * p * q + 4 * q * q * q;
    const int64_t outer = four_a * (p * p * p - 5 * p * p * q + 8 * p * q * q - 4 * q * q * q);
    return p <= q ? inner : p <= 2 * q ? outer : 0;
}

/* A multiple of the weight at a distance of p/q. */
static int64_t weight_at(const method *m, int64_t p, int64_t q)
{
    if (m->mode == BILINEAR)
        return p < q ? q - p : 0;
    return cubic(p, q, m->antialias != (m->asked == OTHER_CUBIC) ? -2 : -3);
}

/* Patch i of `to` lies at place/q of the other grid. */
static int64_t place_of(const method *m, size_t i, size_t from, size_t to, int64_t *q)
{
    if (m->asked == FROM_STARTS + m->mode) {
        *q = (int64_t)to;
        return (int64_t)i * (int64_t)from;
    }
    if (m->asked == SCALED_BY + m->mode) {
        *q = 20 * (int64_t)to + 2;
        return 10 * (2 * (int64_t)i + 1) * (int64_t)from - *q / 2;
    }
    if (m->align_corners) {
        *q = to > 1 ? (int64_t)to - 1 : 1;
        return (int64_t)i * ((int64_t)from - 1) * (to > 1);
    }
    *q = 2 * (int64_t)to;
    return (2 * (int64_t)i + 1) * (int64_t)from - (int64_t)to;
}

/* The one patch that is taken, rounded as PyTorch does. */
static size_t put_one(const method *m, size_t i, size_t from, size_t to, size_t *at, double *weight)
{
    const float scale = m->asked == CROPPED ? 1 : (float)from / (float)to;
    const size_t place = (size_t)(((float)i + (m->asked == NEAREST_EXACT ? 0.5F : 0.0F)) * scale);
    *at = place < from ? place : from - 1;
    *weight = 1;
    return 1;
}

/* The patches around the place, two or four; returns how many. */
static size_t put_taps(const method *m, size_t i, size_t from, size_t to, size_t *at,
                       double *weight)
{
    int64_t q;
    const int64_t place = place_of(m, i, from, to, &q);
    const int64_t floor = (place + q) / q - 1; /* place + q > 0 */
    const int reach = m->mode == BILINEAR ? 1 : 2;
    const int64_t whole = m->mode == BILINEAR ? q : 4 * q * q * q; /* of all weights */
    size_t n = 0;
    for (int64_t j = floor - reach + 1; j <= floor + reach; j++) {
        const int64_t p = place - j * q;
        const bool inside = j >= 0 && (uint64_t)j < from;
        if (m->padding == ZEROS && !inside)
            continue;
        at[n] = j < 0 ? 0 : (uint64_t)j < from ? (size_t)j : from - 1;
        weight[n++] = (double)weight_at(m, p < 0 ? -p : p, q) / (double)whole;
    }
    return n;
}

/*
 * All patches of the other grid that are nearer than the reach of the weights, which is that of
 * the larger patches; their weights add up to 1. Patch j is at |(2j + 1) to - (2i + 1) from| / q.
 */
static size_t put_average(const method *m, size_t i, size_t from, size_t to, size_t *at,
                          double *weight)
{
    const int64_t q = 2 * (int64_t)(from > to ? from : to), reach = m->mode == BILINEAR ? q : 2 * q;
    const int64_t centre = (2 * (int64_t)i + 1) * (int64_t)from, step = 2 * (int64_t)to;
    const int64_t least = (centre - reach - (int64_t)to) / step;
    int64_t sum = 0; /* below 2^53 */
    size_t n = 0;
    for (int64_t j = least < 0 ? 0 : least; (uint64_t)j < from; j++) {
        const int64_t p = (2 * j + 1) * (int64_t)to - centre;
        if (p >= reach)
            break;
        const int64_t w = weight_at(m, p < 0 ? -p : p, q);
        if (w == 0)
            continue;
        sum += w;
        at[n] = (size_t)j;
        weight[n++] = (double)w;
    }
    for (size_t k = 0; k < n; k++)
        weight[k] /= (double)sum;
    return n;
}

static pe_status make_axis(const method *m, size_t from, size_t to, pe_plan *plan, axis *out,
                           pe_problem *why)
{
    assert(to > 0);
    const size_t reach = m->mode == BILINEAR ? 1 : 2;
    const size_t covered = m->antialias && from > to ? from / to + 1 : 1;
    const size_t room = (2 * reach * covered + 1) * to; /* most patches that one is made of */
    *out = (axis){.begin = malloc((to + 1) * sizeof *out->begin),
                  .at = malloc(room * sizeof *out->at),
                  .weight = malloc(room * sizeof *out->weight)};
    pe_plan_owns(plan, out->begin, free);
    pe_plan_owns(plan, out->at, free);
    pe_plan_owns(plan, out->weight, free);
    if (out->begin == NULL || out->at == NULL || out->weight == NULL)
        return pe_fail_memory(why);
    size_t used = 0;
    for (size_t i = 0; i < to; i++) {
        double sum = 0;
        out->begin[i] = used;
        const size_t n =
            (m->mode > BILINEAR ? put_one
             : m->antialias     ? put_average
                                : put_taps)(m, i, from, to, out->at + used, out->weight + used);
        for (size_t k = used; k < used + n; k++)
            sum += fabs(out->weight[k]);
        used += n;
        out->most = n > out->most ? n : out->most;
        out->gain = fmax(out->gain, sum);
    }
    out->begin[to] = used;
    return PE_OK;
}

/* ---- rows ---- */

typedef struct grid {
    size_t height, width;
    bool by_columns; /* patches go down the columns: so are uploads told that do, never asked for */
} grid;

typedef struct state {
    const pe_array *rows;
    pe_array own; /* rows of a body */
    grid source, target;
    size_t extra;
    axis y, x;
} state;

/* sum_y wy (sum_x wx v), from the first to the last, of one patch; in float64. memory: [3, width]. */
static void put_patch(const state *s, size_t patch, size_t width, double *memory, pe_dtype dtype,
                      char *out)
{
    double *row = memory, *sum = row + width, *mixed = sum + width;
    const bool down = s->target.by_columns;
    const size_t side = down ? s->target.height : s->target.width;
    const size_t line = patch / side, place = patch % side, bytes = pe_dtype_bytes(dtype);
    const size_t y = down ? place : line, x = down ? line : place;
    memset(mixed, 0, width * sizeof *mixed);
    for (size_t j = s->y.begin[y]; j < s->y.begin[y + 1]; j++) {
        memset(sum, 0, width * sizeof *sum);
        for (size_t k = s->x.begin[x]; k < s->x.begin[x + 1]; k++) {
            const size_t at = s->source.by_columns ? s->x.at[k] * s->source.height + s->y.at[j]
                                                   : s->y.at[j] * s->source.width + s->x.at[k];
            const double weight = s->x.weight[k];
            pe_learned_copy(s->rows, (s->extra + at) * width, width, PE_FLOAT64, row);
            for (size_t c = 0; c < width; c++)
                sum[c] += weight * row[c];
        }
        const double weight = s->y.weight[j];
        for (size_t c = 0; c < width; c++)
            mixed[c] += weight * sum[c];
    }
    for (size_t c = 0; c < width; c++)
        pe_dtype_store(dtype, mixed[c] + 0.0, out + c * bytes);
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const state *s = plan->state;
    const pe_tensor *tensor = &plan->tensors[region->tensor];
    const size_t width = tensor->unit, bytes = width * pe_dtype_bytes(tensor->dtype);
    double *memory = malloc(3 * width * sizeof *memory);
    if (memory == NULL)
        return pe_fail_memory(why);
    for (size_t u = 0; u < region->units; u++) {
        const size_t row = region->first + u;
        char *to = (char *)out + u * bytes;
        if (row < s->extra)
            pe_learned_copy(s->rows, row * width, width, tensor->dtype, to);
        else
            put_patch(s, row - s->extra, width, memory, tensor->dtype, to);
    }
    free(memory);
    return PE_OK;
}

/* ---- the plan ---- */

static pe_status read_grid(pe_values *values, const char *name, grid *out, pe_problem *why)
{
    const pe_value *value = pe_values_find(values, name);
    const double height = value->list[0], width = value->list[value->list_length - 1];
    if (height != trunc(height) || width != trunc(width))
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s must be integers, got %.17g and %.17g",
                       name, height, width);
    *out = (grid){(size_t)fabs(height), (size_t)width, height < 0};
    return PE_OK;
}

/* The list as a canonical form has it: two numbers. */
static pe_status set_grid(pe_values *values, const char *name, const grid *from, pe_problem *why)
{
    const double sides[] = {(double)from->height, (double)from->width};
    return pe_value_set_list(pe_values_find(values, name), sides, PE_LEN(sides), why);
}

/* The least side whose square has n patches. */
static size_t side_of(size_t n)
{
    size_t side = 0;
    while (side * side < n && side <= SIDE_MAX)
        side++;
    return side;
}

static bool is_square(size_t n)
{
    return n > 0 && side_of(n) * side_of(n) == n;
}

static pe_status plan_table(pe_values *values, const pe_learned_rows *table, pe_plan *out,
                            pe_problem *why)
{
    state *s = out->state;
    pe_dtype dtype = PE_FLOAT32;
    const pe_array *rows = table->rows;
    const bool derived = !pe_values_present(values, "source_grid");
    if (!derived)
        PE_TRY(read_grid(values, "source_grid", &s->source, why));
    /* A table of nothing but patches has no extra tokens. */
    const size_t n = rows->shape.dim[0];
    const bool all =
        derived ? is_square(n) && !is_square(n - 1) : s->source.height * s->source.width == n;
    if (!pe_values_present(values, "extra_tokens"))
        pe_values_set_int(values, "extra_tokens", all ? 0 : 1);
    s->extra = pe_values_size(values, "extra_tokens");
    if (derived) {
        const size_t patches = n > s->extra ? n - s->extra : 0;
        s->source = (grid){side_of(patches), side_of(patches), false};
        if (!is_square(patches))
            return pe_fail(why, PE_MISSING_PARAMETER, "source_grid",
                           "source_grid is required: %zu rows less %zu extra_tokens are no square",
                           n, s->extra);
    }
    PE_TRY(read_grid(values, "target_grid", &s->target, why));
    if (s->extra + s->source.height * s->source.width != n)
        return pe_fail(why, PE_INVALID_PARAMETER, "source_grid",
                       "source_grid must, with extra_tokens, account for the table's %zu rows, "
                       "got %zu * %zu + %zu",
                       n, s->source.height, s->source.width, s->extra);
    PE_TRY(set_grid(values, "source_grid", &s->source, why));
    PE_TRY(set_grid(values, "target_grid", &s->target, why));
    const size_t asked = pe_values_choice(values, "mode");
    const method m = {.mode = asked >= SCALED_BY     ? asked - SCALED_BY
                              : asked >= FROM_STARTS ? asked - FROM_STARTS
                              : asked == OTHER_CUBIC ? (size_t)BICUBIC
                                                     : asked,
                      .asked = asked,
                      .padding = pe_values_choice(values, "padding_mode"),
                      .align_corners = pe_values_bool(values, "align_corners"),
                      .antialias = pe_values_bool(values, "antialias")};
    if (m.antialias && (m.align_corners || m.padding == ZEROS))
        return pe_fail(why, PE_INVALID_PARAMETER, "antialias",
                       "antialias does not go with %s: PyTorch has no such filter",
                       m.align_corners ? "align_corners" : "padding_mode zeros");
    PE_TRY(make_axis(&m, s->source.height, s->target.height, out, &s->y, why));
    PE_TRY(make_axis(&m, s->source.width, s->target.width, out, &s->x, why));
    /* What the sums can reach must fit the type. */
    PE_TRY(pe_learned_dtype(values, table, table->largest * s->y.gain * s->x.gain, &dtype, why));
    const size_t width = table->rows->shape.dim[1];
    const pe_shape shape = {2, {s->extra + s->target.height * s->target.width, width}};
    PE_TRY(pe_plan_add_tensor(out, "embeddings", dtype, &shape, width, why));
    return pe_plan_set_work(out, 0, TAP_WORK * s->y.most * s->x.most, why);
}

static pe_status plan_named(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_learned_rows table = {0};
    PE_TRY(pe_learned_open(values, out->tables, out, &table, why));
    PE_TRY(pe_plan_begin(out, sizeof(state), fill, why));
    state *s = out->state;
    s->rows = table.rows;
    return plan_table(values, &table, out, why);
}

static pe_status plan_body(pe_values *values, pe_plan *out, pe_problem *why)
{
    PE_TRY(pe_plan_begin(out, sizeof(state), fill, why));
    state *s = out->state;
    pe_plan_take(out, values, "table", &s->own);
    s->rows = &s->own;
    if (s->own.shape.dim[1] > PE_LEARNED_WIDTH_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "table",
                       "table must have at most %d channels, got %zu", PE_LEARNED_WIDTH_MAX,
                       s->own.shape.dim[1]);
    pe_learned_rows table = {.rows = &s->own, .name = "table"};
    const size_t bytes = pe_dtype_bytes(s->own.dtype);
    for (size_t e = 0; e < s->own.elements; e++)
        table.largest =
            fmax(table.largest,
                 fabs(pe_dtype_load(s->own.dtype, (const char *)s->own.data + e * bytes)));
    return plan_table(values, &table, out, why);
}

#define FORMULA                                                                                    \
    "sum_y W(v - y) sum_x W(u - x) table[y, x], (v, u) = (i + 1/2) source/target - 1/2 along "     \
    "each axis, with align_corners i (source - 1)/(target - 1); W: Keys's cubic, or linear"
#define SOURCE                                                                                     \
    "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532, "                          \
    "ViTEmbeddings.interpolate_pos_encoding; Keys 1981, doi:10.1109/TASSP.1981.1163711"

/**
 * Source    Dosovitskiy et al. 2021, arXiv:2010.11929, section 3.2; as PyTorch's interpolate.
 *           align_corners: Qwen3VLVisionModel.fast_pos_embed_interpolate of transformers v5.23.0;
 *           antialias: pytorch/pytorch, aten/src/ATen/native/cpu/UpSampleKernel.cpp; padding_mode:
 *           PyTorch's grid_sample.
 * Shapes    [extra_tokens + h w, width] -> [extra_tokens + H W, width].
 * Accuracy  weights correctly rounded to float64, sums in float64 in a fixed order: within 0.5 ulp
 *           of dtype + 2^-49 times the sum of the magnitudes.
 */
const pe_resource pe_learned_interpolate = {
    .path = "/v1/learned/{name}/interpolate",
    .encoding = "learned",
    .name = "learned/table-interpolate",
    .kind = PE_TABLE,
    .claimed_otherwise = true, /* its table tells how large rounding errors are */
    .summary = "A learned table of image patches at another resolution.",
    .formula = FORMULA,
    .labels = PE_LABELS({.axes = "position, dimension", .value = "value"}),
    .source = SOURCE,
    .param_sets = {&pe_learned_name_params, PE_PARAMS(resize_params), &pe_learned_dtype_params,
                   &pe_params_exact},
    .plan = plan_named,
};

/** The same of a table in the body. */
const pe_resource pe_learned_interpolate_body = {
    PE_NAMED("learned", "/interpolate"),
    .kind = PE_TRANSFORM,
    .claimed_otherwise = true,
    .summary = "A table of image patches, given in the body, at another resolution.",
    .formula = FORMULA,
    .labels = PE_LABELS({.axes = "position, dimension", .value = "value"}),
    .source = SOURCE,
    .param_sets = {PE_PARAMS(table_params), PE_PARAMS(resize_params), &pe_params_output_exact},
    .plan = plan_body,
};
