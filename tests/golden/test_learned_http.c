/* SPDX-License-Identifier: MIT */
/*
 * test_learned_http.c - golden rows of learned tables through HTTP.
 *
 * Rows and position ids must be upstream's exactly. Upstream interpolates in float32, from
 * coordinates rounded to float32: within 2^-20 of the largest number of the table. The same and
 * other grids are held against the cubic kernel in MPFR, evaluated at every patch.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/folder.h"
#include "support/golden.h"
#include "support/nest.h"
#include "support/problem.h"
#include "support/slow.h"

static test_server server;
static test_folder folder;

/* Data of a golden array as doubles; free them. */
static double *numbers_of(const json_t *list)
{
    double *out = malloc((json_array_size(list) + 1) * sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < json_array_size(list); i++)
        out[i] = golden_item(list, i);
    return out;
}

static void put_table(const json_t *golden, const char *file)
{
    double *data = numbers_of(golden_flat(golden, "inputs", "table"));
    folder_put_npy(&folder, file, PE_FLOAT32, golden_dimension(golden, "inputs", "table", 0),
                   golden_dimension(golden, "inputs", "table", 1), data);
    free(data);
}

/* ---- rows and ids ---- */

static void rows_at_ten_other_places_are_the_tables(void **state)
{
    json_t *golden = golden_load("learned_offset_mask");
    double *table = numbers_of(golden_flat(golden, "inputs", "table"));
    static const int places[10] = {15, -2, 3, 3, 0, 7, 14, 1, -1, 9};
    size_t n;
    reply answer =
        get(&server, "/v1/learned/opt?positions=15,-2,3,3,0,7,14,1,-1,9&offset=2&dtype=float32");
    double *got = golden_numbers(&answer, "data", PE_FLOAT32, "rows", &n);
    assert_int_equal(n, 40);
    for (size_t e = 0; e < n; e++)
        assert_true(got[e] == table[(size_t)(places[e / 4] + 2) * 4 + e % 4]);
    free(got);
    free(table);
    reply_free(&answer);
    json_decref(golden);
}

/* ---- interpolation ---- */

typedef struct resize {
    size_t from[2], to[2], width, extra;
    bool linear;
} resize;

/* Keys's cubic with a = -3/4, or the triangle, at |x|. */
static void kernel(bool linear, mpfr_srcptr x, mpfr_ptr out)
{
    static const double near[] = {1.25, -2.25, 0, 1}, far[] = {-0.75, 3.75, -6, 3};
    mpfr_t at;
    mpfr_init2(at, SLOW_BITS);
    mpfr_abs(at, x, MPFR_RNDN);
    const bool inner = mpfr_cmp_ui(at, 1) <= 0, outer = mpfr_cmp_ui(at, 2) < 0;
    mpfr_set_ui(out, 0, MPFR_RNDN);
    if (linear && inner) {
        mpfr_ui_sub(out, 1, at, MPFR_RNDN);
    } else if (!linear && (inner || outer)) {
        const double *c = inner ? near : far;
        for (int k = 0; k < 4; k++) {
            mpfr_mul(out, out, at, MPFR_RNDN);
            mpfr_add_d(out, out, c[k], MPFR_RNDN);
        }
    }
    mpfr_clear(at);
}

/* The weight that patch k of an unbounded axis has in patch i. */
static void weight(const resize *r, size_t axis, size_t i, long k, mpfr_ptr out)
{
    mpfr_t place;
    mpfr_init2(place, SLOW_BITS);
    mpfr_set_ui(place, 2 * i + 1, MPFR_RNDN);
    mpfr_mul_ui(place, place, r->from[axis], MPFR_RNDN);
    mpfr_div_ui(place, place, 2 * r->to[axis], MPFR_RNDN);
    mpfr_sub_d(place, place, 0.5, MPFR_RNDN);
    mpfr_sub_si(place, place, k, MPFR_RNDN);
    kernel(r->linear, place, out);
    mpfr_clear(place);
}

static size_t at_edge(long k, size_t side)
{
    return k < 0 ? 0 : (size_t)k < side ? (size_t)k : side - 1;
}

