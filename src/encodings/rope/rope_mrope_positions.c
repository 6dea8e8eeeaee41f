/* SPDX-License-Identifier: MIT */
/* rope_mrope_positions.c - positions on several axes of a sequence with images and videos. */
#include <math.h>
#include <stdlib.h>

#include "encodings/registry.h"
#include "encodings/rope/rope_mrope_places.h"
#include "plan/common_params.h"
#include "plan/plan.h"

enum { GRIDS_MAX = 4096, RUNS_MAX = 16384 };

/* Kinds of runs, and which parameter has their grids; NULL: they have none. */
enum { RUN_TEXT, RUN_IMAGE, RUN_VIDEO, RUN_AUDIO, RUN_AUDIO_VIDEO, RUN_JOINT, RUN_KINDS };
static const char *const run_kinds[] = {"text",        "image", "video", "audio",
                                        "audio_video", "joint", NULL};
static const char *const run_grids[RUN_KINDS] = {[RUN_IMAGE] = "image_grid_thw",
                                                 [RUN_VIDEO] = "video_grid_thw",
                                                 [RUN_AUDIO_VIDEO] = "video_grid_thw"};

/* Numbers that a grid has: frames, height, width. */
enum { GRID_NUMBERS = 3 };

enum {
    VARIANT_MROPE,
    VARIANT_XDROPE,
    VARIANT_HY_V4_VL, /* from here on frames are counted, not timed */
    VARIANT_FLUX,     /* and these are the variants of diffusion */
    VARIANT_FLUX2,
    VARIANT_QWEN_IMAGE,
    VARIANT_Z_IMAGE,
    VARIANT_WAN,
    VARIANT_HUNYUAN_VIDEO,
    VARIANTS
};
static const char *const variants[] = {"mrope",         "xdrope",     "hy_v4_vl", "flux",
                                       "flux2",         "qwen_image", "z_image",  "wan",
                                       "hunyuan_video", NULL};

enum { FRAMES_TOGETHER, FRAMES_APART };
static const char *const frames_names[] = {"together", "apart", NULL};
enum { AFTER_HIGHEST, AFTER_SIZE };
static const char *const after_names[] = {"highest", "size", NULL};
enum { POSITIONS_INT32, POSITIONS_FLOAT32 };
static const char *const dtypes[] = {"int32", "float32", NULL};

/* ---- where the runs begin ---- */

enum { TIME = 1, ROW = 2, COLUMN = 4, LAYER = 8, ALL = 15 };

/**
 * Where diffusion models put text and images, which do not follow each other there.
 *
 * Source  huggingface/diffusers at 58eb52c0803ea9af3abec60841c2a093bdf1f951, src/diffusers:
 *         _prepare_latent_image_ids of pipelines/flux/pipeline_flux.py (a reference's time is 1:
 *         pipeline_flux_kontext.py), _prepare_text_ids and _prepare_image_ids of
 *         pipelines/flux2/pipeline_flux2.py; of models/transformers: QwenEmbedRope,
 *         patchify_and_embed of ZImageTransformer2DModel, WanRotaryPosEmbed,
 *         HunyuanVideoRotaryPosEmbed.
 */
static const struct convention {
    unsigned still;       /* axes on which text does not move, and is at 0 */
    size_t from, padding; /* text: its first position, and what its length is rounded up to */
    double apart;         /* images, in time */
    bool centred;         /* rows and columns, and text begins behind the highest of them */
    bool behind;          /* images begin behind text, in time */
} conventions[VARIANTS] = {
    [VARIANT_FLUX] = {.still = ALL, .apart = 1},
    [VARIANT_FLUX2] = {.still = TIME | ROW | COLUMN, .apart = 10},
    [VARIANT_QWEN_IMAGE] = {.apart = 1, .centred = true},
    [VARIANT_Z_IMAGE] = {.still = ROW | COLUMN | LAYER, .from = 1, .padding = 32, .behind = true},
    [VARIANT_WAN] = {.still = ALL},
    [VARIANT_HUNYUAN_VIDEO] = {.still = ALL},
};

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
    const size_t t = (size_t)(*row)[0] / (kind == RUN_IMAGE ? 1 : p->temporal_merge);
    if (kind == RUN_IMAGE || p->video_frames == FRAMES_TOGETHER) {
        *row += GRID_NUMBERS;
        return t;
    }
    p->frames_left = p->frames_left == 0 ? t - 1 : p->frames_left - 1;
    if (p->frames_left == 0)
        *row += GRID_NUMBERS;
    return 1;
}

