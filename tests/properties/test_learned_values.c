/* SPDX-License-Identifier: MIT */
/* test_learned_values.c - the laws of learned tables: rows, types, windows and interpolation. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "encodings/registry.h"
#include "support/encode.h"
#include "support/folder.h"
#include "support/random.h"

static const char *const dtypes[] = {"float32", "float64", "float16", "bfloat16"};
static test_folder folder;

/* 40 rows of 3: numbers of all magnitudes that float16 has. */
#define ROWS  40
#define WIDTH 3
static double table[ROWS * WIDTH];

static void rows_are_the_tables_rounded_once(void **state)
{
    random_source random = random_make("rows");
    for (int round = 0; round < 60; round++) {
        const size_t t = (size_t)random_int(&random, 0, 3);
        const int64_t offset = random_int(&random, 0, 9);
        const int64_t first = random_int(&random, -offset, ROWS - 1 - offset);
        const int64_t rows = random_int(&random, 1, ROWS - offset - first);
        encoded e =
            encode(&pe_learned_table_rows, "name=wide&positions=%lld:%lld&offset=%lld&dtype=%s",
                   (long long)first, (long long)(first + rows), (long long)offset, dtypes[t]);
        double *got = encoded_all(&e, 0);
        for (int64_t i = 0; i < rows * WIDTH; i++) {
            unsigned char rounded[8];
            pe_dtype_store((pe_dtype)t, table[(first + offset) * WIDTH + i], rounded);
            const double wanted = pe_dtype_load((pe_dtype)t, rounded);
            if (memcmp(&got[i], &wanted, sizeof wanted) != 0)
                fail_msg("seed %llu: %s, element %lld: got %a, wanted %a",
                         (unsigned long long)random.seed, dtypes[t], (long long)i, got[i], wanted);
        }
        free(got);
        encoded_free(&e);
    }
}

/* lookup of positions, and add to zeros, are the rows. */
static void lookups_and_sums_with_zero_are_the_rows(void **state)
{
    encoded rows = encode(&pe_learned_table_rows, "name=wide&positions=7,0,39,7&dtype=float64");
    encoded lookup = encode_json(&pe_learned_lookup, "{\"name\":\"wide\",\"dtype\":\"float64\","
                                                     "\"positions\":[[7,0],[39,7]]}");
    encoded sum = encode_json(&pe_learned_add, "{\"name\":\"wide\",\"dtype\":\"float64\","
                                               "\"positions\":[7,0,39,7],\"embeddings\":"
                                               "[[0,0,0],[0,0,0],[0,0,0],[0,0,0]]}");
    double *wanted = encoded_all(&rows, 0), *got = encoded_all(&lookup, 0);
    double *added = encoded_all(&sum, 0);
    assert_memory_equal(got, wanted, 12 * sizeof *got);
    for (size_t i = 0; i < 12; i++)
        assert_true(added[i] == wanted[i]);
    free(wanted);
    free(got);
    free(added);
    encoded_free(&rows);
    encoded_free(&lookup);
    encoded_free(&sum);
}

static void the_same_grid_is_the_table_itself(void **state)
{
    static const char *const modes[] = {"bicubic", "bilinear"};
    for (size_t m = 0; m < PE_LEN(modes); m++) {
        encoded e =
            encode(&pe_learned_interpolate,
                   "name=wide&source_grid=3,13&target_grid=3,13&mode=%s&dtype=float64", modes[m]);
        double *got = encoded_all(&e, 0);
        for (size_t i = 0; i < ROWS * WIDTH; i++)
            assert_true(got[i] == table[i]);
        free(got);
        encoded_free(&e);
    }
}

/* Members of a body; PyTorch has no others together. */
static const char *const ways[] = {"\"align_corners\":false", "\"align_corners\":true",
                                   "\"antialias\":true"};

/* Weights sum to 1, so what is the same everywhere stays so; float32 hides the rounding of sums. */
static void a_flat_table_stays_flat(void **state)
{
    random_source random = random_make("flat");
    for (int round = 0; round < 40; round++) {
        encoded e = encode_json(
            &pe_learned_interpolate_body,
            "{\"table\":[[0.1],[0.1],[0.1],[0.1],[0.1],[0.1]],\"extra_tokens\":0,"
            "\"source_grid\":[2,3],\"target_grid\":[%d,%d],\"mode\":\"%s\",%s}",
            (int)random_int(&random, 1, 30), (int)random_int(&random, 1, 30),
            random_int(&random, 0, 1) ? "bicubic" : "bilinear", ways[(size_t)round % PE_LEN(ways)]);
        double *got = encoded_all(&e, 0);
        for (size_t i = 0; i < e.plan.tensors[0].elements; i++)
            assert_true(got[i] == (double)0.1F);
        free(got);
        encoded_free(&e);
    }
}

/* A mirrored table gives the mirrored answer, bit for bit but for the order of sums. */
static void mirrors_commute_with_interpolation(void **state)
{
    static const char rest[] = "\"extra_tokens\":0,\"source_grid\":[1,4],\"dtype\":\"float64\"";
    for (size_t round = 0; round < 3 * PE_LEN(ways); round++) {
        const char *way = ways[round % PE_LEN(ways)];
        const size_t n = round < PE_LEN(ways) ? 7 : round < 2 * PE_LEN(ways) ? 3 : 2;
        encoded e = encode_json(&pe_learned_interpolate_body,
                                "{\"table\":[[1],[5],[-2],[0.25]],\"target_grid\":[1,%zu],%s,%s}",
                                n, rest, way);
        encoded mirrored = encode_json(
            &pe_learned_interpolate_body,
            "{\"table\":[[0.25],[-2],[5],[1]],\"target_grid\":[1,%zu],%s,%s}", n, rest, way);
        double *x = encoded_all(&e, 0), *y = encoded_all(&mirrored, 0);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs(x[i] - y[n - 1 - i]) <= 0x1p-49 * 5);
        free(x);
        free(y);
        encoded_free(&e);
        encoded_free(&mirrored);
    }
}

