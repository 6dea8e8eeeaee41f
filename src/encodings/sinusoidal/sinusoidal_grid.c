/* SPDX-License-Identifier: MIT */
/* sinusoidal_grid.c - sines and cosines of the columns and rows of an image's patches. */
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "encodings/sinusoidal/sinusoidal.h"

#define SIDE_MAX 65536

enum { WIDTH_FIRST, HEIGHT_FIRST };

static const char *const orders[] = {[WIDTH_FIRST] = "wh", [HEIGHT_FIRST] = "hw", NULL};

static const pe_param grid_params[] = {
    {.name = "d_model",
     .kind = PE_KIND_INT,
     .required = true,
     .min = 4,
     .max = PE_SINUSOIDAL_WIDTH_MAX,
     .plan_work = PE_PLAN_WORK_PRODUCT,
     .unit = "channels",
     .help = "Width of a row, a multiple of 4: one half for each axis.",
     .example = "768"},
    {.name = "height",
     .kind = PE_KIND_INT,
     .required = true,
     .min = 1,
     .max = SIDE_MAX,
     .unit = "patches",
     .help = "Rows of the grid.",
     .example = "14"},
    {.name = "width",
     .kind = PE_KIND_INT,
     .optional = true,
     .min = 1,
     .max = SIDE_MAX,
     .fallback_text = "height",
     .unit = "patches",
     .help = "Columns of the grid.",
     .example = "14"},
};

static const pe_param layout_params[] = {
    {.name = "layout",
     .kind = PE_KIND_CHOICE,
     .choices = pe_sinusoidal_layouts,
     .fallback = PE_SINUSOIDAL_SIN_COS,
     .help = "Of each axis: interleaved: sine and cosine alternate; sin_cos, cos_sin: one half "
             "after the other.",
     .example = "sin_cos"},
};

static const pe_param coordinates_params[] = {
    {.name = "axis_order",
     .kind = PE_KIND_CHOICE,
     .choices = orders,
     .help = "wh: the first half of the channels encodes the column, the second the row (MAE, "
             "diffusers, MoCo v3); hw: the other way round.",
     .example = "wh"},
    {.name = "base_size",
     .kind = PE_KIND_INT,
     .optional = true,
     .min = 1,
     .max = SIDE_MAX,
     .fallback_text = "the side itself",
     .unit = "patches",
     .help = "Side of the grid that coordinates are measured in: patch i of n lies at i * "
             "base_size / n. Absent: at i.",
     .example = "16"},
    {.name = "interpolation_scale",
     .kind = PE_KIND_REAL,
     .min = 1e-9,
     .max = 1e9,
     .fallback = 1,
     .help = "Divides the coordinates, exactly.",
     .example = "1"},
    {.name = "extra_tokens",
     .kind = PE_KIND_INT,
     .min = 0,
     .max = SIDE_MAX,
     .fallback = 0,
     .unit = "rows",
     .help = "Rows of zeros before those of the patches, as for class tokens.",
     .example = "1"},
};

/* One axis: its rows are half as wide as those of the table. */
typedef struct axis {
    pe_sinusoid sinusoid;
    pe_positions positions;
    size_t at; /* its first channel */
} axis;

typedef struct grid {
    axis x, y;
    size_t d_model, width, extra;
    pe_dtype dtype;
    size_t item; /* bytes of an element */
} grid;

static void free_grid(void *state)
{
    grid *g = state;
    pe_sinusoid_free(&g->x.sinusoid);
    pe_sinusoid_free(&g->y.sinusoid);
    free(g);
}

/* Rows [first, first + rows) of an axis to its channels of pixels that lie
 * `stride` pixels apart. */
static pe_status put(const grid *g, const axis *a, size_t first, size_t rows, size_t stride,
                     char *out, pe_problem *why)
{
    pe_sinusoid sinusoid = a->sinusoid;
    sinusoid.sine_layout.row = stride * g->d_model;
    return pe_sinusoid_rows(&sinusoid, &a->positions, first, rows, g->dtype, out + a->at * g->item,
                            why);
}

