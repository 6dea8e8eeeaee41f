/* SPDX-License-Identifier: MIT */
/* rope_mrope_positions.c - positions on three axes of a sequence with images and videos. */
#include "encodings/registry.h"
#include "encodings/rope/rope_mrope_places.h"
#include "plan/common_params.h"

#include <math.h>
#include <stdlib.h>

enum { TEXT, IMAGE, VIDEO, AUDIO, AUDIO_VIDEO, JOINT, KINDS };
enum { GRID = 3, GRIDS_MAX = 4096, RUNS_MAX = 16384 };
enum { MROPE, XDROPE };
enum { TOGETHER, APART };
enum { HIGHEST, SIZE };
enum { INT32, FLOAT32 };

static const char *const variants[] = {[MROPE] = "mrope", [XDROPE] = "xdrope", NULL};
static const char *const frames_names[] = {[TOGETHER] = "together", [APART] = "apart", NULL};
static const char *const after_names[] = {[HIGHEST] = "highest", [SIZE] = "size", NULL};
static const char *const dtypes[] = {[INT32] = "int32", [FLOAT32] = "float32", NULL};
static const char *const kinds[] = {[TEXT] = "text",
                                    [IMAGE] = "image",
                                    [VIDEO] = "video",
                                    [AUDIO] = "audio",
                                    [AUDIO_VIDEO] = "audio_video",
                                    [JOINT] = "joint",
                                    NULL};
/* Where the grids of a kind are; NULL: it has none. */
static const char *const grid_names[KINDS] = {
    [IMAGE] = "image_grid_thw", [VIDEO] = "video_grid_thw", [AUDIO_VIDEO] = "video_grid_thw"};

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    (void)why;
    pe_mrope_places_fill(plan->state, region->first, region->units, out);
    return PE_OK;
}

/* ---- checks ---- */

/* The rows of grids of a kind; a video whose frames are apart counts for each of them. */
static size_t count_rows(const pe_values *values, const char *name)
{
    const pe_value *rows = pe_values_find(values, name);
    const size_t merge = (size_t)pe_values_int(values, "temporal_merge_size");
    if (name != grid_names[VIDEO] || pe_values_choice(values, "video_frames") == TOGETHER)
        return rows->list_length / GRID;
    size_t frames = 0;
    for (size_t i = 0; i < rows->list_length; i += GRID)
        frames += (size_t)rows->list[i] / merge;
    return frames;
}

static pe_status check_grids(const pe_values *values, size_t kind, size_t n, pe_problem *why)
{
    const size_t grids = count_rows(values, grid_names[kind]);
    if (grids == n)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, grid_names[kind],
                   "%s must have a row for each %s of token_runs%s: %zu, got %zu", grid_names[kind],
                   kinds[kind],
                   kind == VIDEO && pe_values_choice(values, "video_frames") == APART
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
        status = pe_fail(why, PE_INVALID_PARAMETER, "second_per_grid_ts",
                         "second_per_grid_ts must have a number for each video of token_runs: %zu, "
                         "got %zu",
                         videos, seconds->list_length);
    if (pe_values_present(values, "tokens_per_second"))
        return status;
    return pe_problem_collect(status,
                              pe_fail(&mistake, PE_MISSING_PARAMETER, "tokens_per_second",
                                      "tokens_per_second is required beside second_per_grid_ts"),
                              &mistake, why);
}

/* What only some variants and kinds of runs know. */
static pe_status check_variant(const pe_values *values, const size_t *counts, pe_problem *why)
{
    if (pe_values_choice(values, "variant") == XDROPE &&
        counts[TEXT] + counts[IMAGE] != pe_values_find(values, "token_runs")->runs.n)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "token_runs must be text and image with variant xdrope");
    if (pe_values_present(values, "second_per_grid_ts") &&
        pe_values_choice(values, "video_frames") == APART)
        return pe_fail(why, PE_INVALID_PARAMETER, "second_per_grid_ts",
                       "second_per_grid_ts does not go with video_frames apart, where the text "
                       "between frames tells the time");
    if (pe_values_present(values, "seconds_per_chunk") &&
        !pe_values_present(values, "tokens_per_second"))
        return pe_fail(why, PE_MISSING_PARAMETER, "tokens_per_second",
                       "tokens_per_second is required beside seconds_per_chunk");
    return PE_OK;
}

