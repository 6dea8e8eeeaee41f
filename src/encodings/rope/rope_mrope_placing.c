/* SPDX-License-Identifier: MIT */
/* rope_mrope_placing.c - where the runs of a sequence with images and videos begin. */
#include "encodings/rope/rope_mrope_placing.h"

#include <math.h>

const char *const pe_mrope_run_kinds[PE_RUN_KINDS + 1] = {[PE_RUN_TEXT] = "text",
                                                          [PE_RUN_IMAGE] = "image",
                                                          [PE_RUN_VIDEO] = "video",
                                                          [PE_RUN_AUDIO] = "audio",
                                                          [PE_RUN_AUDIO_VIDEO] = "audio_video",
                                                          [PE_RUN_JOINT] = "joint",
                                                          NULL};

const char *const pe_mrope_run_grids[PE_RUN_KINDS] = {[PE_RUN_IMAGE] = "image_grid_thw",
                                                      [PE_RUN_VIDEO] = "video_grid_thw",
                                                      [PE_RUN_AUDIO_VIDEO] = "video_grid_thw"};

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
} conventions[PE_VARIANTS] = {
    [PE_VARIANT_FLUX] = {.still = ALL, .apart = 1},
    [PE_VARIANT_FLUX2] = {.still = TIME | ROW | COLUMN, .apart = 10},
    [PE_VARIANT_QWEN_IMAGE] = {.apart = 1, .centred = true},
    [PE_VARIANT_Z_IMAGE] = {.still = ROW | COLUMN | LAYER,
                            .from = 1,
                            .padding = 32,
                            .behind = true},
    [PE_VARIANT_WAN] = {.still = ALL},
    [PE_VARIANT_HUNYUAN_VIDEO] = {.still = ALL},
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
    const size_t t = (size_t)(*row)[0] / (kind == PE_RUN_IMAGE ? 1 : p->temporal_merge);
    if (kind == PE_RUN_IMAGE || p->video_frames == PE_FRAMES_TOGETHER) {
        *row += PE_GRID_ROW;
        return t;
    }
    p->frames_left = p->frames_left == 0 ? t - 1 : p->frames_left - 1;
    if (p->frames_left == 0)
        *row += PE_GRID_ROW;
    return 1;
}

static pe_status check_grid(const placing *p, size_t kind, const double *grid, pe_problem *why)
{
    const size_t t = (size_t)grid[0], h = (size_t)grid[1], w = (size_t)grid[2];
    if (h % p->merge != 0 || w % p->merge != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, pe_mrope_run_grids[kind],
                       "height and width in %s must be multiples of spatial_merge_size, %zu, got "
                       "%zu x %zu",
                       pe_mrope_run_grids[kind], p->merge, h, w);
    if (kind != PE_RUN_IMAGE && t % p->temporal_merge != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, pe_mrope_run_grids[kind],
                       "frames in %s must be multiples of temporal_merge_size, %zu, got %zu",
                       pe_mrope_run_grids[kind], p->temporal_merge, t);
    if (p->variant == PE_VARIANT_XDROPE && t != 1)
        return pe_fail(why, PE_INVALID_PARAMETER, pe_mrope_run_grids[kind],
                       "an image must have one frame with variant xdrope, got %zu", t);
    return PE_OK;
}

/* The grid must have as many tokens as the run says; those beyond it are sounds. */
static pe_status fit_length(pe_token_run *from, pe_mrope_place *run, pe_problem *why)
{
    const size_t kind = from->choice, length = (size_t)from->length;
    const bool fits =
        kind == PE_RUN_AUDIO_VIDEO ? length >= run->tokens : length == 0 || length == run->tokens;
    if (!fits)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "a run of %s must have %sthe tokens of its grid, %zu x %zu x %zu merged: "
                       "%zu, got %zu",
                       pe_mrope_run_kinds[kind], kind == PE_RUN_AUDIO_VIDEO ? "at least " : "",
                       run->frames, run->height, run->width, run->tokens, length);
    if (run->tokens > PE_TOKEN_RUN_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, pe_mrope_run_grids[kind],
                       "a grid of %s must make at most %d tokens, got %zu",
                       pe_mrope_run_grids[kind], PE_TOKEN_RUN_MAX, run->tokens);
    if (kind == PE_RUN_AUDIO_VIDEO) {
        run->sounds = length - run->tokens;
        run->tokens = length;
    }
    from->length = (int64_t)run->tokens;
    return PE_OK;
}

