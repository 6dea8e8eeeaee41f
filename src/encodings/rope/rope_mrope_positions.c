/* SPDX-License-Identifier: MIT */
/* rope_mrope_positions.c - positions on three axes of a sequence with images and videos. */
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "plan/common_params.h"

enum { TEXT, IMAGE, VIDEO, KINDS };
enum { AXES = 3, GRIDS_MAX = 4096, RUNS_MAX = 16384 };

static const char *const kinds[] = {[TEXT] = "text", [IMAGE] = "image", [VIDEO] = "video", NULL};
static const char *const grid_names[] = {[IMAGE] = "image_grid_thw", [VIDEO] = "video_grid_thw"};

/** A run of the sequence, placed. */
typedef struct placed {
    size_t first, tokens;  /* in the sequence, padding included */
    int64_t start;         /* its first position, on every axis */
    size_t height, width;  /* merged; text: 0 */
    double seconds, speed; /* a frame is floor(frame * seconds * speed) after the first */
} placed;

typedef struct state {
    size_t tokens, n;
    placed run[];
} state;

/* ---- filling ---- */

/* floor(frame * seconds * speed), exactly: a product of three numbers takes 53 + 53 + 32 bits. */
static int64_t frame_offset(size_t frame, double seconds, double speed)
{
    if (seconds == 1 && speed == 1)
        return (int64_t)frame;
    mpfr_t product;
    mpfr_init2(product, 160);
    mpfr_set_d(product, seconds, MPFR_RNDN);
    mpfr_mul_d(product, product, speed, MPFR_RNDN);
    mpfr_mul_ui(product, product, (unsigned long)frame, MPFR_RNDN);
    const double whole = mpfr_get_d(product, MPFR_RNDZ);
    mpfr_clear(product);
    return (int64_t)whole;
}

/* Positions of tokens [first, first + n) of a run on an axis. */
static void fill_run(const placed *run, size_t axis, size_t first, size_t n, int32_t *out)
{
    if (run->height == 0) {
        for (size_t i = 0; i < n; i++)
            out[i] = (int32_t)(run->start + (int64_t)(first + i));
        return;
    }
    const size_t frame = run->height * run->width;
    size_t last = SIZE_MAX;
    int64_t time = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t k = first + i;
        if (axis == 0 && k / frame != last) {
            last = k / frame;
            time = frame_offset(last, run->seconds, run->speed);
        }
        const int64_t at = axis == 0   ? time
                           : axis == 1 ? (int64_t)(k % frame / run->width)
                                       : (int64_t)(k % run->width);
        out[i] = (int32_t)(run->start + at);
    }
}

/* The last run that begins at or before a token; n when none does: padding on the left. */
static size_t run_at(const state *s, size_t token)
{
    size_t low = 0,
           high = s->n; /* low runs begin at or before it; those from high on begin after it */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->run[middle].first <= token)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? s->n : low - 1;
}

/* How many of n tokens follow one rule: those of a run, or padding, whose positions are 0. */
static size_t fill_some(const state *s, size_t axis, size_t token, size_t n, int32_t *out)
{
    const size_t k = run_at(s, token);
    const placed *run = k < s->n ? &s->run[k] : NULL;
    if (run != NULL && token < run->first + run->tokens) {
        const size_t left = run->first + run->tokens - token;
        const size_t some = n < left ? n : left;
        fill_run(run, axis, token - run->first, some, out);
        return some;
    }
    const size_t end = run == NULL ? s->run[0].first : s->tokens;
    const size_t some = n < end - token ? n : end - token;
    memset(out, 0, some * sizeof *out);
    return some;
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const state *s = plan->state;
    int32_t *to = out;
    (void)why;
    const size_t first = region->first, units = region->units;
    for (size_t done = 0, some; done < units; done += some) {
        const size_t axis = (first + done) / s->tokens, token = (first + done) % s->tokens;
        const size_t left = s->tokens - token < units - done ? s->tokens - token : units - done;
        some = fill_some(s, axis, token, left, to + done);
    }
    return PE_OK;
}

/* ---- planning ---- */

/* The state of placing one run after the other. */
typedef struct placing {
    size_t merge;
    const double *grid[KINDS]; /* rows of t, h, w that are left */
    size_t grids[KINDS];       /* left */
    const double *seconds;     /* of the videos left; NULL: 1 */
    double speed;
    size_t token;
    int64_t next, highest;
    bool overtaken; /* a video lasts longer than it is wide and high */
} placing;

static pe_status check_grids(const pe_values *values, size_t kind, size_t n, pe_problem *why)
{
    const size_t grids = pe_values_find(values, grid_names[kind])->list_length / AXES;
    if (grids == n)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, grid_names[kind],
                   "%s must have a row for each %s of token_runs: %zu, got %zu", grid_names[kind],
                   kinds[kind], n, grids);
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