/* There must be as many images and videos as grids. */
static pe_status count_grids(const pe_values *values, pe_problem *why)
{
    pe_problem mistake;
    pe_status status = PE_OK;
    size_t counts[KINDS] = {0};
    const pe_token_runs *runs = &pe_values_find(values, "token_runs")->runs;
    for (size_t i = 0; i < runs->n; i++)
        counts[runs->list[i].choice]++;
    const size_t videos = counts[VIDEO] + counts[AUDIO_VIDEO];
    status = pe_problem_collect(status, check_variant(values, counts, &mistake), &mistake, why);
    status = pe_problem_collect(status, check_grids(values, IMAGE, counts[IMAGE], &mistake),
                                &mistake, why);
    status =
        pe_problem_collect(status, check_grids(values, VIDEO, videos, &mistake), &mistake, why);
    return pe_problem_collect(status, check_seconds(values, videos, &mistake), &mistake, why);
}

/* ---- placing ---- */

/* The state of placing one run after the other. */
typedef struct placing {
    size_t merge, temporal_merge;
    size_t variant, video_frames, after;
    const double *image, *video; /* rows of t, h, w that are left */
    size_t frames_left;          /* of the video at hand whose frames are apart */
    const double *seconds;       /* of the videos left; NULL: 1 */
    double speed;
    size_t chunk; /* positions; 0: not given */
    size_t token, images;
    bool rounded; /* times */
    double next, highest;
    bool overtaken; /* a video lasts longer than it is wide and high */
} placing;

/* The frames of the next run of this kind, whose grid is at *row; *row goes on. */
static size_t take_frames(placing *p, size_t kind, const double **row)
{
    const size_t t = (size_t)(*row)[0] / (kind == IMAGE ? 1 : p->temporal_merge);
    if (kind == IMAGE || p->video_frames == TOGETHER) {
        *row += GRID;
        return t;
    }
    p->frames_left = p->frames_left == 0 ? t - 1 : p->frames_left - 1;
    if (p->frames_left == 0)
        *row += GRID;
    return 1;
}

static pe_status check_grid(const placing *p, size_t kind, const double *grid, pe_problem *why)
{
    const size_t t = (size_t)grid[0], h = (size_t)grid[1], w = (size_t)grid[2];
    if (h % p->merge != 0 || w % p->merge != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, grid_names[kind],
                       "height and width in %s must be multiples of spatial_merge_size, %zu, got "
                       "%zu x %zu",
                       grid_names[kind], p->merge, h, w);
    if (kind != IMAGE && t % p->temporal_merge != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, grid_names[kind],
                       "frames in %s must be multiples of temporal_merge_size, %zu, got %zu",
                       grid_names[kind], p->temporal_merge, t);
    if (p->variant == XDROPE && t != 1)
        return pe_fail(why, PE_INVALID_PARAMETER, grid_names[kind],
                       "an image must have one frame with variant xdrope, got %zu", t);
    return PE_OK;
}

/* Give the run the next grid of its kind. */
static pe_status take_grid(placing *p, size_t kind, pe_mrope_place *run, pe_problem *why)
{
    const double **row = kind == IMAGE ? &p->image : &p->video, *grid = *row;
    const pe_status status = check_grid(p, kind, grid, why);
    run->course = p->variant == XDROPE ? PE_MROPE_IMAGE : PE_MROPE_GRID;
    run->height = (size_t)grid[1] / p->merge;
    run->width = (size_t)grid[2] / p->merge + (p->variant == XDROPE ? 1 : 0);
    run->frames = take_frames(p, kind, row);
    run->tokens = run->frames * run->height * run->width; /* each below 2^17 */
    run->number = p->images++;
    if (kind != IMAGE) {
        run->seconds = p->seconds != NULL ? *p->seconds++ : 1;
        run->speed = p->speed;
        run->by_interval = p->after == SIZE && kind == VIDEO;
    }
    return status;
}

/* The grid must have as many tokens as the run says; those beyond it are sounds. */
static pe_status fit_length(pe_token_run *from, pe_mrope_place *run, pe_problem *why)
{
    const size_t kind = from->choice, told = (size_t)from->length;
    const bool fits = kind == AUDIO_VIDEO ? told >= run->tokens : told == 0 || told == run->tokens;
    if (!fits)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "a run of %s must have %sthe tokens of its grid, %zu x %zu x %zu merged: "
                       "%zu, got %zu",
                       kinds[kind], kind == AUDIO_VIDEO ? "at least " : "", run->frames,
                       run->height, run->width, run->tokens, told);
    if (run->tokens > PE_TOKEN_RUN_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, grid_names[kind],
                       "a grid of %s must make at most %d tokens, got %zu", grid_names[kind],
                       PE_TOKEN_RUN_MAX, run->tokens);
    if (kind == AUDIO_VIDEO) {
        run->sounds = told - run->tokens;
        run->tokens = told;
    }
    from->length = (int64_t)run->tokens;
    return PE_OK;
}

