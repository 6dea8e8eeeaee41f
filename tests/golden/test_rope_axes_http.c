/* SPDX-License-Identifier: MIT */
/*
 * test_rope_axes_http.c - the golden rotations of images and videos whose axes have frequencies of
 * their own.
 *
 * `truth` must come back bit for bit in every type. `expected` is upstream's float32: its angles,
 * up to 127, are rounded once or, by float32 arithmetic, a few times; cosines are within 8 * 2^-24
 * * 127 + 2^-22 of it.
 */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"
#include "support/problem.h"

static test_server server;

static const char *const files[] = {"rope_axes_flux", "rope_axes_wan", "rope_axes_z_image",
                                    "rope_axes_cosmos", "rope_axes_cosmos_space"};

static void add_list(const json_t *params, const char *name, pe_buffer *query)
{
    const json_t *list = json_object_get(params, name);
    for (size_t k = 0; k < json_array_size(list); k++)
        if (k == 0)
            pe_buffer_format(query, "&%s=%.17g", name, golden_item(list, k));
        else
            pe_buffer_format(query, ",%.17g", golden_item(list, k));
}

static void add_params(const json_t *golden, pe_dtype dtype, pe_buffer *query)
{
    const json_t *params = json_object_get(golden, "params"),
                 *at = golden_flat(golden, "inputs", "positions");
    const size_t axes = golden_dimension(golden, "inputs", "positions", 0),
                 n = json_array_size(at) / axes;
    pe_buffer_format(query, "/v1/rope/table?head_dim=%.0f&rope_theta=%.17g&dtype=%s",
                     golden_number(params, "head_dim"), golden_number(params, "theta"),
                     pe_dtype_name(dtype));
    add_list(params, "axes_dims", query);
    add_list(params, "axes_scale", query);
    pe_buffer_str(query, "&positions=");
    for (size_t i = 0; i < axes * n; i++)
        pe_buffer_format(query, "%s%.0f", i == 0 ? "" : i % n == 0 ? ";" : ",", golden_item(at, i));
}

static double *table(const json_t *golden, const char *tensor, pe_dtype dtype, const char *file,
                     size_t *n)
{
    pe_buffer query = {0};
    add_params(golden, dtype, &query);
    reply answer = get(&server, pe_buffer_text(&query));
    double *got = golden_numbers(&answer, tensor, dtype, file, n);
    reply_free(&answer);
    pe_buffer_free(&query);
    return got;
}

static const char *const tensors[] = {"cos", "sin"};

static void tables_are_the_truth(void **state)
{
    (void)state;
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f]);
        for (size_t t = 0; t < PE_LEN(tensors); t++)
            for (size_t d = 0; d < GOLDEN_TYPES; d++) {
                size_t n;
                double *got = table(golden, tensors[t], golden_dtypes[d], files[f], &n);
                golden_same(got, n, golden_flat(golden, "truth", tensors[t]), golden_dtypes[d],
                            files[f]);
                free(got);
            }
        json_decref(golden);
    }
}

static void tables_are_upstreams_within_its_arithmetic(void **state)
{
    const double bound = 8 * 0x1p-24 * 127 + 0x1p-22;
    (void)state;
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f]);
        for (size_t t = 0; t < PE_LEN(tensors); t++) {
            const json_t *expected = golden_flat(golden, "expected", tensors[t]);
            size_t n;
            double *got = table(golden, tensors[t], PE_FLOAT32, files[f], &n);
            assert_int_equal(n, json_array_size(expected));
            for (size_t e = 0; e < n; e++)
                if (!(fabs(got[e] - golden_item(expected, e)) <= bound))
                    fail_msg("%s, %s, element %zu: got %.9g, upstream %.9g", files[f], tensors[t],
                             e, got[e], golden_item(expected, e));
            free(got);
        }
        json_decref(golden);
    }
}

/* Numbers of two tables. */
static void assert_same(const char *one, const char *other)
{
    size_t n, m;
    reply first = get(&server, one), second = get(&server, other);
    double *a = golden_numbers(&first, "cos", PE_FLOAT64, one, &n);
    double *b = golden_numbers(&second, "cos", PE_FLOAT64, other, &m);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++)
        assert_true(a[i] == b[i]);
    free(a);
    free(b);
    reply_free(&first);
    reply_free(&second);
}

/* The frequencies of an axis are those of a head of its channels; the base may be its own; rows may
 * change places. */
static void an_axis_is_a_head_of_its_own(void **state)
{
    (void)state;
    assert_same("/v1/rope/table?head_dim=24&axes_dims=24&positions=0:9&dtype=float64",
                "/v1/rope/table?head_dim=24&positions=0:9&dtype=float64");
    assert_same(
        "/v1/rope/table?head_dim=24&axes_dims=24&axes_theta=500&positions=0:9&dtype=float64",
        "/v1/rope/table?head_dim=24&rope_theta=500&positions=0:9&dtype=float64");
    assert_same("/v1/rope/table?head_dim=24&axes_dims=24&axes_scale=3&positions=0:9&dtype=float64",
                "/v1/rope/table?head_dim=24&rope_type=ntk&factor=3&positions=0:9&dtype=float64");
    assert_same(
        "/v1/rope/table?head_dim=24&axes_dims=8,16&axis_order=1,0&positions=0:9;3:12&dtype=float64",
        "/v1/rope/table?head_dim=24&axes_dims=8,16&positions=3:12;0:9&dtype=float64");
}

static const struct {
    const char *query, *said;
} refused[] = {
    {"axes_dims=16,56,57", "must be even, got 57"},
    {"axes_dims=16,56,54", "sum to rotary_dim = 128 channels, got 126"},
    {"axes_dims=32,32,32,16,16", "at most 4 numbers, got 5"},
    {"axes_dims=16,56,56&axis_order=0,0,1", "each of the axes 0 to 2 once"},
    {"axes_dims=16,56,56&axis_order=0,1", "for each of the 3 axes of axes_dims, got 2"},
    {"axes_dims=16,56,56&axes_theta=3,4", "for each of the 3 axes of axes_dims, got 2"},
    {"axes_dims=2,126&axes_scale=2,1", "no value at d = 2"},
    {"axes_dims=16,56,56&mrope_section=8,28,28", "mrope_section does not go with axes_dims"},
    {"axes_dims=16,56,56&rope_type=linear&factor=2", "must be default with axes_dims, got linear"},
    {"axes_dims=16,56,56&numerics=float32", "must be exact with axes_dims"},
    {"axes_dims=16,56,56&positions=0:4;0:4", "a row for each of the 3 axes, got 2"},
    {"axis_order=0,1", "axis_order goes with axes_dims, which is absent"},
    {"axes_scale=1,2", "axes_scale goes with axes_dims, which is absent"},
};

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < PE_LEN(refused); i++) {
        pe_buffer target = {0};
        pe_buffer_format(&target, "/v1/rope/table?head_dim=128&%s", refused[i].query);
        reply answer = get(&server, pe_buffer_text(&target));
        assert_status(refused[i].query, &answer, 422);
        if (strstr(answer.body, refused[i].said) == NULL)
            fail_msg("%s: %s", refused[i].query, answer.body);
        reply_free(&answer);
        pe_buffer_free(&target);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_the_truth),
        cmocka_unit_test(tables_are_upstreams_within_its_arithmetic),
        cmocka_unit_test(an_axis_is_a_head_of_its_own),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