/* There must be as many images and videos as grids. */
static pe_status count_grids(const pe_values *values, pe_problem *why)
{
    pe_problem mistake;
    pe_status status = PE_OK;
    size_t counts[KINDS] = {0};
    const pe_token_runs *runs = &pe_values_find(values, "token_runs")->runs;
    for (size_t i = 0; i < runs->n; i++)
        counts[runs->list[i].choice]++;
    for (size_t k = IMAGE; k < KINDS; k++)
        status =
            pe_problem_collect(status, check_grids(values, k, counts[k], &mistake), &mistake, why);
    return pe_problem_collect(status, check_seconds(values, counts[VIDEO], &mistake), &mistake,
                              why);
}

/* Give the run the next grid of its kind, which must have as many tokens as the run says. */
static pe_status take_grid(placing *p, pe_token_run *from, placed *run, size_t *frames,
                           pe_problem *why)
{
    const size_t kind = from->choice;
    const size_t t = (size_t)p->grid[kind][0], h = (size_t)p->grid[kind][1],
                 w = (size_t)p->grid[kind][2];
    p->grid[kind] += AXES;
    if (h % p->merge != 0 || w % p->merge != 0)
        return pe_fail(why, PE_INVALID_PARAMETER, grid_names[kind],
                       "height and width in %s must be multiples of spatial_merge_size, %zu, got "
                       "%zu x %zu",
                       grid_names[kind], p->merge, h, w);
    run->height = h / p->merge;
    run->width = w / p->merge;
    run->tokens = t * run->height * run->width; /* each below 2^16 */
    *frames = t;
    if (from->length != 0 && (size_t)from->length != run->tokens)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "a run of %s must have the tokens of its grid, %zu x %zu x %zu merged by "
                       "%zu: %zu, got %lld",
                       kinds[kind], t, h, w, p->merge, run->tokens, (long long)from->length);
    if (run->tokens > PE_TOKEN_RUN_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, grid_names[kind],
                       "a grid of %s must make at most %d tokens, got %zu", grid_names[kind],
                       PE_TOKEN_RUN_MAX, run->tokens);
    from->length = (int64_t)run->tokens;
    return PE_OK;
}

/* The largest offset of a position within a run; SIZE_MAX where time goes out of bounds. */
static size_t reach(placing *p, const placed *run, size_t frames)
{
    if (run->height == 0)
        return run->tokens - 1;
    const size_t wide = run->height > run->width ? run->height : run->width;
    const double last = (double)(frames - 1) * run->seconds * run->speed;
    if (last >= PE_TOKEN_RUN_MAX)
        return SIZE_MAX;
    const size_t time = (size_t)frame_offset(frames - 1, run->seconds, run->speed);
    p->overtaken |= time >= wide;
    return time > wide - 1 ? time : wide - 1;
}

static pe_status place_run(placing *p, pe_token_run *from, placed *run, pe_problem *why)
{
    pe_status status = PE_OK;
    size_t frames = 1;
    *run = (placed){.first = p->token, .start = p->next, .seconds = 1, .speed = 1};
    if (from->choice != TEXT)
        status = take_grid(p, from, run, &frames, why);
    else if (from->length == 0)
        status = pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                         "a run of text in token_runs must say how many tokens: text:4");
    else
        run->tokens = (size_t)from->length;
    if (status != PE_OK)
        return status;
    if (from->choice == VIDEO) {
        run->seconds = p->seconds != NULL ? *p->seconds++ : 1;
        run->speed = p->speed;
    }
    const size_t most = reach(p, run, frames);
    if (most > PE_TOKEN_RUN_MAX || (int64_t)most > PE_TOKEN_RUN_MAX - p->next)
        return pe_fail(why, PE_INVALID_PARAMETER, "token_runs",
                       "positions must stay below 2^31, and a run of %s goes beyond",
                       kinds[from->choice]);
    p->token += run->tokens;
    p->highest = p->next + (int64_t)most;
    p->next = p->highest + 1;
    return PE_OK;
}

static placing start_placing(const pe_values *values)
{
    const bool timed = pe_values_present(values, "tokens_per_second");
    const pe_value *seconds = pe_values_find(values, "second_per_grid_ts");
    return (placing){
        .merge = (size_t)pe_values_int(values, "spatial_merge_size"),
        .grid = {[IMAGE] = pe_values_find(values, grid_names[IMAGE])->list,
                 [VIDEO] = pe_values_find(values, grid_names[VIDEO])->list},
        .seconds = seconds->present ? seconds->list : NULL,
        .speed = timed ? pe_values_real(values, "tokens_per_second") : 1,
        .token = (size_t)pe_values_int(values, "left_padding"),
    };
}

