/* SPDX-License-Identifier: MIT */
/* test_sinusoidal_combined.c - encodings with an amplitude, and what they are combined with. */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "support/encode.h"
#include "support/random.h"

/* amplitude * sin or cos(position / 10000^(2 (column/2) / 4)), rounded once. */
static double truth(double amplitude, double position, size_t column, pe_dtype dtype)
{
    mpfr_t x, angle;
    mpfr_inits2(300, x, angle, (mpfr_ptr)NULL);
    mpfr_set_ui(angle, column < 2 ? 1 : 100, MPFR_RNDN);
    mpfr_d_div(angle, position, angle, MPFR_RNDN);
    (column % 2 == 0 ? mpfr_sin : mpfr_cos)(x, angle, MPFR_RNDN);
    mpfr_mul_d(x, x, amplitude, MPFR_RNDN);
    const double value =
        dtype == PE_FLOAT64 ? mpfr_get_d(x, MPFR_RNDN) : (double)mpfr_get_flt(x, MPFR_RNDN);
    mpfr_clears(x, angle, (mpfr_ptr)NULL);
    return value;
}

static void an_amplitude_multiplies_before_the_one_rounding(void **state)
{
    static const double amplitudes[] = {0.02, 0.3, 1, 7.5, 1000, 1e-30};
    static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT64};
    for (size_t a = 0; a < PE_LEN(amplitudes); a++)
        for (size_t t = 0; t < PE_LEN(dtypes); t++) {
            encoded e =
                encode(&pe_sinusoidal, "d_model=4&positions=-3:30:0.25&dtype=%s&amplitude=%.17g",
                       pe_dtype_name(dtypes[t]), amplitudes[a]);
            double *got = encoded_all(&e, 0);
            for (size_t i = 0; i < e.plan.tensors[0].elements; i++) {
                const double position = -3 + 0.25 * (double)(i / 4);
                const double want = truth(amplitudes[a], position, i % 4, dtypes[t]);
                if (got[i] != want)
                    fail_msg("amplitude %g, position %g, column %zu: got %a, wanted %a",
                             amplitudes[a], position, i % 4, got[i], want);
            }
            free(got);
            encoded_free(&e);
        }
}

static void the_reference_path_rounds_after_the_amplitude(void **state)
{
    encoded e = encode(&pe_sinusoidal, "d_model=4&positions=0:40&numerics=float32&amplitude=0.3");
    encoded plain = encode(&pe_sinusoidal, "d_model=4&positions=0:40&numerics=float32");
    double *got = encoded_all(&e, 0), *unit = encoded_all(&plain, 0);
    for (size_t i = 0; i < e.plan.tensors[0].elements; i++)
        assert_true((float)got[i] == (float)unit[i] * 0.3F);
    free(got);
    free(unit);
    encoded_free(&e);
    encoded_free(&plain);
}

/* Each pixel has the encoding of its column plus that of its row, whatever part is asked for. */
static void a_grid_may_be_the_sum_of_its_axes(void **state)
{
    enum { D = 6, HEIGHT = 5, WIDTH = 7, EXTRA = 2 };
    random_source random = random_make("sums of axes");
    encoded line =
        encode(&pe_sinusoidal, "d_model=%d&layout=sin_cos&dtype=float64&positions=0:7", D);
    encoded grid = encode(&pe_sinusoidal_grid,
                          "d_model=%d&height=%d&width=%d&extra_tokens=%d&combine=add&dtype=float64",
                          D, HEIGHT, WIDTH, EXTRA);
    double *pe = encoded_all(&line, 0), *all = encoded_all(&grid, 0);
    for (size_t i = 0; i < (size_t)EXTRA * D; i++)
        assert_true(all[i] == 0);
    for (size_t p = 0; p < (size_t)HEIGHT * WIDTH; p++)
        for (size_t c = 0; c < D; c++)
            assert_true(all[(EXTRA + p) * D + c] == pe[p % WIDTH * D + c] + pe[p / WIDTH * D + c]);
    for (int round = 0; round < 40; round++) {
        const size_t n = EXTRA + HEIGHT * WIDTH, first = random_below(&random, n);
        const size_t units = 1 + random_below(&random, n - first);
        double *some = encoded_units(&grid, 0, first, units);
        assert_memory_equal(some, all + first * D, units * D * sizeof *some);
        free(some);
    }
    free(pe);
    free(all);
    encoded_free(&line);
    encoded_free(&grid);
}

/* Parts of rows that are too wide for one block are those of the whole. */
static void parts_of_wide_sums_are_the_sums(void **state)
{
    encoded e = encode(&pe_sinusoidal_grid, "d_model=1024&height=2&combine=add");
    double *all = encoded_all(&e, 0);
    for (size_t unit = 0; unit < 4; unit++)
        for (size_t column = 0; column < 1024; column += 320) {
            float part[320];
            pe_problem why;
            const size_t columns = 1024 - column < 320 ? 1024 - column : 320;
            const pe_region region = {
                .first = unit, .units = 1, .column = column, .columns = columns};
            assert_int_equal(e.plan.fill(&e.plan, &region, part, &why), PE_OK);
            for (size_t c = 0; c < columns; c++)
                assert_true((double)part[c] == all[unit * 1024 + column + c]);
        }
    free(all);
    encoded_free(&e);
}

static void encodings_may_stand_beside_embeddings(void **state)
{
    encoded beside = encode_json(
        &pe_sinusoidal_add, "{\"embeddings\":[[[1,2],[3,4]],[[5,6],[7,8]]],\"combine\":\"concat\","
                            "\"d_model\":4,\"positions\":[[0,1],[5,9]]}");
    encoded table = encode(&pe_sinusoidal, "d_model=4&positions=0,1,5,9");
    double *got = encoded_all(&beside, 0), *pe = encoded_all(&table, 0);
    assert_int_equal(beside.plan.tensors[0].shape.dim[2], 6);
    for (size_t t = 0; t < 4; t++) {
        assert_true(got[6 * t] == (double)(2 * t + 1) && got[6 * t + 1] == (double)(2 * t + 2));
        assert_memory_equal(got + 6 * t + 2, pe + 4 * t, 4 * sizeof *pe);
    }
    free(got);
    free(pe);
    encoded_free(&beside);
    encoded_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_amplitude_multiplies_before_the_one_rounding),
        cmocka_unit_test(the_reference_path_rounds_after_the_amplitude),
        cmocka_unit_test(a_grid_may_be_the_sum_of_its_axes),
        cmocka_unit_test(parts_of_wide_sums_are_the_sums),
        cmocka_unit_test(encodings_may_stand_beside_embeddings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