static pe_status check_grid(const placing *p, size_t kind, const double *grid, pe_problem *why)
{
    const size_t t = (size_t)grid[0], h = (size_t)grid[1], w = (size_t)grid[2];
    if (h % p->merge != 0 || w % p->merge != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, run_grids[kind],
                       "height and width in %s must be multiples of spatial_merge_size, %zu, got "
                       "%zu x %zu",
                       run_grids[kind], p->merge, h, w);
    if (kind != RUN_IMAGE && t % p->temporal_merge != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, run_grids[kind],
                       "frames in %s must be multiples of temporal_merge_size, %zu, got %zu",
                       run_grids[kind], p->temporal_merge, t);
    if (p->variant == VARIANT_XDROPE && t != 1)
        return pe_fail(why, PE_INVALID_PARAMETER, run_grids[kind],
                       "an image must have one frame with variant xdrope, got %zu", t);
    return PE_OK;
}

/* The grid must have as many tokens as the run says; those beyond it are sounds. */
static pe_status fit_length(pe_token_run *from, pe_mrope_place *run, pe_problem *why)
{
    const size_t kind = from->choice, length = (size_t)from->length;
    const bool fits =
        kind == RUN_AUDIO_VIDEO ? length >= run->tokens : length == 0 || length == run->tokens;
    if (!fits)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "a run of %s must have %sthe tokens of its grid, %zu x %zu x %zu merged: "
                       "%zu, got %zu",
                       run_kinds[kind], kind == RUN_AUDIO_VIDEO ? "at least " : "", run->frames,
                       run->height, run->width, run->tokens, length);
    if (run->tokens > PE_TOKEN_RUN_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, run_grids[kind],
                       "a grid of %s must make at most %d tokens, got %zu", run_grids[kind],
                       PE_TOKEN_RUN_MAX, run->tokens);
    if (kind == RUN_AUDIO_VIDEO) {
        run->sounds = length - run->tokens;
        run->tokens = length;
    }
    from->length = (int64_t)run->tokens;
    return PE_OK;
}

/* A run's tokens: as many as its grid has, or as it says. */
static pe_status count_tokens(placing *p, pe_token_run *from, pe_mrope_place *run, pe_problem *why)
{
    if (run_grids[from->choice] != NULL) {
        /* Give the run the next grid of its kind. */
        const size_t kind = from->choice;
        const double **row = kind == RUN_IMAGE ? &p->image : &p->video, *grid = *row;
        const pe_status status = check_grid(p, kind, grid, why);
        run->course = p->variant == VARIANT_XDROPE ? PE_MROPE_IMAGE : PE_MROPE_GRID;
        run->height = (size_t)grid[1] / p->merge;
        /* A token more ends each row of an image. */
        run->width = (size_t)grid[2] / p->merge +
                     (p->variant == VARIANT_XDROPE || p->variant == VARIANT_HY_V4_VL);
        run->frames = take_frames(p, kind, row);
        if (p->variant == VARIANT_HY_V4_VL)
            run->block = run->height > run->width ? run->height : run->width;
        run->tokens = run->frames * run->height * run->width; /* each below 2^17 */
        run->number = p->images++;
        if (kind != RUN_IMAGE) {
            run->seconds = p->seconds != NULL ? *p->seconds++ : 1;
            run->speed = p->speed;
            run->by_interval = p->after == AFTER_SIZE && kind == RUN_VIDEO;
        }
        PE_TRY(status);
        return fit_length(from, run, why);
    }
    if (from->length == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "a run of %s in token_runs must say how many tokens: %s:4",
                       run_kinds[from->choice], run_kinds[from->choice]);
    run->course = from->choice == RUN_JOINT ? PE_MROPE_JOINT : PE_MROPE_LINE;
    run->tokens = (size_t)from->length;
    return PE_OK;
}

/* The largest offset of a position within a run, and (*last) of what it ends with; infinity where time
 * goes out of bounds. */
static double reach(placing *p, const pe_mrope_place *run, double *last)
{
    if (run->course != PE_MROPE_GRID)
        return *last = run->course == PE_MROPE_JOINT ? 0 : (double)(run->tokens - 1);
    if ((double)(run->frames - 1) * run->seconds * run->speed >= PE_TOKEN_RUN_MAX)
        return *last = HUGE_VAL;
    const double wide = (double)(run->height > run->width ? run->height : run->width);
    const double time = pe_mrope_places_time(run, run->frames - 1, p->rounded);
    const double frames = run->block != 0 ? time + wide - 1 : fmax(time, wide - 1);
    p->overtaken |= run->block == 0 && time >= wide;
    /* Does a run of frames and sounds end with sounds? The last chunk that has any is its end. */
    const double chunk = run->chunk != 0 ? (double)run->chunk : 1;
    const double sounds = (double)run->sounds - 1, at = time / chunk;
    const bool ends =
        run->sounds != 0 && (run->chunk != 0 ? floor(at) : at) <= floor(sounds / chunk);
    *last = ends ? sounds : frames;
    return fmax(sounds, frames);
}

