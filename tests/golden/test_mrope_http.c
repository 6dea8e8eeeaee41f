/* SPDX-License-Identifier: MIT */
/*
 * test_mrope_http.c - the golden multi-axis rotations through HTTP.
 *
 * `truth` must come back bit for bit in float32, and in float64 within the bound of transforms,
 * 0.5 ulp + 2^-52 (|a| + |b|); `expected`, upstream's float32, within 2 (8 * 2^-24 * position +
 * 2^-22) + 2^-22 for |x| <= 2. The same parameters, and another set, at ten other positions on each
 * axis are held against MPFR.
 */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"
#include "support/nest.h"
#include "support/slow.h"

static test_server server;

static const char *const files[] = {"mrope_sections", "mrope_interleaved"};

static double *input(const json_t *golden, const char *name, size_t *n)
{
    const json_t *data = golden_flat(golden, "inputs", name);
    *n = json_array_size(data);
    double *out = malloc(*n * sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < *n; i++)
        out[i] = golden_item(data, i);
    return out;
}

/* The file's vectors, rotated. */
static double *rotate(const json_t *golden, const char *file, pe_dtype dtype, size_t *n)
{
    const json_t *params = json_object_get(golden, "params");
    const size_t tokens = golden_dimension(golden, "inputs", "positions", 1);
    const size_t at_shape[] = {3, tokens};
    const size_t shape[] = {golden_dimension(golden, "inputs", "x", 0), tokens,
                            golden_dimension(golden, "inputs", "x", 2)};
    pe_buffer body = {0}, sections = {0};
    size_t count;
    double *at = input(golden, "positions", &count), *x = input(golden, "x", &count);
    for (size_t a = 0; a < 3; a++)
        pe_buffer_format(&sections, a == 0 ? "%.0f" : ",%.0f",
                         golden_item(json_object_get(params, "mrope_section"), a));
    pe_buffer_format(&body,
                     "{\"dtype\":\"%s\",\"pairing\":\"half\",\"rope_parameters\":{\"rope_theta\":"
                     "%.17g,\"mrope_section\":[%s],\"mrope_interleaved\":%s},\"positions\":",
                     pe_dtype_name(dtype), golden_number(params, "theta"),
                     pe_buffer_text(&sections),
                     json_is_true(json_object_get(params, "mrope_interleaved")) ? "true" : "false");
    nest(at, at_shape, 2, &body);
    pe_buffer_str(&body, ",\"vectors\":");
    nest(x, shape, 3, &body);
    pe_buffer_str(&body, "}");
    reply answer = post_json(&server, "/v1/rope/rotate", pe_buffer_text(&body));
    double *got = golden_numbers(&answer, "data", dtype, file, n);
    reply_free(&answer);
    pe_buffer_free(&body);
    pe_buffer_free(&sections);
    free(at);
    free(x);
    return got;
}

static void rotations_are_the_truth(void **state)
{
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f]);
        const json_t *truth = golden_flat(golden, "truth", "x_rotated");
        size_t n;
        double *got = rotate(golden, files[f], PE_FLOAT32, &n);
        golden_same(got, n, truth, PE_FLOAT32, files[f]);
        free(got);
        got = rotate(golden, files[f], PE_FLOAT64, &n);
        for (size_t e = 0; e < n; e++) /* |a|, |b| <= 2; truth itself is rounded to float64 */
            if (!(fabs(got[e] - golden_item(truth, e)) <=
                  0x1p-52 * fabs(golden_item(truth, e)) + 0x1p-52 * 4))
                fail_msg("%s, element %zu: got %.17g, wanted %.17g", files[f], e, got[e],
                         golden_item(truth, e));
        free(got);
        json_decref(golden);
    }
}

static void rotations_are_upstreams_within_its_arithmetic(void **state)
{
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f]);
        const json_t *expected = golden_flat(golden, "expected", "x_rotated");
        const double bound = 2 * (8 * 0x1p-24 * 6 + 0x1p-22) + 0x1p-22; /* positions up to 6 */
        size_t n;
        double *got = rotate(golden, files[f], PE_FLOAT32, &n);
        assert_int_equal(n, json_array_size(expected));
        for (size_t e = 0; e < n; e++)
            if (!(fabs(got[e] - golden_item(expected, e)) <= bound))
                fail_msg("%s, element %zu: got %.9g, upstream %.9g", files[f], e, got[e],
                         golden_item(expected, e));
        free(got);
        json_decref(golden);
    }
}

/* ---- other positions, other parameters ------------------------------------------------------- */