/* One number, and how large the terms of its sum are. */
static double slow_patch(const resize *r, const double *table, size_t y, size_t x, size_t c,
                         double *magnitude)
{
    mpfr_t wy, wx, sum;
    mpfr_inits2(SLOW_BITS, wy, wx, sum, (mpfr_ptr)NULL);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    *magnitude = 0;
    for (long j = -3; j < (long)r->from[0] + 3; j++) {
        weight(r, 0, y, j, wy);
        for (long k = -3; !mpfr_zero_p(wy) && k < (long)r->from[1] + 3; k++) {
            const size_t patch =
                r->extra + at_edge(j, r->from[0]) * r->from[1] + at_edge(k, r->from[1]);
            weight(r, 1, x, k, wx);
            mpfr_mul(wx, wx, wy, MPFR_RNDN);
            mpfr_mul_d(wx, wx, table[patch * r->width + c], MPFR_RNDN);
            mpfr_add(sum, sum, wx, MPFR_RNDN);
            *magnitude += fabs(mpfr_get_d(wx, MPFR_RNDN));
        }
    }
    const double value = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(wy, wx, sum, (mpfr_ptr)NULL);
    return value;
}

/* Within 0.5 ulp of the dtype and 2^-49 times the terms. */
static void check_patches(const resize *r, const double *table, const double *got, pe_dtype dtype,
                          const char *what)
{
    static const double half_ulp[] = {[PE_FLOAT32] = 0x1p-24,
                                      [PE_FLOAT64] = 0x1p-53,
                                      [PE_FLOAT16] = 0x1p-11,
                                      [PE_BFLOAT16] = 0x1p-8};
    for (size_t e = 0; e < r->to[0] * r->to[1] * r->width; e++) {
        const size_t patch = e / r->width;
        double magnitude;
        const double wanted =
            slow_patch(r, table, patch / r->to[1], patch % r->to[1], e % r->width, &magnitude);
        const double value = got[r->extra * r->width + e];
        const double bound =
            half_ulp[dtype] * fmax(fabs(wanted), dtype == PE_FLOAT16 ? 0x1p-14 : 0) +
            0x1p-49 * magnitude;
        if (!(fabs(value - wanted) <= bound))
            fail_msg("%s, patch %zu, channel %zu: got %.17g, MPFR says %.17g", what, patch,
                     e % r->width, value, wanted);
    }
    for (size_t e = 0; e < r->extra * r->width; e++)
        assert_true(got[e] == golden_round(dtype, table[e]));
}

/* By name, and from a body. */
static void check_resize(const resize *r, const char *name, const double *table)
{
    for (size_t t = 0; t < PE_LEN(golden_types); t++) {
        char target[256];
        size_t n, m;
        const char *mode = r->linear ? "bilinear" : "bicubic";
        snprintf(target, sizeof target,
                 "/v1/learned/%s/interpolate?source_grid=%zu,%zu&target_grid=%zu,%zu&"
                 "extra_tokens=%zu&mode=%s&dtype=%s",
                 name, r->from[0], r->from[1], r->to[0], r->to[1], r->extra, mode, golden_types[t]);
        reply by_name = get(&server, target);
        double *got = golden_numbers(&by_name, "data", golden_dtypes[t], target, &n);
        assert_int_equal(n, (r->extra + r->to[0] * r->to[1]) * r->width);
        check_patches(r, table, got, golden_dtypes[t], target);
        pe_buffer body = {0};
        pe_buffer_str(&body, "{\"table\":");
        nest(table, (const size_t[]){r->extra + r->from[0] * r->from[1], r->width}, 2, &body);
        pe_buffer_format(
            &body,
            ",\"source_grid\":[%zu,%zu],\"target_grid\":[%zu,%zu],\"extra_tokens\":%zu,"
            "\"mode\":\"%s\",\"dtype\":\"%s\"}",
            r->from[0], r->from[1], r->to[0], r->to[1], r->extra, mode, golden_types[t]);
        reply by_body = post_json(&server, "/v1/learned/interpolate", pe_buffer_text(&body));
        double *same = golden_numbers(&by_body, "data", golden_dtypes[t], target, &m);
        assert_int_equal(m, n);
        /* the numbers of these tables are exact in every type */
        assert_memory_equal(same, got, n * sizeof *got);
        free(got);
        free(same);
        pe_buffer_free(&body);
        reply_free(&by_name);
        reply_free(&by_body);
    }
}

