/* SPDX-License-Identifier: MIT */
/* test_mrope_positions.c - positions of random sequences with images and videos, against a model
 * that goes token by token. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "encodings/registry.h"
#include "support/encode.h"
#include "support/random.h"

enum { TEXT, IMAGE, VIDEO, AUDIO, AUDIO_VIDEO, JOINT, KINDS };
enum { SPANS = 12, TOKENS = 20000 };

typedef struct sequence {
    size_t n, merge, left, right;
    int kind[SPANS];
    size_t length[SPANS]; /* of what has no grid; of AUDIO_VIDEO the sounds */
    size_t grid[SPANS][3];
    double seconds[SPANS], speed; /* speed 0: untimed */
    size_t temporal_merge, chunk; /* chunk 0: sounds by time */
    bool by_size;                 /* after_grid=size */
    bool rounded;                 /* times; else dtype=float32 */
} sequence;

static bool is_video(int kind)
{
    return kind == VIDEO || kind == AUDIO_VIDEO;
}

static bool has_grid(int kind)
{
    return kind == IMAGE || is_video(kind);
}

static sequence random_sequence(random_source *random)
{
    static const double speeds[] = {0, 1, 2, 25, 0.25};
    sequence s = {.n = (size_t)random_int(random, 1, SPANS),
                  .merge = (size_t)random_int(random, 1, 3),
                  .left = (size_t)random_int(random, 0, 5),
                  .right = (size_t)random_int(random, 0, 5),
                  .speed = speeds[random_int(random, 0, 4)],
                  .temporal_merge = (size_t)random_int(random, 1, 2),
                  .by_size = random_int(random, 0, 1) == 1,
                  .rounded = random_int(random, 0, 1) == 1};
    if (s.speed == 2 || s.speed == 25)
        s.chunk = (size_t)s.speed * (size_t)random_int(random, 0, 2) * 2;
    for (size_t i = 0; i < s.n; i++) {
        s.kind[i] = (int)random_int(random, TEXT, KINDS - 1);
        s.length[i] = (size_t)random_int(random, 1, 30);
        s.grid[i][0] = is_video(s.kind[i]) ? (size_t)random_int(random, 1, 9) : 1;
        s.grid[i][1] = s.merge * (size_t)random_int(random, 1, 5);
        s.grid[i][2] = s.merge * (size_t)random_int(random, 1, 5);
        s.seconds[i] = (double)random_int(random, 1, 32) / 16; /* products are exact doubles */
    }
    return s;
}

static void put_query(const sequence *s, bool told, pe_buffer *out)
{
    static const char *const kinds[] = {"text", "image", "video", "audio", "audio_video", "joint"};
    pe_buffer images = {0}, videos = {0}, seconds = {0};
    pe_buffer_str(out, "token_runs=");
    for (size_t i = 0; i < s->n; i++) {
        const int kind = s->kind[i];
        const size_t merged =
            s->grid[i][0] * (s->grid[i][1] / s->merge) * (s->grid[i][2] / s->merge);
        const size_t tokens =
            (has_grid(kind) ? merged : 0) + (kind == IMAGE || kind == VIDEO ? 0 : s->length[i]);
        pe_buffer_format(out, "%s%s", i == 0 ? "" : ",", kinds[kind]);
        if (told || (kind != IMAGE && kind != VIDEO))
            pe_buffer_format(out, ":%zu", tokens);
        pe_buffer *grid = kind == IMAGE ? &images : &videos;
        if (has_grid(kind))
            pe_buffer_format(grid, "%s%zu,%zu,%zu", grid->bytes == 0 ? "" : ";",
                             s->grid[i][0] * (is_video(kind) ? s->temporal_merge : 1),
                             s->grid[i][1], s->grid[i][2]);
        if (is_video(kind))
            pe_buffer_format(&seconds, "%s%.17g", seconds.bytes == 0 ? "" : ",", s->seconds[i]);
    }
    if (images.bytes != 0)
        pe_buffer_format(out, "&image_grid_thw=%s", pe_buffer_text(&images));
    if (videos.bytes != 0)
        pe_buffer_format(out, "&video_grid_thw=%s", pe_buffer_text(&videos));
    if (s->chunk != 0)
        pe_buffer_format(out, "&seconds_per_chunk=%.17g", (double)s->chunk / s->speed);
    if (s->chunk != 0 && seconds.bytes == 0)
        pe_buffer_format(out, "&tokens_per_second=%.17g", s->speed);
    if (s->speed != 0 && seconds.bytes != 0)
        pe_buffer_format(out, "&second_per_grid_ts=%s&tokens_per_second=%.17g",
                         pe_buffer_text(&seconds), s->speed);
    pe_buffer_format(out, "&spatial_merge_size=%zu&left_padding=%zu&right_padding=%zu", s->merge,
                     s->left, s->right);
    pe_buffer_format(out, "&temporal_merge_size=%zu&after_grid=%s", s->temporal_merge,
                     s->by_size ? "size" : "highest");
    pe_buffer_format(out, "&dtype=%s", s->rounded ? "int32" : "float32");
    pe_buffer_free(&images);
    pe_buffer_free(&videos);
    pe_buffer_free(&seconds);
}

