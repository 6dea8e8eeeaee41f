/* SPDX-License-Identifier: MIT */
/* rope_rotate.c - rotary embedding of queries and keys, and its inverse. */
#include "encodings/rope/rope.h"
#include "encodings/rope/rope_mrope.h"
#include "encodings/rope/rope_params.h"
#include "encodings/rope/rope_rotated.h"
#include "plan/plan.h"

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_rope rope;
    pe_shared_wave wave;
    size_t tokens = 0;
    pe_status status = pe_rope_rotated_check(values, &tokens, why);
    const bool inverse = pe_values_bool(values, "inverse");
    pe_rope_rotated answer = {.values = values,
                              .rotation = {.rope = &rope,
                                           .wave = &wave,
                                           .positions = pe_rope_rotated_positions(values, tokens),
                                           .backwards = inverse},
                              .positions = "positions"};
    status = pe_rope_rotated_read(status, &answer, out, &rope, why);
    PE_TRY(status);
    answer.rotation.axes = rope.axes;
    pe_rope_mrope_warn(&rope, out);
    pe_rope_warnings_add(&rope, answer.rotation.positions, out);
    PE_TRY(pe_rope_wave(&rope, inverse ? PE_ROPE_UNDONE : PE_ROPE_ATTENDED, &wave, why));
    status = pe_rope_rotated_all(&answer, out, why);
    pe_tables_unref(&wave);
    return status;
}

static const pe_param own[] = {
    PE_PARAM("inverse", BOOL, .help = "true undoes the rotation, the attention factor included.",
             .example = "false"),
    PE_PARAM("positions", POSITIONS, .optional = true, .two_axes = true, .three_axes = true,
             .fallback_text = "0:n", .unit = "tokens",
             .help = "A position for each token: [n], or [batch, n] with the batch along axis 0. "
                     "With mrope_section or axes_dims: [n], [axes, n] or [axes, batch, n].",
             .example = "0:8"),
};

/** Shapes  as given; channels past rotary_dim pass through. A is the attention factor. */
const pe_resource pe_rope_rotate = {
    PE_NAMED("rope", "/rotate"),
    .kind = PE_TRANSFORM,
    .summary =
        "Rotates vectors, or queries and keys, to their positions. It also rotates them back.",
    .formula = "a' = A (a cos(pos theta_i) - b sin(pos theta_i)), b' = A (b cos(pos theta_i) + a "
               "sin(pos theta_i))",
    .labels = PE_LABELS({.axes = "token, channel"}),
    .source = PE_ROPE_SOURCE,
    .param_sets = {&pe_rope_vectors_params, &pe_rope_last_axis_params, &pe_params_model,
                   PE_ROPE_SETS, &pe_rope_seq_axis_params, PE_PARAMS(own), &pe_params_output},
    .nested = "rope_parameters",
    .plan = plan,
};
