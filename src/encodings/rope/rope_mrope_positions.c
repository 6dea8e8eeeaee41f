/* SPDX-License-Identifier: MIT */
/* rope_mrope_positions.c - positions on three axes of a sequence with images and videos. */
#include "encodings/registry.h"
#include "encodings/rope/rope_mrope_placing.h"
#include "plan/common_params.h"
#include "plan/plan.h"

#include <stdlib.h>

enum { GRIDS_MAX = 4096, RUNS_MAX = 16384 };

static const char *const variants[] = {[PE_VARIANT_MROPE] = "mrope",
                                       [PE_VARIANT_XDROPE] = "xdrope",
                                       [PE_VARIANT_HY_V4_VL] = "hy_v4_vl",
                                       [PE_VARIANT_FLUX] = "flux",
                                       [PE_VARIANT_FLUX2] = "flux2",
                                       [PE_VARIANT_QWEN_IMAGE] = "qwen_image",
                                       [PE_VARIANT_Z_IMAGE] = "z_image",
                                       [PE_VARIANT_WAN] = "wan",
                                       [PE_VARIANT_HUNYUAN_VIDEO] = "hunyuan_video",
                                       NULL};
static const char *const frames_names[] = {
    [PE_FRAMES_TOGETHER] = "together", [PE_FRAMES_APART] = "apart", NULL};
static const char *const after_names[] = {
    [PE_AFTER_HIGHEST] = "highest", [PE_AFTER_SIZE] = "size", NULL};
static const char *const dtypes[] = {
    [PE_POSITIONS_INT32] = "int32", [PE_POSITIONS_FLOAT32] = "float32", NULL};

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    pe_mrope_places_fill(plan->state, region->first, region->units, out);
    return PE_OK;
}

/* ---- checks ---- */

/* The rows of grids of a kind; a video whose frames are apart counts for each of them. */
static size_t count_rows(const pe_values *values, const char *name)
{
    const pe_value *rows = pe_values_find(values, name);
    const size_t merge = pe_values_size(values, "temporal_merge_size");
    if (name != pe_mrope_run_grids[PE_RUN_VIDEO] ||
        pe_values_choice(values, "video_frames") == PE_FRAMES_TOGETHER)
        return rows->list_length / PE_GRID_ROW;
    size_t frames = 0;
    for (size_t i = 0; i < rows->list_length; i += PE_GRID_ROW)
        frames += (size_t)rows->list[i] / merge;
    return frames;
}

static pe_status check_grids(const pe_values *values, size_t kind, size_t n, pe_problem *why)
{
    const size_t grids = count_rows(values, pe_mrope_run_grids[kind]);
    if (grids == n)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, pe_mrope_run_grids[kind],
                   "%s must have a row for each %s of token_runs%s: %zu, got %zu",
                   pe_mrope_run_grids[kind], pe_mrope_run_kinds[kind],
                   kind == PE_RUN_VIDEO &&
                           pe_values_choice(values, "video_frames") == PE_FRAMES_APART
                       ? ", or a frame where frames are apart"
                       : "",
                   n, grids);
}

static pe_status check_seconds(const pe_values *values, size_t videos, pe_problem *why)
{
    pe_problem mistake;
    pe_status status = PE_OK;
    const pe_value *seconds = pe_values_find(values, "second_per_grid_ts");
    if (!seconds->present)
        return PE_OK;
    if (seconds->list_length != videos)
        status = pe_fail(
            why, PE_INVALID_PARAMETER, "second_per_grid_ts",
            "second_per_grid_ts must have a number for each video of token_runs: %zu, got %zu",
            videos, seconds->list_length);
    if (pe_values_present(values, "tokens_per_second"))
        return status;
    return PE_ALSO(status, pe_fail(&mistake, PE_MISSING_PARAMETER, "tokens_per_second",
                                   "tokens_per_second is required beside second_per_grid_ts"));
}

static bool counts_frames(const pe_values *values)
{
    return pe_values_choice(values, "variant") >= PE_VARIANT_HY_V4_VL;
}