/* Where the model of the rule stands. */
typedef struct walk {
    double (*out)[TOKENS];
    size_t n;
    double highest;
    double last; /* the highest position of the frame or sound that is last of a grid's */
} walk;

static void put_token(walk *at, double t, double h, double w)
{
    assert_true(at->n < TOKENS);
    at->out[0][at->n] = t;
    at->out[1][at->n] = h;
    at->out[2][at->n++] = w;
    at->highest = fmax(at->highest, fmax(t, fmax(h, w)));
}

/* Of a grid, merged, in its longer direction. */
static size_t size_of(const sequence *s, size_t i)
{
    const size_t h = s->grid[i][1], w = s->grid[i][2];
    return (h > w ? h : w) / s->merge;
}

static double time_of(const sequence *s, size_t i, size_t frame)
{
    const bool timed = is_video(s->kind[i]) && s->speed != 0;
    const double time = timed ? (double)frame * s->seconds[i] * s->speed : (double)frame;
    return s->rounded ? floor(time) : time;
}

/* Does a sound stand before a frame of this time? By their chunks, or by time. */
static bool sounds_first(const sequence *s, size_t sound, double time)
{
    const double chunk = (double)s->chunk;
    return s->chunk != 0 ? floor((double)sound / chunk) < floor(time / chunk)
                         : (double)sound < time;
}

/* Frames and sounds take turns, frames first where they are at one. What follows is after the
 * last of them. */
static void put_grid(const sequence *s, size_t i, double start, walk *at)
{
    const size_t sounds = s->kind[i] == AUDIO_VIDEO ? s->length[i] : 0;
    size_t f = 0, a = 0;
    while (f < s->grid[i][0] || a < sounds) {
        const double time = time_of(s, i, f), sound = (double)a;
        const bool sounds_now = f == s->grid[i][0] || (a < sounds && sounds_first(s, a, time));
        if (sounds_now) {
            put_token(at, start + sound, start + sound, start + sound);
            at->last = start + sound;
            a++;
            continue;
        }
        at->last = start + fmax(time, (double)size_of(s, i) - 1);
        for (size_t h = 0; h < s->grid[i][1] / s->merge; h++)
            for (size_t w = 0; w < s->grid[i][2] / s->merge; w++)
                put_token(at, start + time, start + (double)h, start + (double)w);
        f++;
    }
}

