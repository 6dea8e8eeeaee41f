/* SPDX-License-Identifier: MIT */
/* rope_params.h - the sets of parameters that rope resources list. */
#ifndef PE_ENCODINGS_ROPE_ROPE_PARAMS_H
#define PE_ENCODINGS_ROPE_ROPE_PARAMS_H

#include "encodings/rope/rope.h"
#include "plan/common_params.h"
#include "plan/resource.h"

/** Choices of pairing, in the order of pe_pairing. */
extern const char *const pe_rope_params_pairings[];

/** The largest length of a sequence: every scaled base stays a double. */
#define PE_ROPE_LENGTH_MAX 1e12
#define PE_ROPE_FACTOR_MAX 1e6

extern const pe_param_set pe_rope_head_dim_params;  /* required */
extern const pe_param_set pe_rope_last_axis_params; /* head_dim, by default that of the vectors */
extern const pe_param_set pe_rope_shape_params;     /* rotary_dim, its share, rope_theta */
extern const pe_param_set pe_rope_theta_params;     /* rope_theta alone */
extern const pe_param_set pe_rope_type_params;      /* rope_type, factor and the lengths */
extern const pe_param_set pe_rope_length_params;    /* max_position_embeddings, seq_len alone */
extern const pe_param_set pe_rope_key_params;       /* what only some types read */
extern const pe_param_set pe_rope_pair_params;      /* freq_factors, pairing, offset */
extern const pe_param_set pe_rope_axis_params;      /* mrope, and axes with own frequencies */

/** What a rotation is, but for head_dim. */
#define PE_ROPE_SETS                                                                               \
    &pe_rope_shape_params, &pe_rope_type_params, &pe_rope_key_params, &pe_rope_pair_params,        \
        &pe_rope_axis_params

/** A row: factor, required or optional. */
#define PE_ROPE_FACTOR_ROW(is_required, otherwise)                                                 \
    PE_PARAM("factor", REAL, .required = (is_required), .optional = !(is_required), .min = 1,      \
             .max = PE_ROPE_FACTOR_MAX, .fallback_text = (otherwise),                              \
             .help = "The factor by which the context is stretched.",                              \
             .hint = "4 is four times the context, where others write a scale of 0.25",            \
             .example = "4")

#endif
