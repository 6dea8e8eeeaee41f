/* SPDX-License-Identifier: MIT */
/* rope_mrope.h - which pairs of a multi-axis rotation turn by which axis. */
#ifndef PE_ENCODINGS_ROPE_ROPE_MROPE_H
#define PE_ENCODINGS_ROPE_ROPE_MROPE_H

#include "encodings/rope/rope.h"
#include "encodings/rope/rope_axes.h"

/** Choices of mrope_layout. */
extern const char *const pe_rope_mrope_layouts[];

/**
 * Check mrope_section, mrope_interleaved and mrope_layout against each other and the rotation, fill
 * in what they imply (part of the canonical form), and set rope->axes where there are sections.
 *
 *     sections      axis a has the next mrope_section[a] pairs
 *     interleaved   pair p turns by axis 1 if p mod 3 = 1 and p < 3 s[1], by axis 2 if p mod 3 = 2
 *                   and p < 3 s[2], else by axis 0; of four sections, as ggml passes them, by
 *                   axis 0 if p mod 3 = 0 and p < 3 s[0], else by axis 3
 *     ernie         of sections (h, w, t), h = w: pairs below h + w turn by axes 1 and 2 in turn,
 *                   the others by axis 0
 *     bailing       the same of sections (t, h, w)
 *     balanced      each pair goes to the axis of which the least share is placed, not the axis of
 *                   the pair before; of three axes the last pair is the first axis's
 *
 * Source    sections: Wang et al. 2024, arXiv:2409.12191, section 2.1, and huggingface/transformers
 *           at b4b5244c, models/qwen2_vl, apply_multimodal_rotary_pos_emb; with four axes (token,
 *           width, height, image) vllm-project/vllm at 0f70a1ec, rotary_embedding/xdrope.py.
 *           interleaved: transformers at b4b5244c, models/qwen3_vl, apply_interleaved_mrope.
 *           Four interleaved sections: ggml-org/llama.cpp, ggml/src/ggml-cpu/ops.cpp,
 *           ggml_mrope_cache_init.
 *           ernie: vllm at 9e2c9148, rotary_embedding/ernie45_vl_rope.py.
 *           bailing: vllm at 9c5b7163, bailing_mrope.py.
 *           balanced: vllm at 41c5903d, mrope_interleaved.py.
 *
 * With axes_dims: check axis_order, axes_theta and axes_scale against it and the rotation, and set
 * rope->axes and the inv_freq of its formula.
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
pe_status pe_rope_mrope_read(pe_values *values, pe_rope *rope, pe_problem *why) PE_MUST_CHECK;

/** Without sections or dimensions of axes, parameters that describe them are refused.
 * Errors  INVALID_PARAMETER. */
pe_status pe_rope_mrope_check(const pe_values *values, pe_problem *why) PE_MUST_CHECK;

/** Warn where the axes do not get the pairs that mrope_section names. */
void pe_rope_mrope_warn(const pe_rope *rope, pe_plan *plan);

#endif