static pe_status place_run(placing *p, pe_token_run *from, pe_mrope_place *run, pe_problem *why)
{
    *run = (pe_mrope_place){.first = p->token, .start = p->next, .seconds = 1, .speed = 1};
    PE_TRY(count_tokens(p, from, run, why));
    if (from->choice == RUN_AUDIO_VIDEO)
        run->chunk = p->chunk;
    /* Each chunk must have a frame: where one has none, upstream cuts the next frame into pieces. */
    if (run->chunk != 0 && run->seconds * run->speed > (double)run->chunk)
        return pe_fail(why, PE_INVALID_PARAMETER, "seconds_per_chunk",
                       "seconds_per_chunk must be at least the time between frames");
    double last;
    const double most = reach(p, run, &last);
    if (most > PE_TOKEN_RUN_MAX - p->next)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "positions must stay below 2^31, and a run of %s goes beyond",
                       run_kinds[from->choice]);
    /* What follows a grid begins one past its highest position, or past its height and width; with
     * sounds between its frames, one past the last of these or those. */
    const size_t wide = run->height > run->width ? run->height : run->width;
    const bool by_size = p->after == AFTER_SIZE && run->course == PE_MROPE_GRID && run->sounds == 0;
    p->token += run->tokens;
    p->highest = fmax(p->highest, run->start + most);
    p->next = run->start + (by_size ? (double)wide : last + 1);
    return PE_OK;
}

/* Where the next text begins. */
static double pass_text(const struct convention *c, const pe_mrope_place *run, double at)
{
    const double padding = c->padding != 0 ? (double)c->padding : 1;
    return at + ceil((double)run->tokens / padding) * padding;
}

/* A run of text begins here, of an image there. Its highest position. */
static double put_run(const struct convention *c, pe_mrope_place *run, double text, double images)
{
    run->start = 0;
    run->still = c->still;
    if (run->course == PE_MROPE_LINE) {
        for (size_t axis = 0; axis < PE_MROPE_AXES; axis++)
            run->origin[axis] = (c->still >> axis & 1) != 0 ? 0 : text;
        return c->still == ALL ? 0 : text + (double)(run->tokens - 1);
    }
    const double sides[] = {(double)run->height, (double)run->width};
    run->origin[0] = images + c->apart * (double)run->number;
    double highest = run->origin[0] + (double)(run->frames - 1);
    for (size_t i = 0; i < PE_LEN(sides); i++) {
        run->origin[i + 1] = c->centred ? -ceil(sides[i] / 2) : 0;
        highest = fmax(highest, run->origin[i + 1] + sides[i] - 1);
    }
    return highest;
}

/* Put the runs where diffusion models have them. */
static pe_status place_apart(const struct convention *c, pe_mrope_places *s, double *highest,
                             pe_problem *why)
{
    double text = (double)c->from, images = c->behind ? text : 0;
    *highest = 0;
    for (size_t i = 0; i < s->n; i++) {
        const pe_mrope_place *run = &s->run[i];
        const double side = (double)(run->height > run->width ? run->height : run->width);
        if (run->course == PE_MROPE_LINE && c->behind)
            images = pass_text(c, run, images);
        text = c->centred ? fmax(text, floor(side / 2)) : text;
    }
    for (size_t i = 0; i < s->n; i++) {
        *highest = fmax(*highest, put_run(c, &s->run[i], text, images));
        if (s->run[i].course == PE_MROPE_LINE)
            text = pass_text(c, &s->run[i], text);
    }
    if (fmax(text, images) < PE_TOKEN_RUN_MAX - 65536)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "token_runs", "positions must stay below 2^31");
}

/*
 * Place one run after the other. Grids must be as many as the runs that have one. Runs that omit
 * their length get that of their grid. places->run has room for each run of token_runs; *out: the
 * placing at the end.
 * Errors  INVALID_PARAMETER: a grid does not fit its run, the merging or the variant, or positions
 *         go beyond 2^31. All are collected.
 */
