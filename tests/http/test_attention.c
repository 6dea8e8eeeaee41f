/* SPDX-License-Identifier: MIT */
/* test_attention.c - attention under each scheme, against the textbook's sums. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/nest.h"
#include "support/problem.h"

enum { HEADS = 2, QUERIES = 3, KEYS = 5, CHANNELS = 4, VALUES = 2, BUCKETS = 32 };
enum { NUMBERS = QUERIES * CHANNELS + KEYS * CHANNELS + KEYS * VALUES }; /* of a head */

/* What numbers made by libm in doubles, and summed up naively, may be off. */
#define ALLOWED 1e-13

typedef struct heads {
    double q[QUERIES][CHANNELS], k[KEYS][CHANNELS], v[KEYS][VALUES];
} heads;

static test_server server;
static heads given[HEADS];
static double weights[BUCKETS][HEADS];

/* Numbers of either sign, of a few digits, no two the same. */
static double number(size_t i)
{
    return (double)((i * 37 + 11) % 101) / 32 - 1.5;
}

static void make_numbers(void)
{
    double *all = &given[0].q[0][0];
    for (size_t i = 0; i < HEADS * NUMBERS; i++)
        all[i] = number(i);
    for (size_t b = 0; b < BUCKETS; b++)
        for (size_t h = 0; h < HEADS; h++)
            weights[b][h] = number(7 * b + h);
}

/* ---- what positions do to queries, keys and scores ---- */

static double angle(double position, size_t pair)
{
    return position * pow(10000, -2.0 * (double)pair / CHANNELS);
}

static void add_sinusoid(double *x, double position)
{
    for (size_t i = 0; i < CHANNELS / 2; i++) {
        x[2 * i] += sin(angle(position, i));
        x[2 * i + 1] += cos(angle(position, i));
    }
}

/* Pair i is the channels at and at + apart. */
static void turn(double *x, double position, size_t step, size_t apart)
{
    for (size_t i = 0; i < CHANNELS / 2; i++) {
        double *a = &x[i * step], *b = a + apart;
        const double c = cos(angle(position, i)), s = sin(angle(position, i)), was = *a;
        *a = was * c - *b * s;
        *b = was * s + *b * c;
    }
}

static void turn_adjacent(double *x, double position)
{
    turn(x, position, 2, 1);
}

static void turn_halves(double *x, double position)
{
    turn(x, position, 1, CHANNELS / 2);
}

/* Heads 1 and 2 of two have the slopes 2^-4 and 2^-8. */
static double alibi(size_t head, double distance)
{
    return -fabs(distance) * (head == 0 ? 1.0 / 16 : 1.0 / 256);
}

/* Near distances have a bucket each; those to keys after the query are in the second half. */
static double t5(size_t head, double distance)
{
    return weights[(size_t)fabs(distance) + (distance > 0 ? BUCKETS / 2 : 0)][head];
}

static const struct scheme {
    const char *members;
    void (*place)(double *x, double position);    /* NULL: as it is */
    double (*bias)(size_t head, double distance); /* of key - query; NULL: none */
    bool causal;
} schemes[] = {
    {"\"scheme\":\"none\"", NULL, NULL, false},
    {"\"scheme\":\"none\",\"causal\":true", NULL, NULL, true},
    {"\"scheme\":\"sinusoidal\"", add_sinusoid, NULL, false},
    {"\"scheme\":\"sinusoidal\",\"causal\":true", add_sinusoid, NULL, true},
    {"\"scheme\":\"rope\"", turn_adjacent, NULL, false},
    {"\"scheme\":\"rope\",\"pairing\":\"half\",\"causal\":true", turn_halves, NULL, true},
    {"\"scheme\":\"alibi\"", NULL, alibi, false},
    {"\"scheme\":\"alibi\",\"causal\":true", NULL, alibi, true},
    {"\"scheme\":\"t5\"", NULL, t5, false},
    {"\"scheme\":\"t5\",\"causal\":true", NULL, t5, true},
};

/* ---- attention ---- */

static void place_all(const struct scheme *scheme, heads *of)
{
    for (size_t i = 0; i < QUERIES && scheme->place != NULL; i++)
        scheme->place(of->q[i], (double)(KEYS - QUERIES + i));
    for (size_t j = 0; j < KEYS && scheme->place != NULL; j++)
        scheme->place(of->k[j], (double)j);
}

