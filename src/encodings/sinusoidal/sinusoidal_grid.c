/* SPDX-License-Identifier: MIT */
/* sinusoidal_grid.c - sines and cosines of the columns and rows of an image's patches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "encodings/registry.h"
#include "encodings/sinusoidal/sinusoidal.h"
#include "kernels/kernels.h"

#define SIDE_MAX 65536

/* What a pixel of an image with padding costs beside its elements. */
#define PADDED_PIXEL_WORK 128

/* Sums of axes made at a time. */
#define BLOCK_ELEMENTS 65536

enum { WIDTH_FIRST, HEIGHT_FIRST };
enum { CONCAT, ADD };

static const char *const orders[] = {[WIDTH_FIRST] = "wh", [HEIGHT_FIRST] = "hw", NULL};

static const char *const combinations[] = {[CONCAT] = "concat", [ADD] = "add", NULL};

static const pe_param grid_params[] = {
    PE_PARAM_MODEL("stable-diffusion-3-medium"),
    PE_PARAM("d_model", INT, .required = true, .min = 4, .max = PE_SINUSOIDAL_WIDTH_MAX,
             .plan_work = PE_PLAN_WORK_PRODUCT, .unit = "channels",
             .help = "Width of a row, a multiple of 4. Each axis takes one half; with combine=add "
                     "all of it, and 2 divides it.",
             .example = "768"),
    PE_PARAM("height", INT, .aliases = PE_NAMES("window_height"), .axis = true, .required = true,
             .min = 1, .max = SIDE_MAX, .unit = "patches", .help = "Rows of the grid.",
             .example = "14"),
    PE_PARAM("width", INT, .aliases = PE_NAMES("window_width"), .axis = true, .optional = true,
             .min = 1, .max = SIDE_MAX, .fallback_text = "height", .unit = "patches",
             .help = "Columns of the grid.", .example = "14"),
};

static const pe_param layout_params[] = {
    PE_PARAM("layout", CHOICE, .choices = pe_sinusoidal_layouts, .fallback = PE_SINUSOIDAL_SIN_COS,
             .help =
                 "The order of the columns of each axis. interleaved: sines and cosines alternate. "
                 "sin_cos: all sines, then all cosines. cos_sin: all cosines, then all sines.",
             .example = "sin_cos"),
};

#define VALID_ROW(label, what, side, where)                                                        \
    PE_PARAM(label, INT, .optional = true, .min = 1, .max = SIDE_MAX, .fallback_text = (side),     \
             .unit = "patches",                                                                    \
             .help = what                                                                          \
             " of the grid that are the image. What is " where                                     \
             " them is padding, which DETR masks: patches of the mask are counted, up to "         \
             "each patch, and normalized by their count in its row or column.",                    \
             .example = "2")

static const pe_param coordinates_params[] = {
    PE_PARAM("combine", CHOICE, .choices = combinations,
             .help = "What becomes of the encodings of the two axes. concat: each takes one half "
                     "of the channels. add: each takes all of them, and they are added.",
             .example = "concat"),
    PE_PARAM("axis_order", CHOICE, .choices = orders,
             .help = "The order of the axes. wh: the first half of the channels encodes the "
                     "column, the second half the row (MAE, diffusers, MoCo v3). hw: the first "
                     "half encodes the row, the second half the column.",
             .example = "wh"),
    PE_PARAM("base_size", INT, .optional = true, .min = 1, .max = SIDE_MAX,
             .fallback_text = "the side itself", .unit = "patches",
             .help = "Side of the grid in which coordinates are measured. Patch i of n lies at i * "
                     "base_size / n.",
             .example = "16"),
    PE_PARAM("interpolation_scale", REAL, .min = 1e-9, .max = 1e9, .fallback = 1,
             .help = "The divisor of the coordinates. The quotient is exact.", .example = "1"),
    PE_PARAM("offset", REAL, .min = 0, .max = SIDE_MAX, .unit = "patches",
             .help = "It is added to the row and the column of each patch, a multiple of 1/2. DETR "
                     "counts from 1, Deformable DETR from 0.5.",
             .example = "1"),
    PE_PARAM("normalize", BOOL,
             .help = "Are coordinates divided by the side of the grid plus eps, and multiplied by "
                     "scale (DETR)?",
             .example = "false"),
    PE_PARAM("scale", REAL, .optional = true, .min = 1e-9, .max = 1e9,
             .fallback_text = "2 pi, not rounded",
             .help = "With normalize: what normalized coordinates are multiplied by.",
             .example = "6.283185307179586"),
    PE_PARAM("eps", REAL, .optional = true, .min = 0, .max = 1, .fallback_text = "1e-6",
             .help = "With normalize: what is added to the side.", .example = "1e-6"),
    VALID_ROW("valid_height", "Rows", "height", "below"),
    VALID_ROW("valid_width", "Columns", "width", "right of"),
    PE_PARAM("extra_tokens", INT, .min = 0, .max = SIDE_MAX, .fallback = 0, .unit = "rows",
             .help = "How many rows of zeros precede the patches, as for class tokens.",
             .example = "1"),
};

