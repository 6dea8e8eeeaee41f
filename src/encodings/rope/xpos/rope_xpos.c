/* SPDX-License-Identifier: MIT */
/* rope_xpos.c - cosines and sines of rotary angles, and the scales of xPos. */

#include <math.h>
#include <stdlib.h>

#include "encodings/rope/rope.h"
#include "encodings/rope/rope_params.h"
#include "encodings/rope/rope_rotated.h"
#include "encodings/rope/rope_xpos_scale.h"
#include "plan/plan.h"

/* ---- xPos: queries and keys rotated, and scaled so that attention falls with di ---- */

#define PE_ROPE_XPOS_SOURCE                                                                        \
    "Sun et al. 2022, arXiv:2212.10554, section 3.2 and algorithm 1, as rotate_queries_and_keys "  \
    "in lucidrains/rotary-embedding-torch at 8bb4643d1c29f944c47d2e807452ac437689af18"

/* The tables of powers of a pair. */
static const uint16_t powers_work[] = {64};

static const pe_param xpos_params[] = {
    PE_PARAM("scale_base", REAL, .min = 1, .max = 1e6, .fallback = 512, .channel_work = powers_work,
             .unit = "tokens",
             .help = "The distance in tokens over which the scale of a pair falls by the factor "
                     "zeta of that pair.",
             .example = "512"),
    PE_PARAM("center", INT, .optional = true, .min = 1 - PE_POSITION_LIMIT,
             .max = PE_POSITION_LIMIT - 1, .fallback_text = "half the number of positions",
             .unit = "tokens", .help = "The position whose scale is 1.", .example = "0"),
};
static const pe_param_set xpos_set = {xpos_params, PE_LEN(xpos_params)};

/* ---- what the resources share ---- */

/*
 * Check what xPos asks of a rotation and its positions, fill in center, and make the scales.
 * Errors  INVALID_PARAMETER: mrope_section; positions too far from the center. INTERNAL.
 */
static pe_status rope_xpos_read(pe_values *values, const pe_rope *rope,
                                const pe_positions *positions, pe_xpos_scale *out, pe_problem *why)
{
    const size_t tokens = positions->shape.dim[positions->shape.ndim - 1];
    const double base = pe_values_real(values, "scale_base");
    if (!pe_values_present(values, "center"))
        pe_values_set_int(values, "center", (int64_t)(tokens / 2));
    const double center = (double)pe_values_int(values, "center");
    double first, last;
    pe_positions_bounds(positions, &first, &last);
    const double far = fabs(last - center) > fabs(first - center) ? last : first;
    const double most = fabs(far - center);
    if (most > PE_XPOS_REACH * base)
        return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                       "positions must be within %d scale_base = %.17g of center, %lld, for "
                       "scales to stay below 2^1000, got %.17g",
                       PE_XPOS_REACH, PE_XPOS_REACH * base,
                       (long long)pe_values_int(values, "center"), far);
    /* The whole part of a fractional distance is at most one more. */
    return pe_rope_xpos_scale_make(rope, base, ceil(most) + positions->fractional, out, why);
}

/* ---- queries and keys ---- */

static const char *const tensor_names[] = {"q", "k"};