/* exp(score) of a key; the queries are the last of the positions. */
static double share(const struct scheme *scheme, const heads *of, size_t head, size_t i, size_t j)
{
    const double distance = (double)j - (double)(KEYS - QUERIES + i);
    double score = 0;
    if (scheme->causal && distance > 0)
        return 0;
    for (size_t c = 0; c < CHANNELS; c++)
        score += of->q[i][c] * of->k[j][c];
    score /= sqrt(CHANNELS);
    return exp(score + (scheme->bias != NULL ? scheme->bias(head, distance) : 0));
}

static void attend(const struct scheme *scheme, size_t head, double p[QUERIES][KEYS],
                   double out[QUERIES][VALUES])
{
    heads of = given[head];
    place_all(scheme, &of);
    memset(out, 0, sizeof(double) * QUERIES * VALUES);
    for (size_t i = 0; i < QUERIES; i++) {
        double sum = 0;
        for (size_t j = 0; j < KEYS; j++)
            sum += p[i][j] = share(scheme, &of, head, i, j);
        for (size_t j = 0; j < KEYS; j++) {
            p[i][j] /= sum;
            for (size_t c = 0; c < VALUES; c++)
                out[i][c] += p[i][j] * of.v[j][c];
        }
    }
}

/* ---- the request ---- */

static void put_heads(pe_buffer *out, const char *name, size_t offset, size_t n, size_t width)
{
    pe_buffer_format(out, ",\"%s\":[", name);
    for (size_t h = 0; h < HEADS; h++) {
        pe_buffer_str(out, h == 0 ? "" : ",");
        nest((const double *)(const void *)((const char *)&given[h] + offset),
             (const size_t[]){n, width}, 2, out);
    }
    pe_buffer_str(out, "]");
}

static json_t *ask(const struct scheme *scheme)
{
    pe_buffer body = {0};
    pe_buffer_format(&body, "{\"dtype\":\"float64\",%s", scheme->members);
    put_heads(&body, "q", offsetof(heads, q), QUERIES, CHANNELS);
    put_heads(&body, "k", offsetof(heads, k), KEYS, CHANNELS);
    put_heads(&body, "v", offsetof(heads, v), KEYS, VALUES);
    if (scheme->bias == t5) {
        pe_buffer_str(&body, ",\"weights\":");
        nest(&weights[0][0], (const size_t[]){BUCKETS, HEADS}, 2, &body);
    }
    pe_buffer_str(&body, "}");
    reply answer = post_json(&server, "/v1/attention", pe_buffer_text(&body));
    pe_buffer_free(&body);
    assert_status(scheme->members, &answer, 200);
    json_t *json = reply_json(&answer);
    reply_free(&answer);
    return json;
}

static void compare(const char *name, const json_t *json, const char *tensor, size_t head,
                    const double *wanted, size_t n, size_t width)
{
    const json_t *rows =
        json_array_get(json_object_get(json_object_get(json, tensor), "data"), head);
    assert_int_equal(json_array_size(rows), n);
    for (size_t e = 0; e < n * width; e++) {
        const json_t *row = json_array_get(rows, e / width);
        const double got = json_number_value(json_array_get(row, e % width));
        if (!(fabs(got - wanted[e]) <= ALLOWED))
            fail_msg("{%s}: %s of head %zu at %zu is %.17g, wanted %.17g", name, tensor, head, e,
                     got, wanted[e]);
    }
}

static void every_scheme_is_what_the_textbook_says(void **state)
{
    make_numbers();
    for (size_t s = 0; s < PE_LEN(schemes); s++) {
        json_t *json = ask(&schemes[s]);
        for (size_t h = 0; h < HEADS; h++) {
            double p[QUERIES][KEYS], out[QUERIES][VALUES];
            attend(&schemes[s], h, p, out);
            compare(schemes[s].members, json, "probabilities", h, &p[0][0], QUERIES, KEYS);
            compare(schemes[s].members, json, "output", h, &out[0][0], QUERIES, VALUES);
        }
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scheme_is_what_the_textbook_says)};
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