/* The axis of each pair, from the published code by hand. */
static const struct elsewhere {
    const char *query;
    slow_rope rope;
    int axis[16];
} elsewhere[] = {
    {"head_dim=32&rope_theta=1e6&mrope_section=4,6,6",
     {.type = "default", .theta = 1e6, .dim = 32},
     {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2}},
    {"head_dim=32&rope_theta=5e6&mrope_section=6,5,5&mrope_interleaved=true",
     {.type = "default", .theta = 5e6, .dim = 32},
     {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}},
    /* another theta, a type, another rotary_dim: t 6, h 3, w 3 */
    {"head_dim=40&rotary_dim=24&rope_theta=500000&rope_type=linear&factor=3&mrope_section=6,3,3"
     "&mrope_interleaved=true",
     {.type = "linear", .theta = 500000, .dim = 24, .factor = 3},
     {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 0, 0}},
    {"head_dim=24&mrope_section=5,3,4",
     {.type = "default", .theta = 10000, .dim = 24},
     {0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2}},
    {"head_dim=24&mrope_section=4,4,4&mrope_layout=ernie",
     {.type = "default", .theta = 10000, .dim = 24},
     {1, 2, 1, 2, 1, 2, 1, 2, 0, 0, 0, 0}},
    {"head_dim=24&mrope_section=6,3,3&mrope_layout=bailing",
     {.type = "default", .theta = 10000, .dim = 24},
     {1, 2, 1, 2, 1, 2, 0, 0, 0, 0, 0, 0}},
    /* get_mrope_interleaved_id_list(6, 5, 5, force_last=True) */
    {"head_dim=32&mrope_section=6,5,5&mrope_layout=balanced",
     {.type = "default", .theta = 10000, .dim = 32},
     {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}},
    /* get_mrope_interleaved_id_list(2, 4, 6, force_last=True) */
    {"head_dim=24&mrope_section=2,4,6&mrope_layout=balanced",
     {.type = "default", .theta = 10000, .dim = 24},
     {0, 1, 2, 1, 2, 1, 2, 1, 2, 2, 2, 0}},
};

static void check_elsewhere(const struct elsewhere *c, const char *tensor, size_t t)
{
    static const int start[] = {0, 3, 7}; /* where in the ten positions each axis begins */
    const size_t pairs = (size_t)c->rope.dim / 2, n = GOLDEN_ELSEWHERE;
    pe_buffer target = {0};
    size_t count;
    mpfr_t frequency;
    mpfr_init2(frequency, SLOW_BITS);
    pe_buffer_format(&target, "/v1/rope/table?%s&dtype=%s&positions=", c->query, golden_types[t]);
    for (size_t a = 0; a < 3; a++)
        for (size_t i = 0; i < n; i++)
            pe_buffer_format(&target, "%s%.0f",
                             i != 0   ? ","
                             : a != 0 ? ";"
                                      : "",
                             golden_elsewhere[(i + (size_t)start[a]) % n]);
    reply answer = get(&server, pe_buffer_text(&target));
    double *got = golden_numbers(&answer, tensor, golden_dtypes[t], c->query, &count);
    assert_int_equal(count, n * pairs);
    for (size_t e = 0; e < count; e++) {
        const size_t p = e % pairs;
        const double at = golden_elsewhere[(e / pairs + (size_t)start[c->axis[p]]) % n];
        slow_rope_frequency(&c->rope, p, frequency);
        const double wanted =
            slow_wave(frequency, at, strcmp(tensor, "cos") == 0, golden_dtypes[t]);
        if (memcmp(&got[e], &wanted, sizeof wanted) != 0)
            fail_msg("%s, %s, %s, token %zu, pair %zu: got %.17g, MPFR says %.17g", c->query,
                     tensor, golden_types[t], e / pairs, p, got[e], wanted);
    }
    free(got);
    reply_free(&answer);
    pe_buffer_free(&target);
    mpfr_clear(frequency);
}

static void tables_at_ten_other_positions_on_each_axis(void **state)
{
    for (size_t c = 0; c < PE_LEN(elsewhere); c++)
        for (size_t t = 0; t < PE_LEN(golden_types); t++) {
            check_elsewhere(&elsewhere[c], "cos", t);
            check_elsewhere(&elsewhere[c], "sin", t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotations_are_the_truth),
        cmocka_unit_test(rotations_are_upstreams_within_its_arithmetic),
        cmocka_unit_test(tables_at_ten_other_positions_on_each_axis),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