/* A run's tokens: as many as its grid has, or as it says. */
static pe_status count_tokens(placing *p, pe_token_run *from, pe_mrope_place *run, pe_problem *why)
{
    if (grid_names[from->choice] != NULL) {
        const pe_status status = take_grid(p, from->choice, run, why);
        return status != PE_OK ? status : fit_length(from, run, why);
    }
    if (from->length == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "a run of %s in token_runs must say how many tokens: %s:4",
                       kinds[from->choice], kinds[from->choice]);
    run->course = from->choice == JOINT ? PE_MROPE_JOINT : PE_MROPE_LINE;
    run->tokens = (size_t)from->length;
    return PE_OK;
}

/* Each chunk must have a frame: where one has none, upstream cuts the next frame into pieces. */
static pe_status check_chunks(const placing *p, pe_mrope_place *run, pe_problem *why)
{
    run->chunk = p->chunk;
    if (p->chunk == 0 || run->seconds * run->speed <= (double)p->chunk)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "seconds_per_chunk",
                   "seconds_per_chunk must be at least the time between frames");
}

/* How far the frames of a grid reach within a run; infinity where time goes out of bounds. */
static double reach_of_frames(placing *p, const pe_mrope_place *run)
{
    const double wide = (double)(run->height > run->width ? run->height : run->width);
    if ((double)(run->frames - 1) * run->seconds * run->speed >= PE_TOKEN_RUN_MAX)
        return HUGE_VAL;
    const double time = pe_mrope_places_time(run, run->frames - 1, p->rounded);
    p->overtaken |= time >= wide;
    return time > wide - 1 ? time : wide - 1;
}

/* Does a run of frames and sounds end with sounds? The last chunk that has any is its end. */
static bool ends_with_sounds(const placing *p, const pe_mrope_place *run)
{
    const double chunk = run->chunk != 0 ? (double)run->chunk : 1;
    const double time = pe_mrope_places_time(run, run->frames - 1, p->rounded) / chunk;
    const double sound = (double)(run->sounds - 1) / chunk;
    return (run->chunk != 0 ? floor(time) : time) <= floor(sound);
}

/* The largest offset of a position within a run, and (*last) of what it ends with. */
static double reach(placing *p, const pe_mrope_place *run, double *last)
{
    if (run->course != PE_MROPE_GRID)
        return *last = run->course == PE_MROPE_JOINT ? 0 : (double)(run->tokens - 1);
    const double frames = reach_of_frames(p, run), sounds = (double)run->sounds - 1;
    *last = run->sounds != 0 && isfinite(frames) && ends_with_sounds(p, run) ? sounds : frames;
    return sounds > frames ? sounds : frames;
}

/* What follows a grid begins one past its highest position, or past its height and width; with
 * sounds between its frames, one past the last of these or those. */
static void go_on(placing *p, const pe_mrope_place *run, double most, double last)
{
    const size_t wide = run->height > run->width ? run->height : run->width;
    const bool by_size = p->after == SIZE && run->course == PE_MROPE_GRID && run->sounds == 0;
    p->token += run->tokens;
    p->highest = fmax(p->highest, run->start + most);
    p->next = run->start + (by_size ? (double)wide : last + 1);
}

static pe_status place_run(placing *p, pe_token_run *from, pe_mrope_place *run, pe_problem *why)
{
    *run = (pe_mrope_place){.first = p->token, .start = p->next, .seconds = 1, .speed = 1};
    pe_status status = count_tokens(p, from, run, why);
    if (status == PE_OK && from->choice == AUDIO_VIDEO)
        status = check_chunks(p, run, why);
    if (status != PE_OK)
        return status;
    double last;
    const double most = reach(p, run, &last);
    if (most > PE_TOKEN_RUN_MAX - p->next)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "positions must stay below 2^31, and a run of %s goes beyond",
                       kinds[from->choice]);
    go_on(p, run, most, last);
    return PE_OK;
}

