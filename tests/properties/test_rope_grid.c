/* SPDX-License-Identifier: MIT */
/* test_rope_grid.c - the laws of rotations by row and column, at random grids. */
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

enum { COS, SIN, ANGLES, ROW_COL };

static const char *const conventions[] = {"qwen2_vl", "pixtral", "eva02",  "sam2",
                                          "llama4",   "kimi",    "gemma4", "step3",
                                          "inkling2", "neomme",  "dinov3", "pixel"};
enum { BY_SIDES = 2 }; /* the last ones: positions depend on the sides */

typedef struct grid {
    const char *convention;
    size_t head_dim, height, width, frames, merge;
    char query[240];
} grid;

static grid random_grid(random_source *random, size_t round)
{
    grid g = {.convention = conventions[round % PE_LEN(conventions)],
              .head_dim = 4 * (size_t)random_int(random, 1, 20),
              .frames = (size_t)random_int(random, 1, 3),
              .merge = (size_t)random_int(random, 1, 4)};
    g.height = g.merge * (size_t)random_int(random, 1, 9);
    g.width = g.merge * (size_t)random_int(random, 1, round % 5 == 0 ? 90 : 9);
    snprintf(g.query, sizeof g.query,
             "convention=%s&head_dim=%zu&height=%zu&width=%zu&frames=%zu&spatial_merge_size=%zu"
             "&dtype=float64",
             g.convention, g.head_dim, g.height, g.width, g.frames, g.merge);
    return g;
}

static void merged_patches_come_block_by_block(void **state)
{
    random_source random = random_make("merge order");
    for (size_t round = 0; round < 40; round++) {
        const grid g = random_grid(&random, round);
        const size_t m = g.merge, one = g.height * g.width;
        encoded e = encode(&pe_rope_grid, "%s", g.query);
        double *at = encoded_all(&e, ROW_COL);
        assert_int_equal(e.plan.tensors[ROW_COL].elements, 2 * one * g.frames);
        size_t k = 0;
        for (size_t f = 0; f < g.frames; f++)
            for (size_t r = 0; r < g.height; r += m)
                for (size_t c = 0; c < g.width; c += m)
                    for (size_t i = 0; i < m; i++)
                        for (size_t j = 0; j < m; j++, k++)
                            if (at[2 * k] != (double)(r + i) || at[2 * k + 1] != (double)(c + j))
                                fail_msg("seed %llu: %s: patch %zu is at (%.0f, %.0f)",
                                         (unsigned long long)random.seed, g.query, k, at[2 * k],
                                         at[2 * k + 1]);
        free(at);
        encoded_free(&e);
    }
}

/* Patches named by row and column are those of the grid, and any rows those of the whole table. */
static void a_patch_depends_on_its_place_alone(void **state)
{
    random_source random = random_make("places");
    for (size_t round = 0; round < 28; round++) {
        const grid g = random_grid(&random, round);
        encoded e = encode(&pe_rope_grid, "%s", g.query);
        const size_t n = e.plan.tensors[ROW_COL].units, pairs = g.head_dim / 2;
        const size_t first = (size_t)random_int(&random, 0, (int64_t)n - 1);
        const size_t some =
            (size_t)random_int(&random, 1, (int64_t)(n - first < 60 ? n - first : 60));
        double *at = encoded_units(&e, ROW_COL, first, some);
        pe_buffer named = {0};
        pe_buffer_format(&named, "convention=%s&head_dim=%zu&dtype=float64", g.convention,
                         g.head_dim);
        if (round % PE_LEN(conventions) >= PE_LEN(conventions) - BY_SIDES)
            pe_buffer_format(&named, "&height=%zu&width=%zu", g.height, g.width);
        for (size_t axis = 0; axis < 2; axis++)
            for (size_t k = 0; k < some; k++)
                pe_buffer_format(&named, "%s%.0f",
                                 k != 0      ? ","
                                 : axis != 0 ? ";"
                                             : "&positions=",
                                 at[2 * k + axis]);
        encoded by_name = encode(&pe_rope_grid, "%s", pe_buffer_text(&named));
        for (size_t t = COS; t <= ANGLES; t++) {
            double *all = encoded_all(&e, t), *part = encoded_units(&e, t, first, some);
            double *same = encoded_all(&by_name, t);
            assert_memory_equal(part, all + first * pairs, some * pairs * sizeof *part);
            if (memcmp(part, same, some * pairs * sizeof *part) != 0)
                fail_msg("seed %llu: %s and %s differ", (unsigned long long)random.seed, g.query,
                         pe_buffer_text(&named));
            free(all);
            free(part);
            free(same);
        }
        free(at);
        pe_buffer_free(&named);
        encoded_free(&e);
        encoded_free(&by_name);
    }
}

