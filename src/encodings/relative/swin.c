/* SPDX-License-Identifier: MIT */
/* swin.c - relative positions within a window of an image, as rows of their table of biases. */
#include "encodings/relative/relative.h"

#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"

#define FORMULA                                                                                    \
    "(row(query) - row(key) + window_height - 1) (2 window_width - 1) + column(query) - "          \
    "column(key) + window_width - 1; patches count along the rows"
#define SOURCE                                                                                     \
    "Liu et al. 2021, arXiv:2103.14030, equation 4; SwinRelativePositionBias of "                  \
    "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532"

#define SIDE(side, alias, text)                                                                    \
    PE_PARAM(side, INT, .aliases = PE_NAMES(alias), .required = true, .min = 1,                    \
             .max = PE_SWIN_SIDE_MAX, .plan_work = PE_PLAN_WORK_POWER, .unit = "patches",          \
             .help = (text), .example = "3")
static const pe_param window_params[] = {
    SIDE("window_height", "height", "Rows of the attention window."),
    SIDE("window_width", "width", "Columns of the attention window."),
};
const pe_param_set pe_swin_window_params = {window_params, PE_LEN(window_params)};

static const pe_param weights_params[] = {
    PE_PARAM("weights", TENSOR, .aliases = PE_NAMES("relative_embeddings", "table"),
             .required = true, .min_dims = 2, .max_dims = 2,
             .help = "A bias for each relative position and head, [(2 window_height - 1)(2 "
                     "window_width - 1), heads].",
             .example = "[[0],[1],[2],[1],[0],[1],[2],[3],[2],[1],[2],[3],[4],[3],[2],[1],[2],[3],["
                        "2],[1],[0],[1],[2],[1],[0]]"),
};

typedef struct state {
    size_t height, width;
    pe_array weights; /* [rows of the table, heads]; none for the indices */
} state;

static size_t put_indices(const state *s PE_UNUSED, size_t layer PE_UNUSED, size_t index, size_t n,
                          void *out)
{
    int32_t *to = out;
    for (size_t i = 0; i < n; i++)
        to[i] = (int32_t)(index - i);
    return n * sizeof *to;
}

static size_t put_weights(const state *s, size_t head, size_t index, size_t n, void *out)
{
    const size_t heads = s->weights.shape.dim[1], bytes = pe_dtype_bytes(s->weights.dtype);
    const unsigned char *weights = s->weights.data;
    for (size_t i = 0; i < n; i++)
        memcpy((unsigned char *)out + i * bytes, weights + ((index - i) * heads + head) * bytes,
               bytes);
    return n * bytes;
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const state *s = plan->state;
    const size_t patches = s->height * s->width;
    unsigned char *at = out;
    const size_t first = region->first, units = region->units;
    for (size_t done = 0, n; done < units; done += n) {
        const size_t row = (first + done) / patches, key = (first + done) % patches;
        /* The index of query and key. The keys after it, to the end of their row of the window,
         * have one less each: n of them, key included. */
        const size_t query = row % patches;
        const size_t column = key % s->width;
        const size_t down = query / s->width + s->height - 1 - key / s->width;
        n = s->width - column;
        const size_t index = down * (2 * s->width - 1) + query % s->width + s->width - 1 - column;
        n = n < units - done ? n : units - done;
        at += (s->weights.data == NULL ? put_indices : put_weights)(s, row / patches, index, n, at);
    }
    return PE_OK;
}

static pe_status make_state(const pe_values *values, pe_plan *out, pe_problem *why)
{
    PE_TRY(pe_plan_begin(out, sizeof(state), fill, why));
    state *s = out->state;
    s->height = pe_values_size(values, "window_height");
    s->width = pe_values_size(values, "window_width");
    return PE_OK;
}

static pe_status plan_index(pe_values *values, pe_plan *out, pe_problem *why)
{
    const size_t patches =
        pe_values_size(values, "window_height") * pe_values_size(values, "window_width");
    const pe_shape shape = {2, {patches, patches}};
    PE_TRY(pe_plan_add_tensor(out, "index", PE_INT32, &shape, 1, why));
    return make_state(values, out, why);
}

static pe_status plan_bias(pe_values *values, pe_plan *out, pe_problem *why)
{
    const size_t height = pe_values_size(values, "window_height");
    const size_t width = pe_values_size(values, "window_width");
    const pe_array *weights = pe_values_tensor(values, "weights");
    const size_t rows = (2 * height - 1) * (2 * width - 1);
    if (weights->shape.dim[0] != rows)
        return pe_fail(why, PE_INVALID_PARAMETER, "weights",
                       "weights must have a row for each of the (2 window_height - 1)(2 "
                       "window_width - 1) = %zu relative positions, got %zu rows",
                       rows, weights->shape.dim[0]);
    const pe_shape shape = {3, {weights->shape.dim[1], height * width, height * width}};
    PE_TRY(pe_plan_add_tensor(out, "bias", weights->dtype, &shape, 1, why));
    PE_TRY(make_state(values, out, why));
    pe_plan_take(out, values, "weights", &((state *)out->state)->weights);
    return PE_OK;
}

/** Shapes  [h w, h w], int32 from 0 to (2h - 1)(2w - 1) - 1, h x w the window. */
const pe_resource pe_swin_index = {
    PE_NAMED("swin", "/index"),
    .kind = PE_TABLE,
    .summary =
        "Relative positions of the patches of a window, as row numbers of the table of biases.",
    .formula = FORMULA,
    .labels = PE_LABELS({.axes = "query patch, key patch", .value = "index"}),
    .source = SOURCE,
    .param_sets = {&pe_swin_window_params, &pe_params_output_int32},
    .plan = plan_index,
};

/** Shapes  weights: [(2h - 1)(2w - 1), heads] -> [heads, h w, h w], copied bit for bit. */
const pe_resource pe_swin_bias = {
    PE_NAMED("swin", "/bias"),
    .kind = PE_TRANSFORM,
    .claimed_otherwise = true,
    .summary = "The biases that Swin adds to the attention scores of a window.",
    .formula = "bias[h, i, j] = weights[index(i, j), h]; index: " FORMULA,
    .labels = PE_LABELS({.axes = "head, query patch, key patch", .value = "bias"}),
    .source = SOURCE,
    .param_sets = {PE_PARAMS(weights_params), &pe_swin_window_params, &pe_params_output_exact},
    .plan = plan_bias,
};