static void patches_are_interpolated_as_in_vit(void **state)
{
    json_t *golden = golden_load("learned_interpolated_bicubic");
    const json_t *params = json_object_get(golden, "params");
    const json_t *source = json_object_get(params, "source_grid");
    const json_t *target_grid = json_object_get(params, "target_grid");
    const json_t *expected = golden_flat(golden, "expected", "embeddings");
    double *table = numbers_of(golden_flat(golden, "inputs", "table"));
    const resize r = {
        .from = {(size_t)golden_item(source, 0), (size_t)golden_item(source, 1)},
        .to = {(size_t)golden_item(target_grid, 0), (size_t)golden_item(target_grid, 1)},
        .width = (size_t)golden_number(params, "dim"),
        .extra = 1};
    char target[128];
    size_t n;
    double largest = 0;
    for (size_t e = 0; e < golden_dimension(golden, "inputs", "table", 0) * r.width; e++)
        largest = fmax(largest, fabs(table[e]));
    snprintf(target, sizeof target, "/v1/learned/vit/interpolate?target_grid=%zu,%zu", r.to[0],
             r.to[1]);
    reply answer = get(&server, target);
    double *got = golden_numbers(&answer, "data", PE_FLOAT32, target, &n);
    assert_int_equal(n, json_array_size(expected));
    for (size_t e = 0; e < n; e++)
        if (!(fabs(got[e] - golden_item(expected, e)) <= 0x1p-20 * largest))
            fail_msg("element %zu: got %.9g, upstream %.9g", e, got[e], golden_item(expected, e));
    check_resize(&r, "vit", table);
    free(got);
    free(table);
    reply_free(&answer);
    json_decref(golden);
}

static void other_grids_are_those_of_the_kernel(void **state)
{
    json_t *golden = golden_load("learned_interpolated_bicubic");
    double *table = numbers_of(golden_flat(golden, "inputs", "table"));
    static const resize resizes[] = {
        {{4, 4}, {4, 4}, 4, 1, false},  {{4, 4}, {1, 1}, 4, 1, false},
        {{2, 8}, {5, 3}, 4, 1, false},  {{4, 4}, {9, 2}, 4, 1, true},
        {{1, 17}, {2, 5}, 4, 0, false}, {{17, 1}, {3, 4}, 4, 0, true},
        {{1, 1}, {3, 2}, 4, 16, false}, {{3, 5}, {7, 11}, 4, 2, false},
        {{8, 2}, {3, 3}, 4, 1, true},   {{5, 3}, {4, 2}, 4, 2, false},
    };
    for (size_t i = 0; i < PE_LEN(resizes); i++)
        check_resize(&resizes[i], "vit", table);
    free(table);
    json_decref(golden);
}

static const double counting[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

/* The tag of one table's rows, from a server of its own. */
static void tag_of(const double *numbers, char *out, size_t bytes)
{
    const test_folder own = folder_make();
    test_server its;
    folder_put_npy(&own, "wpe.npy", PE_FLOAT32, 6, 2, numbers);
    server_start(&its, (const char *const[]){"--learned-dir", own.path, NULL});
    reply answer = get(&its, "/v1/learned/wpe?positions=0:2");
    assert_non_null(reply_header(&answer, "ETag", out, bytes));
    reply_free(&answer);
    server_end(&its);
    folder_remove(&own);
}

static void tags_change_with_the_table(void **state)
{
    static const double other[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12};
    char tag[64], again[64], changed[64];
    tag_of(counting, tag, sizeof tag);
    tag_of(counting, again, sizeof again);
    tag_of(other, changed, sizeof changed); /* though the rows asked for are the same */
    assert_string_equal(tag, again);
    assert_string_not_equal(tag, changed);
}

static int start(void **state)
{
    folder = folder_make();
    json_t *opt = golden_load("learned_offset_mask");
    json_t *vit = golden_load("learned_interpolated_bicubic");
    put_table(opt, "opt.npy");
    put_table(vit, "vit.npy");
    server_start(&server, (const char *const[]){"--learned-dir", folder.path, NULL});
    json_decref(opt);
    json_decref(vit);
    return 0;
}

static int stop(void **state)
{
    const int status = server_stop(&server);
    server_free(&server);
    folder_remove(&folder);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_at_ten_other_places_are_the_tables),
        cmocka_unit_test(patches_are_interpolated_as_in_vit),
        cmocka_unit_test(other_grids_are_those_of_the_kernel),
        cmocka_unit_test(tags_change_with_the_table),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
