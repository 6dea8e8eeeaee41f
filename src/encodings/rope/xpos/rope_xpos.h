/* SPDX-License-Identifier: MIT */
/* rope_xpos.h - what the xPos resources share. */
#ifndef PE_ENCODINGS_ROPE_XPOS_ROPE_XPOS_H
#define PE_ENCODINGS_ROPE_XPOS_ROPE_XPOS_H

#include "encodings/rope/rope.h"
#include "encodings/rope/rope_xpos_scale.h"

#define PE_ROPE_XPOS_SOURCE                                                                        \
    "Sun et al. 2022, arXiv:2212.10554, section 3.2 and algorithm 1, as rotate_queries_and_keys "  \
    "in lucidrains/rotary-embedding-torch at 8bb4643d1c29f944c47d2e807452ac437689af18"

extern const pe_param_set pe_rope_xpos_params; /* scale_base, center */

/**
 * Check what xPos asks of a rotation and its positions, fill in center, and make the scales.
 * Errors  INVALID_PARAMETER: mrope_section; positions too far from the center. INTERNAL.
 */
pe_status pe_rope_xpos_read(pe_values *values, const pe_rope *rope, const pe_positions *positions,
                            pe_xpos_scale *out, pe_problem *why) PE_MUST_CHECK;

#endif
