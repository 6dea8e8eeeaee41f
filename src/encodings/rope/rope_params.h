/* SPDX-License-Identifier: MIT */
/* rope_params.h - the rows of the parameters that rope resources share. */
#ifndef PE_ENCODINGS_ROPE_ROPE_PARAMS_H
#define PE_ENCODINGS_ROPE_ROPE_PARAMS_H

#include "encodings/rope/rope.h"
#include "encodings/rope/rope_mrope.h"

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

#define PE_ROPE_PARAM_HEAD_DIM                                                                     \
    .name = "head_dim", .kind = PE_KIND_INT, .by_model = true, .min = 2, .max = 65536,             \
    .plan_work = PE_PLAN_WORK_POWER, .unit = "channels", .help = "Channels of a head.",            \
    .example = "128"

#define PE_ROPE_PARAM_THETA                                                                        \
    {                                                                                              \
        .name = "rope_theta", .kind = PE_KIND_REAL, .min = 1, .max = 1e12, .fallback = 10000,      \
        .help = "Base of the frequencies.", .example = "10000"                                     \
    }
#define PE_ROPE_PARAM_FACTOR                                                                       \
    .name = "factor", .kind = PE_KIND_REAL, .min = 1, .max = PE_ROPE_FACTOR_MAX,                   \
    .help = "How many times the context is stretched.", .example = "4"
#define PE_ROPE_PARAM_MAX_POSITIONS                                                                \
    {                                                                                              \
        .name = "max_position_embeddings", .kind = PE_KIND_INT, .optional = true, .min = 1,        \
        .max = PE_ROPE_LENGTH_MAX, .unit = "tokens", .help = "Context length of the model.",       \
        .example = "4096"                                                                          \
    }
#define PE_ROPE_PARAM_SEQ_LEN                                                                      \
    {                                                                                              \
        .name = "seq_len", .kind = PE_KIND_INT, .optional = true, .min = 1,                        \
        .max = PE_ROPE_LENGTH_MAX, .fallback_text = "max_position_embeddings", .unit = "tokens",   \
        .help = "Length of the sequence, for types whose frequencies depend on it.",               \
        .example = "8192"                                                                          \
    }

#define PE_ROPE_PARAM_OPTIONAL(label, type, least, above, most, otherwise, about, say)             \
    {                                                                                              \
        .name = (label), .kind = (type), .optional = true, .min = (least), .above_min = (above),   \
        .max = (most), .fallback_text = (otherwise), .help = (about), .example = (say)             \
    }
/* one number for each pair */
#define PE_ROPE_PARAM_LIST(label, about)                                                           \
    {                                                                                              \
        .name = (label), .kind = PE_KIND_REAL_LIST, .optional = true, .min = 0.001, .max = 1e6,    \
        .list_max = 32768, .help = (about), .example = "1,1.5,2,4"                                 \
    }

/** Pairs that turn by positions on several axes: rope_mrope.c. */
#define PE_ROPE_MROPE_PARAMS                                                                       \
    {.name = "mrope_section",                                                                      \
     .kind = PE_KIND_REAL_LIST,                                                                    \
     .optional = true,                                                                             \
     .integers_only = true,                                                                        \
     .min = 0,                                                                                     \
     .max = 32768,                                                                                 \
     .list_max = PE_ROPE_AXES_MAX,                                                                 \
     .unit = "pairs",                                                                              \
     .help = "Multi-axis rotation: how many pairs turn by each axis of the positions, usually "    \
             "time, height and width; they sum to rotary_dim/2.",                                  \
     .example = "16,24,24"},                                                                       \
        {.name = "mrope_interleaved",                                                              \
         .kind = PE_KIND_BOOL,                                                                     \
         .optional = true,                                                                         \
         .help = "Whether the axes take turns, as mrope_layout=interleaved says.",                 \
         .example = "false"},                                                                      \
    {                                                                                              \
        .name = "mrope_layout", .kind = PE_KIND_CHOICE, .optional = true,                          \
        .choices = pe_rope_mrope_layouts, .fallback_text = "sections",                             \
        .help = "Which pairs belong to which axis: sections (Qwen2-VL), interleaved (Qwen3-VL), "  \
                "ernie (sections h,w,t; h and w alternate, then t), bailing (the same of "         \
                "sections t,h,w), balanced (openPangu).",                                          \
        .example = "sections"                                                                      \
    }

/** The dimensions and the base. */
#define PE_ROPE_SHAPE_PARAMS                                                                       \
    PE_PARAM_MODEL,                                                                                \
        {.name = "rotary_dim",                                                                     \
         .kind = PE_KIND_INT,                                                                      \
         .optional = true,                                                                         \
         .min = 2,                                                                                 \
         .max = 65536,                                                                             \
         .fallback_text = "int(head_dim * partial_rotary_factor)",                                 \
         .unit = "channels",                                                                       \
         .help = "Channels that rotate, from the first; even.",                                    \
         .example = "64"},                                                                         \
        {.name = "partial_rotary_factor",                                                          \
         .kind = PE_KIND_REAL,                                                                     \
         .optional = true,                                                                         \
         .min = 0,                                                                                 \
         .above_min = true,                                                                        \
         .max = 1,                                                                                 \
         .fallback_text = "1",                                                                     \
         .help = "Share of the channels that rotate.",                                             \
         .example = "0.5"},                                                                        \
        PE_ROPE_PARAM_THETA