/* What only some variants and kinds of runs know. */
static pe_status check_variant(const pe_values *values, const size_t *counts, pe_problem *why)
{
    if (pe_values_choice(values, "variant") == PE_VARIANT_XDROPE &&
        counts[PE_RUN_TEXT] + counts[PE_RUN_IMAGE] != pe_values_find(values, "token_runs")->runs.n)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "token_runs must be text and image with variant xdrope");
    if (counts_frames(values) &&
        counts[PE_RUN_TEXT] + counts[PE_RUN_IMAGE] + counts[PE_RUN_VIDEO] !=
            pe_values_find(values, "token_runs")->runs.n)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "token_runs must be text, image and video with variant %s",
                       variants[pe_values_choice(values, "variant")]);
    if (counts_frames(values) && (pe_values_present(values, "tokens_per_second") ||
                                  pe_values_choice(values, "after_grid") != PE_AFTER_HIGHEST ||
                                  pe_values_choice(values, "video_frames") == PE_FRAMES_APART))
        return pe_fail(why, PE_INVALID_PARAMETER, "variant",
                       "variant %s counts frames: tokens_per_second, after_grid and video_frames "
                       "do not go with it",
                       variants[pe_values_choice(values, "variant")]);
    if (pe_values_present(values, "second_per_grid_ts") &&
        pe_values_choice(values, "video_frames") == PE_FRAMES_APART)
        return pe_fail(why, PE_INVALID_PARAMETER, "second_per_grid_ts",
                       "second_per_grid_ts does not go with video_frames apart, where the text "
                       "between frames tells the time");
    if (pe_values_present(values, "seconds_per_chunk") &&
        !pe_values_present(values, "tokens_per_second"))
        return pe_fail(why, PE_MISSING_PARAMETER, "tokens_per_second",
                       "tokens_per_second is required beside seconds_per_chunk");
    return PE_OK;
}

/* ---- planning ---- */

/* Without token_runs the sequence is each image, then each video of the grids. Text between frames
 * is in no grid. */
static pe_status derive_runs(pe_values *values, pe_problem *why)
{
    pe_value *value = pe_values_find(values, "token_runs");
    if (value->present)
        return PE_OK;
    const size_t images = count_rows(values, pe_mrope_run_grids[PE_RUN_IMAGE]);
    const size_t videos = count_rows(values, pe_mrope_run_grids[PE_RUN_VIDEO]);
    const bool apart = pe_values_choice(values, "video_frames") == PE_FRAMES_APART;
    if (images + videos == 0 || (apart && videos > 0))
        return pe_fail(why, PE_MISSING_PARAMETER, "token_runs", "token_runs is required%s: %s",
                       apart ? " where frames are apart" : ", or image_grid_thw, or video_grid_thw",
                       value->param->help);
    value->runs.list = calloc(images + videos, sizeof *value->runs.list);
    if (value->runs.list == NULL)
        return pe_fail_memory(why);
    value->runs.n = images + videos;
    for (size_t i = 0; i < value->runs.n; i++)
        value->runs.list[i].choice = i < images ? PE_RUN_IMAGE : PE_RUN_VIDEO;
    value->present = true;
    return PE_OK;
}

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    PE_TRY(derive_runs(values, why));
    const pe_token_runs *runs = &pe_values_find(values, "token_runs")->runs;
    /* There must be as many images and videos as grids. */
    pe_problem mistake;
    size_t counts[PE_RUN_KINDS] = {0};
    for (size_t i = 0; i < runs->n; i++)
        counts[runs->list[i].choice]++;
    const size_t videos = counts[PE_RUN_VIDEO] + counts[PE_RUN_AUDIO_VIDEO];
    pe_status status = check_variant(values, counts, why);
    status = PE_ALSO(status, check_grids(values, PE_RUN_IMAGE, counts[PE_RUN_IMAGE], &mistake));
    status = PE_ALSO(status, check_grids(values, PE_RUN_VIDEO, videos, &mistake));
    PE_TRY(PE_ALSO(status, check_seconds(values, videos, &mistake)));
    const size_t bytes = sizeof(pe_mrope_places) + runs->n * sizeof(pe_mrope_place);
    PE_TRY(pe_plan_begin(out, bytes, fill, why));
    pe_mrope_places *s = out->state;
    pe_mrope_placed placed;
    PE_TRY(pe_mrope_placing_place(values, s, &placed, why));
    const double next = placed.highest + 1;
    pe_plan_add_scalar(out, "mrope_position_delta", next - (double)placed.tokens);
    pe_plan_add_scalar(out, "mrope_position_delta_padded", next - (double)s->tokens);
    if (!counts_frames(values) && placed.overtaken &&
        pe_values_choice(values, "after_grid") == PE_AFTER_HIGHEST)
        pe_plan_warn(out, "after a video that lasts longer than it is high and wide, some versions "
                          "of huggingface/transformers go on at its start + max(height, width), as "
                          "after_grid=size does; here the next position is the highest so far + 1");
    return pe_plan_add_tensor(out, "position_ids", s->rounded ? PE_INT32 : PE_FLOAT32,
                              &(pe_shape){2, {s->axes, s->tokens}}, 1, why);
}