/* Queries are multiplied by the scale, keys divided. */
static pe_status rotate(pe_rope_rotated *answer, const pe_xpos_scale *scale, pe_plan *out,
                        pe_problem *why)
{
    pe_shared_wave wave;
    pe_status status = pe_rope_wave(answer->rotation.rope, PE_ROPE_ATTENDED, &wave, why);
    PE_TRY(status);
    pe_xpos_turn turn = {.scale = scale, .center = (double)pe_values_int(answer->values, "center")};
    answer->rotation.wave = &wave;
    answer->rotation.xpos = &turn;
    for (size_t t = 0; t < PE_LEN(tensor_names) && status == PE_OK; t++) {
        const char *name = tensor_names[t];
        turn.divide = t == 1;
        if (pe_values_present(answer->values, name))
            status = pe_rope_rotated_add(answer, name, name, out, why);
    }
    answer->rotation.wave = NULL; /* both end here */
    answer->rotation.xpos = NULL;
    pe_tables_unref(&wave);
    return status;
}

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_rope rope;
    pe_xpos_scale scale;
    size_t tokens;
    if (!pe_values_present(values, "q") && !pe_values_present(values, "k"))
        return pe_fail(why, PE_MISSING_PARAMETER, "q", "q or k is required, or both");
    pe_status status =
        pe_rope_rotated_tokens(values, tensor_names, PE_LEN(tensor_names), &tokens, why);
    pe_rope_rotated answer = {
        .values = values,
        .rotation = {.rope = &rope, .positions = pe_rope_rotated_positions(values, tokens)},
        .positions = "positions"};
    status = pe_rope_rotated_read(status, &answer, out, &rope, why);
    PE_TRY(status);
    pe_rope_warnings_add(&rope, NULL, out);
    PE_TRY(rope_xpos_read(values, &rope, answer.rotation.positions, &scale, why));
    status = rotate(&answer, &scale, out, why);
    pe_tables_unref(&scale.shared);
    return status;
}

static const pe_param vectors_params[] = {
    PE_ROPE_TENSOR_ROW("q", PE_NAMES("queries"), "Queries, multiplied by the scale"),
    PE_ROPE_TENSOR_ROW("k", PE_NAMES("keys"), "Keys, divided by the scale"),
};

static const pe_param positions_params[] = {
    PE_PARAM("positions", POSITIONS, .optional = true, .two_axes = true, .fallback_text = "0:n",
             .unit = "tokens",
             .help = "A position for each token: [n], or [batch, n] with the batch along axis 0.",
             .example = "0:8"),
};

/**
 * q' . k' has the factor zeta_i^((p_q - p_k) / scale_base), zeta_i = (2i/d + 0.4) / 1.4.
 *
 * Shapes    as given; channels past rotary_dim pass through, not scaled.
 * Accuracy  pe_rope_apply_array's.
 */
const pe_resource pe_rope_xpos = {
    PE_NAMED("rope", "/xpos"),
    .kind = PE_TRANSFORM,
    .summary = "Rotates queries and keys with xPos, whose scale lets attention fall with distance.",
    .formula = "q' = R(p theta_i) q s_i(p), k' = R(p theta_i) k / s_i(p), s_i(p) = ((2i/d + 0.4) / "
               "1.4)^((p - center) / scale_base)",
    .labels = PE_LABELS({.axes = "token, channel"}),
    .source = PE_ROPE_XPOS_SOURCE,
    .param_sets = {PE_PARAMS(vectors_params), &pe_rope_last_axis_params, &pe_params_model,
                   &pe_rope_shape_params, &pe_rope_type_params, &pe_rope_key_params,
                   &pe_rope_pair_params, &xpos_set, &pe_rope_seq_axis_params,
                   PE_PARAMS(positions_params), &pe_params_output_exact},
    .nested = "rope_parameters",
    .plan = plan,
};

/* A scale costs so many units, and half a one for each level of powers, as half of them are taken. */
#define SCALE_WORK 8

enum { COS, SIN, SCALE, TENSORS };
static const char *const names[TENSORS] = {"cos", "sin", "scale"};

typedef struct table {
    pe_shared_wave wave;
    pe_positions positions;
    pe_xpos_scale scale;
    double center;
    size_t pairs;
} table;

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const table *state = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    const size_t t = region->tensor;
    const pe_wave_layout layout = (pe_wave_layout){
        .stride = 1, .cos_at = t == COS ? 0 : -1, .sin_at = t == SIN ? 0 : -1, .row = state->pairs};
    unsigned char *to = out;
    const pe_wave_table waves = {state->wave.wave, &state->positions, &layout, dtype};
    if (region->tensor != SCALE)
        return pe_plan_whole(plan, region)
                   ? pe_wave_table_rows(&waves, region->first, region->units, out, why)
                   : pe_wave_table_part(&waves, region->first, region->column, region->columns, out,
                                        why);
    for (size_t u = region->first; u < region->first + region->units; u++) {
        const pe_xpos_distance n =
            pe_rope_xpos_distance(pe_positions_at(&state->positions, u), state->center, false);
        const size_t first = region->column, end = first + region->columns;
        for (size_t i = first; i < end; i++, to += pe_dtype_bytes(dtype))
            pe_dtype_store(dtype, pe_rope_xpos_scale_round(&state->scale, i, &n, dtype), to);
    }
    return PE_OK;
}

