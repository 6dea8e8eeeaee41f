/* SPDX-License-Identifier: MIT */
/* swin_coordinates.c - the logarithmic coordinates from which Swin v2 makes its biases. */
#include <stdlib.h>

#include "base/yield.h"
#include "encodings/registry.h"
#include "encodings/relative/relative.h"
#include "exact/round.h"

#define PRETRAINED(side, fallback, text)                                                           \
    PE_PARAM(side, INT, .optional = true, .min = 2, .max = PE_SWIN_SIDE_MAX,                       \
             .fallback_text = (fallback), .unit = "patches", .help = (text), .example = "12")

static const pe_param own[] = {
    PRETRAINED("pretrained_window_height", "window_height", "Rows of the window in training."),
    PRETRAINED("pretrained_window_width", "window_width", "Columns of the window in training."),
};

enum { DOWN, ACROSS, AXES };

typedef struct state {
    pe_dtype dtype;
    size_t side[AXES];
    double *at[AXES]; /* coordinates of the offsets 0 .. side - 1, rounded */
    double room[];
} state;

/* ---- coordinates ---- */

/* log2(1 + 8 offset/most) / log2(8), most the offset that becomes 8. */
static void eval_coordinate(const void *context, size_t offset, mpfr_ptr out)
{
    const unsigned long most = *(const unsigned long *)context;
    mpfr_t x;
    mpfr_init2(x, mpfr_get_prec(out) + 32);
    mpfr_set_ui(x, most + 8 * offset, MPFR_RNDN);
    mpfr_div_ui(x, x, most, MPFR_RNDN);
    mpfr_log2(x, x, MPFR_RNDN);
    mpfr_div_ui(out, x, 3, MPFR_RNDN);
    mpfr_clear(x);
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const state *s = plan->state;
    const size_t columns = 2 * s->side[ACROSS] - 1, bytes = pe_dtype_bytes(s->dtype);
    unsigned char *to = out;
    for (size_t u = region->first; u < region->first + region->units; u++) {
        const size_t cell[AXES] = {u / columns, u % columns};
        for (size_t a = 0; a < AXES; a++, to += bytes) {
            const size_t zero = s->side[a] - 1;
            pe_dtype_store(s->dtype,
                           cell[a] < zero ? -s->at[a][zero - cell[a]] : s->at[a][cell[a] - zero],
                           to);
        }
    }
    return PE_OK;
}

/* ---- the plan ---- */

static pe_status plan_coordinates(pe_values *values, pe_plan *out, pe_problem *why)
{
    static const char *const pretrained[AXES] = {"pretrained_window_height",
                                                 "pretrained_window_width"};
    const size_t side[AXES] = {pe_values_size(values, "window_height"),
                               pe_values_size(values, "window_width")};
    const pe_dtype dtype = pe_values_dtype(values);
    const pe_shape shape = {3, {2 * side[DOWN] - 1, 2 * side[ACROSS] - 1, AXES}};
    PE_TRY(pe_plan_add_tensor(out, "coordinates", dtype, &shape, AXES, why));
    const size_t room = (side[DOWN] + side[ACROSS]) * sizeof(double);
    PE_TRY(pe_plan_begin(out, sizeof(state) + room, fill, why));
    state *s = out->state;
    s->dtype = dtype;
    for (size_t a = 0; a < AXES; a++) {
        /* Of the window trained with, by default this one. */
        if (!pe_values_present(values, pretrained[a]) && side[a] > 1)
            pe_values_set_int(values, pretrained[a], (int64_t)side[a]);
        const bool wide = pe_values_present(values, pretrained[a]);
        const unsigned long most = wide ? pe_values_size(values, pretrained[a]) - 1 : 0;
        s->side[a] = side[a];
        s->at[a] = a == DOWN ? s->room : s->room + side[DOWN];
        for (size_t offset = 1; offset < side[a] && !pe_yield_must_end(); offset++)
            s->at[a][offset] = pe_exact_round(dtype, eval_coordinate, &most, offset);
        if (most == 0)
            pe_plan_warn(out,
                         "a window of one patch has the coordinate 0; the reference divides by "
                         "%s - 1 = 0 there and gets NaN",
                         a == DOWN ? "window_height" : "window_width");
    }
    return pe_yield_check(why);
}

/**
 * Of every offset query - key within a window: what the network that makes Swin v2's biases gets.
 *
 * Shapes    [2h - 1, 2w - 1, 2], h x w the window; the last axis is down, across.
 * Accuracy  correctly rounded.
 */
const pe_resource pe_swin_coordinates = {
    PE_NAMED("swin", "/coordinates"),
    .kind = PE_TABLE,
    .summary = "The logarithmic relative coordinates from which Swin v2 makes its biases.",
    .formula = "sign(c) log2(1 + |c|)/log2(8), c = 8 offset/(pretrained_window - 1), offset = "
               "-(window - 1) .. window - 1 down and across",
    .labels = PE_LABELS({.axes = "row, column, axis", .value = "coordinate"}),
    .source = "Liu et al. 2022, arXiv:2111.09883, section 3.3; Swinv2SelfAttention of "
              "huggingface/transformers@004edfe2dc0fdbc94068d7977605aa6798de787e",
    .param_sets = {&pe_swin_window_params, PE_PARAMS(own), &pe_params_output_exact},
    .plan = plan_coordinates,
};
