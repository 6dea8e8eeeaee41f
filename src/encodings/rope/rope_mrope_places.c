/* SPDX-License-Identifier: MIT */
/* rope_mrope_places.c - the positions of tokens whose runs have been placed. */
#include "encodings/rope/rope_mrope_places.h"

#include <mpfr.h>
#include <string.h>

/* A product of three numbers takes 53 + 53 + 32 bits. */
int64_t pe_mrope_places_time(size_t frame, double seconds, double speed)
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

/* ---- frames, and sounds between them ---- */

/* A frame, and its first token within the run. */
typedef struct frame {
    size_t index, token;
    int64_t time;
} frame;

/* Sounds of the chunks before a frame's stand before it. */
static frame frame_at(const pe_mrope_place *run, size_t index)
{
    const int64_t time = pe_mrope_places_time(index, run->seconds, run->speed);
    const size_t chunk = run->sounds != 0 ? run->chunk : 1;
    const size_t before = (size_t)time / chunk * chunk;
    return (frame){index,
                   index * run->height * run->width + (before < run->sounds ? before : run->sounds),
                   time};
}

/* The last frame that begins at or before a token; the first one where none does. */
static frame frame_before(const pe_mrope_place *run, size_t token)
{
    size_t low = 0,
           high = run->frames; /* frame low does, or is the first; from high on none does */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (frame_at(run, middle).token <= token)
            low = middle;
        else
            high = middle;
    }
    return frame_at(run, low);
}

static int64_t in_frame(const pe_mrope_place *run, const frame *at, size_t axis, size_t k)
{
    return axis == 0 ? at->time : axis == 1 ? (int64_t)(k / run->width) : (int64_t)(k % run->width);
}

static void fill_grid(const pe_mrope_place *run, size_t axis, size_t first, size_t n, int32_t *out)
{
    const size_t size = run->height * run->width;
    frame at = frame_before(run, first), next = at;
    for (size_t i = 0; i < n; i++) {
        const size_t k = first + i;
        if (next.index == at.index && k >= at.token + size && at.index + 1 < run->frames)
            next = frame_at(run, at.index + 1);
        if (next.index != at.index && k >= next.token)
            at = next;
        const int64_t offset = k < at.token + size && k >= at.token
                                   ? in_frame(run, &at, axis, k - at.token)
                                   : (int64_t)(k < at.token ? k : k - (at.index + 1) * size);
        out[i] = (int32_t)(run->start + offset);
    }
}

/* ---- runs ---- */

static void fill_image(const pe_mrope_place *run, size_t axis, size_t first, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        const size_t k = first + i;
        out[i] = (int32_t)(axis == 0   ? (size_t)run->start + k
                           : axis == 1 ? k % run->width
                           : axis == 2 ? k / run->width
                                       : run->number);
    }
}

/* Positions of tokens [first, first + n) of a run on an axis. */
static void fill_run(const pe_mrope_place *run, size_t axis, size_t first, size_t n, int32_t *out)
{
    if (run->course == PE_MROPE_GRID) {
        fill_grid(run, axis, first, n, out);
        return;
    }
    if (run->course == PE_MROPE_IMAGE) {
        fill_image(run, axis, first, n, out);
        return;
    }
    const int64_t step = run->course == PE_MROPE_LINE;
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)(run->start + step * (int64_t)(first + i));
}

/* The last run that begins at or before a token; n when none does: padding on the left. */
static size_t run_at(const pe_mrope_places *s, size_t token)
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
static size_t fill_some(const pe_mrope_places *s, size_t axis, size_t token, size_t n, int32_t *out)
{
    const size_t k = run_at(s, token);
    const pe_mrope_place *run = k < s->n ? &s->run[k] : NULL;
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

void pe_mrope_places_fill(const pe_mrope_places *s, size_t first, size_t n, int32_t *out)
{
    for (size_t done = 0, some; done < n; done += some) {
        const size_t axis = (first + done) / s->tokens, token = (first + done) % s->tokens;
        const size_t left = s->tokens - token < n - done ? s->tokens - token : n - done;
        some = fill_some(s, axis, token, left, out + done);
    }
}
