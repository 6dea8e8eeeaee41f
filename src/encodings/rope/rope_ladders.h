/* SPDX-License-Identifier: MIT */
/* rope_ladders.h - rotations by several axes, each of which has frequencies of its own. */
#ifndef PE_ENCODINGS_ROPE_ROPE_LADDERS_H
#define PE_ENCODINGS_ROPE_ROPE_LADDERS_H

#include "encodings/rope/rope.h"

/**
 * Check axes_dims, axis_order, axes_theta and axes_scale against each other and the rotation, and
 * set rope->axes and the ladders of its formula. axes_dims is present.
 *
 * The k-th number of axes_dims, d, stands for the next d/2 pairs. Pair j of them turns by the
 * position on axis axis_order[k], times (theta s^(d/(d - 2)))^(-2j/d), theta = axes_theta[k] and
 * s = axes_scale[k].
 *
 * Source    huggingface/diffusers 0.42.1, models/transformers: FluxPosEmbed and WanRotaryPosEmbed
 *           (axes_dims), CosmosRotaryPosEmbed (axes_scale: rope_scale); theta by axis:
 *           get_1d_rotary_pos_embed of models/embeddings.py, which they call for each axis.
 * Errors    INVALID_PARAMETER.
 */
pe_status pe_rope_ladders_read(const pe_values *values, pe_rope *rope,
                               pe_problem *why) PE_MUST_CHECK;

/** The ladder of pair i, as pe_wave_spec's sequence; formula: a pe_rope_formula. */
size_t pe_rope_ladders_sequence(const void *formula, size_t i, mpfr_ptr ratio);

/** The same ladders, unscaled. */
void pe_rope_ladders_unscale(const pe_rope_formula *from, pe_rope_formula *to);

#endif
