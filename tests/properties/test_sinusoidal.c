/* SPDX-License-Identifier: MIT */
/* test_sinusoidal.c - the laws that sinusoidal encodings obey, at random parameters. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "kernels/kernels.h"
#include "support/bits.h"
#include "support/encode.h"
#include "support/random.h"
#include "support/slow.h"

static const char *const dtypes[] = {"float32", "float64", "float16", "bfloat16"};
static const char *const layouts[] = {"interleaved", "sin_cos", "cos_sin"};

/* Which wave stands in column c of a row of d: frequency *i, its cosine or not; false for none. */
static bool column(const char *layout, bool paper, size_t d, size_t c, size_t *i, bool *cosine)
{
    const size_t cosines = d / 2, sines = paper ? d - cosines : cosines;
    if (c >= sines + cosines)
        return false;
    const size_t first = strcmp(layout, "cos_sin") == 0 ? cosines : sines;
    const bool second_part = c >= first;
    *i = strcmp(layout, "interleaved") == 0 ? c / 2 : second_part ? c - first : c;
    *cosine = strcmp(layout, "interleaved") == 0 ? c % 2 != 0
                                                 : second_part == (strcmp(layout, "sin_cos") == 0);
    return true;
}

/* One element straight from the formula: sin or cos(pos * scale * base^(-i/(h - shift))). */
static double element(double base, double half, double shift, double scale, size_t i, bool cosine,
                      double position, pe_dtype dtype)
{
    mpfr_t exponent, w;
    mpfr_inits2(SLOW_BITS, exponent, w, (mpfr_ptr)NULL);
    mpfr_set_d(exponent, shift, MPFR_RNDN);
    mpfr_sub_d(exponent, exponent, half, MPFR_RNDN);
    mpfr_ui_div(exponent, i, exponent, MPFR_RNDN);
    mpfr_set_d(w, base, MPFR_RNDN);
    mpfr_pow(w, w, exponent, MPFR_RNDN);
    if (i == 0)
        mpfr_set_ui(w, 1, MPFR_RNDN);
    mpfr_mul_d(w, w, scale, MPFR_RNDN);
    const double value = slow_wave(w, position, cosine, dtype);
    mpfr_clears(exponent, w, (mpfr_ptr)NULL);
    return value;
}

typedef struct setting {
    size_t d;
    double base, shift, scale;
    const char *layout;
    int64_t first, step;
    size_t rows, dtype;
} setting;

static encoded encode_setting(const setting *s)
{
    return encode(&pe_sinusoidal,
                  "d_model=%zu&base=%.17g&freq_shift=%.17g&scale=%.17g&layout=%s&dtype=%s&"
                  "positions=%lld:%lld:%lld",
                  s->d, s->base, s->shift, s->scale, s->layout, dtypes[s->dtype],
                  (long long)s->first, (long long)(s->first + (int64_t)s->rows * s->step),
                  (long long)s->step);
}

static void check_against_formula(const setting *s, uint64_t seed)
{
    const bool paper = s->shift == 0;
    const size_t pairs = s->d / 2;
    const double half = paper ? (double)s->d / 2 : (double)pairs;
    encoded e = encode_setting(s);
    double *got = encoded_all(&e, 0);
    for (size_t r = 0; r < s->rows; r++)
        for (size_t c = 0; c < s->d; c++) {
            const double position = (double)(s->first + (int64_t)r * s->step);
            size_t i;
            bool cosine;
            const double want = column(s->layout, paper, s->d, c, &i, &cosine)
                                    ? element(s->base, half, s->shift, s->scale, i, cosine,
                                              position, (pe_dtype)s->dtype)
                                    : 0;
            if (bits_of(got[r * s->d + c]) != bits_of(want))
                fail_msg("seed %llu: d_model %zu base %.17g freq_shift %.17g scale %.17g %s %s: "
                         "position %.17g column %zu: got %a, wanted %a",
                         (unsigned long long)seed, s->d, s->base, s->shift, s->scale, s->layout,
                         dtypes[s->dtype], position, c, got[r * s->d + c], want);
        }
    free(got);
    encoded_free(&e);
}

