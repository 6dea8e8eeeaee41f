/* SPDX-License-Identifier: MIT */
/* rope_grid.h - rotations of the patches of an image by their row and column. */
#ifndef PE_ENCODINGS_ROPE_GRID_ROPE_GRID_H
#define PE_ENCODINGS_ROPE_GRID_ROPE_GRID_H

#include "encodings/rope/rope_axes.h"
#include "plan/common_params.h"

enum { PE_GRID_ROW, PE_GRID_COLUMN, PE_GRID_AXES };

/** How a model rotates patches. */
typedef struct pe_grid_convention {
    size_t first;    /* the axis of the first pair */
    bool alternate;  /* pairs of the axes in turn; else one half after the other */
    bool split;      /* the axes share one set of frequencies: even ones and odd ones */
    bool normalized; /* positions are 2 pi times a number from -1 to 1, of the middle of a patch */
    bool pixel;      /* from -1, the first patch, to 1, the last; frequencies are linear */
    bool apart;      /* each axis turns its own half of the channels */
    int64_t origin;  /* of rows and columns */
    pe_pairing pairing;
    double theta;
} pe_grid_convention;

/** Parts of a head within which its pairs lie: 1, or one for each axis. */
static inline size_t pe_rope_grid_parts(const pe_grid_convention *convention)
{
    return convention->apart ? PE_GRID_AXES : 1;
}

/** Where the patches of a request are. */
typedef struct pe_grid_patches {
    size_t height, width, merge;
    size_t count;              /* all frames */
    const pe_positions *given; /* [2, count]; NULL: those of the grid, in order */
} pe_grid_patches;

/** A request's convention, checked. */
typedef struct pe_grid {
    const pe_grid_convention *convention;
    size_t head_dim, pairs;
    double theta, max_freq;  /* of pixel max_freq, of others theta */
    pe_grid_patches patches; /* borrows */
} pe_grid;

/**
 * Read convention, rope_theta, height, width, frames, spatial_merge_size and positions, and fill in
 * what they imply. head_dim is present.
 *
 * Pair p of a patch turns by its row or its column, r, times theta_j = rope_theta^(-4j/d), d =
 * head_dim:
 *
 *     pixtral   rows: the even of rope_theta^(-2i/d); then columns: the odd
 *     qwen2_vl  rows: theta_j; then columns: theta_j
 *     eva02     the same; pairs are interleaved channels
 *     sam2      columns: theta_j; then rows: theta_j
 *     llama4    the same, and both count from 1
 *     kimi      column and row in turn, each with theta_j
 *     dinov3    as qwen2_vl with 2 pi ((2r + 1)/n - 1) in place of r, n the height or the width
 *     gemma4    as sam2; each axis turns its own half of the channels, pairs one quarter apart
 *     step3     as sam2; pairs are half a head apart
 *     inkling2  as llama4
 *     neomme    row and column in turn, with the next of rope_theta^(-2i/d) each
 *     pixel     rows, then columns: 2r/(n - 1) - 1, times pi (1 + j (max_freq/2 - 1)/(d/4 - 1))
 *
 * Source    pixtral: huggingface/transformers at b4b5244c, models/pixtral, PixtralRotaryEmbedding.
 *           qwen2_vl: the same, vision_utils.py, get_vision_position_ids (merge blocks), and
 *           models/qwen2_vl, VisionRotaryEmbedding. eva02: baaivision/EVA at 8e966a91,
 *           EVA-02/asuka/rope.py, VisionRotaryEmbeddingFast at its own resolution; also the axial
 *           frequencies of lucidrains/rotary-embedding-torch at 8bb4643d.
 *           sam2: facebookresearch/sam2 at 393ae336, sam2/modeling/position_encoding.py,
 *           compute_axial_cis. llama4: vllm-project/vllm at 10760a01,
 *           rotary_embedding/llama4_vision_rope.py. kimi: vllm at 97d4c384, models/moonvit.py,
 *           Rope2DPosEmb. dinov3: transformers at fd302075, models/dinov3_vit,
 *           DINOv3ViTRopePositionEmbedding, without augmentation.
 *           gemma4, step3, inkling2, neomme: transformers v5.23.0, models/gemma4,
 *           Gemma4VisionRotaryEmbedding, models/step3p7, models/inkling2, models/neomme. pixel:
 *           lucidrains/rotary-embedding-torch, freqs_for="pixel", get_axial_freqs; timm v1.0.31,
 *           layers/pos_embed_sincos.py, in_pixels.
 * Errors    INVALID_PARAMETER, MISSING_PARAMETER.
 */
pe_status pe_rope_grid_read(pe_values *values, pe_grid *out, pe_problem *why) PE_MUST_CHECK;

/** Which axis and frequency of the set each pair has; free. NULL when memory ran out. */
pe_rope_axes *pe_rope_grid_axes(const pe_grid *grid);
pe_status pe_rope_grid_wave(const pe_grid *grid, pe_tables *tables, pe_shared_wave *out,
                            pe_problem *why) PE_MUST_CHECK;

/** The row or column of patch k, and what its frequencies are multiplied by. */
double pe_rope_grid_place(const pe_grid_patches *patches, size_t axis, size_t k);
double pe_rope_grid_position(const pe_grid *grid, size_t axis, size_t k);

/** The positions [2, patches] that frequencies are multiplied by: of rows, then of columns. scaled:
 * those that theta_j is. */
pe_status pe_rope_grid_positions(const pe_grid *grid, bool scaled, pe_positions *out,
                                 pe_problem *why) PE_MUST_CHECK;

/** The values of rope/table that turn vectors so, with axes_dims (pe_resource.turned). */
pe_status pe_rope_grid_turned(pe_values *values, pe_values *out, uint32_t **order,
                              pe_problem *why) PE_MUST_CHECK;

/** Of a row that has each number twice, how many stand behind one another before they come again
 * (pe_resource.run). */
size_t pe_rope_grid_run(const pe_values *values, size_t pairs);
#define PE_GRID_SOURCE                                                                             \
    "pixtral, qwen2_vl: huggingface/transformers at b4b5244c9c7cdb80d0aaafdb8f35244612788532; "    \
    "eva02: baaivision/EVA at 8e966a91; sam2: facebookresearch/sam2 at 393ae336; llama4, kimi: "   \
    "vllm-project/vllm at 10760a01 and 97d4c384; dinov3: huggingface/transformers at fd302075; "   \
    "gemma4, step3, inkling2, neomme: huggingface/transformers v5.23.0; pixel: "                   \
    "lucidrains/rotary-embedding-torch"

extern const pe_param_set pe_rope_grid_params; /* convention, rope_theta, the grid or positions */

/** A row: head_dim, required or that of the vectors. */
#define PE_ROPE_GRID_HEAD_DIM(is_required, otherwise)                                              \
    PE_PARAM("head_dim", INT, .required = (is_required), .by_model = (is_required),                \
             .optional = !(is_required), .min = 4, .max = 4096, .fallback_text = (otherwise),      \
             .plan_work = PE_PLAN_WORK_POWER, .unit = "channels",                                  \
             .help = "Channels of a head, a multiple of 4.", .example = "64")

#endif
