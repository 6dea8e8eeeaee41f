/* SPDX-License-Identifier: MIT */
/* rope_params.c - the sets of parameters that rope resources list. */
#include "encodings/rope/rope_params.h"

#include "encodings/rope/rope_mrope.h"

const char *const pe_rope_params_pairings[] = {
    [PE_PAIRING_INTERLEAVED] = "interleaved", [PE_PAIRING_HALF] = "half", NULL};

#define HEAD_DIM(is_required, otherwise)                                                           \
    PE_PARAM("head_dim", INT, .required = (is_required), .optional = !(is_required),               \
             .by_model = true, .min = 2, .max = 65536, .fallback_text = (otherwise),               \
             .plan_work = PE_PLAN_WORK_PRODUCT, .unit = "channels", .help = "Channels of a head.", \
             .example = "128")
static const pe_param head_dim_params[] = {HEAD_DIM(true, NULL)};
static const pe_param last_axis_params[] = {HEAD_DIM(false, "the last axis")};
const pe_param_set pe_rope_head_dim_params = {head_dim_params, PE_LEN(head_dim_params)};
const pe_param_set pe_rope_last_axis_params = {last_axis_params, PE_LEN(last_axis_params)};

enum { ROTARY_DIM, PARTIAL_ROTARY_FACTOR, ROPE_THETA };
static const pe_param shape_params[] = {
    [ROTARY_DIM] =
        PE_PARAM("rotary_dim", INT, .optional = true, .min = 2, .max = 65536,
                 .fallback_text = "int(head_dim * partial_rotary_factor)", .unit = "channels",
                 .help = "The number of channels that rotate. It is even. They are the first "
                         "channels, or those from rotary_offset on.",
                 .example = "64"),
    [PARTIAL_ROTARY_FACTOR] = PE_PARAM(
        "partial_rotary_factor", REAL, .optional = true, .min = 0, .above_min = true, .max = 1,
        .fallback_text = "1", .help = "The share of the channels that rotate.", .example = "0.5"),
    [ROPE_THETA] =
        PE_PARAM("rope_theta", REAL, .aliases = PE_NAMES("base"), .min = 1, .max = 1e12,
                 .fallback = 10000, .help = "Base of the frequencies.", .example = "10000"),
};
const pe_param_set pe_rope_shape_params = {shape_params, PE_LEN(shape_params)};
const pe_param_set pe_rope_theta_params = {&shape_params[ROPE_THETA], 1};

#define WORK(name, how, work) work,
static const uint16_t type_work[] = {PE_ROPE_TYPE_MAP(WORK)};
#undef WORK

enum { ROPE_TYPE, FACTOR, MAX_POSITIONS, SEQ_LEN, ORIGINAL };
#define LENGTH(label, otherwise, about, say)                                                       \
    PE_PARAM(label, INT, .optional = true, .min = 1, .max = PE_ROPE_LENGTH_MAX,                    \
             .fallback_text = (otherwise), .unit = "tokens", .help = (about), .example = (say))
static const pe_param type_params[] = {
    [ROPE_TYPE] =
        PE_PARAM("rope_type", CHOICE, .choices = pe_rope_type_names, .channel_work = type_work,
                 .help = PE_ROPE_TYPES_HELP, .example = "default"),
    [FACTOR] = PE_ROPE_FACTOR_ROW(false, NULL),
    [MAX_POSITIONS] =
        LENGTH("max_position_embeddings", NULL, "Context length of the model.", "4096"),
    [SEQ_LEN] = LENGTH(
        "seq_len", "max_position_embeddings",
        "The length of the sequence. It matters for rope types whose frequencies depend on it.",
        "8192"),
    [ORIGINAL] = LENGTH("original_max_position_embeddings", "max_position_embeddings",
                        "The context length before it was stretched.", "4096"),
};
const pe_param_set pe_rope_type_params = {type_params, PE_LEN(type_params)};
const pe_param_set pe_rope_length_params = {&type_params[MAX_POSITIONS], 2};

/* Optional numbers; ABOVE_0 excludes 0. */
#define NUMBER(label, least, most, otherwise, about, say)                                          \
    PE_PARAM(label, REAL, .optional = true, .min = (least), .max = (most),                         \
             .fallback_text = (otherwise), .help = (about), .example = (say))
#define ABOVE_0(label, most, otherwise, about, say)                                                \
    PE_PARAM(label, REAL, .optional = true, .above_min = true, .max = (most),                      \
             .fallback_text = (otherwise), .help = (about), .example = (say))
/* One number for each pair. */
#define LIST(label, about)                                                                         \
    PE_PARAM(label, REAL_LIST, .optional = true, .min = 0.001, .max = 1e6, .list_max = 32768,      \
             .help = (about), .example = "1,1.5,2,4")