/* [3][tokens] and the deltas without and with padding, straight from the rule. */
static size_t slow_positions(const sequence *s, double (*out)[TOKENS], double delta[2])
{
    walk at = {.out = out};
    double next = 0;
    while (at.n < s->left)
        put_token(&at, 0, 0, 0);
    at.highest = -1;
    for (size_t i = 0; i < s->n; i++) {
        const double start = next;
        const double before = at.highest;
        at.highest = -1;
        if (has_grid(s->kind[i]))
            put_grid(s, i, start, &at);
        for (size_t k = 0; k < s->length[i] && !has_grid(s->kind[i]); k++) {
            const double p = start + (s->kind[i] == JOINT ? 0 : (double)k);
            put_token(&at, p, p, p);
        }
        next = s->by_size && (s->kind[i] == IMAGE || s->kind[i] == VIDEO)
                   ? start + (double)size_of(s, i)
                   : (has_grid(s->kind[i]) ? at.last : at.highest) + 1;
        at.highest = fmax(before, at.highest);
    }
    delta[0] = at.highest + 1 - (double)(at.n - s->left);
    for (size_t i = 0; i < s->right; i++)
        put_token(&at, 0, 0, 0);
    delta[1] = at.highest + 1 - (double)at.n;
    return at.n;
}

static void every_token_is_where_the_rule_puts_it(void **state)
{
    static double wanted[3][TOKENS];
    random_source random = random_make("sequences");
    for (size_t round = 0; round < 200; round++) {
        const sequence s = random_sequence(&random);
        pe_buffer query = {0};
        double delta[2];
        put_query(&s, round % 2 == 0, &query);
        const size_t n = slow_positions(&s, wanted, delta);
        encoded e = encode(&pe_rope_mrope_positions, "%s", pe_buffer_text(&query));
        if (e.status != PE_OK)
            fail_msg("%s: %s", pe_buffer_text(&query), e.why.detail);
        assert_int_equal(e.plan.tensors[0].elements, 3 * n);
        for (size_t k = 0; k < 2; k++)
            if (e.plan.scalars[k].value != delta[k])
                fail_msg("%s: delta %zu: got %.0f, wanted %.0f", pe_buffer_text(&query), k,
                         e.plan.scalars[k].value, delta[k]);
        double *got = encoded_all(&e, 0);
        for (size_t i = 0; i < 3 * n; i++)
            if (got[i] != wanted[i / n][i % n])
                fail_msg("seed %llu: %s: axis %zu, token %zu: got %.0f, wanted %.0f",
                         (unsigned long long)random.seed, pe_buffer_text(&query), i / n, i % n,
                         got[i], wanted[i / n][i % n]);
        const size_t first = (size_t)random_int(&random, 0, (int64_t)(3 * n) - 1);
        const size_t some = (size_t)random_int(&random, 1, (int64_t)(3 * n - first));
        double *part = encoded_units(&e, 0, first, some);
        assert_memory_equal(part, got + first, some * sizeof *got);
        free(part);
        free(got);
        encoded_free(&e);
        pe_buffer_free(&query);
    }
}

/* The times of torch 2.15's float32, by which transformers 5.23.0 has them: (t seconds) speed in
 * qwen2_5_omni, t (speed seconds) in qwen2_5_vl, whose grids go by their size. */
static void times_are_those_of_float32(void **state)
{
    static const struct {
        const char *seconds, *speed;
        int frame, at, at_by_size;
    } cases[] = {{"0.3", "1", 10, 3, 3},      {"0.1", "10", 10, 10, 10},
                 {"0.7", "25", 2, 35, 35},    {"0.7", "25", 6, 104, 105},
                 {"0.7", "25", 12, 209, 210}, {"0.9", "25", 6, 134, 135},
                 {"1.3", "25", 14, 454, 455}, {"0.6", "13", 10, 78, 78}};
    for (size_t c = 0; c < PE_LEN(cases); c++)
        for (size_t by_size = 0; by_size < 2; by_size++) {
            encoded e = encode(&pe_rope_mrope_positions,
                               "token_runs=video&video_grid_thw=15,1,1&spatial_merge_size=1"
                               "&second_per_grid_ts=%s&tokens_per_second=%s&after_grid=%s",
                               cases[c].seconds, cases[c].speed, by_size ? "size" : "highest");
            double *got = encoded_all(&e, 0);
            const int wanted = by_size ? cases[c].at_by_size : cases[c].at;
            if (got[cases[c].frame] != wanted)
                fail_msg("%s s, %s: frame %d at %.0f, not %d", cases[c].seconds, cases[c].speed,
                         cases[c].frame, got[cases[c].frame], wanted);
            free(got);
            encoded_free(&e);
        }
}