static placing start_placing(const pe_values *values)
{
    const bool timed = pe_values_present(values, "tokens_per_second");
    const bool chunked = pe_values_present(values, "seconds_per_chunk");
    const double speed = timed ? pe_values_real(values, "tokens_per_second") : 1;
    const double chunk = chunked ? speed * pe_values_real(values, "seconds_per_chunk") : 0;
    const pe_value *seconds = pe_values_find(values, "second_per_grid_ts");
    return (placing){
        .merge = (size_t)pe_values_int(values, "spatial_merge_size"),
        .temporal_merge = (size_t)pe_values_int(values, "temporal_merge_size"),
        .variant = pe_values_choice(values, "variant"),
        .video_frames = pe_values_choice(values, "video_frames"),
        .after = pe_values_choice(values, "after_grid"),
        .image = pe_values_find(values, grid_names[IMAGE])->list,
        .video = pe_values_find(values, grid_names[VIDEO])->list,
        .seconds = seconds->present ? seconds->list : NULL,
        .speed = speed,
        .rounded = pe_values_choice(values, "dtype") == INT32,
        .chunk = !chunked                   ? 0
                 : chunk < 1                ? 1
                 : chunk > PE_TOKEN_RUN_MAX ? PE_TOKEN_RUN_MAX
                                            : (size_t)chunk,
        .token = (size_t)pe_values_int(values, "left_padding"),
    };
}

/* ---- planning ---- */

static pe_status place_all(const pe_values *values, placing *p, pe_mrope_places *s, pe_problem *why)
{
    pe_problem mistake;
    pe_status status = PE_OK;
    pe_token_runs *runs = &pe_values_find(values, "token_runs")->runs;
    s->n = runs->n;
    s->rounded = p->rounded;
    s->axes = p->variant == XDROPE ? GRID + 1 : GRID;
    for (size_t i = 0; i < runs->n; i++)
        status = pe_problem_collect(status, place_run(p, &runs->list[i], &s->run[i], &mistake),
                                    &mistake, why);
    s->tokens = p->token + (size_t)pe_values_int(values, "right_padding");
    return status;
}

static pe_status plan(pe_values *values, struct pe_tables *tables, const pe_limits *limits,
                      pe_plan *out, pe_problem *why)
{
    (void)tables;
    const pe_token_runs *runs = &pe_values_find(values, "token_runs")->runs;
    pe_status status = count_grids(values, why);
    if (status != PE_OK)
        return status;
    const size_t bytes = sizeof(pe_mrope_places) + runs->n * sizeof(pe_mrope_place);
    pe_mrope_places *s = pe_plan_begin(out, bytes, fill, free);
    if (s == NULL)
        return pe_fail_memory(why);
    placing p = start_placing(values);
    const size_t left = p.token;
    status = place_all(values, &p, s, why);
    if (status != PE_OK)
        return status;
    pe_plan_add_scalar(out, "mrope_position_delta", p.highest + 1 - (double)(p.token - left));
    pe_plan_add_scalar(out, "mrope_position_delta_padded", p.highest + 1 - (double)s->tokens);
    if (p.overtaken && p.after == HIGHEST)
        pe_plan_warn(out, "after a video that lasts longer than it is high and wide, some versions "
                          "of huggingface/transformers go on at its start + max(height, width), as "
                          "after_grid=size does; here the next position is the highest so far + 1");
    return pe_plan_add_tensor(out, limits, "position_ids", p.rounded ? PE_INT32 : PE_FLOAT32,
                              &(pe_shape){2, {s->axes, s->tokens}}, 1, why);
}

#define GRID_ROW(label, what)                                                                      \
    {                                                                                              \
        .name = (label), .kind = PE_KIND_REAL_LIST, .optional = true, .integers_only = true,       \
        .min = 1, .max = 65535, .list_max = GRID * GRIDS_MAX, .list_row = GRID, .unit = "patches", \
        .help = "Frames, height and width of each " what " in patches, before merging.",           \
        .example = "1,4,6"                                                                         \
    }
#define PADDING_ROW(label, where)                                                                  \
    {                                                                                              \
        .name = (label), .kind = PE_KIND_INT, .min = 0, .max = 1e9, .unit = "tokens",              \
        .help = "Tokens of padding " where                                                         \
                " the sequence. Their positions are 0 (in transformers 4: 1).",                    \
        .example = "0"                                                                             \
    }