/* The axis of pixel `from` to n pixels from `to` on, `step` pixels apart from each other there. */
static void spread(const grid *g, const axis *a, const char *from, size_t step, char *to, size_t n)
{
    const size_t pixel = g->d_model * g->item, bytes = pixel / 2, at = a->at * g->item;
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * pixel + at, from + i * step * pixel + at, bytes);
}

/* n pixels from column x of row y on, whole rows but for the last. Columns are computed for the
 * first row and rows for the first column; all else is a copy. */
static pe_status put_pixels(const grid *g, size_t y, size_t x, size_t n, char *out, pe_problem *why)
{
    const size_t across = n < g->width - x ? n : g->width - x;
    const size_t rows = (n + g->width - 1) / g->width, pixel = g->d_model * g->item;
    pe_status status = put(g, &g->x, x, across, 1, out, why);
    if (status == PE_OK)
        status = put(g, &g->y, y, rows, g->width, out, why);
    for (size_t r = 0; status == PE_OK && r < rows; r++) {
        char *row = out + r * g->width * pixel;
        const size_t left = n - r * g->width, here = left < across ? left : across;
        spread(g, &g->y, row, 0, row + pixel, here - 1);
        if (r > 0)
            spread(g, &g->x, out, 1, row, here);
    }
    return status;
}

static pe_status fill(const pe_plan *plan, size_t t, size_t first, size_t units, void *out,
                      pe_problem *why)
{
    (void)t;
    const grid *g = plan->state;
    const size_t bytes = g->d_model * g->item;
    char *to = out;
    if (first < g->extra) {
        const size_t zeros = units < g->extra - first ? units : g->extra - first;
        memset(to, 0, zeros * bytes);
        to += zeros * bytes;
        first += zeros;
        units -= zeros;
    }
    if (units == 0)
        return PE_OK;
    const size_t y = (first - g->extra) / g->width, x = (first - g->extra) % g->width;
    const size_t rest = x > 0 ? g->width - x : 0, head = units < rest ? units : rest;
    pe_status status = PE_OK;
    if (head > 0)
        status = put_pixels(g, y, x, head, to, why);
    if (status == PE_OK && head < units)
        status = put_pixels(g, y + (head > 0), 0, units - head, to + head * bytes, why);
    return status;
}

/* What an axis has of channels [first, first + n) of a pixel. */
static pe_status put_part(const grid *g, const axis *a, size_t row, size_t first, size_t n,
                          char *out, pe_problem *why)
{
    const size_t end = first + n, past = a->at + g->d_model / 2;
    const size_t from = first > a->at ? first : a->at, to = end < past ? end : past;
    if (from >= to)
        return PE_OK;
    return pe_sinusoid_part(&a->sinusoid, &a->positions, row, from - a->at, to - from, g->dtype,
                            out + (from - first) * g->item, why);
}

static pe_status fill_part(const pe_plan *plan, size_t t, size_t unit, size_t first, size_t n,
                           void *out, pe_problem *why)
{
    (void)t;
    const grid *g = plan->state;
    if (unit < g->extra) {
        memset(out, 0, n * g->item);
        return PE_OK;
    }
    const size_t pixel = unit - g->extra;
    pe_status status = put_part(g, &g->x, pixel % g->width, first, n, out, why);
    if (status == PE_OK)
        status = put_part(g, &g->y, pixel / g->width, first, n, out, why);
    return status;
}

/* Patch i of `side` lies at i * base_size / side / interpolation_scale. */
static pe_status make_axis(const pe_values *values, size_t side, size_t d_model, size_t at,
                           pe_tables *tables, axis *out, pe_problem *why)
{
    const bool measured = pe_values_present(values, "base_size");
    const pe_sinusoid_spec spec = {
        .width = d_model / 2,
        .layout = pe_values_choice(values, "layout"),
        .base = {pe_values_real(values, "base"), 1},
        .freq_shift = pe_values_real(values, "freq_shift"),
        .scale = measured ? (double)pe_values_int(values, "base_size") : 1,
        .divisor = {measured ? (double)side : 1, pe_values_real(values, "interpolation_scale")}};
    out->positions = pe_positions_range(0, 1, side);
    out->at = at;
    return pe_sinusoid_make(&spec, tables, &out->sinusoid, why);
}

