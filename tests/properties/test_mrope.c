/* SPDX-License-Identifier: MIT */
/* test_mrope.c - the laws of rotations by positions on several axes, at random parameters. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "encodings/registry.h"
#include "support/encode.h"
#include "support/nest.h"
#include "support/random.h"

/* A random multi-axis rotation with positions on its axes. */
typedef struct sample {
    size_t axes, pairs, tokens;
    size_t section[4];
    double *at; /* [axes, tokens] */
    char text[200];
} sample;

static const char *const layouts[] = {"sections", "interleaved", "ernie", "bailing", "balanced"};

enum { SPREAD, NEAR, FRACTIONAL, KINDS };

static double random_position(random_source *random, int kind)
{
    switch (kind) {
    case SPREAD: {
        const int bits = (int)random_int(random, 1, 52);
        return (double)random_int(random, -((int64_t)1 << bits), (int64_t)1 << bits);
    }
    case NEAR:
        return (double)random_int(random, 0, 40);
    default:
        return random_real(random, -1000, 1000);
    }
}

/* Sections that the layout takes: three axes, heights and widths equal, times not 0. */
static sample random_sample(random_source *random, size_t layout, int kind, size_t tokens)
{
    sample s = {.axes = 3, .tokens = tokens};
    const size_t space = (size_t)random_int(random, 1, 12),
                 time = space + (size_t)random_int(random, 0, 9);
    const size_t order[][3] = {{1, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 0, 0}};
    for (size_t a = 0; a < 3; a++)
        s.pairs += s.section[a] = order[layout][a] != 0 ? time : space;
    snprintf(s.text, sizeof s.text,
             "\"dtype\":\"float64\",\"head_dim\":%zu,\"mrope_layout\":\"%s\",\"mrope_section\":[%"
             "zu,%zu,%zu]",
             2 * s.pairs, layouts[layout], s.section[0], s.section[1], s.section[2]);
    s.at = malloc(3 * tokens * sizeof *s.at);
    assert_non_null(s.at);
    for (size_t i = 0; i < 3 * tokens; i++)
        s.at[i] = random_position(random, kind);
    return s;
}

static encoded ask(const pe_resource *resource, const char *members, const char *name,
                   const double *at, size_t rows, size_t n)
{
    const size_t shape[] = {rows, n};
    pe_buffer body = {0};
    pe_buffer_format(&body, "{%s,\"%s\":", members, name);
    nest(at, rows == 0 ? shape + 1 : shape, rows == 0 ? 1 : 2, &body);
    encoded e = encode_json(resource, "%s}", pe_buffer_text(&body));
    if (e.status != PE_OK)
        fail_msg("%s}: %s: %s", pe_buffer_text(&body), e.why.where, e.why.detail);
    pe_buffer_free(&body);
    return e;
}

