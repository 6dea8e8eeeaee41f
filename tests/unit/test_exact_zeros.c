/* SPDX-License-Identifier: MIT */
/* test_exact_zeros.c - angles that are fractions of a turn: sines and cosines that are 0 and +-1/2
 * to the last bit, which no precision would tell from their neighbours. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exact/wave_set.h"

/* Twelfths of a turn, as 2 cos: -2, -1, 0, 1, 2, and a NaN for what is irrational. */
static const double twice_cosine[12] = {2,  (double)NAN, 1,  0, -1, (double)NAN,
                                        -2, (double)NAN, -1, 0, 1,  (double)NAN};

static void one(const void *formula, mpfr_ptr out)
{
    mpfr_set_ui(out, 1, MPFR_RNDN);
}

/* theta_i = 2 pi / (12 (i + 1)) */
static void fraction(const void *formula, size_t i, mpfr_ptr theta)
{
    mpfr_const_pi(theta, MPFR_RNDN);
    mpfr_div_ui(theta, theta, 6 * ((unsigned long)i + 1), MPFR_RNDN);
}

static void check(pe_dtype dtype, double position, size_t i, const char *what, double got,
                  int64_t twelfths)
{
    const double twice = twice_cosine[(twelfths % 12 + 12) % 12];
    const double wanted = isnan(twice) ? got : twice / 2;
    if (memcmp(&got, &wanted, sizeof got) != 0)
        fail_msg("%s, position %.0f, frequency %zu: %s is %.17g, wanted %.17g",
                 pe_dtype_name(dtype), position, i, what, got, wanted);
}

/* cos of k twelfths, and sin: the cos of three twelfths less. */
static void whole_twelfths_of_a_turn_are_exact(void **state)
{
    enum { N = 4, ROWS = 97 };
    static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};
    static const int64_t starts[] = {-48, 0, 1000000000000};
    const pe_wave_spec spec = {
        .n = N, .num = 2, .den = 8, .position_scale = 1, .base = one, .scale = fraction};
    const pe_wave_layout layout = {.stride = 1, .cos_at = 0, .sin_at = N, .row = 2 * N};
    pe_wave *wave;
    pe_problem why;
    assert_int_equal(pe_wave_make(&spec, &wave, &why), PE_OK);
    for (size_t s = 0; s < PE_LEN(starts) * PE_LEN(dtypes); s++) {
        const pe_dtype dtype = dtypes[s % PE_LEN(dtypes)];
        const size_t bytes = pe_dtype_bytes(dtype);
        const pe_positions positions = pe_positions_range(starts[s / PE_LEN(dtypes)], 1, ROWS);
        unsigned char *out = malloc(ROWS * layout.row * bytes);
        assert_non_null(out);
        const pe_wave_table table = {wave, &positions, &layout, dtype};
        assert_int_equal(pe_wave_table_rows(&table, 0, ROWS, out, &why), PE_OK);
        for (size_t e = 0; e < (size_t)ROWS * N; e++) {
            const size_t r = e / N, i = e % N;
            const int64_t at = positions.first + (int64_t)r, parts = (int64_t)i + 1;
            if (at % parts != 0)
                continue;
            const unsigned char *row = out + r * layout.row * bytes;
            check(dtype, (double)at, i, "cos", pe_dtype_load(dtype, row + i * bytes), at / parts);
            check(dtype, (double)at, i, "sin", pe_dtype_load(dtype, row + (N + i) * bytes),
                  at / parts - 3);
        }
        free(out);
    }
    pe_wave_free(wave);
}

static void nought(const void *formula, mpfr_ptr out)
{
    mpfr_set_zero(out, 1);
}

/* An attention factor of 0 makes all elements +0, which no element's own computation need tell. */
static void tables_of_amplitude_0_are_zeros(void **state)
{
    enum { N = 4, ROWS = 70 };
    const pe_wave_spec spec = {
        .n = N, .num = 2, .den = 8, .position_scale = 1, .base = one, .amplitude = nought};
    const pe_wave_layout layout = {.stride = 1, .cos_at = 0, .sin_at = N, .row = 2 * N};
    const pe_positions positions = pe_positions_range(-3, 1, ROWS);
    pe_wave *wave;
    pe_problem why;
    assert_int_equal(pe_wave_make(&spec, &wave, &why), PE_OK);
    for (pe_dtype dtype = PE_FLOAT32; dtype <= PE_BFLOAT16; dtype++) {
        unsigned char out[ROWS * 2 * N * sizeof(double)], zeros[sizeof out] = {0};
        const pe_wave_table table = {wave, &positions, &layout, dtype};
        memset(out, 0xff, sizeof out);
        assert_int_equal(pe_wave_table_rows(&table, 0, ROWS, out, &why), PE_OK);
        assert_memory_equal(out, zeros, ROWS * layout.row * pe_dtype_bytes(dtype));
    }
    assert_int_equal(pe_wave_paths_read(wave).mpfr, 0);
    pe_wave_free(wave);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_amplitude_0_are_zeros),
        cmocka_unit_test(whole_twelfths_of_a_turn_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