/* One axis: its rows are half as wide as those of the table. */
typedef struct axis {
    pe_sinusoid sinusoid;
    pe_positions positions;
    size_t valid;           /* patches of the side that are the image */
    pe_sinusoid masked;     /* of lines that have no such patch; empty where every line has one */
    pe_positions uncounted; /* their only position */
    size_t at;              /* its first channel */
    bool across;            /* it changes from pixel to pixel of a row; else from row to row */
} axis;

typedef struct grid {
    axis x, y;
    size_t d_model, width, extra;
    bool sum; /* the axes are added: their rows are as wide as the table, and doubles */
    pe_dtype dtype;
    size_t item; /* bytes of an element */
} grid;

/* What an axis has of pixels of one row, up to or behind where the image ends in it. */
static pe_status put_axis(const grid *g, const axis *a, const pe_region *pixels, char *out,
                          pe_problem *why)
{
    const size_t x = pixels->first % g->width, y = pixels->first / g->width;
    const size_t along = a->across ? x : y;
    const bool masked = a->across ? y >= g->y.valid : x >= g->x.valid;
    const bool moves = a->across && !masked && x < a->valid;
    const size_t end = pixels->column + pixels->columns, past = a->at + g->d_model / 2;
    const size_t from = pixels->column > a->at ? pixels->column : a->at;
    const size_t to = end < past ? end : past;
    if (from >= to)
        return PE_OK;
    char *first = out + (from - pixels->column) * g->item;
    pe_sinusoid sinusoid = masked ? a->masked : a->sinusoid;
    sinusoid.waves[0].layout.row = pixels->columns;
    const pe_region part = {.first = masked             ? 0
                                     : along < a->valid ? along
                                                        : a->valid - 1,
                            .units = moves ? pixels->units : 1,
                            .column = from - a->at,
                            .columns = to - from};
    PE_TRY(pe_sinusoid_fill(&sinusoid, masked ? &a->uncounted : &a->positions, &part, first, why));
    for (size_t i = part.units; i < pixels->units; i++)
        memcpy(first + i * pixels->columns * g->item, first, part.columns * g->item);
    return PE_OK;
}

/* Columns of `pixels->units` pixels of one row: those of x, and of y in one line. */
static pe_status sum_pixels(const grid *g, const pe_region *pixels, double *x, double *y, char *out,
                            pe_problem *why)
{
    pe_region across = *pixels, down = *pixels;
    const size_t columns = pixels->columns, units = pixels->units;
    across.first = pixels->first % g->width;
    down.first = pixels->first / g->width;
    down.units = 1;
    pe_status status = pe_sinusoid_fill(&g->x.sinusoid, &g->x.positions, &across, x, why);
    if (status == PE_OK)
        status = pe_sinusoid_fill(&g->y.sinusoid, &g->y.positions, &down, y, why);
    for (size_t r = 0; r < units && status == PE_OK; r++)
        pe_kernels_get()->add(PE_FLOAT64, x + r * columns, y, columns, x + r * columns);
    if (status == PE_OK)
        pe_kernels_get()->narrow(g->dtype, x, units * columns, out);
    return status;
}

/* Pixel by pixel in each row: what columns have in common is copied from the row above. */
static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const grid *g = plan->state;
    const size_t columns = region->columns, pixel = columns * g->item;
    const size_t most = columns < BLOCK_ELEMENTS ? BLOCK_ELEMENTS / columns : 1;
    const size_t left = region->first < g->extra ? g->extra - region->first : 0;
    const size_t zeros = pe_size_min(left, region->units);
    const size_t first = region->first + zeros - g->extra, end = first + region->units - zeros;
    double *sums = g->sum ? malloc((most + 1) * columns * sizeof *sums) : NULL;
    pe_status status = g->sum && sums == NULL ? pe_fail_memory(why) : PE_OK;
    char *to = (char *)out + zeros * pixel;
    memset(out, 0, zeros * pixel);
    for (size_t p = first, n; p != end && status == PE_OK; p += n, to += n * pixel) {
        const size_t x = p % g->width, y = p / g->width;
        n = pe_size_min(end - p, (x < g->x.valid ? g->x.valid : g->width) - x);
        n = g->sum ? pe_size_min(n, most) : n;
        const pe_region run = {
            .first = p, .units = n, .column = region->column, .columns = columns};
        if (g->sum)
            status = sum_pixels(g, &run, sums, sums + most * columns, to, why);
        else if (p >= first + g->width && y != g->y.valid)
            memcpy(to, to - g->width * pixel, n * pixel);
        else
            status = put_axis(g, &g->x, &run, to, why);
        if (!g->sum && status == PE_OK)
            status = put_axis(g, &g->y, &run, to, why);
    }
    free(sums);
    return status;
}