static pe_status place_runs(const pe_values *values, pe_mrope_places *s, placing *out,
                            pe_problem *why)
{
    pe_problem mistake;
    pe_status status = PE_OK;
    const bool timed = pe_values_present(values, "tokens_per_second");
    const bool chunked = pe_values_present(values, "seconds_per_chunk");
    const double speed = timed ? pe_values_real(values, "tokens_per_second") : 1;
    const double chunk = chunked ? speed * pe_values_real(values, "seconds_per_chunk") : 0;
    const pe_value *seconds = pe_values_find(values, "second_per_grid_ts");
    placing p = (placing){
        .merge = pe_values_size(values, "spatial_merge_size"),
        .temporal_merge = pe_values_size(values, "temporal_merge_size"),
        .variant = pe_values_choice(values, "variant"),
        .video_frames = pe_values_choice(values, "video_frames"),
        .after = pe_values_choice(values, "after_grid"),
        .image = pe_values_find(values, run_grids[RUN_IMAGE])->list,
        .video = pe_values_find(values, run_grids[RUN_VIDEO])->list,
        .seconds = seconds->present ? seconds->list : NULL,
        .speed = speed,
        .rounded = pe_values_choice(values, "dtype") == POSITIONS_INT32,
        .chunk = !chunked                   ? 0
                 : chunk < 1                ? 1
                 : chunk > PE_TOKEN_RUN_MAX ? PE_TOKEN_RUN_MAX
                                            : (size_t)chunk,
        .token = pe_values_size(values, "left_padding"),
    };
    pe_token_runs *runs = &pe_values_find(values, "token_runs")->runs;
    s->n = runs->n;
    s->rounded = p.rounded;
    s->axes =
        p.variant == VARIANT_XDROPE || p.variant == VARIANT_FLUX2 ? GRID_NUMBERS + 1 : GRID_NUMBERS;
    for (size_t i = 0; i < runs->n; i++)
        status = PE_ALSO(status, place_run(&p, &runs->list[i], &s->run[i], &mistake));
    s->tokens = p.token + pe_values_size(values, "right_padding");
    if (p.variant >= VARIANT_FLUX && status == PE_OK)
        status = place_apart(&conventions[p.variant], s, &p.highest, why);
    *out = p;
    return status;
}

/* ---- checks ---- */

/* The rows of grids of a kind; a video whose frames are apart counts for each of them. */
static size_t count_rows(const pe_values *values, const char *name)
{
    const pe_value *rows = pe_values_find(values, name);
    const size_t merge = pe_values_size(values, "temporal_merge_size");
    if (name != run_grids[RUN_VIDEO] || pe_values_choice(values, "video_frames") == FRAMES_TOGETHER)
        return rows->list_length / GRID_NUMBERS;
    size_t frames = 0;
    for (size_t i = 0; i < rows->list_length; i += GRID_NUMBERS)
        frames += (size_t)rows->list[i] / merge;
    return frames;
}

static pe_status check_grids(const pe_values *values, size_t kind, size_t n, pe_problem *why)
{
    const size_t grids = count_rows(values, run_grids[kind]);
    if (grids == n)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, run_grids[kind],
                   "%s must have a row for each %s of token_runs%s: %zu, got %zu", run_grids[kind],
                   run_kinds[kind],
                   kind == RUN_VIDEO && pe_values_choice(values, "video_frames") == FRAMES_APART
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

/* What only some variants and kinds of runs know. */
static pe_status check_variant(const pe_values *values, const size_t *counts, pe_problem *why)
{
    const size_t variant = pe_values_choice(values, "variant");
    const size_t n = pe_values_find(values, "token_runs")->runs.n;
    const size_t still = counts[RUN_TEXT] + counts[RUN_IMAGE];
    const bool apart = pe_values_choice(values, "video_frames") == FRAMES_APART;
    const bool timed = pe_values_present(values, "tokens_per_second");
    if (variant == VARIANT_XDROPE && still != n)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "token_runs must be text and image with variant xdrope");
    if (variant >= VARIANT_HY_V4_VL && still + counts[RUN_VIDEO] != n)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "token_runs must be text, image and video with variant %s",
                       variants[variant]);
    if (variant >= VARIANT_HY_V4_VL &&
        (timed || apart || pe_values_choice(values, "after_grid") != AFTER_HIGHEST))
        return pe_fail(why, PE_INVALID_PARAMETER, "variant",
                       "variant %s counts frames: tokens_per_second, after_grid and video_frames "
                       "do not go with it",
                       variants[variant]);
    if (pe_values_present(values, "second_per_grid_ts") && apart)
        return pe_fail(why, PE_INVALID_PARAMETER, "second_per_grid_ts",
                       "second_per_grid_ts does not go with video_frames apart, where the text "
                       "between frames tells the time");
    if (pe_values_present(values, "seconds_per_chunk") && !timed)
        return pe_fail(why, PE_MISSING_PARAMETER, "tokens_per_second",
                       "tokens_per_second is required beside seconds_per_chunk");
    return PE_OK;
}