static void assert_same_table(const char *left, const char *right)
{
    encoded a = encode(&pe_rope_grid, "%s", left), b = encode(&pe_rope_grid, "%s", right);
    for (size_t t = COS; t <= ANGLES; t++) {
        double *x = encoded_all(&a, t), *y = encoded_all(&b, t);
        assert_int_equal(a.plan.tensors[t].elements, b.plan.tensors[t].elements);
        assert_memory_equal(x, y, a.plan.tensors[t].elements * sizeof *x);
        free(x);
        free(y);
    }
    encoded_free(&a);
    encoded_free(&b);
}

static void conventions_are_each_other_with_rows_and_columns_swapped_or_moved(void **state)
{
    assert_same_table("convention=sam2&head_dim=24&positions=1,5,9;2,0,7",
                      "convention=eva02&head_dim=24&positions=2,0,7;1,5,9");
    assert_same_table("convention=eva02&head_dim=24&positions=1,5,9;2,0,7",
                      "convention=qwen2_vl&head_dim=24&positions=1,5,9;2,0,7");
    assert_same_table("convention=llama4&head_dim=24&positions=1,5,9;2,0,7",
                      "convention=sam2&head_dim=24&positions=2,6,10;3,1,8");
    assert_same_table("convention=llama4&head_dim=24&positions=0:1.5:0.5;2,0.25,7",
                      "convention=sam2&head_dim=24&positions=1,1.5,2;3,1.25,8");
}

static double *turned(const char *members)
{
    encoded e =
        encode_json(&pe_rope_grid_rotate,
                    "{\"dtype\":\"float64\",\"positions\":[[1,5],[2,7]],\"vectors\":[[1,2,3,4,"
                    "5,6,7,8],[9,10,11,12,13,14,15,16]],%s}",
                    members);
    double *out = encoded_all(&e, 0);
    encoded_free(&e);
    return out;
}

/* Conventions that differ in where the channels of a pair are. */
static void gemmas_halves_are_heads_of_their_own(void **state)
{
    static const size_t channel[] = {0, 2, 1, 3, 4, 6, 5, 7}; /* of neighbours, apart */
    double swapped[16];
    pe_buffer members = {0};
    double *got = turned("\"convention\":\"gemma4\"");
    for (size_t c = 0; c < 16; c++)
        swapped[c] = (double)(c / 8 * 8 + channel[c % 8] + 1);
    const size_t shape[] = {2, 8};
    pe_buffer_str(&members, "{\"convention\":\"sam2\",\"rope_theta\":100,\"dtype\":\"float64\",");
    pe_buffer_str(&members, "\"positions\":[[1,5],[2,7]],\"vectors\":");
    nest(swapped, shape, 2, &members);
    encoded e = encode_json(&pe_rope_grid_rotate, "%s}", pe_buffer_text(&members));
    double *want = encoded_all(&e, 0);
    for (size_t c = 0; c < 16; c++)
        assert_true(got[c / 8 * 8 + channel[c % 8]] == want[c]);
    free(got);
    free(want);
    encoded_free(&e);
    pe_buffer_free(&members);
    assert_same_table("convention=gemma4&head_dim=24&height=3&width=5",
                      "convention=sam2&rope_theta=100&head_dim=24&height=3&width=5");
}

static void pixels_go_from_one_end_to_the_other(void **state)
{
    encoded e = encode(&pe_rope_grid, "convention=pixel&head_dim=12&height=1&width=3&max_freq=6"
                                      "&dtype=float64");
    /* one row is at -1; columns are at -1, 0, 1; frequencies are pi, 2 pi and 3 pi */
    double *cosine = encoded_all(&e, COS), *angle = encoded_all(&e, ANGLES);
    for (size_t k = 0; k < 3; k++)
        for (size_t p = 0; p < 6; p++) {
            const double at = p < 3 ? -1 : (double)k - 1, times = (double)(p % 3) + 1;
            const bool odd = at != 0 && p % 3 != 1;
            assert_true(cosine[k * 6 + p] == (odd ? -1 : 1));
            assert_true(fabs(angle[k * 6 + p] - at * times * 3.141592653589793) <= 0x1p-49);
        }
    free(cosine);
    free(angle);
    encoded_free(&e);
}

static void places_that_are_no_integers_have_the_type_of_the_angles(void **state)
{
    static const double want[] = {0.5, 3, 1.1, 4};
    encoded e = encode(&pe_rope_grid, "head_dim=4&dtype=float64&positions=0.5,1.1;3,4");
    double *at = encoded_all(&e, ROW_COL);
    assert_int_equal(e.plan.tensors[ROW_COL].dtype, PE_FLOAT64);
    assert_memory_equal(at, want, sizeof want);
    free(at);
    encoded_free(&e);
}