/* Coordinates that are normalized, or measured by base_size, or neither. */
static pe_status check_coordinates(pe_values *values, pe_problem *why)
{
    static const char *const others[] = {"scale", "eps"};
    const double offset = pe_values_real(values, "offset");
    const bool normalize = pe_values_bool(values, "normalize");
    if (offset * 2 != trunc(offset * 2))
        return pe_fail(why, PE_INVALID_PARAMETER, "offset",
                       "offset must be a multiple of 1/2, got %.17g", offset);
    if (normalize && pe_values_present(values, "base_size"))
        return pe_fail(why, PE_INVALID_PARAMETER, "base_size",
                       "base_size does not go with normalize, which measures by the grid");
    for (size_t k = 0; k < PE_LEN(others) && !normalize; k++)
        if (pe_values_present(values, others[k]))
            return pe_fail(why, PE_INVALID_PARAMETER, others[k],
                           "%s goes with normalize, which is false", others[k]);
    if (normalize && !pe_values_present(values, "eps"))
        pe_values_set_real(values, "eps", 1e-6);
    return PE_OK;
}

/* A side of the image; given as the grid's, it is as if it were not. */
static pe_status check_valid(pe_values *values, const char *name, const char *side, pe_problem *why)
{
    pe_value *valid = pe_values_find(values, name);
    const int64_t n = pe_values_int(values, side);
    if (!valid->present)
        return PE_OK;
    if (valid->integer > n)
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s must be at most %s, %lld, got %lld",
                       name, side, (long long)n, (long long)valid->integer);
    if (pe_values_choice(values, "combine") == ADD || pe_values_present(values, "base_size"))
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s does not go with base_size or combine add, which no masked encoding has",
                       name);
    valid->present = valid->integer != n;
    if (valid->present && pe_values_bool(values, "normalize") && pe_values_present(values, "eps") &&
        pe_values_real(values, "eps") == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "eps",
                       "eps must be above 0 with %s: lines of padding have no patch to divide by",
                       name);
    return PE_OK;
}

static bool is_padded(const pe_values *values)
{
    return pe_values_present(values, "valid_height") || pe_values_present(values, "valid_width");
}

/* Patch i of a side of n lies at (i + offset) times base_size / n, or scale / (n + eps), over
 * interpolation_scale. Positions are twice as large, to be whole. With padding n is the side of the
 * image; patches beyond it lie where its last does, and those of lines without any at offset - 1,
 * where n is 0. */
static pe_status make_axis(const pe_values *values, const char *side, pe_plan *plan, axis *out,
                           pe_problem *why)
{
    const char *valid = strcmp(side, "width") == 0 ? "valid_width" : "valid_height";
    const bool measured = pe_values_present(values, "base_size");
    const bool normalize = pe_values_bool(values, "normalize");
    const bool sum = pe_values_choice(values, "combine") == ADD;
    const size_t n = pe_values_size(values, pe_values_present(values, valid) ? valid : side);
    const int64_t twice = (int64_t)(2 * pe_values_real(values, "offset")), step = 1 + twice % 2;
    pe_sinusoid_spec spec =
        pe_sinusoid_read(values, pe_values_size(values, "d_model") / (sum ? 1 : 2));
    spec.dtype = sum ? PE_FLOAT64 : spec.dtype;
    spec.scale = measured ? (double)pe_values_int(values, "base_size") : 1;
    spec.divisor[0] = measured || normalize ? (double)n : 1;
    spec.divisor[1] = (double)step * pe_values_real(values, "interpolation_scale");
    spec.divisor_more = normalize ? pe_values_real(values, "eps") : 0;
    if (normalize && pe_values_present(values, "scale"))
        spec.scale = pe_values_real(values, "scale");
    spec.turns = normalize && !pe_values_present(values, "scale");
    out->valid = n;
    out->positions = pe_positions_range(twice * step / 2, step, n);
    out->uncounted = pe_positions_range(twice * step / 2 - step, step, 1);
    /* half of the channels are of this axis */
    const pe_positions *priced = out->across ? NULL : &out->positions;
    PE_TRY(pe_sinusoid_plan(&spec, priced, 0, plan, &out->sinusoid, why));
    if (!is_padded(values))
        return PE_OK;
    spec.divisor[0] = normalize ? 0 : 1;
    return pe_sinusoid_plan(&spec, NULL, 0, plan, &out->masked, why);
}

