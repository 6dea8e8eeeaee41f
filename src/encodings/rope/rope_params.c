/* SPDX-License-Identifier: MIT */
/* rope_params.c - the sets of parameters that rope resources list. */
#include "encodings/rope/rope_params.h"

#include "encodings/rope/rope_mrope.h"

const char *const pe_rope_params_pairings[] = {
    [PE_PAIRING_INTERLEAVED] = "interleaved", [PE_PAIRING_HALF] = "half", NULL};

#define HEAD_DIM(is_required, otherwise)                                                           \
    {                                                                                              \
        .name = "head_dim", .kind = PE_KIND_INT, .required = (is_required),                        \
        .optional = !(is_required), .by_model = true, .min = 2, .max = 65536,                      \
        .fallback_text = (otherwise), .plan_work = PE_PLAN_WORK_POWER, .unit = "channels",         \
        .help = "Channels of a head.", .example = "128"                                            \
    }
static const pe_param head_dim_params[] = {HEAD_DIM(true, NULL)};
static const pe_param last_axis_params[] = {HEAD_DIM(false, "the last axis")};
const pe_param_set pe_rope_head_dim_params = {head_dim_params, PE_LEN(head_dim_params)};
const pe_param_set pe_rope_last_axis_params = {last_axis_params, PE_LEN(last_axis_params)};

enum { ROTARY_DIM, PARTIAL_ROTARY_FACTOR, ROPE_THETA };
static const pe_param shape_params[] = {
    [ROTARY_DIM] = {.name = "rotary_dim",
                    .kind = PE_KIND_INT,
                    .optional = true,
                    .min = 2,
                    .max = 65536,
                    .fallback_text = "int(head_dim * partial_rotary_factor)",
                    .unit = "channels",
                    .help = "Channels that rotate, from the first; even.",
                    .example = "64"},
    [PARTIAL_ROTARY_FACTOR] = {.name = "partial_rotary_factor",
                               .kind = PE_KIND_REAL,
                               .optional = true,
                               .min = 0,
                               .above_min = true,
                               .max = 1,
                               .fallback_text = "1",
                               .help = "Share of the channels that rotate.",
                               .example = "0.5"},
    [ROPE_THETA] = {.name = "rope_theta",
                    .kind = PE_KIND_REAL,
                    .min = 1,
                    .max = 1e12,
                    .fallback = 10000,
                    .help = "Base of the frequencies.",
                    .example = "10000"},
};
const pe_param_set pe_rope_shape_params = {shape_params, PE_LEN(shape_params)};
const pe_param_set pe_rope_theta_params = {&shape_params[ROPE_THETA], 1};

enum { ROPE_TYPE, FACTOR, MAX_POSITIONS, SEQ_LEN, ORIGINAL };
static const pe_param type_params[] = {
    [ROPE_TYPE] = {.name = "rope_type",
                   .kind = PE_KIND_CHOICE,
                   .choices = pe_rope_type_names,
                   .help = PE_ROPE_TYPES_HELP,
                   .example = "default"},
    [FACTOR] = PE_ROPE_FACTOR_ROW(false, NULL),
    [MAX_POSITIONS] = {.name = "max_position_embeddings",
                       .kind = PE_KIND_INT,
                       .optional = true,
                       .min = 1,
                       .max = PE_ROPE_LENGTH_MAX,
                       .unit = "tokens",
                       .help = "Context length of the model.",
                       .example = "4096"},
    [SEQ_LEN] = {.name = "seq_len",
                 .kind = PE_KIND_INT,
                 .optional = true,
                 .min = 1,
                 .max = PE_ROPE_LENGTH_MAX,
                 .fallback_text = "max_position_embeddings",
                 .unit = "tokens",
                 .help = "Length of the sequence, for types whose frequencies depend on it.",
                 .example = "8192"},
    [ORIGINAL] = {.name = "original_max_position_embeddings",
                  .kind = PE_KIND_INT,
                  .optional = true,
                  .min = 1,
                  .max = PE_ROPE_LENGTH_MAX,
                  .fallback_text = "max_position_embeddings",
                  .unit = "tokens",
                  .help = "Context length before it was stretched.",
                  .example = "4096"},
};
const pe_param_set pe_rope_type_params = {type_params, PE_LEN(type_params)};
const pe_param_set pe_rope_length_params = {&type_params[MAX_POSITIONS], 2};

/* Optional numbers; ABOVE_0 excludes 0. */
#define NUMBER(label, least, most, otherwise, about, say)                                          \
    {                                                                                              \
        .name = (label), .kind = PE_KIND_REAL, .optional = true, .min = (least), .max = (most),    \
        .fallback_text = (otherwise), .help = (about), .example = (say)                            \
    }