static setting random_setting(random_source *random)
{
    static const double shifts[] = {0, 0, 0, 1, 1, 0.5, 0.1};
    static const double scales[] = {1, 1, 1, 1000, 0.1};
    const int bits = (int)random_int(random, 0, 52);
    setting s = {.d = (size_t)random_int(random, 1, 40),
                 .base = round(exp(random_real(random, 0, 27))),
                 .shift = shifts[random_int(random, 0, PE_LEN(shifts) - 1)],
                 .scale = scales[random_int(random, 0, PE_LEN(scales) - 1)],
                 .layout = layouts[random_int(random, 0, 2)],
                 .first = random_int(random, -((int64_t)1 << bits), (int64_t)1 << bits),
                 .step = random_int(random, 1, 5),
                 .rows = (size_t)random_int(random, 1, 6),
                 .dtype = (size_t)random_int(random, 0, 3)};
    if (s.d / 2 == 1 && s.shift >= 1)
        s.shift = 0.5;
    return s;
}

static void tables_are_the_formula_correctly_rounded(void **state)
{
    random_source random = random_make("sinusoidal");
    for (int round = 0; round < 200; round++) {
        const setting s = random_setting(&random);
        check_against_formula(&s, random.seed);
    }
}

static void corners_are_the_formula_too(void **state)
{
    static const setting settings[] = {
        {1, 10000, 0, 1, "interleaved", -3, 1, 7, 0},
        {1, 10000, 1, 1, "sin_cos", -3, 1, 7, 0},
        {2, 10000, 1, 1, "cos_sin", -3, 1, 7, 1},
        {3, 10000, 7, 1, "sin_cos", 0, 1, 3, 1},
        {11, 10000, 0, 1, "interleaved", 0, 1, 3, 1},
        {11, 10000, 0, 1, "sin_cos", 0, 1, 3, 1},
        {11, 10000, 0, 1, "cos_sin", 0, 1, 3, 2},
        {11, 10000, 1, 1, "interleaved", 0, 1, 3, 3},
        {8, 1, 0, 1, "interleaved", 5, 1, 2, 0},
        {8, 1e12, 0, 1e9, "interleaved", 9007199254740980, 1, 11, 1},
        {8, 1e12, 0, 1e-9, "interleaved", 1, 1, 2, 1},
        {8, 10000, 3.9, 1, "interleaved", 1, 1, 3, 1},
        {4, 10000, 1.9999999999999998, 1, "interleaved", 1, 1, 2, 0},
        {64, 10000, 31.7, 1, "interleaved", 1000000, 1, 2, 1},
    };
    for (size_t i = 0; i < PE_LEN(settings); i++)
        check_against_formula(&settings[i], 0);
}

/* PE(pos + k) = M_k PE(pos), pair by pair, as far as float64 shows. */
static void an_offset_rotation_moves_every_encoding(void **state)
{
    random_source random = random_make("offset");
    for (int round = 0; round < 60; round++) {
        const size_t d = 2 * (size_t)random_int(&random, 1, 40);
        const int64_t span = (int64_t)1 << random_int(&random, 1, 51);
        const int64_t pos = random_int(&random, -span, span), k = random_int(&random, -span, span);
        const double base = random_real(&random, 1, 1e6);
        encoded from = encode(&pe_sinusoidal, "d_model=%zu&base=%.17g&dtype=float64&positions=%lld",
                              d, base, (long long)pos);
        encoded to = encode(&pe_sinusoidal, "d_model=%zu&base=%.17g&dtype=float64&positions=%lld",
                            d, base, (long long)(pos + k));
        encoded moved =
            encode(&pe_sinusoidal_offset, "d_model=%zu&base=%.17g&dtype=float64&offset=%lld", d,
                   base, (long long)k);
        double *x = encoded_all(&from, 0), *y = encoded_all(&to, 0), *m = encoded_all(&moved, 0);
        for (size_t i = 0; i < d / 2; i++) {
            const double *block = m + 4 * i;
            const double s = block[0] * x[2 * i] + block[1] * x[2 * i + 1];
            const double c = block[2] * x[2 * i] + block[3] * x[2 * i + 1];
            /* Four roundings of numbers up to 1 and two sums. */
            if (fabs(s - y[2 * i]) > 0x1p-51 || fabs(c - y[2 * i + 1]) > 0x1p-51)
                fail_msg("seed %llu: d %zu, base %.17g, pair %zu: PE(%lld) moved by %lld is "
                         "(%.17g, %.17g), wanted (%.17g, %.17g)",
                         (unsigned long long)random.seed, d, base, i, (long long)pos, (long long)k,
                         s, c, y[2 * i], y[2 * i + 1]);
        }
        free(x);
        free(y);
        free(m);
        encoded_free(&from);
        encoded_free(&to);
        encoded_free(&moved);
    }
}