static pe_status plan(pe_values *values, struct pe_tables *tables, const pe_limits *limits,
                      pe_plan *out, pe_problem *why)
{
    (void)tables;
    pe_problem mistake;
    pe_token_runs *runs = &pe_values_find(values, "token_runs")->runs;
    pe_status status = count_grids(values, why);
    if (status != PE_OK)
        return status;
    state *s = pe_plan_begin(out, sizeof *s + runs->n * sizeof s->run[0], fill, free);
    if (s == NULL)
        return pe_fail_memory(why);
    s->n = runs->n;
    placing p = start_placing(values);
    const size_t left = p.token;
    for (size_t i = 0; i < runs->n; i++)
        status = pe_problem_collect(status, place_run(&p, &runs->list[i], &s->run[i], &mistake),
                                    &mistake, why);
    if (status != PE_OK)
        return status;
    s->tokens = p.token + (size_t)pe_values_int(values, "right_padding");
    pe_plan_add_scalar(out, "mrope_position_delta", (double)(p.next - (int64_t)(p.token - left)));
    if (p.overtaken)
        pe_plan_warn(out, "after a video that lasts longer than it is high and wide, some versions "
                          "of huggingface/transformers go on at its start + max(height, width); "
                          "here, as published, the next position is the highest so far + 1");
    return pe_plan_add_tensor(out, limits, "position_ids", PE_INT32,
                              &(pe_shape){2, {AXES, s->tokens}}, 1, why);
}

#define GRID_ROW(label, what)                                                                      \
    {                                                                                              \
        .name = (label), .kind = PE_KIND_REAL_LIST, .optional = true, .integers_only = true,       \
        .min = 1, .max = 65535, .list_max = AXES * GRIDS_MAX, .list_row = AXES, .unit = "patches", \
        .help = "Frames, height and width of each " what " in patches, before merging.",           \
        .example = "1,4,6"                                                                         \
    }
#define PADDING_ROW(label, where)                                                                  \
    {                                                                                              \
        .name = (label), .kind = PE_KIND_INT, .min = 0, .max = 1e9, .unit = "tokens",              \
        .help = "Tokens of padding " where " the sequence. Their positions are 0.", .example = "0" \
    }

static const pe_param own[] = {
    {.name = "token_runs",
     .kind = PE_KIND_TOKEN_RUNS,
     .required = true,
     .choices = kinds,
     .list_max = RUNS_MAX,
     .unit = "tokens",
     .help = "The sequence as runs of text, image and video tokens. A run of an image or a video "
             "may omit its length. The grids then tell it.",
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
    {.name = "second_per_grid_ts",
     .kind = PE_KIND_REAL_LIST,
     .optional = true,
     .min = 0,
     .max = 1e6,
     .list_max = GRIDS_MAX,
     .unit = "seconds",
     .help = "Seconds between the frames of each video (Qwen2.5-VL). The default is 1.",
     .example = "0.5"},
    {.name = "tokens_per_second",
     .kind = PE_KIND_REAL,
     .optional = true,
     .min = 0,
     .max = 1e6,
     .help = "Temporal positions in a second of video (Qwen2.5-VL). Without it, each frame is one "
             "position after the frame before.",
     .example = "2"},
    PADDING_ROW("left_padding", "before"),
    PADDING_ROW("right_padding", "after"),
    PE_PARAM_MODEL("qwen2.5-vl-7b"),
};

/**
 * Text has the same position on all axes, one more with each token. Token (t, h, w) of an image or
 * video of merged patches has
 *
 *     (s + floor(t * second_per_grid_t * tokens_per_second), s + h, s + w)
 *
 * where s is one more than the highest position before it; text goes on likewise.
 * mrope_position_delta = highest position + 1 - tokens without padding: what generation adds to the
 * length so far.
 *
 * Source  Wang et al. 2024, arXiv:2409.12191, section 2.1; huggingface/transformers at 052e652d,
 *         src/transformers/models/qwen2_vl/modeling_qwen2_vl.py, get_rope_index. Time in seconds:
 *         Bai et al. 2025, arXiv:2502.13923, section 2.1.2, and transformers'
 *         models/qwen2_5_vl/modeling_qwen2_5_vl.py; the product is exact here, before its floor.
 * Shapes  position_ids [3, tokens] int32: time, height, width; mrope_position_delta a scalar.
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
    .param_sets = {PE_PARAMS(own), &pe_params_output_int32},
    .plan = plan,
};