static double *turn(const char *members, const double *x, size_t n, size_t d)
{
    const size_t shape[] = {n, d};
    pe_buffer body = {0};
    pe_buffer_format(&body, "{%s,\"vectors\":", members);
    nest(x, shape, 2, &body);
    encoded e = encode_json(&pe_rope_grid_rotate, "%s}", pe_buffer_text(&body));
    if (e.status != PE_OK)
        fail_msg("{%s}: %s", members, e.why.detail);
    double *out = encoded_all(&e, 0);
    encoded_free(&e);
    pe_buffer_free(&body);
    return out;
}

/* a cos - b sin of the table's row, within 2^-50: |a|, |b| <= 2, and its own roundings here. */
static void a_rotation_is_by_the_tables_rows_and_its_inverse_undoes_it(void **state)
{
    random_source random = random_make("rotations");
    for (size_t round = 0; round < 28; round++) {
        const grid g = random_grid(&random, round);
        const size_t n = g.frames * g.height * g.width, d = g.head_dim;
        char members[300], back[330];
        snprintf(members, sizeof members,
                 "\"convention\":\"%s\",\"height\":%zu,\"width\":%zu,\"frames\":%zu,"
                 "\"spatial_merge_size\":%zu,\"dtype\":\"float64\",\"pairing\":\"interleaved\"",
                 g.convention, g.height, g.width, g.frames, g.merge);
        snprintf(back, sizeof back, "%s,\"inverse\":true", members);
        encoded e = encode(&pe_rope_grid, "%s", g.query);
        double *cos = encoded_all(&e, COS), *sin = encoded_all(&e, SIN);
        double *x = random_reals(&random, n * d, -2, 2), *y = turn(members, x, n, d);
        double *z = turn(back, y, n, d);
        for (size_t i = 0; i < n * d / 2; i++) {
            const double a = x[2 * i], b = x[2 * i + 1];
            if (!(fabs(y[2 * i] - (a * cos[i] - b * sin[i])) <= 0x1p-50 &&
                  fabs(y[2 * i + 1] - (b * cos[i] + a * sin[i])) <= 0x1p-50 &&
                  fabs(z[2 * i] - a) <= 0x1p-49 && fabs(z[2 * i + 1] - b) <= 0x1p-49))
                fail_msg("seed %llu: %s pair %zu", (unsigned long long)random.seed, g.query, i);
        }
        free(x);
        free(y);
        free(z);
        free(cos);
        free(sin);
        encoded_free(&e);
    }
}

/* <R_a q, R_b k> is the same when both patches move by as many rows and columns. */
static void scores_depend_on_the_difference_of_rows_and_of_columns(void **state)
{
    random_source random = random_make("relative");
    for (size_t round = 0; round < 40; round++) {
        const char *convention = conventions[round % (PE_LEN(conventions) - BY_SIDES)];
        const size_t d = 4 * (size_t)random_int(&random, 1, 16);
        const int64_t rows = random_int(&random, -100000, 100000);
        const int64_t columns = random_int(&random, -100000, 100000);
        int64_t at[4];
        double *x = random_reals(&random, 2 * d, -2, 2), score[2] = {0};
        for (size_t i = 0; i < 4; i++)
            at[i] = random_int(&random, 0, 1000);
        for (size_t moved = 0; moved < 2; moved++) {
            char members[240];
            const int64_t r = moved ? rows : 0, c = moved ? columns : 0;
            snprintf(members, sizeof members,
                     "\"convention\":\"%s\",\"dtype\":\"float64\",\"positions\":[[%lld,%lld],"
                     "[%lld,%lld]]",
                     convention, (long long)(at[0] + r), (long long)(at[1] + r),
                     (long long)(at[2] + c), (long long)(at[3] + c));
            double *y = turn(members, x, 2, d);
            for (size_t i = 0; i < d; i++)
                score[moved] += y[i] * y[d + i];
            free(y);
        }
        /* up to 64 products below 8, each off by 2^-48, and their sum's roundings */
        if (!(fabs(score[0] - score[1]) <= 0x1p-40))
            fail_msg("seed %llu: %s: %.17g and %.17g", (unsigned long long)random.seed, convention,
                     score[0], score[1]);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_patches_come_block_by_block),
        cmocka_unit_test(a_patch_depends_on_its_place_alone),
        cmocka_unit_test(conventions_are_each_other_with_rows_and_columns_swapped_or_moved),
        cmocka_unit_test(gemmas_halves_are_heads_of_their_own),
        cmocka_unit_test(pixels_go_from_one_end_to_the_other),
        cmocka_unit_test(places_that_are_no_integers_have_the_type_of_the_angles),
        cmocka_unit_test(a_rotation_is_by_the_tables_rows_and_its_inverse_undoes_it),
        cmocka_unit_test(scores_depend_on_the_difference_of_rows_and_of_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