static void the_matrix_holds_the_blocks_on_its_diagonal(void **state)
{
    for (size_t t = 0; t < PE_LEN(dtypes); t++) {
        encoded blocks = encode(&pe_sinusoidal_offset, "d_model=10&offset=-3&dtype=%s", dtypes[t]);
        encoded matrix =
            encode(&pe_sinusoidal_offset, "d_model=10&offset=-3&dtype=%s&form=matrix", dtypes[t]);
        double *b = encoded_all(&blocks, 0), *m = encoded_all(&matrix, 0);
        for (size_t r = 0; r < 10; r++)
            for (size_t c = 0; c < 10; c++) {
                const double want = r / 2 == c / 2 ? b[r / 2 * 4 + r % 2 * 2 + c % 2] : 0;
                assert_true(bits_of(m[r * 10 + c]) == bits_of(want));
            }
        free(b);
        free(m);
        encoded_free(&blocks);
        encoded_free(&matrix);
    }
    encoded none = encode(&pe_sinusoidal_offset, "d_model=2&offset=0");
    double *m = encoded_all(&none, 0);
    const double identity[] = {1, 0, 0, 1};
    assert_memory_equal(m, identity, sizeof identity); /* +0 everywhere */
    free(m);
    encoded_free(&none);
}

static void a_window_is_those_rows_of_the_whole_table(void **state)
{
    random_source random = random_make("sinusoidal window");
    for (int round = 0; round < 60; round++) {
        setting s = random_setting(&random);
        s.rows = (size_t)random_int(&random, 2, 200);
        encoded e = encode_setting(&s);
        const size_t first = (size_t)random_int(&random, 0, (int64_t)s.rows - 1);
        const size_t rows = (size_t)random_int(&random, 1, (int64_t)(s.rows - first));
        double *all = encoded_all(&e, 0), *some = encoded_units(&e, 0, first, rows);
        assert_memory_equal(all + first * s.d, some, rows * s.d * sizeof *some);
        s.first += (int64_t)first * s.step;
        s.rows = rows;
        encoded alone = encode_setting(&s);
        double *same = encoded_all(&alone, 0);
        assert_memory_equal(same, some, rows * s.d * sizeof *some);
        free(all);
        free(some);
        free(same);
        encoded_free(&e);
        encoded_free(&alone);
    }
}

static encoded encode_one(const void *s)
{
    return encode_setting(s);
}

static void all_variants_give_the_same_table(void **state)
{
    random_source random = random_make("sinusoidal variants");
    for (int round = 0; round < 20; round++) {
        setting s = random_setting(&random);
        s.rows = 70;
        assert_levels_agree(encode_one, &s);
    }
}

static void sums_stay_within_their_bound(void **state)
{
    random_source random = random_make("sinusoidal add");
    for (size_t t = 0; t < PE_LEN(dtypes); t++)
        for (int round = 0; round < 10; round++) {
            double x[2 * 3 * 5];
            char body[4096];
            int used = snprintf(body, sizeof body,
                                "{\"dtype\": \"%s\", \"positions\": \"%d:%d\", "
                                "\"embeddings\": [",
                                dtypes[t], round, round + 3);
            for (size_t j = 0; j < PE_LEN(x); j++) {
                unsigned char rounded[8];
                pe_dtype_store((pe_dtype)t, ldexp(random_real(&random, -1, 1), round - 5), rounded);
                x[j] = pe_dtype_load((pe_dtype)t, rounded);
                used += snprintf(body + used, sizeof body - (size_t)used, "%s%s%.17g%s%s",
                                 j % 15 == 0 ? "[" : "", j % 5 == 0 ? "[" : "", x[j],
                                 j % 5 == 4 ? "]" : "", j % 15 == 14 ? "]" : "");
                used += snprintf(body + used, sizeof body - (size_t)used,
                                 j + 1 < PE_LEN(x) ? "," : "]}");
            }
            encoded sum = encode_json(&pe_sinusoidal_add, "%s", body);
            encoded table =
                encode(&pe_sinusoidal, "d_model=5&dtype=float64&positions=%d:%d", round, round + 3);
            double *got = encoded_all(&sum, 0), *pe = encoded_all(&table, 0);
            for (size_t j = 0; j < PE_LEN(x); j++) {
                unsigned char want[8];
                pe_dtype_store((pe_dtype)t, x[j] + pe[j % 15], want);
                if (bits_of(pe_dtype_load((pe_dtype)t, want)) != bits_of(got[j]))
                    fail_msg("seed %llu: %s element %zu: %a + %a gave %a",
                             (unsigned long long)random.seed, dtypes[t], j, x[j], pe[j % 15],
                             got[j]);
            }
            free(got);
            free(pe);
            encoded_free(&sum);
            encoded_free(&table);
        }
}