#define ABOVE_0(label, most, otherwise, about, say)                                                \
    {                                                                                              \
        .name = (label), .kind = PE_KIND_REAL, .optional = true, .above_min = true, .max = (most), \
        .fallback_text = (otherwise), .help = (about), .example = (say)                            \
    }
/* One number for each pair. */
#define LIST(label, about)                                                                         \
    {                                                                                              \
        .name = (label), .kind = PE_KIND_REAL_LIST, .optional = true, .min = 0.001, .max = 1e6,    \
        .list_max = 32768, .help = (about), .example = "1,1.5,2,4"                                 \
    }

static const pe_param key_params[] = {
    ABOVE_0("attention_factor", 1000, NULL,
            "Multiplies cosines and sines: yarn, longrope; derived by default.", "1.2"),
    ABOVE_0("beta_fast", 1e6, "32",
            "Turns over the original context above which a pair is kept: yarn, ntk_by_parts.",
            "32"),
    ABOVE_0("beta_slow", 1e6, "1",
            "Turns over the original context below which a pair is stretched fully.", "1"),
    NUMBER("mscale", 0, 100, NULL,
           "With mscale_all_dim, yarn's attention factor is their quotient.", "1"),
    NUMBER("mscale_all_dim", 0, 100, NULL, "See mscale; 0 counts as absent.", "0.5"),
    {.name = "truncate",
     .kind = PE_KIND_BOOL,
     .optional = true,
     .fallback = 1,
     .help = "Whether yarn rounds the bounds of its ramp outwards.",
     .example = "true"},
    ABOVE_0("low_freq_factor", 1e6, NULL,
            "Turns over the original context below which llama3 stretches.", "1"),
    ABOVE_0("high_freq_factor", 1e6, NULL,
            "Turns over the original context above which llama3 keeps a pair.", "4"),
    NUMBER("alpha", 1, PE_ROPE_FACTOR_MAX, NULL,
           "How far ntk_alpha grows the base: alpha^(d/(d - 2)).", "1000"),
    NUMBER("mixed_b", 0, 100, NULL,
           "How ntk_mixed spreads the stretch over the pairs; 0 is linear.", "0.625"),
    NUMBER("extrapolation_factor", 0, 100, "1",
           "How much of the kept frequencies yarn and part_ntk blend in.", "1"),
    NUMBER("ntk_factor", 0, 1, "1", "How much of the frequencies of ntk part_ntk blends in.", "1"),
    ABOVE_0("attn_factor", 1000, "1", "Multiplies the attention factor that yarn derives.", "1"),
    LIST("short_factor", "Divisors of longrope up to the original context. One for each pair."),
    LIST("long_factor", "Divisors of longrope beyond the original context. One for each pair."),
};
const pe_param_set pe_rope_key_params = {key_params, PE_LEN(key_params)};

static const pe_param pair_params[] = {
    LIST("freq_factors", "Divisors of the frequencies, with every type. One for each pair."),
    {.name = "pairing",
     .kind = PE_KIND_CHOICE,
     .choices = pe_rope_params_pairings,
     .help = "Which channels form pair i: interleaved (2i, 2i+1), half (i, i + rotary_dim/2).",
     .example = "interleaved"},
    {.name = "mrope_section",
     .kind = PE_KIND_REAL_LIST,
     .optional = true,
     .integers_only = true,
     .min = 0,
     .max = 32768,
     .list_max = PE_ROPE_AXES_MAX,
     .unit = "pairs",
     .help = "Multi-axis rotation: how many pairs turn by each axis of the positions, usually "
             "time, height and width; they sum to rotary_dim/2.",
     .example = "16,24,24"},
    {.name = "mrope_interleaved",
     .kind = PE_KIND_BOOL,
     .optional = true,
     .help = "Whether the axes take turns, as mrope_layout=interleaved says.",
     .example = "false"},
    {.name = "mrope_layout",
     .kind = PE_KIND_CHOICE,
     .optional = true,
     .choices = pe_rope_mrope_layouts,
     .fallback_text = "sections",
     .help = "Which pairs belong to which axis: sections (Qwen2-VL), interleaved (Qwen3-VL), ernie "
             "(sections h,w,t; h and w alternate, then t), bailing (the same of sections t,h,w), "
             "balanced (openPangu).",
     .example = "sections"},
};
const pe_param_set pe_rope_pair_params = {pair_params, PE_LEN(pair_params)};