static pe_status add_table(const pe_values *values, pe_plan *out, pe_problem *why)
{
    const size_t d_model = pe_values_size(values, "d_model");
    const size_t pixels = pe_values_size(values, "height") * pe_values_size(values, "width");
    const pe_shape shape = {2, {pe_values_size(values, "extra_tokens") + pixels, d_model}};
    const bool sum = pe_values_choice(values, "combine") == ADD;
    const size_t parts = sum ? 2 : 4;
    if (d_model % parts != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "d_model",
                       "d_model must be a multiple of %zu, a sine and a cosine%s, got %zu", parts,
                       sum ? "" : " for each axis", d_model);
    const pe_status status =
        pe_plan_add_tensor(out, "table", pe_values_dtype(values), &shape, d_model, why);
    return status == PE_OK && sum ? pe_plan_set_work(out, 0, 2, why) : status;
}

static pe_status plan_grid(pe_values *values, pe_plan *out, pe_problem *why)
{
    if (!pe_values_present(values, "width"))
        pe_values_set_int(values, "width", pe_values_int(values, "height"));
    pe_problem mistake;
    pe_status status = add_table(values, out, why);
    status = PE_ALSO(status, check_coordinates(values, &mistake));
    status = PE_ALSO(status, check_valid(values, "valid_height", "height", &mistake));
    status = PE_ALSO(status, check_valid(values, "valid_width", "width", &mistake));
    if (status == PE_OK && is_padded(values))
        status = pe_plan_set_work(out, 0, 2 + PADDED_PIXEL_WORK / pe_values_size(values, "d_model"),
                                  why);
    PE_TRY(status);
    PE_TRY(pe_plan_begin(out, sizeof(grid), fill, why));
    grid *g = out->state;
    out->makes_parts = true;
    g->d_model = pe_values_size(values, "d_model");
    g->width = pe_values_size(values, "width");
    g->extra = pe_values_size(values, "extra_tokens");
    g->dtype = pe_values_dtype(values);
    g->item = pe_dtype_bytes(g->dtype);
    g->sum = pe_values_choice(values, "combine") == ADD;
    g->x.across = true;
    const bool x_first = pe_values_choice(values, "axis_order") == WIDTH_FIRST;
    (x_first ? &g->y : &g->x)->at = g->d_model / 2;
    PE_TRY(make_axis(values, "width", out, &g->x, why));
    return make_axis(values, "height", out, &g->y, why);
}

/**
 * Source    without base_size facebookresearch/mae, util/pos_embed.py (its cls_token is
 *           extra_tokens=1); with freq_shift 1 and no base_size the simple ViT. normalize and offset
 *           1: huggingface/transformers v5.23.0, models/detr, DetrSinePositionEmbedding; offset 0.5:
 *           models/deformable_detr; both with axis_order hw and layout interleaved; the mask of a
 *           padded image is valid_height and valid_width.
 * Shapes    [extra_tokens + height * width, d_model].
 * Units     coordinates in patches (of base_size a side, where given).
 * Accuracy  correctly rounded: coordinates are rational numbers, not rounded to float32 as upstream.
 */
const pe_resource pe_sinusoidal_grid = {
    PE_NAMED("sinusoidal", "/grid"),
    .kind = PE_TABLE,
    .summary = "Sinusoidal encodings of the patches of an image, row by row.",
    .formula = "sin(c * w_i) and cos(c * w_i), w_i = base^(-i/(d_model/4 - freq_shift)), of the "
               "column and of the row c = (i + offset) * base_size / side / interpolation_scale of "
               "a patch; with normalize (i + offset) * scale / (side + eps) / interpolation_scale; "
               "with padding i + 1 and side count the patches of the image in the row or column",
    .labels = PE_LABELS({.axes = "patch, dimension", .value = "value"}),
    .source =
        "huggingface/diffusers@58eb52c0803ea9af3abec60841c2a093bdf1f951, get_2d_sincos_pos_embed; "
        "He et al. 2021, arXiv:2111.06377; Beyer et al. 2022, arXiv:2205.01580",
    .param_sets = {PE_PARAMS(grid_params), &pe_sinusoidal_base_params, PE_PARAMS(layout_params),
                   &pe_sinusoidal_freq_shift_params, &pe_sinusoidal_amplitude_params,
                   PE_PARAMS(coordinates_params), &pe_params_output_exact},
    .plan = plan_grid,
};
