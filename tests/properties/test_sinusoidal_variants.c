/* SPDX-License-Identifier: MIT */
/* test_sinusoidal_variants.c - what tables of patches, distances and timing signals have in common
 * with plain ones. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "kernels/kernels.h"
#include "support/encode.h"
#include "support/random.h"

static const char *const dtypes[] = {"float32", "float64", "float16", "bfloat16"};
static const char *const layouts[] = {"interleaved", "sin_cos", "cos_sin"};

/* Each half of a patch's channels is the row of a plain table of that half's width. */
static void a_patch_is_the_row_of_its_column_and_that_of_its_row(void **state)
{
    random_source random = random_make("patches");
    for (int round = 0; round < 60; round++) {
        const size_t d = 4 * (size_t)random_int(&random, 1, 12), half = d / 2;
        const size_t h = (size_t)random_int(&random, 1, 12), w = (size_t)random_int(&random, 1, 12);
        const size_t extra = (size_t)random_int(&random, 0, 3);
        const bool x_first = random_int(&random, 0, 1) == 0;
        const char *layout = layouts[random_int(&random, 0, 2)];
        const char *dtype = dtypes[random_int(&random, 0, 3)];
        encoded e = encode(&pe_sinusoidal_grid,
                           "d_model=%zu&height=%zu&width=%zu&extra_tokens=%zu&axis_order=%s&"
                           "layout=%s&dtype=%s&base=500",
                           d, h, w, extra, x_first ? "wh" : "hw", layout, dtype);
        encoded plain =
            encode(&pe_sinusoidal, "d_model=%zu&layout=%s&dtype=%s&base=500&positions=0:12", half,
                   layout, dtype);
        double *got = encoded_all(&e, 0), *row = encoded_all(&plain, 0);
        for (size_t i = 0; i < extra * d; i++)
            assert_true(got[i] == 0);
        for (size_t p = 0; p < h * w; p++) {
            const double *patch = got + (extra + p) * d;
            const double *x = row + p % w * half, *y = row + p / w * half;
            assert_memory_equal(patch, x_first ? x : y, half * sizeof *x);
            assert_memory_equal(patch + half, x_first ? y : x, half * sizeof *x);
        }
        free(got);
        free(row);
        encoded_free(&e);
        encoded_free(&plain);
    }
}

/* base_size twice the side is the plain table of the even positions. */
static void coordinates_are_measured_in_the_base_size(void **state)
{
    encoded e =
        encode(&pe_sinusoidal_grid, "d_model=8&height=1&width=9&base_size=18&dtype=float64");
    encoded plain =
        encode(&pe_sinusoidal, "d_model=4&layout=sin_cos&dtype=float64&positions=0:18:2");
    double *got = encoded_all(&e, 0), *row = encoded_all(&plain, 0);
    for (size_t x = 0; x < 9; x++)
        assert_memory_equal(got + 8 * x, row + 4 * x, 4 * sizeof *row);
    free(got);
    free(row);
    encoded_free(&e);
    encoded_free(&plain);
}

static void assert_same_grid(const char *left, const char *right)
{
    encoded a = encode(&pe_sinusoidal_grid, "dtype=float64&%s", left);
    encoded b = encode(&pe_sinusoidal_grid, "dtype=float64&%s", right);
    double *x = encoded_all(&a, 0), *y = encoded_all(&b, 0);
    assert_int_equal(a.plan.tensors[0].elements, b.plan.tensors[0].elements);
    assert_memory_equal(x, y, a.plan.tensors[0].elements * sizeof *x);
    free(x);
    free(y);
    encoded_free(&a);
    encoded_free(&b);
}

/* (i + offset) scale / (n + eps) with numbers that another grid has without them. */
static void normalized_coordinates_are_quotients(void **state)
{
    assert_same_grid("d_model=16&height=6&normalize=true&eps=0&scale=3",
                     "d_model=16&height=6&base_size=3");
    assert_same_grid("d_model=16&height=6&normalize=true&eps=1&scale=7", "d_model=16&height=6");
    assert_same_grid("d_model=16&height=1&width=1&normalize=true&eps=1&scale=1&offset=1",
                     "d_model=16&height=1&width=1&offset=0.5");
    encoded all = encode(&pe_sinusoidal_grid, "d_model=8&height=4&width=1&dtype=float64&layout="
                                              "interleaved&axis_order=hw&normalize=true&eps=0");
    double *got = encoded_all(&all, 0); /* quarters of a turn */
    static const double sine[] = {0, 1, 0, -1};
    for (size_t r = 0; r < 4; r++)
        assert_true(got[8 * r] == sine[r] && got[8 * r + 1] == sine[(r + 1) % 4]);
    free(got);
    encoded_free(&all);
}