static void batches_take_their_own_positions(void **state)
{
    encoded sum = encode_json(&pe_sinusoidal_add, "{\"embeddings\": [[[0,0],[0,0]],[[0,0],[0,0]]], "
                                                  "\"positions\": [[3,1],[0,2]]}");
    encoded table = encode(&pe_sinusoidal, "d_model=2&positions=3,1,0,2");
    double *got = encoded_all(&sum, 0), *want = encoded_all(&table, 0);
    assert_memory_equal(got, want, 8 * sizeof *got);
    free(got);
    free(want);
    encoded_free(&sum);
    encoded_free(&table);
}

static void positions_that_do_not_fit_the_tokens_are_told_with_both_counts(void **state)
{
    encoded e = encode_json(&pe_sinusoidal_add,
                            "{\"embeddings\": [[0,0],[0,0],[0,0]], \"positions\": \"0:2\"}");
    assert_int_equal(e.status, PE_INVALID_PARAMETER);
    assert_string_equal(e.why.where, "positions");
    assert_non_null(strstr(e.why.detail, "2 positions"));
    assert_non_null(strstr(e.why.detail, "3 tokens"));
    encoded_free(&e);
    e = encode_json(&pe_sinusoidal_add, "{\"embeddings\": [[[0,0]],[[0,0]]], "
                                        "\"positions\": [[1],[2],[4]]}");
    assert_int_equal(e.status, PE_INVALID_PARAMETER);
    assert_string_equal(e.why.where, "positions");
    encoded_free(&e);
}

static void checks_done_by_hand_come_out(void **state)
{
    encoded e = encode(&pe_sinusoidal, "d_model=64&positions=5&dtype=float64");
    double *row = encoded_all(&e, 0);
    assert_true(fabs(row[10] - 0.9268) < 5e-5); /* sin(5 / 10000^(10/64)) */
    free(row);
    encoded_free(&e);
    static const double want[] = {0,          1,           0,           1,
                                  0.84147096, 0.5403023,   0.009999833, 0.99995,
                                  0.9092974,  -0.41614684, 0.019998666, 0.9998};
    e = encode(&pe_sinusoidal, "d_model=4&positions=0,1,2");
    row = encoded_all(&e, 0);
    for (size_t j = 0; j < PE_LEN(want); j++)
        assert_true((float)want[j] == (float)row[j]);
    free(row);
    encoded_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_done_by_hand_come_out),
        cmocka_unit_test(tables_are_the_formula_correctly_rounded),
        cmocka_unit_test(corners_are_the_formula_too),
        cmocka_unit_test(an_offset_rotation_moves_every_encoding),
        cmocka_unit_test(the_matrix_holds_the_blocks_on_its_diagonal),
        cmocka_unit_test(a_window_is_those_rows_of_the_whole_table),
        cmocka_unit_test(all_variants_give_the_same_table),
        cmocka_unit_test(sums_stay_within_their_bound),
        cmocka_unit_test(batches_take_their_own_positions),
        cmocka_unit_test(positions_that_do_not_fit_the_tokens_are_told_with_both_counts),
    };
    return cmocka_run_group_tests_name("laws: sinusoidal", tests, NULL, NULL);
}
