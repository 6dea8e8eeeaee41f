/* SPDX-License-Identifier: MIT */
/* test_exact_paths.c - values made to lie near midpoints, and which arithmetic decided them. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact/set.h"
#include "support/random.h"

static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};
static const int significant[] = {
    [PE_FLOAT32] = 24, [PE_FLOAT64] = 53, [PE_FLOAT16] = 11, [PE_BFLOAT16] = 8};

/*
 * A table of one frequency whose amplitude is (midpoint + off) / cos(angle) at one position: there
 * the cosine is that midpoint, plus off. The midpoint is (2k + 1) / 2 units of 2^(1 - bits), off is
 * 2^-far of it, up or down, or none.
 */
typedef struct formula {
    uint64_t k;
    int bits, far, sign;
    double position, scale;
} formula;

static void base_of(const void *data, mpfr_ptr out)
{
    (void)data;
    mpfr_set_ui(out, 10000, MPFR_RNDN);
}

static void amplitude_of(const void *data, mpfr_ptr out)
{
    const formula *f = data;
    mpfr_t value, off, angle;
    mpfr_inits2(mpfr_get_prec(out) + 400, value, off, angle, (mpfr_ptr)NULL);
    mpfr_set_ui(value, (unsigned long)f->k, MPFR_RNDN);
    mpfr_mul_2ui(value, value, 1, MPFR_RNDN);
    mpfr_add_ui(value, value, 1, MPFR_RNDN);
    mpfr_mul_2si(value, value, -f->bits, MPFR_RNDN);
    mpfr_mul_si(off, value, f->sign, MPFR_RNDN);
    mpfr_mul_2si(off, off, -f->far, MPFR_RNDN);
    mpfr_add(value, value, off, MPFR_RNDN);
    mpfr_set_d(angle, f->position, MPFR_RNDN);
    mpfr_mul_d(angle, angle, f->scale, MPFR_RNDN);
    mpfr_cos(angle, angle, MPFR_RNDN);
    mpfr_div(out, value, angle, MPFR_RNDN);
    mpfr_clears(value, off, angle, (mpfr_ptr)NULL);
}

/* Below the midpoint, above it, or the even one of both. */
static double wanted(const formula *f)
{
    const uint64_t up = f->sign > 0 || (f->sign == 0 && f->k % 2 == 1);
    return ldexp((double)(f->k + up), 1 - f->bits);
}

/* A position where the cosine is no less than 1/4, so that the amplitude is no more than 8. */
static formula random_formula(random_source *random, pe_dtype dtype, int far)
{
    formula f = {.bits = significant[dtype], .far = far};
    f.k = (uint64_t)1 << (f.bits - 1) | random_bits(random) >> (65 - f.bits);
    f.sign = far == 0 ? 0 : random_int(random, 0, 1) ? 1 : -1;
    do {
        f.scale = random_real(random, 0.001, 1);
        f.position = (double)random_int(random, 1, (int64_t)1 << random_int(random, 1, 40));
    } while (fabs(cos(f.position * f.scale)) < 0.25);
    return f;
}

/* `rows` rows around the position, of which the one there is compared; the paths they took. */
static pe_wave_paths take(const formula *f, pe_dtype dtype, size_t rows)
{
    const pe_wave_spec spec = {.n = 1,
                               .num = 2,
                               .den = 2,
                               .position_scale = f->scale,
                               .base = base_of,
                               .amplitude = amplitude_of,
                               .formula = f,
                               .formula_bytes = sizeof *f};
    const pe_wave_layout layout = {2, 0, 1, 2};
    const size_t at = rows / 2;
    const pe_positions positions = pe_positions_range((int64_t)f->position - (int64_t)at, 1, rows);
    unsigned char table[64 * 2 * sizeof(double)];
    pe_wave *wave = NULL;
    pe_problem why;
    assert_true(rows <= 64);
    assert_int_equal(pe_wave_make(&spec, &wave, &why), PE_OK);
    assert_int_equal(pe_wave_table(wave, &positions, 0, rows, &layout, dtype, table, &why), PE_OK);
    const double got = pe_dtype_load(dtype, table + (2 * at + 1) * pe_dtype_bytes(dtype));
    if (got != wanted(f))
        fail_msg("%s, %d * 2^-%d off the midpoint above %llu, position %.0f * %.17g, %zu rows: got "
                 "%a, wanted %a",
                 pe_dtype_name(dtype), f->sign, f->far, (unsigned long long)f->k, f->position,
                 f->scale, rows, got, wanted(f));
    const pe_wave_paths paths = pe_wave_paths_read(wave);
    pe_wave_free(wave);
    return paths;
}

/* In the row alone, then in a run, whose other rows are left to chance. */
static void near_midpoints(const int *far, size_t n, bool wide)
{
    random_source random = random_make(wide ? "128 bits" : "MPFR");
    for (size_t d = 0; d < PE_LEN(dtypes); d++)
        for (size_t k = 0; k < n; k++)
            for (int round = 0; round < 40; round++) {
                const formula f = random_formula(&random, dtypes[d], far[k]);
                const pe_wave_paths alone = take(&f, dtypes[d], 1);
                assert_int_equal(alone.wide, wide ? 1 : 0);
                assert_int_equal(alone.mpfr, wide ? 0 : 1);
                assert_int_equal(alone.kernel, 0);
                const pe_wave_paths run = take(&f, dtypes[d], 41);
                assert_true(wide ? run.wide >= 1 : run.mpfr >= 1);
            }
}

static void what_128_bits_can_tell_is_told_by_them(void **state)
{
    static const int far[] = {85, 95, 105};
    (void)state;
    near_midpoints(far, PE_LEN(far), true);
}

static void what_they_cannot_tell_is_left_to_mpfr_and_ties_go_to_even(void **state)
{
    static const int far[] = {140, 200, 600, 1500, 0};
    (void)state;
    near_midpoints(far, PE_LEN(far), false);
}

/* Three bits beyond the midpoint are plain to see: the kernels need no help. */
static void what_is_far_from_a_midpoint_is_told_by_the_kernels(void **state)
{
    (void)state;
    random_source random = random_make("kernels");
    for (size_t d = 0; d < PE_LEN(dtypes); d++)
        for (int round = 0; round < 200; round++) {
            const formula f = random_formula(&random, dtypes[d], significant[dtypes[d]] + 3);
            const pe_wave_paths paths = take(&f, dtypes[d], 1);
            assert_int_equal(paths.mpfr, 0);
            assert_true(paths.kernel + paths.wide == 1); /* wide: the sine may be a near one */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_128_bits_can_tell_is_told_by_them),
        cmocka_unit_test(what_they_cannot_tell_is_left_to_mpfr_and_ties_go_to_even),
        cmocka_unit_test(what_is_far_from_a_midpoint_is_told_by_the_kernels),
    };
    return cmocka_run_group_tests_name("exact: paths", tests, NULL, NULL);
}