/* A run's tokens: as many as its grid has, or as it says. */
static pe_status count_tokens(placing *p, pe_token_run *from, pe_mrope_place *run, pe_problem *why)
{
    if (pe_mrope_run_grids[from->choice] != NULL) {
        /* Give the run the next grid of its kind. */
        const size_t kind = from->choice;
        const double **row = kind == PE_RUN_IMAGE ? &p->image : &p->video, *grid = *row;
        const pe_status status = check_grid(p, kind, grid, why);
        run->course = p->variant == PE_VARIANT_XDROPE ? PE_MROPE_IMAGE : PE_MROPE_GRID;
        run->height = (size_t)grid[1] / p->merge;
        /* A token more ends each row of an image. */
        run->width = (size_t)grid[2] / p->merge +
                     (p->variant == PE_VARIANT_XDROPE || p->variant == PE_VARIANT_HY_V4_VL);
        run->frames = take_frames(p, kind, row);
        if (p->variant == PE_VARIANT_HY_V4_VL)
            run->block = run->height > run->width ? run->height : run->width;
        run->tokens = run->frames * run->height * run->width; /* each below 2^17 */
        run->number = p->images++;
        if (kind != PE_RUN_IMAGE) {
            run->seconds = p->seconds != NULL ? *p->seconds++ : 1;
            run->speed = p->speed;
            run->by_interval = p->after == PE_AFTER_SIZE && kind == PE_RUN_VIDEO;
        }
        PE_TRY(status);
        return fit_length(from, run, why);
    }
    if (from->length == 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "a run of %s in token_runs must say how many tokens: %s:4",
                       pe_mrope_run_kinds[from->choice], pe_mrope_run_kinds[from->choice]);
    run->course = from->choice == PE_RUN_JOINT ? PE_MROPE_JOINT : PE_MROPE_LINE;
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
    if (from->choice == PE_RUN_AUDIO_VIDEO)
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
                       pe_mrope_run_kinds[from->choice]);
    /* What follows a grid begins one past its highest position, or past its height and width; with
     * sounds between its frames, one past the last of these or those. */
    const size_t wide = run->height > run->width ? run->height : run->width;
    const bool by_size =
        p->after == PE_AFTER_SIZE && run->course == PE_MROPE_GRID && run->sounds == 0;
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

pe_status pe_mrope_placing_place(const pe_values *values, pe_mrope_places *s, pe_mrope_placed *out,
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
        .image = pe_values_find(values, pe_mrope_run_grids[PE_RUN_IMAGE])->list,
        .video = pe_values_find(values, pe_mrope_run_grids[PE_RUN_VIDEO])->list,
        .seconds = seconds->present ? seconds->list : NULL,
        .speed = speed,
        .rounded = pe_values_choice(values, "dtype") == PE_POSITIONS_INT32,
        .chunk = !chunked                   ? 0
                 : chunk < 1                ? 1
                 : chunk > PE_TOKEN_RUN_MAX ? PE_TOKEN_RUN_MAX
                                            : (size_t)chunk,
        .token = pe_values_size(values, "left_padding"),
    };
    const size_t left = p.token;
    pe_token_runs *runs = &pe_values_find(values, "token_runs")->runs;
    s->n = runs->n;
    s->rounded = p.rounded;
    s->axes = p.variant == PE_VARIANT_XDROPE || p.variant == PE_VARIANT_FLUX2 ? PE_GRID_ROW + 1
                                                                              : PE_GRID_ROW;
    for (size_t i = 0; i < runs->n; i++)
        status = PE_ALSO(status, place_run(&p, &runs->list[i], &s->run[i], &mistake));
    s->tokens = p.token + pe_values_size(values, "right_padding");
    if (p.variant >= PE_VARIANT_FLUX && status == PE_OK)
        status = place_apart(&conventions[p.variant], s, &p.highest, why);
    *out = (pe_mrope_placed){p.token - left, p.highest, p.overtaken};
    return status;
}
