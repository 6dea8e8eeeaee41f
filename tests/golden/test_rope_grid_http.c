/* SPDX-License-Identifier: MIT */
/*
 * test_rope_grid_http.c - the golden rotations of patches by row and column, through HTTP.
 *
 * `truth` must come back bit for bit after rounding to the dtype; `expected`, upstream's float32,
 * within 8 * 2^-24 * position + 2^-22, for vectors twice that and their products' roundings. Every
 * convention at ten other places and under another theta is held against MPFR.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"
#include "support/nest.h"
#include "support/slow.h"

static test_server server;

static double *ask(const char *target, const char *tensor, pe_dtype dtype, size_t *n)
{
    reply answer = get(&server, target);
    double *got = golden_numbers(&answer, tensor, dtype, target, n);
    reply_free(&answer);
    return got;
}

/* "rows;columns" of a file's row_col. */
static void add_row_col(const json_t *row_col, pe_buffer *out)
{
    for (size_t axis = 0; axis < 2; axis++)
        for (size_t k = axis; k < json_array_size(row_col); k += 2)
            pe_buffer_format(out, "%s%.0f",
                             k > 1       ? ","
                             : axis == 1 ? ";"
                                         : "",
                             golden_item(row_col, k));
}

static void pixtrals_angles_are_the_truth(void **state)
{
    (void)state;
    json_t *golden = golden_load("rope_2d_pixtral");
    const json_t *params = json_object_get(golden, "params");
    for (size_t t = 0; t < GOLDEN_TYPES; t++) {
        pe_buffer target = {0};
        size_t n;
        pe_buffer_format(&target,
                         "/v1/rope/grid?convention=pixtral&head_dim=%.0f&rope_theta=%.17g&dtype=%s"
                         "&positions=",
                         golden_number(params, "head_dim"), golden_number(params, "theta"),
                         golden_types[t]);
        add_row_col(golden_flat(golden, "inputs", "row_col"), &target);
        double *got = ask(pe_buffer_text(&target), "angles", golden_dtypes[t], &n);
        golden_same(got, n, golden_flat(golden, "truth", "angles"), golden_dtypes[t], "angles");
        free(got);
        pe_buffer_free(&target);
    }
    json_decref(golden);
}

/* The whole image, and the file's patches of it. */
static void pixtrals_table_is_upstreams_within_its_arithmetic(void **state)
{
    static const char *const tensors[] = {"cos", "sin", "angles"};
    (void)state;
    json_t *golden = golden_load("rope_2d_pixtral");
    const json_t *params = json_object_get(golden, "params");
    const json_t *row_col = golden_flat(golden, "inputs", "row_col");
    const double side = golden_number(params, "image_size") / golden_number(params, "patch_size");
    char target[200];
    snprintf(target, sizeof target, "/v1/rope/grid?convention=pixtral&head_dim=16&height=%.0f",
             side);
    for (size_t t = 0; t < PE_LEN(tensors); t++) {
        const json_t *expected = golden_flat(golden, "expected", tensors[t]);
        size_t n;
        double *got = ask(target, tensors[t], PE_FLOAT32, &n);
        assert_true((double)n == side * side * 8);
        for (size_t e = 0; e < json_array_size(expected); e++) {
            const size_t k = (size_t)(golden_item(row_col, e / 8 * 2) * side +
                                      golden_item(row_col, e / 8 * 2 + 1));
            const double bound = 8 * 0x1p-24 * side + 0x1p-22;
            if (!(fabs(got[k * 8 + e % 8] - golden_item(expected, e)) <= bound))
                fail_msg("%s %zu: got %.9g, upstream %.9g", tensors[t], e, got[k * 8 + e % 8],
                         golden_item(expected, e));
        }
        free(got);
    }
    json_decref(golden);
}

static void merge_order_is_upstreams_and_its_angles_are_the_truth(void **state)
{
    static const char target[] = "/v1/rope/grid?convention=qwen2_vl&head_dim=16&rope_theta=10000"
                                 "&frames=1&height=4&width=6&spatial_merge_size=2";
    (void)state;
    json_t *golden = golden_load("rope_2d_merge_order");
    const json_t *row_col = golden_flat(golden, "expected", "row_col");
    size_t n;
    double *got = ask(target, "row_col", PE_FLOAT64, &n);
    assert_int_equal(n, json_array_size(row_col));
    for (size_t i = 0; i < n; i++)
        assert_true(got[i] == golden_item(row_col, i));
    free(got);
    for (size_t t = 0; t < GOLDEN_TYPES; t++) {
        char typed[240];
        snprintf(typed, sizeof typed, "%s&dtype=%s", target, golden_types[t]);
        got = ask(typed, "angles", golden_dtypes[t], &n);
        golden_same(got, n, golden_flat(golden, "truth", "angles"), golden_dtypes[t], typed);
        free(got);
    }
    json_decref(golden);
}

