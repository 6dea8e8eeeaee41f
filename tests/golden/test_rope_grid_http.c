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
        cmocka_unit_test(every_convention_at_ten_other_places),
        cmocka_unit_test(every_convention_on_a_grid),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