#define GRID_ROW(label, what)                                                                      \
    PE_PARAM(label, REAL_LIST, .optional = true, .integers_only = true, .min = 1, .max = 65535,    \
             .list_max = PE_GRID_ROW * GRIDS_MAX, .list_row = PE_GRID_ROW, .unit = "patches",      \
             .help = "Frames, height and width of each " what " in patches, before merging.",      \
             .example = "1,4,6")
#define PADDING_ROW(label, where)                                                                  \
    PE_PARAM(label, INT, .min = 0, .max = 1e9, .unit = "tokens",                                   \
             .help = "Tokens of padding " where                                                    \
                     " the sequence. Their positions are 0 (in transformers 4: 1).",               \
             .example = "0")

static const pe_param own[] = {
    PE_PARAM("token_runs", TOKEN_RUNS, .optional = true, .choices = pe_mrope_run_kinds,
             .list_max = RUNS_MAX, .unit = "tokens",
             .help =
                 "The sequence as runs of tokens. A run of an image or a video may omit its "
                 "length. The grids then tell it. Without token_runs, the sequence is the images, "
                 "then the videos of the grids. audio: a position for each token. audio_video: a "
                 "video with its sounds between the frames; the length counts both. joint: tokens "
                 "of one position, as the starts of a video and of its sound in Qwen2.5-Omni.",
             .example = "text:4,image:6,text:2"),
    GRID_ROW("image_grid_thw", "image"),
    GRID_ROW("video_grid_thw", "video"),
    PE_PARAM("spatial_merge_size", INT, .min = 1, .max = 64, .fallback = 2, .unit = "patches",
             .help = "A token stands for a square of patches. This is the side of the square.",
             .example = "2"),
    PE_PARAM("temporal_merge_size", INT, .min = 1, .max = 64, .fallback = 1, .unit = "frames",
             .help = "A frame of tokens stands for so many of a video's grid. ERNIE 4.5 VL has 2.",
             .example = "1"),
    PE_PARAM(
        "variant", CHOICE, .choices = variants,
        .help = "mrope: time, height, width. xdrope (Hunyuan): the token's place in the sequence, "
                "column, row, number of the image; a row of an image ends with a token more. "
                "hy_v4_vl: mrope, with such a token, and each frame begins behind the one before, "
                "on all axes. Of diffusion models, frame, row and column: flux, wan and "
                "hunyuan_video have text at 0; flux2 counts it on a fourth axis, and images are 10 "
                "apart in time; qwen_image centres rows and columns, and text goes on from half a "
                "side; z_image counts text from 1 on, padded to 32, and images begin behind it.",
        .example = "mrope"),
    PE_PARAM("video_frames", CHOICE, .choices = frames_names,
             .help = "together: a run is a video. apart: a run is a frame, and text with its "
                     "timestamp stands between (Qwen3-VL, Qwen3.5, GLM-4V).",
             .example = "together"),
    PE_PARAM("after_grid", CHOICE, .choices = after_names,
             .help = "What follows an image or a video begins one past its highest position "
                     "(transformers 4, vLLM), or, as in transformers 5, at its start + max(height, "
                     "width), merged: a model says which.",
             .example = "highest"),
    PE_PARAM("second_per_grid_ts", REAL_LIST, .aliases = PE_NAMES("second_per_grids"),
             .optional = true, .min = 0, .max = 1e6, .list_max = GRIDS_MAX, .unit = "seconds",
             .help = "Seconds between the frames of each video (Qwen2.5-VL). The default is 1.",
             .example = "0.5"),
    PE_PARAM("tokens_per_second", REAL, .aliases = PE_NAMES("position_id_per_seconds"),
             .optional = true, .min = 0, .max = 1e6,
             .help = "Temporal positions in a second of video (Qwen2.5-VL). Without it, each frame "
                     "is one position after the frame before.",
             .example = "2"),
    PE_PARAM(
        "seconds_per_chunk", REAL, .optional = true, .min = 0, .above_min = true, .max = 1e6,
        .unit = "seconds",
        .help =
            "For audio_video: the frames of so many seconds stand before their sounds "
            "(Qwen2.5-Omni: 2). Without it, tokens are in the order of their time (Qwen3-Omni).",
        .example = "2"),
    PADDING_ROW("left_padding", "before"),
    PADDING_ROW("right_padding", "after"),
    PE_PARAM("dtype", CHOICE, .choices = dtypes,
             .help = "int32: times are rounded down. float32: they are not, and positions may be "
                     "fractions (Qwen3-Omni).",
             .example = "int32"),
    PE_PARAM_MODEL("qwen2.5-vl-7b"),
};