/* By the grid in merge order, and by the file's rows and columns. */
static void check_rotation(const json_t *golden, const char *members)
{
    const json_t *x = golden_flat(golden, "inputs", "x");
    const json_t *expected = golden_flat(golden, "expected", "x_rotated");
    const size_t shape[] = {24, 2, 16}, count = json_array_size(x);
    double *data = malloc(count * sizeof *data);
    assert_non_null(data);
    for (size_t i = 0; i < count; i++)
        data[i] = golden_item(x, i);
    pe_buffer body = {0};
    size_t n;
    pe_buffer_format(&body, "{\"seq_axis\":0,%s,\"vectors\":", members);
    nest(data, shape, 3, &body);
    pe_buffer_str(&body, "}");
    reply answer = post_json(&server, "/v1/rope/grid/rotate", pe_buffer_text(&body));
    double *got = golden_numbers(&answer, "data", PE_FLOAT32, members, &n);
    assert_int_equal(n, json_array_size(expected));
    const double bound = 4 * (8 * 0x1p-24 * 5 + 0x1p-22) + 16 * 0x1p-24; /* |x| <= 2 */
    for (size_t e = 0; e < n; e++)
        if (!(fabs(got[e] - golden_item(expected, e)) <= bound))
            fail_msg("{%s} element %zu: got %.9g, upstream %.9g", members, e, got[e],
                     golden_item(expected, e));
    free(got);
    reply_free(&answer);
    pe_buffer_free(&body);
    free(data);
}

static void rotations_are_upstreams_within_its_arithmetic(void **state)
{
    (void)state;
    json_t *golden = golden_load("rope_2d_merge_order");
    pe_buffer places = {0}, members = {0};
    check_rotation(golden, "\"height\":4,\"width\":6,\"spatial_merge_size\":2");
    add_row_col(golden_flat(golden, "expected", "row_col"), &places);
    pe_buffer_format(&members, "\"pairing\":\"half\",\"positions\":\"%s\"",
                     pe_buffer_text(&places));
    check_rotation(golden, pe_buffer_text(&members));
    pe_buffer_free(&places);
    pe_buffer_free(&members);
    json_decref(golden);
}

/* ---- other places, other parameters ---------------------------------------------------------- */

enum { D = 16, PAIRS = D / 2, PLACES = 10, HEIGHT = 12, WIDTH = 9 };

static const double places[2][PLACES] = {
    {0, 1, 3, 7, 100, 1023, 65535, 999983, 2147483647, -5},
    {2, 0, 3, 11, 64, 77, 1, 16777217, 2147483629, 8},
};

static const struct convention {
    const char *name;
    const char *axis;    /* of each pair, from the published code by hand: row or column */
    int exponent[PAIRS]; /* theta^(-exponent/16) */
    double origin;
    bool normalized;
    double theta; /* by default; 0: 10000 */
} conventions[] = {
    {"qwen2_vl", "rrrrcccc", {0, 4, 8, 12, 0, 4, 8, 12}, 0, false, 0},
    {"pixtral", "rrrrcccc", {0, 4, 8, 12, 2, 6, 10, 14}, 0, false, 0},
    {"eva02", "rrrrcccc", {0, 4, 8, 12, 0, 4, 8, 12}, 0, false, 0},
    {"sam2", "ccccrrrr", {0, 4, 8, 12, 0, 4, 8, 12}, 0, false, 0},
    {"llama4", "ccccrrrr", {0, 4, 8, 12, 0, 4, 8, 12}, 1, false, 0},
    {"kimi", "crcrcrcr", {0, 0, 4, 4, 8, 8, 12, 12}, 0, false, 0},
    {"dinov3", "rrrrcccc", {0, 4, 8, 12, 0, 4, 8, 12}, 0, true, 100},
    {"gemma4", "ccccrrrr", {0, 4, 8, 12, 0, 4, 8, 12}, 0, false, 100},
    {"step3", "ccccrrrr", {0, 4, 8, 12, 0, 4, 8, 12}, 0, false, 0},
    {"inkling2", "ccccrrrr", {0, 4, 8, 12, 0, 4, 8, 12}, 1, false, 0},
    {"neomme", "rcrcrcrc", {0, 2, 4, 6, 8, 10, 12, 14}, 0, false, 0},
};

/* The angle of patch (r, c) as the tables say, as an MPFR number. */
static void slow_angle(const struct convention *c, double theta, const double at[2], size_t pair,
                       mpfr_ptr out)
{
    mpfr_t pi;
    const size_t axis = c->axis[pair] == 'r' ? 0 : 1;
    slow_frequency(theta, (size_t)c->exponent[pair], D, out);
    if (!c->normalized) {
        mpfr_mul_d(out, out, at[axis] + c->origin, MPFR_RNDN);
        return;
    }
    const double side = axis == 0 ? HEIGHT : WIDTH;
    mpfr_init2(pi, SLOW_BITS);
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul_d(out, out, 2 * (2 * at[axis] + 1 - side), MPFR_RNDN);
    mpfr_mul(out, out, pi, MPFR_RNDN);
    mpfr_div_d(out, out, side, MPFR_RNDN);
    mpfr_clear(pi);
}