/** Keys that only some types read. */
#define PE_ROPE_KEY_PARAMS                                                                         \
    {.name = "attention_factor",                                                                   \
     .kind = PE_KIND_REAL,                                                                         \
     .optional = true,                                                                             \
     .min = 0,                                                                                     \
     .above_min = true,                                                                            \
     .max = 1000,                                                                                  \
     .help = "Multiplies cosines and sines: yarn, longrope; derived by default.",                  \
     .example = "1.2"},                                                                            \
        PE_ROPE_PARAM_OPTIONAL(                                                                    \
            "beta_fast", PE_KIND_REAL, 0, true, 1e6, "32",                                         \
            "Turns over the original context above which a pair is kept: yarn, ntk_by_parts.",     \
            "32"),                                                                                 \
        PE_ROPE_PARAM_OPTIONAL(                                                                    \
            "beta_slow", PE_KIND_REAL, 0, true, 1e6, "1",                                          \
            "Turns over the original context below which a pair is stretched fully.", "1"),        \
        PE_ROPE_PARAM_OPTIONAL("mscale", PE_KIND_REAL, 0, false, 100, NULL,                        \
                               "With mscale_all_dim, yarn's attention factor is their quotient.",  \
                               "1"),                                                               \
        PE_ROPE_PARAM_OPTIONAL("mscale_all_dim", PE_KIND_REAL, 0, false, 100, NULL,                \
                               "See mscale; 0 counts as absent.", "0.5"),                          \
        {.name = "truncate",                                                                       \
         .kind = PE_KIND_BOOL,                                                                     \
         .optional = true,                                                                         \
         .fallback = 1,                                                                            \
         .help = "Whether yarn rounds the bounds of its ramp outwards.",                           \
         .example = "true"},                                                                       \
        PE_ROPE_PARAM_OPTIONAL("low_freq_factor", PE_KIND_REAL, 0, true, 1e6, NULL,                \
                               "Turns over the original context below which llama3 stretches.",    \
                               "1"),                                                               \
        PE_ROPE_PARAM_OPTIONAL("high_freq_factor", PE_KIND_REAL, 0, true, 1e6, NULL,               \
                               "Turns over the original context above which llama3 keeps a pair.", \
                               "4"),                                                               \
        PE_ROPE_PARAM_OPTIONAL("alpha", PE_KIND_REAL, 1, false, PE_ROPE_FACTOR_MAX, NULL,          \
                               "How far ntk_alpha grows the base: alpha^(d/(d - 2)).", "1000"),    \
        PE_ROPE_PARAM_OPTIONAL("mixed_b", PE_KIND_REAL, 0, false, 100, NULL,                       \
                               "How ntk_mixed spreads the stretch over the pairs; 0 is linear.",   \
                               "0.625"),                                                           \
        PE_ROPE_PARAM_OPTIONAL("extrapolation_factor", PE_KIND_REAL, 0, false, 100, "1",           \
                               "How much of the kept frequencies yarn and part_ntk blend in.",     \
                               "1"),                                                               \
        PE_ROPE_PARAM_OPTIONAL("ntk_factor", PE_KIND_REAL, 0, false, 1, "1",                       \
                               "How much of the frequencies of ntk part_ntk blends in.", "1"),     \
        PE_ROPE_PARAM_OPTIONAL("attn_factor", PE_KIND_REAL, 0, true, 1000, "1",                    \
                               "Multiplies the attention factor that yarn derives.", "1"),         \
        PE_ROPE_PARAM_LIST("short_factor",                                                         \
                           "Divisors of longrope up to the original context. One for each pair."), \
        PE_ROPE_PARAM_LIST("long_factor",                                                          \
                           "Divisors of longrope beyond the original context. One for each pair.")

#define PE_ROPE_PARAMS                                                                             \
    PE_ROPE_SHAPE_PARAMS,                                                                          \
        {.name = "rope_type",                                                                      \
         .kind = PE_KIND_CHOICE,                                                                   \
         .choices = pe_rope_type_names,                                                            \
         .help =                                                                                   \
             "How the frequencies are scaled for contexts longer than trained. With s = factor, "  \
             "d = rotary_dim: linear theta/s; ntk base b s^(d/(d-2)), ntk_alpha the same with "    \
             "alpha, "                                                                             \
             "dynamic with 1 + s (seq_len - max)/max; ntk_fixed (b s)^(-2i/d) / s^(2/d); "         \
             "ntk_mixed theta / exp(a (i+1)^mixed_b); yarn, part_ntk ramps over the pairs; "       \
             "llama3, ntk_by_parts by turns over the original context; longrope lists of "         \
             "divisors; "                                                                          \
             "proportional: a share of the pairs turns.",                                          \
         .example = "default"},                                                                    \
        {PE_ROPE_PARAM_FACTOR, .optional = true}, PE_ROPE_PARAM_MAX_POSITIONS,                     \
        PE_ROPE_PARAM_SEQ_LEN,                                                                     \
        {.name = "original_max_position_embeddings",                                               \
         .kind = PE_KIND_INT,                                                                      \
         .optional = true,                                                                         \
         .min = 1,                                                                                 \
         .max = PE_ROPE_LENGTH_MAX,                                                                \
         .fallback_text = "max_position_embeddings",                                               \
         .unit = "tokens",                                                                         \
         .help = "Context length before it was stretched.",                                        \
         .example = "4096"},                                                                       \
        PE_ROPE_KEY_PARAMS,                                                                        \
        PE_ROPE_PARAM_LIST("freq_factors",                                                         \
                           "Divisors of the frequencies, with every type. One for each pair."),    \
        {.name = "pairing",                                                                        \
         .kind = PE_KIND_CHOICE,                                                                   \
         .choices = pe_rope_params_pairings,                                                       \
         .help =                                                                                   \
             "Which channels form pair i: interleaved (2i, 2i+1), half (i, i + rotary_dim/2).",    \
         .example = "interleaved"},                                                                \
        PE_ROPE_MROPE_PARAMS

#endif