static double *pair_axes(const sample *s)
{
    encoded e = encode_json(&pe_rope_frequencies, "{%s}", s->text);
    assert_int_equal(e.status, PE_OK);
    assert_string_equal(e.plan.tensors[3].name, "pair_axis");
    double *out = encoded_all(&e, 3);
    encoded_free(&e);
    return out;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void a_pair_turns_as_in_the_plain_rotation_at_its_axis_position(void **state)
{
    random_source random = random_make("axes");
    for (size_t round = 0; round < 45; round++) {
        sample s = random_sample(&random, round % PE_LEN(layouts), (int)(round % KINDS),
                                 (size_t)random_int(&random, 1, round % 9 == 0 ? 600 : 40));
        double *axis = pair_axes(&s);
        encoded mixed = ask(&pe_rope_table, s.text, "positions", s.at, 3, s.tokens);
        char plain[80];
        snprintf(plain, sizeof plain, "\"dtype\":\"float64\",\"head_dim\":%zu", 2 * s.pairs);
        for (size_t t = 0; t < 2; t++) {
            double *got = encoded_all(&mixed, t), *wanted[3];
            for (size_t a = 0; a < 3; a++) {
                encoded e =
                    ask(&pe_rope_table, plain, "positions", s.at + a * s.tokens, 0, s.tokens);
                wanted[a] = encoded_all(&e, t);
                encoded_free(&e);
            }
            for (size_t i = 0; i < s.tokens * s.pairs; i++)
                if (memcmp(&got[i], &wanted[(size_t)axis[i % s.pairs]][i], sizeof *got) != 0)
                    fail_msg("seed %llu: {%s} element %zu of tensor %zu: got %.17g, wanted %.17g",
                             (unsigned long long)random.seed, s.text, i, t, got[i],
                             wanted[(size_t)axis[i % s.pairs]][i]);
            free(got);
            for (size_t a = 0; a < 3; a++)
                free(wanted[a]);
        }
        encoded_free(&mixed);
        free(axis);
        free(s.at);
    }
}

static void each_axis_has_the_pairs_its_section_says(void **state)
{
    random_source random = random_make("sections");
    for (size_t round = 0; round < 50; round++) {
        const size_t layout = round % PE_LEN(layouts);
        sample s = random_sample(&random, layout, NEAR, 1);
        double *axis = pair_axes(&s);
        size_t got[3] = {0};
        for (size_t p = 0; p < s.pairs; p++)
            got[(size_t)axis[p]]++;
        for (size_t a = 0; a < 3; a++) {
            const size_t of = strcmp(layouts[layout], "ernie") == 0 ? (a + 1) % 3 : a;
            if (got[of] != s.section[a])
                fail_msg("seed %llu: {%s}: axis %zu has %zu pairs", (unsigned long long)random.seed,
                         s.text, of, got[of]);
        }
        free(axis);
        free(s.at);
    }
}

/* The rule of ggml by hand: pair p is axis p mod 3 below three times that section, else axis 3. */
static void four_interleaved_sections_are_ggmls(void **state)
{
    static const struct {
        const char *query;
        double axis[12];
    } cases[] = {
        {"head_dim=8&mrope_section=2,1,1,0", {0, 1, 2, 0}},
        {"head_dim=8&mrope_section=1,1,1,1", {0, 1, 2, 3}},
        {"head_dim=24&mrope_section=6,3,3,0", {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 3, 3}},
        {"head_dim=24&mrope_section=4,4,4,0", {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        encoded e = encode(&pe_rope_frequencies, "%s&mrope_interleaved=true", cases[c].query);
        double *got = encoded_all(&e, 3);
        assert_string_equal(e.plan.tensors[3].name, "pair_axis");
        assert_memory_equal(got, cases[c].axis, e.plan.tensors[3].elements * sizeof *got);
        free(got);
        encoded_free(&e);
    }
}

/* The same bits in every shape an engine keeps, whether the axes are told apart or not. */
static void equal_positions_on_all_axes_are_the_plain_rotation(void **state)
{
    static const char *const shapes[] = {"pairs", "hf", "vllm", "onnx", "meta", "trtllm"};
    static const char *const pairings[] = {"half", "interleaved"};
    random_source random = random_make("equal axes");
    for (size_t round = 0; round < 24; round++) {
        const int64_t first = random_int(&random, -1000000, 1000000),
                      n = random_int(&random, 1, 300);
        char query[300];
        snprintf(query, sizeof query, "head_dim=24&cache_layout=%s&pairing=%s&dtype=float32",
                 shapes[round % 6], pairings[round / 6 % 2]);
        encoded plain = encode(&pe_rope_table, "%s&positions=%lld:%lld", query, (long long)first,
                               (long long)(first + n));
        encoded one = encode(&pe_rope_table, "%s&mrope_section=5,4,3&positions=%lld:%lld", query,
                             (long long)first, (long long)(first + n));
        encoded three =
            encode(&pe_rope_table, "%s&mrope_section=5,4,3&positions=%lld:%lld;%lld:%lld;%lld:%lld",
                   query, (long long)first, (long long)(first + n), (long long)first,
                   (long long)(first + n), (long long)first, (long long)(first + n));
        for (size_t t = 0; t < plain.plan.n_tensors; t++) {
            double *p = encoded_all(&plain, t), *a = encoded_all(&one, t),
                   *b = encoded_all(&three, t);
            const size_t bytes = plain.plan.tensors[t].elements * sizeof *p;
            if (memcmp(p, a, bytes) != 0 || memcmp(p, b, bytes) != 0)
                fail_msg("seed %llu: %s at %lld differs", (unsigned long long)random.seed, query,
                         (long long)first);
            free(p);
            free(a);
            free(b);
        }
        encoded_free(&plain);
        encoded_free(&one);
        encoded_free(&three);
    }
}

/* The shapes of engines hold the mixed rows, too: each from the pairs. */
static void engines_shapes_hold_the_same_numbers(void **state)
{
    enum { D = 12, P = D / 2, N = 5 };
    static const char query[] = "head_dim=12&mrope_section=2,2,2&mrope_interleaved=true"
                                "&positions=3:8;9,9,9,7,1;0:10:2&pairing=";
    encoded pairs = encode(&pe_rope_table, "%shalf", query);
    double *cos = encoded_all(&pairs, 0), *sin = encoded_all(&pairs, 1);
    encoded meta = encode(&pe_rope_table, "%shalf&cache_layout=meta", query);
    encoded vllm = encode(&pe_rope_table, "%shalf&cache_layout=vllm", query);
    encoded hf = encode(&pe_rope_table, "%sinterleaved&cache_layout=hf", query);
    double *complex = encoded_all(&meta, 0), *row = encoded_all(&vllm, 0);
    double *twice = encoded_all(&hf, 1);
    for (size_t i = 0; i < (size_t)N * P; i++) {
        const size_t r = i / P, p = i % P;
        assert_true(complex[2 * i] == cos[i] && complex[2 * i + 1] == sin[i]);
        assert_true(row[r * D + p] == cos[i] && row[r * D + P + p] == sin[i]);
        assert_true(twice[r * D + 2 * p] == sin[i] && twice[r * D + 2 * p + 1] == sin[i]);
    }
    free(cos);
    free(sin);
    free(complex);
    free(row);
    free(twice);
    encoded_free(&pairs);
    encoded_free(&meta);
    encoded_free(&vllm);
    encoded_free(&hf);
}

static void any_rows_are_those_of_the_whole_table(void **state)
{
    random_source random = random_make("rows");
    for (size_t round = 0; round < 12; round++) {
        sample s = random_sample(&random, round % PE_LEN(layouts), (int)(round % KINDS), 400);
        encoded e = ask(&pe_rope_table, s.text, "positions", s.at, 3, s.tokens);
        double *all = encoded_all(&e, 1);
        const size_t first = (size_t)random_int(&random, 0, 399);
        const size_t rows = (size_t)random_int(&random, 1, 400 - (int64_t)first);
        double *some = encoded_units(&e, 1, first, rows);
        assert_memory_equal(some, all + first * s.pairs, rows * s.pairs * sizeof *all);
        free(some);
        free(all);
        encoded_free(&e);
        free(s.at);
    }
}

/* ---- rotations ------------------------------------------------------------------------------- */

static double *turn(const char *members, const double *at, size_t axes, const double *x, size_t n,
                    size_t d)
{
    const size_t at_shape[] = {axes, n}, shape[] = {n, d};
    pe_buffer body = {0};
    pe_buffer_format(&body, "{%s,\"positions\":", members);
    nest(at, at_shape, 2, &body);
    pe_buffer_str(&body, ",\"vectors\":");
    nest(x, shape, 2, &body);
    encoded e = encode_json(&pe_rope_rotate, "%s}", pe_buffer_text(&body));
    if (e.status != PE_OK)
        fail_msg("%s}: %s", pe_buffer_text(&body), e.why.detail);
    double *out = encoded_all(&e, 0);
    encoded_free(&e);
    pe_buffer_free(&body);
    return out;
}

/* The rotation of a token is the table's row, pair by pair: within 0.5 ulp + 2^-52 (|a| + |b|) of
 * a cos - b sin, whose own rounding here is as large. */
static void a_rotation_is_by_the_tables_rows(void **state)
{
    random_source random = random_make("rotations");
    for (size_t round = 0; round < 30; round++) {
        sample s = random_sample(&random, round % PE_LEN(layouts), (int)(round % KINDS),
                                 (size_t)random_int(&random, 1, 90));
        const size_t d = 2 * s.pairs;
        double *x = random_reals(&random, s.tokens * d, -2, 2);
        encoded table = ask(&pe_rope_table, s.text, "positions", s.at, 3, s.tokens);
        double *cos = encoded_all(&table, 0), *sin = encoded_all(&table, 1);
        double *y = turn(s.text, s.at, 3, x, s.tokens, d);
        for (size_t i = 0; i < s.tokens * s.pairs; i++) {
            const double a = x[2 * i], b = x[2 * i + 1];
            if (!(fabs(y[2 * i] - (a * cos[i] - b * sin[i])) <= 0x1p-50 &&
                  fabs(y[2 * i + 1] - (b * cos[i] + a * sin[i])) <= 0x1p-50))
                fail_msg("seed %llu: {%s} pair %zu: got %.17g, %.17g",
                         (unsigned long long)random.seed, s.text, i, y[2 * i], y[2 * i + 1]);
        }
        free(x);
        free(y);
        free(cos);
        free(sin);
        encoded_free(&table);
        free(s.at);
    }
}

/* <R_m q, R_n k> is the same when both move equally on any axis. */
static void scores_depend_on_the_difference_on_each_axis(void **state)
{
    random_source random = random_make("relative");
    for (size_t round = 0; round < 30; round++) {
        sample s = random_sample(&random, round % PE_LEN(layouts), NEAR, 2);
        const size_t d = 2 * s.pairs;
        double *x = random_reals(&random, 2 * d, -2, 2), moved[6], score[2] = {0};
        for (size_t i = 0; i < 6; i += 2) {
            const double by = (double)random_int(&random, -100000, 100000);
            moved[i] = s.at[i] + by;
            moved[i + 1] = s.at[i + 1] + by;
        }
        double *here = turn(s.text, s.at, 3, x, 2, d), *there = turn(s.text, moved, 3, x, 2, d);
        for (size_t c = 0; c < d; c++) {
            score[0] += here[c] * here[d + c];
            score[1] += there[c] * there[d + c];
        }
        /* up to 132 products below 8, each off by 2^-48, and their sum's roundings */
        if (!(fabs(score[0] - score[1]) <= 0x1p-40))
            fail_msg("seed %llu: {%s}: %.17g here, %.17g there", (unsigned long long)random.seed,
                     s.text, score[0], score[1]);
        free(x);
        free(here);
        free(there);
        free(s.at);
    }
}

static void batches_and_axes_are_told_apart(void **state)
{
    static const char members[] =
        "\"dtype\":\"float64\",\"mrope_section\":[1,1],\"vectors\":[[[1,2,3,4],[5,6,7,8]],"
        "[[1,1,2,2],[3,3,4,4]]]";
    encoded both =
        encode_json(&pe_rope_rotate, "{%s,\"positions\":[[[1,2],[3,4]],[[5,6],[7,8]]]}", members);
    assert_int_equal(both.status, PE_OK);
    double *got = encoded_all(&both, 0);
    encoded first = encode_json(&pe_rope_rotate, "{%s,\"positions\":[[1,2],[5,6]]}", members);
    encoded second = encode_json(&pe_rope_rotate, "{%s,\"positions\":[[[3,4]],[[7,8]]]}", members);
    double *a = encoded_all(&first, 0), *b = encoded_all(&second, 0);
    assert_memory_equal(got, a, 8 * sizeof *got);
    assert_memory_equal(got + 8, b + 8, 8 * sizeof *got);
    free(got);
    free(a);
    free(b);
    encoded_free(&both);
    encoded_free(&first);
    encoded_free(&second);
}

/* Rows of text, each a range or a list, and the numbers that they name. */
static void random_rows(random_source *random, size_t rows, size_t n, double *at, pe_buffer *text)
{
    for (size_t r = 0; r < rows; r++, at += n) {
        const int64_t first = random_int(random, -50, 50), step = random_int(random, 1, 9) - 10;
        const int kind = (int)random_int(random, 0, 2); /* up by one, down by some, listed */
        for (size_t i = 0; i < n; i++)
            at[i] = kind == 2 ? (double)random_int(random, -200, 200) / 4
                              : (double)(first + (kind == 0 ? 1 : step) * (int64_t)i);
        pe_buffer_str(text, r == 0 ? "" : ";");
        if (kind == 0)
            pe_buffer_format(text, "%lld:%lld", (long long)first, (long long)first + (long long)n);
        else if (kind == 1)
            pe_buffer_format(text, "%lld:%lld:%lld", (long long)first,
                             (long long)(first + step * (int64_t)(n - 1) - 1), (long long)step);
        for (size_t i = 0; kind == 2 && i < n; i++)
            pe_buffer_format(text, i == 0 ? "%.17g" : ",%.17g", at[i]);
    }
}

static void assert_same_encoding(const encoded *a, const encoded *b, const char *text)
{
    pe_buffer canonical[2] = {0};
    if (a->status != PE_OK || b->status != PE_OK)
        fail_msg("%s: %s%s", text, a->status == PE_OK ? "" : a->why.detail,
                 b->status == PE_OK ? "" : b->why.detail);
    pe_positions_print(&pe_values_find(&a->ask.values, "positions")->positions, &canonical[0]);
    pe_positions_print(&pe_values_find(&b->ask.values, "positions")->positions, &canonical[1]);
    assert_string_equal(pe_buffer_text(&canonical[0]), pe_buffer_text(&canonical[1]));
    for (size_t t = 0; t < a->plan.n_tensors; t++) {
        double *x = encoded_all(a, t), *y = encoded_all(b, t);
        assert_memory_equal(x, y, a->plan.tensors[t].elements * sizeof *x);
        free(x);
        free(y);
    }
    pe_buffer_free(&canonical[0]);
    pe_buffer_free(&canonical[1]);
}

/* Axes of a table, axes of a rotation, and batches: as text, and as arrays of numbers. */
static void ranges_lists_and_arrays_of_the_same_positions_are_one_request(void **state)
{
    static const struct {
        const pe_resource *resource;
        size_t rows;
        const char *members;
    } cases[] = {
        {&pe_rope_table, 3, "\"dtype\":\"float64\",\"head_dim\":12,\"mrope_section\":[2,1,3]"},
        {&pe_rope_table, 3, "\"head_dim\":6,\"mrope_section\":[1,1,1],\"numerics\":\"float32\""},
        {&pe_rope_rotate, 2, "\"dtype\":\"float64\",\"mrope_section\":[2,1],\"vectors\":"},
        {&pe_rope_rotate, 2, "\"dtype\":\"float64\",\"vectors\":"},
        {&pe_sinusoidal_add, 2, "\"dtype\":\"float64\",\"embeddings\":"},
    };
    random_source random = random_make("texts");
    for (size_t round = 0; round < 100; round++) {
        const size_t k = round % PE_LEN(cases), rows = cases[k].rows;
        const size_t n = (size_t)random_int(&random, 1, 40);
        const size_t at_shape[] = {rows, n}, shape[] = {rows, n, 6};
        double at[3 * 40], *x = random_reals(&random, 2 * n * 6, -2, 2);
        pe_buffer text = {0}, array = {0}, members = {0};
        random_rows(&random, rows, n, at, &text);
        nest(at, at_shape, 2, &array);
        pe_buffer_str(&members, cases[k].members);
        if (cases[k].resource != &pe_rope_table)
            nest(x, shape, 3, &members);
        encoded by_text = encode_json(cases[k].resource, "{%s,\"positions\":\"%s\"}",
                                      pe_buffer_text(&members), pe_buffer_text(&text));
        encoded by_array = encode_json(cases[k].resource, "{%s,\"positions\":%s}",
                                       pe_buffer_text(&members), pe_buffer_text(&array));
        assert_same_encoding(&by_text, &by_array, pe_buffer_text(&text));
        encoded_free(&by_text);
        encoded_free(&by_array);
        pe_buffer_free(&text);
        pe_buffer_free(&array);
        pe_buffer_free(&members);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_turns_as_in_the_plain_rotation_at_its_axis_position),
        cmocka_unit_test(each_axis_has_the_pairs_its_section_says),
        cmocka_unit_test(four_interleaved_sections_are_ggmls),
        cmocka_unit_test(equal_positions_on_all_axes_are_the_plain_rotation),
        cmocka_unit_test(engines_shapes_hold_the_same_numbers),
        cmocka_unit_test(any_rows_are_those_of_the_whole_table),
        cmocka_unit_test(a_rotation_is_by_the_tables_rows),
        cmocka_unit_test(scores_depend_on_the_difference_on_each_axis),
        cmocka_unit_test(batches_and_axes_are_told_apart),
        cmocka_unit_test(ranges_lists_and_arrays_of_the_same_positions_are_one_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