/**
 * Text has the same position on all axes, one more with each token; sounds likewise. Token
 * (t, h, w) of an image or video of merged patches has
 *
 *     (s + floor(t * second_per_grid_t * tokens_per_second), s + h, s + w)
 *
 * where s is one more than the highest position before it, or follows from the size of the grid
 * before it (after_grid). dtype float32 leaves floor out. Sound a of audio_video has s + a; frames
 * and sounds stand in the order of floor(time / chunk), chunk = int(tokens_per_second *
 * seconds_per_chunk), or of their time; frames first. After them s is one more than the highest
 * position of the sounds or frames that they end with.
 * xdrope: (i, column, row, n), i the token's place in the sequence, n that of the image.
 * hy_v4_vl: (s + t b, s + t b + h, s + t b + w), b = max(height, width + 1), w <= width.
 * Variants of diffusion models: `conventions` in rope_mrope_placing.c.
 * mrope_position_delta = highest position + 1 - tokens without padding: what generation adds to the
 * length so far. mrope_position_delta_padded counts the padding.
 *
 * Source  Wang et al. 2024, arXiv:2409.12191, section 2.1; huggingface/transformers at 052e652d,
 *         src/transformers/models/qwen2_vl/modeling_qwen2_vl.py, get_rope_index. Time in seconds:
 *         Bai et al. 2025, arXiv:2502.13923, section 2.1.2, and transformers'
 *         models/qwen2_5_vl/modeling_qwen2_5_vl.py. In float32: t (tokens_per_second second_per_grid_t)
 *         with after_grid=size (models/qwen2_5_vl), else (t second_per_grid_t) tokens_per_second
 *         (models/qwen2_5_omni).
 *         At v5.23.0: after_grid=size models/qwen2_vl; sounds
 *         models/qwen2_5_omni and models/qwen3_omni_moe; video_frames=apart models/qwen3_vl,
 *         models/glm4v; temporal_merge_size models/ernie4_5_vl_moe; xdrope models/hunyuan_vl;
 *         at v5.24.0 models/hy_v4_vl. The
 *         delta with padding: transformers v4, models/qwen2_vl.
 * Shapes  position_ids [3, tokens]: time, height, width; xdrope, flux2: [4, tokens].
 * Accuracy  times in float32, a rounding for each product; sums are rounded once.
 */
const pe_resource pe_rope_mrope_positions = {
    PE_NAMED("rope", "/mrope-positions"),
    .kind = PE_TABLE,
    .summary =
        "Positions on the axes time, height and width for a sequence with images and videos.",
    .formula = "text: p, p, p; images and videos: s + floor(t seconds speed), s + h, s + w; s is "
               "the highest position so far + 1",
    .labels = PE_LABELS({.axes = "axis, token", .value = "position"}),
    .source = "Wang et al. 2024, arXiv:2409.12191, section 2.1; Bai et al. 2025, arXiv:2502.13923; "
              "huggingface/transformers at 052e652d6d53c2b26ffde87e039b723949a53493, "
              "src/transformers/models/qwen2_vl/modeling_qwen2_vl.py, get_rope_index",
    .param_sets = {PE_PARAMS(own), &pe_params_exact},
    .plan = plan,
};
