/* SPDX-License-Identifier: MIT */
/* rope_mrope_places.c - the positions of tokens whose runs have been placed. */
#include "encodings/rope/rope_mrope_places.h"

#include <math.h>
#include <stdint.h>

double pe_mrope_places_time(const pe_mrope_place *run, size_t frame, bool rounded)
{
    if (run->block != 0 || (run->seconds == 1 && run->speed == 1))
        return (double)frame * (run->block != 0 ? (double)run->block : 1);
    const float t = (float)frame, seconds = (float)run->seconds, speed = (float)run->speed;
    const float interval = speed * seconds, since = t * seconds;
    const float time = run->by_interval ? t * interval : since * speed;
    return rounded ? floor((double)time) : (double)time;
}

/* Tokens of the sequence, and where to write them. */
typedef struct target {
    void *out;
    bool rounded;
} target;

static void put(const target *to, size_t i, double position)
{
    if (to->rounded)
        ((int32_t *)to->out)[i] = (int32_t)position;
    else
        ((float *)to->out)[i] = (float)position;
}

/* ---- frames, and sounds between them ---- */

/* A frame, and its first token within the run. */
typedef struct frame {
    size_t index, token;
    double time;
} frame;

/* Sounds of the chunks before a frame's stand before it; without chunks, those of earlier times. */
static frame frame_at(const pe_mrope_place *run, size_t index, bool rounded)
{
    const double time = pe_mrope_places_time(run, index, rounded);
    const size_t before =
        run->chunk != 0 ? (size_t)time / run->chunk * run->chunk : (size_t)ceil(time);
    return (frame){index,
                   index * run->height * run->width + (before < run->sounds ? before : run->sounds),
                   time};
}

/* The last frame that begins at or before a token; the first one where none does. */
static frame frame_before(const pe_mrope_place *run, size_t token, bool rounded)
{
    size_t low = 0,
           high = run->frames; /* frame low does, or is the first; from high on none does */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (frame_at(run, middle, rounded).token <= token)
            low = middle;
        else
            high = middle;
    }
    return frame_at(run, low, rounded);
}

static double in_frame(const pe_mrope_place *run, const frame *at, size_t axis, size_t k)
{
    const size_t place = axis == 1 ? k / run->width : axis == 2 ? k % run->width : 0;
    return axis == 0 ? at->time : (double)place + (run->block != 0 ? at->time : 0);
}

/* ---- runs ---- */

/* Positions of tokens [first, first + n) of a run on an axis. */
static void fill_run(const pe_mrope_place *run, size_t axis, size_t first, size_t n,
                     const target *to)
{
    if (run->course == PE_MROPE_GRID) {
        const size_t size = run->height * run->width;
        frame at = frame_before(run, first, to->rounded), next = at;
        for (size_t i = 0; i < n; i++) {
            const size_t k = first + i;
            if (next.index == at.index && k >= at.token + size && at.index + 1 < run->frames)
                next = frame_at(run, at.index + 1, to->rounded);
            if (next.index != at.index && k >= next.token)
                at = next;
            const double offset = k < at.token + size && k >= at.token
                                      ? in_frame(run, &at, axis, k - at.token)
                                      : (double)(k < at.token ? k : k - (at.index + 1) * size);
            put(to, i, run->start + run->origin[axis] + offset);
        }
        return;
    }
    if (run->course == PE_MROPE_IMAGE) {
        for (size_t i = 0; i < n; i++) {
            const size_t k = first + i;
            put(to, i,
                axis == 0 ? run->start + (double)k
                          : (double)(axis == 1   ? k % run->width
                                     : axis == 2 ? k / run->width
                                                 : run->number));
        }
        return;
    }
    const bool moves = run->course == PE_MROPE_LINE && (run->still >> axis & 1) == 0;
    const double start = run->start + run->origin[axis];
    for (size_t i = 0; i < n; i++)
        put(to, i, start + (moves ? (double)(first + i) : 0));
}

/* How many of n tokens follow one rule: those of a run, or padding, whose positions are 0. */
static size_t fill_some(const pe_mrope_places *s, size_t axis, size_t token, size_t n,
                        const target *to)
{
    /* The last run that begins at or before a token; n when none does: padding on the left. */
    size_t low = 0,
           high = s->n; /* low runs begin at or before it; those from high on begin after it */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->run[middle].first <= token)
            low = middle + 1;
        else
            high = middle;
    }
    const size_t k = low == 0 ? s->n : low - 1;
    const pe_mrope_place *run = k < s->n ? &s->run[k] : NULL;
    if (run != NULL && token < run->first + run->tokens) {
        const size_t left = run->first + run->tokens - token;
        const size_t some = n < left ? n : left;
        fill_run(run, axis, token - run->first, some, to);
        return some;
    }
    const size_t end = run == NULL ? s->run[0].first : s->tokens;
    const size_t some = n < end - token ? n : end - token;
    for (size_t i = 0; i < some; i++)
        put(to, i, 0);
    return some;
}

void pe_mrope_places_fill(const pe_mrope_places *s, size_t first, size_t n, void *out)
{
    const size_t element = s->rounded ? sizeof(int32_t) : sizeof(float);
    for (size_t done = 0, some; done < n; done += some) {
        const size_t axis = (first + done) / s->tokens, token = (first + done) % s->tokens;
        const size_t left = s->tokens - token < n - done ? s->tokens - token : n - done;
        some = fill_some(s, axis, token, left, &(target){(char *)out + done * element, s->rounded});
    }
}
