/* SPDX-License-Identifier: MIT */
/*
 * test_attention_scale_http.c - the golden attention temperature through HTTP.
 *
 * `truth` must come back bit for bit after rounding to the dtype asked for; upstream's float32
 * `expected` within 2^-22; other positions and parameters are held against MPFR.
 */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/slow.h"

static test_server server;

static double *ask(double beta, double original, const char *positions, size_t t, size_t *n)
{
    pe_buffer target = {0};
    pe_buffer_format(&target,
                     "/v1/rope/attention-scale?beta=%.17g&original_max_position_embeddings=%.0f"
                     "&positions=%s&dtype=%s",
                     beta, original, positions, golden_types[t]);
    reply answer = get(&server, pe_buffer_text(&target));
    double *got = golden_numbers(&answer, "data", golden_dtypes[t], pe_buffer_text(&target), n);
    reply_free(&answer);
    pe_buffer_free(&target);
    return got;
}

/* 1 + beta ln(1 + floor(p / original)), the quotient in MPFR */
static double model(double beta, double original, double position, pe_dtype dtype)
{
    mpfr_t x;
    mpfr_init2(x, SLOW_BITS);
    mpfr_set_d(x, position, MPFR_RNDN);
    mpfr_div_d(x, x, original, MPFR_RNDN);
    mpfr_floor(x, x);
    mpfr_add_ui(x, x, 1, MPFR_RNDN);
    mpfr_log(x, x, MPFR_RNDN);
    mpfr_mul_d(x, x, beta, MPFR_RNDN);
    mpfr_add_ui(x, x, 1, MPFR_RNDN);
    const double result = slow_round(dtype, x);
    mpfr_clear(x);
    return result;
}

static void attention_temperatures_elsewhere(void **state)
{
    static const struct {
        double beta, original;
    } sets[] = {{0.1, 16384}, {0.1, 8192}, {0.35, 1}, {7e-9, 3}, {0, 5}, {1000, 1e12}};
    for (size_t s = 0; s < PE_LEN(sets); s++)
        for (size_t t = 0; t < GOLDEN_TYPES; t++) {
            size_t n;
            double *got = ask(sets[s].beta, sets[s].original, golden_elsewhere_text, t, &n);
            assert_int_equal(n, GOLDEN_ELSEWHERE);
            for (size_t e = 0; e < n; e++) {
                const double want =
                    model(sets[s].beta, sets[s].original, golden_elsewhere[e], golden_dtypes[t]);
                if (got[e] != want)
                    fail_msg("beta %g, original %g, position %.0f, %s: got %.17g, MPFR says %.17g",
                             sets[s].beta, sets[s].original, golden_elsewhere[e], golden_types[t],
                             got[e], want);
            }
            free(got);
        }
}

/* Logarithms of the length, from the formulas: max(1, ln n / ln N), 1 + beta ln(max(1, n / N)). */
static double log_model(bool ratio, double beta, double original, double position, pe_dtype dtype)
{
    mpfr_t n, whole;
    mpfr_inits2(SLOW_BITS, n, whole, (mpfr_ptr)0);
    mpfr_set_d(n, position, MPFR_RNDN);
    mpfr_add_ui(n, n, 1, MPFR_RNDN);
    mpfr_set_d(whole, original, MPFR_RNDN);
    if (mpfr_cmp(n, whole) < 0)
        mpfr_set(n, whole, MPFR_RNDN);
    mpfr_log(n, n, MPFR_RNDN);
    mpfr_log(whole, whole, MPFR_RNDN);
    (ratio ? mpfr_sub : mpfr_div)(n, n, whole, MPFR_RNDN);
    if (ratio) {
        mpfr_mul_d(n, n, beta, MPFR_RNDN);
        mpfr_add_ui(n, n, 1, MPFR_RNDN);
    }
    const double result = slow_round(dtype, n);
    mpfr_clears(n, whole, (mpfr_ptr)0);
    return result;
}

static void lengths_may_count_by_their_logarithm(void **state)
{
    static const double originals[] = {2, 3, 2048, 8192, 1e12};
    for (size_t i = 0; i < 2 * PE_LEN(originals) * GOLDEN_TYPES; i++) {
        const bool ratio = i % 2 == 1;
        const size_t t = i / 2 % GOLDEN_TYPES;
        const double original = originals[i / 2 / GOLDEN_TYPES];
        pe_buffer target = {0};
        size_t n;
        pe_buffer_format(&target,
                         "/v1/rope/attention-scale?variant=%s&original_max_position_embeddings=%.0f"
                         "&positions=%s&dtype=%s",
                         ratio ? "inkling&beta=0.35" : "qwen", original, golden_elsewhere_text,
                         golden_types[t]);
        reply answer = get(&server, pe_buffer_text(&target));
        double *got = golden_numbers(&answer, "data", golden_dtypes[t], "variant", &n);
        assert_int_equal(n, GOLDEN_ELSEWHERE);
        for (size_t e = 0; e < n; e++) {
            const double want =
                log_model(ratio, 0.35, original, golden_elsewhere[e], golden_dtypes[t]);
            if (got[e] != want)
                fail_msg("%s: position %.0f: got %.17g, MPFR says %.17g", pe_buffer_text(&target),
                         golden_elsewhere[e], got[e], want);
        }
        free(got);
        reply_free(&answer);
        pe_buffer_free(&target);
    }
}

/* A quotient that would round up to a whole number must not. */
static void steps_are_of_the_exact_quotient(void **state)
{
    static const double near[] = {2.9999999999999996, 3, 5.999999999999999, 6};
    size_t n;
    double *got = ask(1, 3, "2.9999999999999996,3,5.999999999999999,6", 0, &n);
    assert_int_equal(n, PE_LEN(near));
    for (size_t e = 0; e < n; e++)
        assert_true(got[e] == model(1, 3, near[e], PE_FLOAT64));
    free(got);
}

/* With an offset of 1 the scale at p is that without at p + 1, and p + 1 is not rounded. */
static void positions_may_count_from_1(void **state)
{
    static const double wanted[] = {0, 0, 8191, 8192, 16383, 1e6 + 1};
    reply answer = get(&server, "/v1/rope/attention-scale?original_max_position_embeddings=8192"
                                "&position_offset=1&dtype=float64"
                                "&positions=0,8190.9999999999991,8190,8191,16382,1000000");
    size_t n;
    double *got = golden_numbers(&answer, "data", PE_FLOAT64, "position_offset", &n);
    assert_int_equal(n, PE_LEN(wanted));
    for (size_t e = 0; e < n; e++)
        assert_true(got[e] == model(0.1, 8192, wanted[e], PE_FLOAT64));
    free(got);
    reply_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_may_count_by_their_logarithm),
        cmocka_unit_test(attention_temperatures_elsewhere),
        cmocka_unit_test(steps_are_of_the_exact_quotient),
        cmocka_unit_test(positions_may_count_from_1),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