static pe_status plan_table(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_rope rope;
    PE_TRY(pe_rope_plan(values, out, &rope, why));
    pe_rope_warnings_add(&rope, NULL, out);
    const pe_dtype dtype = pe_values_dtype(values);
    const pe_positions *positions = pe_values_positions(values, "positions");
    const pe_shape shape = {2, {positions->count, rope.pairs}};
    PE_TRY(pe_plan_begin(out, sizeof(table), fill, why));
    table *state = out->state;
    out->makes_parts = true;
    state->pairs = rope.pairs;
    for (size_t t = 0; t < TENSORS; t++)
        PE_TRY(pe_plan_add_tensor(out, names[t], dtype, &shape, rope.pairs, why));
    PE_TRY(pe_plan_set_work(out, SCALE, SCALE_WORK, why));
    pe_plan_owns(out, &state->scale.shared, pe_tables_unref);
    PE_TRY(rope_xpos_read(values, &rope, positions, &state->scale, why));
    PE_TRY(pe_plan_set_work(out, SCALE, SCALE_WORK + state->scale.formula.levels / 2, why));
    state->center = (double)pe_values_int(values, "center");
    PE_TRY(pe_plan_positions(out, values, "positions", &state->positions, why));
    /* zeta_0 is the least: its scale is the greatest, before the center. */
    double least, most;
    pe_positions_bounds(&state->positions, &least, &most);
    const pe_xpos_distance n = pe_rope_xpos_distance(least, state->center, false);
    if (!isfinite(pe_rope_xpos_scale_round(&state->scale, 0, &n, dtype)))
        return pe_fail(why, PE_INVALID_PARAMETER, "dtype",
                       "the scale of pair 0 at position %.17g overflows %s, whose largest value "
                       "is %g",
                       least, pe_dtype_name(dtype), pe_dtype_max(dtype));
    PE_TRY(pe_rope_wave_plan(&rope, PE_ROPE_ATTENDED, out, &state->wave, why));
    pe_plan_add_scalar(out, "attention_factor", pe_wave_gain(state->wave.wave));
    const size_t more = pe_wave_work(state->wave.wave, &state->positions, dtype);
    PE_TRY(pe_plan_set_work(out, COS, 1 + more, why));
    return pe_plan_set_work(out, SIN, 1 + more, why);
}

static const pe_param own[] = {
    PE_PARAM("positions", POSITIONS, .fallback_text = "0:128", .unit = "tokens",
             .help = "Positions: a:b, a:b:step, a number, or a list, fractions included.",
             .example = "0:8"),
};

/**
 * Queries are multiplied by the scale, keys divided by it; A is the attention factor.
 *
 * Shapes    cos, sin, scale: [positions, rotary_dim/2].
 * Accuracy  correctly rounded.
 */
const pe_resource pe_rope_xpos_table = {
    PE_NAMED("rope", "/xpos/table"),
    .kind = PE_TABLE,
    .summary = "Cosines and sines of rotary angles, and the scales of xPos.",
    .formula = "cos(p, i) = A cos(p theta_i), sin(p, i) = A sin(p theta_i), scale(p, i) = ((2i/d + "
               "0.4) / 1.4)^((p - center) / scale_base)",
    .labels = PE_LABELS({.axes = "positions, pair"}),
    .source = PE_ROPE_XPOS_SOURCE,
    .param_sets = {&pe_rope_head_dim_params, &pe_params_model, &pe_rope_shape_params,
                   &pe_rope_type_params, &pe_rope_key_params, &pe_rope_pair_params, &xpos_set,
                   PE_PARAMS(own), &pe_params_output_exact},
    .nested = "rope_parameters",
    .plan = plan_table,
};