/* The ends of both grids are one with align_corners; one patch of one is their mean with antialias,
 * and half of what lies beyond the edge is missing with zeros. */
static void ends_are_where_they_are_said_to_be(void **state)
{
    static const struct {
        const char *members;
        double want[3];
    } cases[] = {
        {"\"mode\":\"bilinear\",\"align_corners\":true,\"target_grid\":[1,3]", {8, 4, 16}},
        {"\"mode\":\"bicubic\",\"align_corners\":true,\"target_grid\":[1,3]", {8, 4, 16}},
        {"\"mode\":\"bilinear\",\"align_corners\":true,\"target_grid\":[1,1]", {8}},
        {"\"mode\":\"bilinear\",\"antialias\":true,\"target_grid\":[1,1]",
         {(8 * 2 + 4 * 3 + 16 * 2) / 7.0}},
        {"\"mode\":\"bilinear\",\"padding_mode\":\"zeros\",\"target_grid\":[1,3]", {8, 4, 16}},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        encoded e =
            encode_json(&pe_learned_interpolate_body,
                        "{\"table\":[[8],[4],[16]],\"extra_tokens\":0,\"source_grid\":[1,3],"
                        "\"dtype\":\"float64\",%s}",
                        cases[c].members);
        double *got = encoded_all(&e, 0);
        for (size_t i = 0; i < e.plan.tensors[0].elements; i++)
            assert_true(fabs(got[i] - cases[c].want[i]) <= 0x1p-48);
        free(got);
        encoded_free(&e);
    }
}

static void a_window_is_those_units_of_the_whole(void **state)
{
    random_source random = random_make("learned windows");
    encoded plans[] = {
        encode(&pe_learned_table_rows, "name=wide"),
        encode(&pe_learned_table_rows, "name=wide&positions=38:-1:-3&dtype=float16"),
        encode(&pe_learned_table_rows, "name=wide&positions=5,4,4,9,0&dtype=float64"),
        encode(&pe_learned_interpolate, "name=wide&source_grid=3,13&target_grid=7,4"),
        encode_json(&pe_learned_lookup,
                    "{\"name\":\"wide\",\"attention_mask\":[[1,1,1,0],[0,1,1,1]],\"offset\":2}"),
        encode_json(&pe_learned_position_ids, "{\"input_ids\":[[4,1,9,2],[1,1,5,6]]}"),
    };
    for (size_t p = 0; p < PE_LEN(plans); p++) {
        assert_windows(&plans[p], &random);
        encoded_free(&plans[p]);
    }
}

static void each_canonical_form_is_its_own(void **state)
{
    static const struct {
        const pe_resource *resource;
        const char *query, *form; /* without the name, which stands in the path */
    } cases[] = {
        {&pe_learned_table_rows, "name=wide&offset=38",
         "dtype=float64&numerics=exact&offset=38&positions=0:2"},
        {&pe_learned_interpolate, "name=wide&source_grid=3,13&target_grid=4",
         "align_corners=false&antialias=false&dtype=float64&extra_tokens=1&mode=bicubic&numerics="
         "exact&"
         "padding_mode=border&source_grid=3,13&target_grid=4,4"},
        {&pe_learned_interpolate, "name=square&target_grid=5",
         "align_corners=false&antialias=false&dtype=float32&extra_tokens=1&mode=bicubic&numerics="
         "exact&"
         "padding_mode=border&source_grid=2,2&target_grid=5,5"},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        encoded e = encode(cases[i].resource, "%s", cases[i].query);
        pe_buffer text = {0};
        assert_int_equal(e.status, PE_OK);
        pe_values_query(&e.ask.values, &text);
        assert_string_equal(pe_buffer_text(&text), cases[i].form);
        pe_buffer_free(&text);
        encoded_free(&e);
    }
}

static int start(void **state)
{
    random_source random = random_make("the table");
    folder = folder_make();
    for (size_t i = 0; i < ROWS * WIDTH; i++)
        table[i] = ldexp(random_real(&random, -1, 1), (int)random_int(&random, -20, 15)) + 0.0;
    folder_put_npy(&folder, "wide.npy", PE_FLOAT64, ROWS, WIDTH, table);
    folder_put_npy(&folder, "square.npy", PE_FLOAT32, 5, WIDTH, table);
    encode_folder = folder.path;
    pe_log_set_level(PE_LOG_WARN); /* a line for every plan is too much */
    return 0;
}

static int stop(void **state)
{
    folder_remove(&folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_tables_rounded_once),
        cmocka_unit_test(lookups_and_sums_with_zero_are_the_rows),
        cmocka_unit_test(the_same_grid_is_the_table_itself),
        cmocka_unit_test(a_flat_table_stays_flat),
        cmocka_unit_test(mirrors_commute_with_interpolation),
        cmocka_unit_test(ends_are_where_they_are_said_to_be),
        cmocka_unit_test(a_window_is_those_units_of_the_whole),
        cmocka_unit_test(each_canonical_form_is_its_own),
    };
    return cmocka_run_group_tests_name("laws: learned tables", tests, start, stop);
}