/* cos, sin or the angle; what 512 bits leave of a zero is below 2^-400. */
static double slow_value(const char *tensor, mpfr_srcptr angle, pe_dtype dtype)
{
    mpfr_t x;
    mpfr_init2(x, SLOW_BITS);
    if (strcmp(tensor, "cos") == 0)
        mpfr_cos(x, angle, MPFR_RNDN);
    else if (strcmp(tensor, "sin") == 0)
        mpfr_sin(x, angle, MPFR_RNDN);
    else
        mpfr_set(x, angle, MPFR_RNDN);
    const double value = mpfr_regular_p(x) && mpfr_get_exp(x) < -400 ? 0 : slow_round(dtype, x);
    mpfr_clear(x);
    return value;
}

static void compare(const char *target, const struct convention *c, double theta,
                    const double (*at)[2], size_t patches, pe_dtype dtype)
{
    static const char *const tensors[] = {"cos", "sin", "angles"};
    mpfr_t angle;
    mpfr_init2(angle, SLOW_BITS);
    for (size_t t = 0; t < PE_LEN(tensors); t++) {
        size_t n;
        double *got = ask(target, tensors[t], dtype, &n);
        assert_int_equal(n, patches * PAIRS);
        for (size_t e = 0; e < n; e++) {
            slow_angle(c, theta, at[e / PAIRS], e % PAIRS, angle);
            const double wanted = slow_value(tensors[t], angle, dtype);
            if (memcmp(&got[e], &wanted, sizeof wanted) != 0)
                fail_msg("%s: %s of patch %zu, pair %zu: got %.17g, MPFR says %.17g", target,
                         tensors[t], e / PAIRS, e % PAIRS, got[e], wanted);
        }
        free(got);
    }
    mpfr_clear(angle);
}

static void every_convention_at_ten_other_places(void **state)
{
    static const double thetas[] = {10000, 100, 500000.5};
    double at[PLACES][2];
    (void)state;
    for (size_t k = 0; k < PLACES; k++)
        for (size_t axis = 0; axis < 2; axis++)
            at[k][axis] = places[axis][k];
    for (size_t i = 0; i < PE_LEN(conventions) * PE_LEN(thetas); i++) {
        const struct convention *c = &conventions[i % PE_LEN(conventions)];
        const double theta = thetas[i / PE_LEN(conventions)];
        for (size_t t = 0; t < GOLDEN_TYPES; t++) {
            pe_buffer target = {0};
            if (golden_dtypes[t] == PE_FLOAT16) /* places beyond 65504 */
                continue;
            pe_buffer_format(&target,
                             "/v1/rope/grid?convention=%s&head_dim=%d&rope_theta=%.17g"
                             "&dtype=%s%s&positions=",
                             c->name, D, theta, golden_types[t],
                             c->normalized ? "&height=12&width=9" : "");
            for (size_t k = 0; k < (size_t)2 * PLACES; k++)
                pe_buffer_format(&target, "%s%.0f",
                                 k == 0        ? ""
                                 : k == PLACES ? ";"
                                               : ",",
                                 places[k / PLACES][k % PLACES]);
            compare(pe_buffer_text(&target), c, theta, (const double(*)[2])at, PLACES,
                    golden_dtypes[t]);
            pe_buffer_free(&target);
        }
    }
}

/* Angles that are twelfths of a turn are among those of dinov3: their cosines are exact. */
static void every_convention_on_a_grid(void **state)
{
    double at[HEIGHT * WIDTH][2];
    (void)state;
    for (size_t k = 0; k < (size_t)HEIGHT * WIDTH; k++) {
        at[k][0] = (double)(k / WIDTH);
        at[k][1] = (double)(k % WIDTH);
    }
    for (size_t i = 0; i < PE_LEN(conventions); i++)
        for (size_t t = 0; t < GOLDEN_TYPES; t++) {
            char target[200];
            snprintf(target, sizeof target,
                     "/v1/rope/grid?convention=%s&head_dim=%d&height=%d&width=%d&dtype=%s",
                     conventions[i].name, D, HEIGHT, WIDTH, golden_types[t]);
            compare(target, &conventions[i],
                    conventions[i].theta != 0 ? conventions[i].theta : 10000,
                    (const double(*)[2])at, (size_t)HEIGHT * WIDTH, golden_dtypes[t]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixtrals_angles_are_the_truth),
        cmocka_unit_test(pixtrals_table_is_upstreams_within_its_arithmetic),
        cmocka_unit_test(merge_order_is_upstreams_and_its_angles_are_the_truth),
        cmocka_unit_test(rotations_are_upstreams_within_its_arithmetic),
        cmocka_unit_test(every_convention_at_ten_other_places),
        cmocka_unit_test(every_convention_on_a_grid),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
