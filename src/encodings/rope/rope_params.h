/* SPDX-License-Identifier: MIT */
/* rope_params.h - the sets of parameters that rope resources list. */
#ifndef PE_ENCODINGS_ROPE_ROPE_PARAMS_H
#define PE_ENCODINGS_ROPE_ROPE_PARAMS_H

#include "encodings/rope/rope.h"
#include "plan/common_params.h"

/** Where the rotation and its types of scaling come from. */
#define PE_ROPE_SOURCE                                                                             \
    "Su et al. 2021, arXiv:2104.09864, equations 15 and 34; linear: Chen et al. 2023, "            \
    "arXiv:2306.15595; ntk: bloc97 2023; dynamic: emozilla 2023; yarn: Peng et al. 2023, "         \
    "arXiv:2309.00071; longrope: Ding et al. 2024, arXiv:2402.13753; llama3: Llama 3.1 2024; "     \
    "freq_factors: ggml-org/ggml at d99724f2; all as in huggingface/transformers "                 \
    "src/transformers/modeling_rope_utils.py at b4b5244c9c7cdb80d0aaafdb8f35244612788532; "        \
    "ntk_alpha, ntk_fixed, ntk_mixed: vllm-project/vllm at cf027b86; ntk_by_parts: Peng et al. "   \
    "2023, definition 2; part_ntk: bloc97 in jquesnelle/yarn at 995db5b5"

/** Choices of pairing, in the order of pe_pairing. */
extern const char *const pe_rope_params_pairings[];

/** Most a sequence length may be: keeps every base a double. */
#define PE_ROPE_LENGTH_MAX 1e12
#define PE_ROPE_FACTOR_MAX 1e6

extern const pe_param_set pe_rope_head_dim_params;  /* required */
extern const pe_param_set pe_rope_last_axis_params; /* head_dim, by default that of the vectors */
extern const pe_param_set pe_rope_shape_params;     /* rotary_dim, its share, rope_theta */
extern const pe_param_set pe_rope_theta_params;     /* rope_theta alone */
extern const pe_param_set pe_rope_type_params;      /* rope_type, factor and the lengths */
extern const pe_param_set pe_rope_length_params;    /* max_position_embeddings, seq_len alone */
extern const pe_param_set pe_rope_key_params;       /* what only some types read */
extern const pe_param_set pe_rope_pair_params;      /* freq_factors, pairing, mrope */

/** A row: factor, required or optional. */
#define PE_ROPE_FACTOR_ROW(is_required, otherwise)                                                 \
    {                                                                                              \
        .name = "factor", .kind = PE_KIND_REAL, .required = (is_required),                         \
        .optional = !(is_required), .min = 1, .max = PE_ROPE_FACTOR_MAX,                           \
        .fallback_text = (otherwise), .help = "How many times the context is stretched.",          \
        .example = "4"                                                                             \
    }

#endif