static const pe_param own[] = {
    {.name = "token_runs",
     .kind = PE_KIND_TOKEN_RUNS,
     .required = true,
     .choices = kinds,
     .list_max = RUNS_MAX,
     .unit = "tokens",
     .help =
         "The sequence as runs of tokens. A run of an image or a video may omit its length. The "
         "grids then tell it. audio: a position for each token. audio_video: a video with its "
         "sounds between the frames; the length counts both. joint: tokens of one position, as "
         "the starts of a video and of its sound in Qwen2.5-Omni.",
     .example = "text:4,image:6,text:2"},
    GRID_ROW("image_grid_thw", "image"),
    GRID_ROW("video_grid_thw", "video"),
    {.name = "spatial_merge_size",
     .kind = PE_KIND_INT,
     .min = 1,
     .max = 64,
     .fallback = 2,
     .unit = "patches",
     .help = "A token stands for a square of patches. This is the side of the square.",
     .example = "2"},
    {.name = "temporal_merge_size",
     .kind = PE_KIND_INT,
     .min = 1,
     .max = 64,
     .fallback = 1,
     .unit = "frames",
     .help = "A frame of tokens stands for so many of a video's grid. ERNIE 4.5 VL has 2.",
     .example = "1"},
    {.name = "variant",
     .kind = PE_KIND_CHOICE,
     .choices = variants,
     .help = "mrope: time, height, width. xdrope (Hunyuan): the token's place in the sequence, "
             "column, row, number of the image; a row of an image ends with a token more.",
     .example = "mrope"},
    {.name = "video_frames",
     .kind = PE_KIND_CHOICE,
     .choices = frames_names,
     .help = "together: a run is a video. apart: a run is a frame, and text with its timestamp "
             "stands between (Qwen3-VL, Qwen3.5, GLM-4V).",
     .example = "together"},
    {.name = "after_grid",
     .kind = PE_KIND_CHOICE,
     .choices = after_names,
     .help =
         "What follows an image or a video begins one past its highest position (transformers 4, "
         "vLLM), or, as in transformers 5, at its start + max(height, width), merged: a model says "
         "which.",
     .example = "highest"},
    {.name = "second_per_grid_ts",
     .aliases = PE_NAMES("second_per_grids"),
     .kind = PE_KIND_REAL_LIST,
     .optional = true,
     .min = 0,
     .max = 1e6,
     .list_max = GRIDS_MAX,
     .unit = "seconds",
     .help = "Seconds between the frames of each video (Qwen2.5-VL). The default is 1.",
     .example = "0.5"},
    {.name = "tokens_per_second",
     .aliases = PE_NAMES("position_id_per_seconds"),
     .kind = PE_KIND_REAL,
     .optional = true,
     .min = 0,
     .max = 1e6,
     .help = "Temporal positions in a second of video (Qwen2.5-VL). Without it, each frame is one "
             "position after the frame before.",
     .example = "2"},
    {.name = "seconds_per_chunk",
     .kind = PE_KIND_REAL,
     .optional = true,
     .min = 0,
     .above_min = true,
     .max = 1e6,
     .unit = "seconds",
     .help = "For audio_video: the frames of so many seconds stand before their sounds "
             "(Qwen2.5-Omni: 2). Without it, tokens are in the order of their time (Qwen3-Omni).",
     .example = "2"},
    PADDING_ROW("left_padding", "before"),
    PADDING_ROW("right_padding", "after"),
    {.name = "dtype",
     .kind = PE_KIND_CHOICE,
     .choices = dtypes,
     .help = "int32: times are rounded down. float32: they are not, and positions may be fractions "
             "(Qwen3-Omni).",
     .example = "int32"},
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
 *         models/glm4v; temporal_merge_size models/ernie4_5_vl_moe; xdrope models/hunyuan_vl. The
 *         delta with padding: transformers v4, models/qwen2_vl.
 * Shapes  position_ids [3, tokens]: time, height, width; xdrope: [4, tokens].
 * Accuracy  times in float32, a rounding for each product; sums are rounded once.
 */
const pe_resource pe_rope_mrope_positions = {
    .path = "/v1/rope/mrope-positions",
    .encoding = "rope",
    .name = "rope/mrope-positions",
    .kind = PE_TABLE,
    .summary =
        "Positions on the axes time, height and width for a sequence with images and videos.",
    .formula =
        "text: p, p, p; images and videos: s + floor(t seconds speed), s + h, s + w; s is the "
        "highest position so far + 1",
    .labels = PE_LABELS({.axes = "axis, token", .value = "position"}),
    .source = "Wang et al. 2024, arXiv:2409.12191, section 2.1; Bai et al. 2025, arXiv:2502.13923; "
              "huggingface/transformers at 052e652d6d53c2b26ffde87e039b723949a53493, "
              "src/transformers/models/qwen2_vl/modeling_qwen2_vl.py, get_rope_index",
    .param_sets = {PE_PARAMS(own), &pe_params_exact},
    .plan = plan,
};