static void the_default_timing_signal_is_a_plain_table(void **state)
{
    random_source random = random_make("timing");
    for (int round = 0; round < 40; round++) {
        const size_t d = (size_t)random_int(&random, 1, 60);
        const long long start = random_int(&random, -1000000, 1000000);
        const char *dtype = dtypes[random_int(&random, 0, 3)];
        encoded e = encode(&pe_sinusoidal_timing, "d_model=%zu&length=70&start_index=%lld&dtype=%s",
                           d, start, dtype);
        encoded plain = encode(&pe_sinusoidal,
                               "d_model=%zu&layout=sin_cos&freq_shift=1&positions=%lld:%lld&"
                               "dtype=%s",
                               d, start, start + 70, dtype);
        double *got = encoded_all(&e, 0), *row = encoded_all(&plain, 0);
        assert_memory_equal(got, row, d * 70 * sizeof *row);
        free(got);
        free(row);
        encoded_free(&e);
        encoded_free(&plain);
    }
}

static void a_row_of_distances_is_the_plain_row_of_its_position(void **state)
{
    random_source random = random_make("distances");
    static const char *const variants[] = {"xlnet", "transformer_xl", "conformer"};
    for (int round = 0; round < 60; round++) {
        const size_t d = 2 * (size_t)random_int(&random, 1, 20);
        const long long keys = random_int(&random, 1, 80), queries = random_int(&random, 1, keys);
        const size_t variant = (size_t)random_int(&random, 0, 2);
        encoded e = encode(&pe_sinusoidal_relative,
                           "d_model=%zu&query_length=%lld&key_length=%lld&variant=%s%s", d, queries,
                           keys, variants[variant], variant < 2 ? "&clamp_len=33" : "");
        encoded plain = encode(&pe_sinusoidal, "d_model=%zu&layout=%s&positions=-80:81", d,
                               variant < 2 ? "sin_cos" : "interleaved");
        double *distance = encoded_all(&e, 0), *got = encoded_all(&e, 1);
        double *row = encoded_all(&plain, 0);
        for (size_t r = 0; r < e.plan.tensors[0].units; r++)
            assert_memory_equal(got + r * d, row + (size_t)(distance[r] + 80) * d, d * sizeof *row);
        free(distance);
        free(got);
        free(row);
        encoded_free(&e);
        encoded_free(&plain);
    }
}

static void a_window_is_those_units_of_the_whole(void **state)
{
    random_source random = random_make("variant windows");
    static const struct {
        const pe_resource *resource;
        const char *query;
    } cases[] = {
        {&pe_sinusoidal_grid, "d_model=12&height=7&width=5&extra_tokens=3&base_size=11"},
        {&pe_sinusoidal_grid, "d_model=8&height=40&width=1&layout=interleaved&dtype=float64"},
        {&pe_sinusoidal_grid, "d_model=8&height=1&width=40&axis_order=hw&dtype=float16"},
        {&pe_sinusoidal_timing, "d_model=9&length=100&start_index=-50"},
        {&pe_sinusoidal_relative, "d_model=6&query_length=30&key_length=50"},
        {&pe_sinusoidal_relative, "d_model=6&query_length=30&key_length=50&clamp_len=12"},
        {&pe_sinusoidal_relative, "d_model=6&query_length=30&variant=conformer&dtype=bfloat16"},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        encoded e = encode(cases[i].resource, "%s", cases[i].query);
        assert_windows(&e, &random);
        encoded_free(&e);
    }
}

static encoded encode_grid(const void *query)
{
    return encode(&pe_sinusoidal_grid, "%s", (const char *)query);
}

static void all_kernels_give_the_same_patches(void **state)
{
    assert_levels_agree(encode_grid, "d_model=52&height=70&width=37&base_size=16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalized_coordinates_are_quotients),
        cmocka_unit_test(a_patch_is_the_row_of_its_column_and_that_of_its_row),
        cmocka_unit_test(coordinates_are_measured_in_the_base_size),
        cmocka_unit_test(the_default_timing_signal_is_a_plain_table),
        cmocka_unit_test(a_row_of_distances_is_the_plain_row_of_its_position),
        cmocka_unit_test(a_window_is_those_units_of_the_whole),
        cmocka_unit_test(all_kernels_give_the_same_patches),
    };
    return cmocka_run_group_tests_name("laws: sinusoidal variants", tests, NULL, NULL);
}
