/* SPDX-License-Identifier: MIT */
/* rope_shift.c - cached keys moved to other positions without their originals. */
#include "encodings/rope/rope_rotated.h"
#include "plan/plan.h"
#include "encodings/rope/rope_mrope.h"
#include "encodings/rope/rope_params.h"

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_rope rope;
    pe_shared_wave wave;
    size_t tokens;
    if (pe_values_positions(values, "delta")->fractional)
        return pe_fail(why, PE_INVALID_PARAMETER, "delta", "delta must be integers");
    pe_status status =
        pe_rope_rotated_tokens(values, (const char *const[]){"keys"}, 1, &tokens, why);
    pe_rope_rotated answer = {.values = values,
                              .rotation = {.rope = &rope,
                                           .wave = &wave,
                                           .positions = pe_values_positions(values, "delta")},
                              .positions = "delta",
                              .one_for_all = true};
    status = pe_rope_rotated_read(status, &answer, out, &rope, why);
    PE_TRY(status);
    answer.rotation.axes = rope.axes;
    pe_rope_mrope_warn(&rope, out);
    PE_TRY(pe_rope_wave(&rope, PE_ROPE_PLAIN, &wave, why));
    status = pe_rope_rotated_add(&answer, "keys", "data", out, why);
    pe_tables_unref(&wave);
    return status;
}

static const pe_param own[] = {
    PE_PARAM("keys", TENSOR, .aliases = PE_NAMES("k"), .required = true, .min_dims = 2,
             .max_dims = PE_MAX_DIMS,
             .help = "Rotated keys, with any leading axes. The channels are the last axis.",
             .example = "[[1,0,0,1],[0,1,1,0]]"),
    PE_PARAM("delta", POSITIONS, .required = true, .two_axes = true, .integers_only = true,
             .unit = "tokens",
             .help = "The distance to move: one integer, or one for each token. With mrope_section "
                     "or axes_dims also one for each axis: [axes, 1] or [axes, n].",
             .example = "-256"),
};

/** As the K-shift of ggml-org/llama.cpp. The attention factor, in the keys already, is not applied
 * again.   Shapes  as given. */
const pe_resource pe_rope_shift = {
    PE_NAMED("rope", "/shift"),
    .kind = PE_TRANSFORM,
    .summary = "Moves cached keys to other positions by rotating them further.",
    .formula = "R_(m+delta) k = R_delta (R_m k)",
    .labels = PE_LABELS({.axes = "token, channel"}),
    .source = PE_ROPE_SOURCE,
    .param_sets = {PE_PARAMS(own), &pe_rope_last_axis_params, &pe_params_model, PE_ROPE_SETS,
                   &pe_rope_seq_axis_params, &pe_params_output_exact},
    .nested = "rope_parameters",
    .plan = plan,
};