/* ---- planning ---- */

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    pe_mrope_places_fill(plan->state, region->first, region->units, out);
    return PE_OK;
}

/* Without token_runs the sequence is each image, then each video of the grids. Text between frames
 * is in no grid. */
static pe_status derive_runs(pe_values *values, pe_problem *why)
{
    pe_value *value = pe_values_find(values, "token_runs");
    if (value->present)
        return PE_OK;
    const size_t images = count_rows(values, run_grids[RUN_IMAGE]);
    const size_t videos = count_rows(values, run_grids[RUN_VIDEO]);
    const bool apart = pe_values_choice(values, "video_frames") == FRAMES_APART;
    if (images + videos == 0 || (apart && videos > 0))
        return pe_fail(why, PE_MISSING_PARAMETER, "token_runs", "token_runs is required%s: %s",
                       apart ? " where frames are apart" : ", or image_grid_thw, or video_grid_thw",
                       value->param->help);
    value->runs.list = calloc(images + videos, sizeof *value->runs.list);
    if (value->runs.list == NULL)
        return pe_fail_memory(why);
    value->runs.n = images + videos;
    for (size_t i = 0; i < value->runs.n; i++)
        value->runs.list[i].choice = i < images ? RUN_IMAGE : RUN_VIDEO;
    value->present = true;
    return PE_OK;
}

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    PE_TRY(derive_runs(values, why));
    const pe_token_runs *runs = &pe_values_find(values, "token_runs")->runs;
    /* There must be as many images and videos as grids. */
    pe_problem mistake;
    size_t counts[RUN_KINDS] = {0};
    for (size_t i = 0; i < runs->n; i++)
        counts[runs->list[i].choice]++;
    const size_t videos = counts[RUN_VIDEO] + counts[RUN_AUDIO_VIDEO];
    pe_status status = check_variant(values, counts, why);
    status = PE_ALSO(status, check_grids(values, RUN_IMAGE, counts[RUN_IMAGE], &mistake));
    status = PE_ALSO(status, check_grids(values, RUN_VIDEO, videos, &mistake));
    PE_TRY(PE_ALSO(status, check_seconds(values, videos, &mistake)));
    const size_t bytes = sizeof(pe_mrope_places) + runs->n * sizeof(pe_mrope_place);
    PE_TRY(pe_plan_begin(out, bytes, fill, why));
    pe_mrope_places *s = out->state;
    placing placed;
    PE_TRY(place_runs(values, s, &placed, why));
    const double next = placed.highest + 1;
    pe_plan_add_scalar(out, "mrope_position_delta",
                       next - (double)(placed.token - pe_values_size(values, "left_padding")));
    pe_plan_add_scalar(out, "mrope_position_delta_padded", next - (double)s->tokens);
    if (placed.variant < VARIANT_HY_V4_VL && placed.overtaken && placed.after == AFTER_HIGHEST)
        pe_plan_warn(out, "after a video that lasts longer than it is high and wide, some versions "
                          "of huggingface/transformers go on at its start + max(height, width), as "
                          "after_grid=size does; here the next position is the highest so far + 1");
    return pe_plan_add_tensor(out, "position_ids", s->rounded ? PE_INT32 : PE_FLOAT32,
                              &(pe_shape){2, {s->axes, s->tokens}}, 1, why);
}

#define GRID_ROW(label, what)                                                                      \
    PE_PARAM(label, REAL_LIST, .optional = true, .integers_only = true, .min = 1, .max = 65535,    \
             .list_max = GRID_NUMBERS * GRIDS_MAX, .list_row = GRID_NUMBERS, .unit = "patches",    \
             .help = "Frames, height and width of each " what " in patches, before merging.",      \
             .example = "1,4,6")
#define PADDING_ROW(label, where)                                                                  \
    PE_PARAM(label, INT, .min = 0, .max = 1e9, .unit = "tokens",                                   \
             .help = "Tokens of padding " where                                                    \
                     " the sequence. Their positions are 0 (in transformers 4: 1).",               \
             .example = "0")

static const pe_param own[] = {
    PE_PARAM("token_runs", TOKEN_RUNS, .optional = true, .choices = run_kinds, .list_max = RUNS_MAX,
             .unit = "tokens",
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
 * Variants of diffusion models: `conventions`.
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