static pe_status add_table(const pe_values *values, const pe_limits *limits, pe_plan *out,
                           pe_problem *why)
{
    const size_t d_model = (size_t)pe_values_int(values, "d_model");
    const size_t pixels =
        (size_t)pe_values_int(values, "height") * (size_t)pe_values_int(values, "width");
    const pe_shape shape = {2, {(size_t)pe_values_int(values, "extra_tokens") + pixels, d_model}};
    if (d_model % 4 != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "d_model",
                       "d_model must be a multiple of 4, a sine and a cosine for each axis, got "
                       "%zu",
                       d_model);
    return pe_plan_add_tensor(out, limits, "table", (pe_dtype)pe_values_choice(values, "dtype"),
                              &shape, d_model, why);
}

static pe_status plan_grid(pe_values *values, struct pe_tables *tables, const pe_limits *limits,
                           pe_plan *out, pe_problem *why)
{
    const size_t height = (size_t)pe_values_int(values, "height");
    if (!pe_values_present(values, "width"))
        pe_values_set_int(values, "width", (int64_t)height);
    pe_status status = add_table(values, limits, out, why);
    if (status != PE_OK)
        return status;
    grid *g = calloc(1, sizeof *g);
    if (g == NULL)
        return pe_fail_memory(why);
    g->d_model = (size_t)pe_values_int(values, "d_model");
    g->width = (size_t)pe_values_int(values, "width");
    g->extra = (size_t)pe_values_int(values, "extra_tokens");
    g->dtype = (pe_dtype)pe_values_choice(values, "dtype");
    g->item = pe_dtype_bytes(g->dtype);
    const size_t half = g->d_model / 2;
    const bool x_first = pe_values_choice(values, "axis_order") == WIDTH_FIRST;
    out->state = g;
    out->free_state = free_grid;
    out->fill = fill;
    out->fill_part = fill_part;
    status = make_axis(values, g->width, g->d_model, x_first ? 0 : half, tables, &g->x, why);
    if (status == PE_OK)
        status = make_axis(values, height, g->d_model, x_first ? half : 0, tables, &g->y, why);
    return status;
}

/**
 * The table of the patches of an image, row by row.
 *
 * Source    huggingface/diffusers@58eb52c0803ea9af3abec60841c2a093bdf1f951,
 *           get_2d_sincos_pos_embed; without base_size facebookresearch/mae, util/pos_embed.py;
 * with freq_shift 1 and no base_size the simple ViT (Beyer et al. 2022, arXiv:2205.01580). MAE's
 * cls_token is extra_tokens=1. Shapes    [extra_tokens + height * width, d_model]. Units
 * coordinates in patches (of base_size a side, where given). Accuracy  correctly rounded:
 * coordinates are rational numbers, not rounded to float32 as upstream.
 */
const pe_resource pe_sinusoidal_grid = {
    .path = "/v1/sinusoidal/grid",
    .encoding = "sinusoidal",
    .name = "sinusoidal/grid",
    .kind = PE_TABLE,
    .summary = "Sinusoidal encodings of the patches of an image, row by row.",
    .formula =
        "sin(c * w_i) and cos(c * w_i), w_i = base^(-i/(d_model/4 - freq_shift)), of the column "
        "and of the row c = i * base_size / side / interpolation_scale of a patch",
    .source = "huggingface/diffusers@58eb52c0803ea9af3abec60841c2a093bdf1f951, "
              "get_2d_sincos_pos_embed; He et al. 2021, arXiv:2111.06377; Beyer et al. 2022, "
              "arXiv:2205.01580",
    .param_sets = {PE_PARAMS(grid_params), &pe_sinusoidal_base_params, PE_PARAMS(layout_params),
                   &pe_sinusoidal_freq_shift_params, PE_PARAMS(coordinates_params),
                   &pe_params_output_exact},
    .plan = plan_grid,
};
