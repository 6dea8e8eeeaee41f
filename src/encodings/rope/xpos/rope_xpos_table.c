/* SPDX-License-Identifier: MIT */
/* rope_xpos_table.c - cosines and sines of rotary angles, and the scales of xPos. */
#include "encodings/rope/xpos/rope_xpos.h"

#include <math.h>
#include <stdlib.h>

#include "encodings/rope/rope_params.h"
#include "encodings/rope/rope_warnings.h"

/* A scale costs so many units: a handful of 128-bit products. */
#define SCALE_WORK 16

enum { COS, SIN, SCALE, TENSORS };
static const char *const names[TENSORS] = {"cos", "sin", "scale"};

typedef struct table {
    pe_shared_wave wave;
    pe_positions positions;
    pe_xpos_scale scale;
    double center;
    size_t pairs;
} table;

/* The columns of a region in one row of scales. */
static void fill_scales(const table *state, const pe_region *region, size_t row, pe_dtype dtype,
                        unsigned char *out)
{
    const size_t first = region->column, pairs = region->columns;
    const pe_xpos_distance n =
        pe_rope_xpos_distance(pe_positions_at(&state->positions, row), state->center, false);
    for (size_t i = first; i < first + pairs; i++, out += pe_dtype_bytes(dtype))
        pe_dtype_store(dtype, pe_rope_xpos_scale_round(&state->scale, i, &n, dtype), out);
}

static pe_wave_layout layout_of(const table *state, size_t t)
{
    return (pe_wave_layout){
        .stride = 1, .cos_at = t == COS ? 0 : -1, .sin_at = t == SIN ? 0 : -1, .row = state->pairs};
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const table *state = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    const pe_wave_layout layout = layout_of(state, region->tensor);
    const size_t row = region->columns * pe_dtype_bytes(dtype);
    unsigned char *to = out;
    const pe_wave_table waves = {state->wave.wave, &state->positions, &layout, dtype};
    if (region->tensor != SCALE)
        return pe_plan_whole(plan, region)
                   ? pe_wave_table_rows(&waves, region->first, region->units, out, why)
                   : pe_wave_table_part(&waves, region->first, region->column, region->columns, out,
                                        why);
    for (size_t u = region->first; u < region->first + region->units; u++, to += row)
        fill_scales(state, region, u, dtype, to);
    return PE_OK;
}

static void free_state(void *of)
{
    table *state = of;
    pe_tables_wave_unref(&state->wave);
    pe_positions_free(&state->positions);
    pe_rope_xpos_scale_free(&state->scale);
    free(state);
}

/* zeta_0 is the least: its scale is the greatest, before the center. */
static pe_status check_overflow(const table *state, pe_dtype dtype, pe_problem *why)
{
    double least, most;
    pe_positions_bounds(&state->positions, &least, &most);
    const pe_xpos_distance n = pe_rope_xpos_distance(least, state->center, false);
    const double greatest = pe_rope_xpos_scale_round(&state->scale, 0, &n, dtype);
    if (isfinite(greatest))
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "dtype",
                   "the scale of pair 0 at position %.17g overflows %s, whose largest value is %g",
                   least, pe_dtype_name(dtype), pe_dtype_max(dtype));
}

static pe_status plan_table(const pe_rope *rope, pe_values *values, const pe_limits *limits,
                            pe_plan *out, pe_problem *why)
{
    const pe_dtype dtype = (pe_dtype)pe_values_choice(values, "dtype");
    const pe_positions *positions = &pe_values_find(values, "positions")->positions;
    const pe_shape shape = {2, {positions->count, rope->pairs}};
    table *state = pe_plan_begin(out, sizeof *state, fill, free_state);
    if (state == NULL)
        return pe_fail_memory(why);
    out->makes_parts = true;
    state->pairs = rope->pairs;
    for (size_t t = 0; t < TENSORS; t++)
        PE_TRY(pe_plan_add_tensor(out, limits, names[t], dtype, &shape, rope->pairs, why));
    PE_TRY(pe_plan_set_work(out, limits, SCALE, SCALE_WORK, why));
    PE_TRY(pe_rope_xpos_read(values, rope, positions, &state->scale, why));
    state->center = (double)pe_values_int(values, "center");
    PE_TRY(pe_positions_share(positions, &state->positions, why));
    PE_TRY(check_overflow(state, dtype, why));
    pe_status status = pe_rope_wave(rope, PE_ROPE_ATTENDED, &state->wave, why);
    if (status == PE_OK)
        pe_plan_add_scalar(out, "attention_factor", pe_wave_gain(state->wave.wave));
    return status;
}

static pe_status plan(pe_values *values, pe_tables *tables, const pe_limits *limits, pe_plan *out,
                      pe_problem *why)
{
    pe_rope rope;
    PE_TRY(pe_rope_read(values, tables, &rope, why));
    pe_rope_warnings_add(&rope, NULL, out);
    pe_status status = plan_table(&rope, values, limits, out, why);
    pe_rope_free(&rope);
    return status;
}

static const pe_param own[] = {
    PE_PARAM("positions", POSITIONS, .fallback_text = "0:128", .unit = "tokens",
             .help = "Positions: a:b, a:b:step, a number, or a list, fractions included.",
             .example = "0:8"),
};

/**
 *     cos(p, i) = A cos(p theta_i), sin(p, i) = A sin(p theta_i),
 *     scale(p, i) = ((2i/d + 0.4) / 1.4)^((p - center) / scale_base)
 *
 * Queries are multiplied by the scale, keys divided by it; A is the attention factor.
 *
 * Source    as rope_xpos.c.
 * Shapes    cos, sin, scale: [positions, rotary_dim/2].
 * Accuracy  correctly rounded.
 * Errors    INVALID_PARAMETER: a scale overflows dtype; pe_rope_xpos_read's.
 */
const pe_resource pe_rope_xpos_table = {
    .path = "/v1/rope/xpos/table",
    .encoding = "rope",
    .name = "rope/xpos/table",
    .kind = PE_TABLE,
    .summary = "Cosines and sines of rotary angles, and the scales of xPos.",
    .formula = "cos(p, i) = A cos(p theta_i), sin(p, i) = A sin(p theta_i), scale(p, i) = ((2i/d + "
               "0.4) / 1.4)^((p - center) / scale_base)",
    .labels = PE_LABELS({.axes = "positions, pair"}),
    .source = PE_ROPE_XPOS_SOURCE,
    .param_sets = {&pe_rope_head_dim_params, &pe_params_model, &pe_rope_shape_params,
                   &pe_rope_type_params, &pe_rope_key_params, &pe_rope_pair_params,
                   &pe_rope_xpos_params, PE_PARAMS(own), &pe_params_output_exact},
    .nested = "rope_parameters",
    .plan = plan,
};