static void a_long_video_is_warned_of(void **state)
{
    encoded e =
        encode(&pe_rope_mrope_positions, "token_runs=text:2,video,text:1&video_grid_thw=3,4,4");
    assert_int_equal(e.plan.n_warnings, 1);
    encoded_free(&e);
    e = encode(&pe_rope_mrope_positions, "token_runs=text:2,video,text:1&video_grid_thw=2,4,4");
    assert_int_equal(e.plan.n_warnings, 0);
    encoded_free(&e);
}

/* Their canonical parameters are those of the same runs. */
static void grids_alone_are_a_sequence(void **state)
{
    static const struct {
        const char *grids, *runs;
    } cases[] = {
        {"image_grid_thw=1,4,6", "token_runs=image"},
        {"video_grid_thw=2,4,4&image_grid_thw=1,4,6;1,2,2", "token_runs=image,image,video"},
        {"image_grid_thw=1,4,6&variant=xdrope", "token_runs=image:8"},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        pe_buffer got = {0}, wanted = {0};
        encoded alone = encode(&pe_rope_mrope_positions, "%s", cases[c].grids);
        encoded told = encode(&pe_rope_mrope_positions, "%s&%s", cases[c].grids, cases[c].runs);
        pe_values_query(&alone.ask.values, &got);
        pe_values_query(&told.ask.values, &wanted);
        assert_string_equal(pe_buffer_text(&got), pe_buffer_text(&wanted));
        pe_buffer_free(&got);
        pe_buffer_free(&wanted);
        encoded_free(&alone);
        encoded_free(&told);
    }
}

static void json_says_the_same_as_a_query(void **state)
{
    static const char *const bodies[] = {
        "{\"token_runs\":[[\"text\",4],\"image\",[\"text\",2]],\"image_grid_thw\":[[1,4,6]]}",
        "{\"token_runs\":\"text:4,image:6,text:2\",\"image_grid_thw\":[1,4,6]}",
        "{\"token_runs\":\"text:4,image,text:2\",\"image_grid_thw\":\"1,4,6\"}",
    };
    encoded query = encode(&pe_rope_mrope_positions, "token_runs=text:4,image,text:2"
                                                     "&image_grid_thw=1,4,6");
    pe_buffer wanted = {0};
    pe_values_query(&query.ask.values, &wanted);
    assert_non_null(strstr(pe_buffer_text(&wanted), "token_runs=text:4,image:6,text:2"));
    for (size_t i = 0; i < PE_LEN(bodies); i++) {
        encoded e = encode_json(&pe_rope_mrope_positions, "%s", bodies[i]);
        pe_buffer got = {0};
        assert_int_equal(e.status, PE_OK);
        pe_values_query(&e.ask.values, &got);
        assert_string_equal(pe_buffer_text(&got), pe_buffer_text(&wanted));
        pe_buffer_free(&got);
        encoded_free(&e);
    }
    pe_buffer_free(&wanted);
    encoded_free(&query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_token_is_where_the_rule_puts_it),
        cmocka_unit_test(times_are_those_of_float32),
        cmocka_unit_test(a_long_video_is_warned_of),
        cmocka_unit_test(grids_alone_are_a_sequence),
        cmocka_unit_test(json_says_the_same_as_a_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
