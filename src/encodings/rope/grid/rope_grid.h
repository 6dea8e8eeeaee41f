/* SPDX-License-Identifier: MIT */
/* rope_grid.h - rotations of the patches of an image by their row and column. */
#ifndef PE_ENCODINGS_ROPE_GRID_ROPE_GRID_H
#define PE_ENCODINGS_ROPE_GRID_ROPE_GRID_H

#include "encodings/rope/rope_axes.h"

enum { PE_GRID_ROW, PE_GRID_COLUMN, PE_GRID_AXES };

/** Where the patches of a request are. */
typedef struct pe_grid_patches {
    size_t height, width, merge;
    size_t count;              /* all frames */
    const pe_positions *given; /* [2, count]; NULL: those of the grid, in order */
} pe_grid_patches;

/** A request's convention, checked. */
typedef struct pe_grid {
    const struct pe_grid_convention *convention;
    size_t head_dim, pairs;
    double theta;
    pe_grid_patches patches; /* borrows */
} pe_grid;

extern const char *const pe_rope_grid_conventions[];

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
 *
 * Source    pixtral: huggingface/transformers at b4b5244c, models/pixtral, PixtralRotaryEmbedding.
 *           qwen2_vl: the same, vision_utils.py, get_vision_position_ids (merge blocks), and
 *           models/qwen2_vl, VisionRotaryEmbedding. eva02: baaivision/EVA at 8e966a91,
 *           EVA-02/asuka/rope.py, VisionRotaryEmbeddingFast at its own resolution; also the axial
 *           frequencies of lucidrains/rotary-embedding-torch at 8bb4643d. sam2:
 * facebookresearch/sam2 at 393ae336, sam2/modeling/position_encoding.py, compute_axial_cis. llama4:
 * vllm-project/ vllm at 10760a01, rotary_embedding/llama4_vision_rope.py. kimi: vllm at 97d4c384,
 *           models/moonvit.py, Rope2DPosEmb. dinov3: transformers at fd302075, models/dinov3_vit,
 *           DINOv3ViTRopePositionEmbedding, without augmentation.
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

/** Channels of a pair of this convention, unless pairing says otherwise. */
pe_pairing pe_rope_grid_pairing(const pe_grid *grid);

#define PE_GRID_SOURCE                                                                             \
    "pixtral, qwen2_vl: huggingface/transformers at b4b5244c9c7cdb80d0aaafdb8f35244612788532; "    \
    "eva02: baaivision/EVA at 8e966a91; sam2: facebookresearch/sam2 at 393ae336; llama4, kimi: "   \
    "vllm-project/vllm at 10760a01 and 97d4c384; dinov3: huggingface/transformers at fd302075"

#define PE_GRID_SIDE(label, fallback, what)                                                        \
    {                                                                                              \
        .name = (label), .kind = PE_KIND_INT, .optional = true, .min = 1, .max = 65536,            \
        .fallback_text = (fallback), .unit = "patches", .help = what " of the grid.",              \
        .example = "14"                                                                            \
    }

#define PE_GRID_HEAD_DIM                                                                           \
    .name = "head_dim", .kind = PE_KIND_INT, .min = 4, .max = 4096,                                \
    .plan_work = PE_PLAN_WORK_POWER, .unit = "channels",                                           \
    .help = "Channels of a head, a multiple of 4.", .example = "64"

#define PE_GRID_PARAMS                                                                             \
    {.name = "convention",                                                                         \
     .kind = PE_KIND_CHOICE,                                                                       \
     .choices = pe_rope_grid_conventions,                                                          \
     .help = "Which pairs turn by rows and which by columns, and how fast.",                       \
     .example = "qwen2_vl"},                                                                       \
        {.name = "rope_theta",                                                                     \
         .kind = PE_KIND_REAL,                                                                     \
         .optional = true,                                                                         \
         .min = 1,                                                                                 \
         .max = 1e12,                                                                              \
         .fallback_text = "10000; dinov3: 100",                                                    \
         .help = "Base of the frequencies.",                                                       \
         .example = "10000"},                                                                      \
        PE_GRID_SIDE("height", "required without positions", "Rows"),                              \
        PE_GRID_SIDE("width", "height", "Columns"),                                                \
        {.name = "frames",                                                                         \
         .kind = PE_KIND_INT,                                                                      \
         .optional = true,                                                                         \
         .min = 1,                                                                                 \
         .max = 65536,                                                                             \
         .fallback_text = "1",                                                                     \
         .help = "Frames of a video, one grid after the other.",                                   \
         .example = "1"},                                                                          \
        {.name = "spatial_merge_size",                                                             \
         .kind = PE_KIND_INT,                                                                      \
         .optional = true,                                                                         \
         .min = 1,                                                                                 \
         .max = 64,                                                                                \
         .fallback_text = "1",                                                                     \
         .unit = "patches",                                                                        \
         .help = "Patches come in square blocks of this side, row by row within each; 1: row by "  \
                 "row.",                                                                           \
         .example = "2"},                                                                          \
        {.name = "positions",                                                                      \
         .kind = PE_KIND_POSITIONS,                                                                \
         .optional = true,                                                                         \
         .two_axes = true,                                                                         \
         .integers_only = true,                                                                    \
         .fallback_text = "the patches of the grid",                                               \
         .unit = "patches",                                                                        \
         .help = "Rows and columns of patches in place of a grid: [2, n], in a query with a "      \
                 "semicolon between them.",                                                        \
         .example = "0,0,1,1;0,1,0,1"},                                                            \
        {.name = "dtype",                                                                          \
         .kind = PE_KIND_CHOICE,                                                                   \
         .choices = pe_plan_dtypes,                                                                \
         .help = "Element type of the numbers.",                                                   \
         .example = "float32"},                                                                    \
        PE_PARAM_NUMERICS_EXACT

#endif