static const pe_param key_params[] = {
    ABOVE_0("attention_factor", 1000, NULL,
            "The factor of cosines and sines, for yarn and longrope. By default it is derived.",
            "1.2"),
    ABOVE_0("beta_fast", 1e6, "32",
            "For yarn and ntk_by_parts: a pair with more turns than this over the original context "
            "keeps its frequency.",
            "32"),
    ABOVE_0("beta_slow", 1e6, "1",
            "For yarn and ntk_by_parts: a pair with fewer turns than this over the original "
            "context is stretched fully.",
            "1"),
    NUMBER("mscale", 0, 100, NULL,
           "For yarn, with mscale_all_dim: the attention factor is (1 + 0.1 mscale ln(factor)) / "
           "(1 + 0.1 mscale_all_dim ln(factor)).",
           "1"),
    NUMBER("mscale_all_dim", 0, 100, NULL, "For yarn, with mscale. 0 counts as absent.", "0.5"),
    PE_PARAM("truncate", BOOL, .optional = true, .fallback = 1,
             .help = "Does yarn round the bounds of its ramp outwards?", .example = "true"),
    ABOVE_0("low_freq_factor", 1e6, NULL,
            "For llama3: a pair with fewer turns than this over the original context is stretched "
            "fully.",
            "1"),
    ABOVE_0("high_freq_factor", 1e6, NULL,
            "For llama3: a pair with more turns than this over the original context keeps its "
            "frequency.",
            "4"),
    NUMBER("alpha", 1, PE_ROPE_FACTOR_MAX, NULL,
           "For ntk_alpha: the base is multiplied by alpha^(d/(d - 2)).", "1000"),
    NUMBER("mixed_b", 0, 100, NULL,
           "For ntk_mixed: how the stretch is spread over the pairs. 0 is linear.", "0.625"),
    NUMBER(
        "extrapolation_factor", 0, 100, "1",
        "For yarn and part_ntk: it multiplies the share of the unscaled frequencies in the blend.",
        "1"),
    NUMBER("ntk_factor", 0, 1, "1",
           "For part_ntk: it multiplies the share of the frequencies of ntk in the blend.", "1"),
    ABOVE_0("attn_factor", 1000, "1", "For yarn: it multiplies the derived attention factor.", "1"),
    LIST("short_factor",
         "For longrope: the divisors up to the original context, one for each pair."),
    LIST("long_factor",
         "For longrope: the divisors beyond the original context, one for each pair."),
};
const pe_param_set pe_rope_key_params = {key_params, PE_LEN(key_params)};

/* A power, or two, for each pair. */
static const uint16_t axes_work[] = {640};
static const uint16_t exponent_work[] = {320};

/* One number for each axis; the rest are members of the row. */
#define AXES(label, least, most, ...)                                                              \
    PE_PARAM(label, REAL_LIST, .optional = true, .min = (least), .max = (most),                    \
             .list_max = PE_ROPE_AXES_MAX, __VA_ARGS__)

static const pe_param pair_params[] = {
    LIST("freq_factors",
         "Divisors of the frequencies, one for each pair. Every rope type accepts them."),
    PE_PARAM("lerope_alpha", REAL_LIST, .optional = true, .min = -6.9, .max = 6.9,
             .list_max = 32768, .channel_work = exponent_work,
             .help = "LeRoPE (Mistral Large 4): the logarithm of what each frequency is multiplied "
                     "by, one for each pair. Every rope type accepts them.",
             .example = "0,0.1,0,-0.1"),
    PE_PARAM("pairing", CHOICE, .choices = pe_rope_params_pairings,
             .help = "The channels that form pair i. interleaved: 2i and 2i+1. half: i and i + "
                     "rotary_dim/2.",
             .example = "interleaved"),
    PE_PARAM(
        "rotary_offset", INT, .optional = true, .min = 0, .max = 65534, .fallback_text = "0",
        .unit = "channels",
        .help = "The first channel that rotates; those before it pass through. DeepSeek-V4 rotates "
                "the last channels of a head: head_dim - rotary_dim. Tables do not depend on it.",
        .example = "0"),
};
const pe_param_set pe_rope_pair_params = {pair_params, PE_LEN(pair_params)};

static const pe_param axis_params[] = {
    AXES("mrope_section", 0, 32768, .integers_only = true, .unit = "pairs",
         .help = "How many pairs rotate by each axis of the positions. The axes are usually time, "
                 "height and width. The numbers sum to rotary_dim/2. The pairs share one set of "
                 "frequencies; axes_dims is for those that do not.",
         .example = "16,24,24"),
    PE_PARAM("mrope_interleaved", BOOL, .optional = true,
             .help = "Do the pairs of the axes alternate? true means mrope_layout=interleaved.",
             .example = "false"),
    PE_PARAM("mrope_layout", CHOICE, .optional = true, .choices = pe_rope_mrope_layouts,
             .fallback_text = "sections",
             .help =
                 "The pairs of each axis. sections: one run for each axis (Qwen2-VL). interleaved: "
                 "the axes alternate (Qwen3-VL; a fourth section takes what is left, as in ggml). "
                 "ernie: sections are h,w,t; h and w alternate, then t follows. bailing: the same "
                 "order, with sections t,h,w. balanced: as openPangu has it.",
             .example = "sections"),
    AXES("axes_dims", 2, 65536, .integers_only = true, .channel_work = axes_work,
         .unit = "channels",
         .help = "The channels that rotate by each axis of the positions. Each axis has "
                 "frequencies of its own: rope_theta^(-2j/d), d its channels. The numbers are even "
                 "and sum to rotary_dim. FLUX has 16,56,56.",
         .example = "16,56,56"),
    AXES("axis_order", 0, PE_ROPE_AXES_MAX - 1, .integers_only = true, .fallback_text = "0,1,2,…",
         .help = "With axes_dims: the row of positions that each of its numbers stands for. Every "
                 "row is named once.",
         .example = "0,1,2"),
    AXES("axes_theta", 1, 1e12, .fallback_text = "rope_theta for each",
         .help = "With axes_dims: the base of the frequencies of each axis.",
         .example = "10000,10000,10000"),
    AXES("axes_scale", 1, PE_ROPE_FACTOR_MAX, .fallback_text = "1 for each",
         .help = "With axes_dims: how far the context of each axis is stretched. The base of an "
                 "axis is multiplied by s^(d/(d - 2)), as rope_type ntk does. Cosmos has 2,1,1.",
         .example = "1,1,1"),
};
const pe_param_set pe_rope_axis_params = {axis_params, PE_LEN(axis_params)};
