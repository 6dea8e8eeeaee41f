/* SPDX-License-Identifier: MIT */
/* test_alibi.c - the laws that linear biases obey, at random parameters. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "kernels/kernels.h"
#include "support/bits.h"
#include "support/encode.h"
#include "support/random.h"
#include "support/slow.h"

static const char *const dtypes[] = {"float32", "float64", "float16", "bfloat16"};
static const char *const forms[] = {"symmetric", "causal", "key"};

/* The published rule as its authors wrote it: a recursion on powers of two. */
static void exponent(size_t heads, size_t h, mpfr_ptr out)
{
    size_t power = 1;
    while (power * 2 <= heads)
        power *= 2;
    const bool extra = h >= power;
    mpfr_set_ui(out, extra ? 2 * (h - power) + 1 : h + 1, MPFR_RNDN);
    mpfr_div_ui(out, out, extra ? 2 * power : power, MPFR_RNDN);
}

/* 2^(-bias_max * e) * k, correctly rounded. */
static double product(size_t heads, size_t h, bool formula, double bias_max, int64_t k,
                      pe_dtype dtype)
{
    mpfr_t x;
    mpfr_init2(x, SLOW_BITS);
    exponent(heads, h, x);
    if (formula) {
        mpfr_set_ui(x, h + 1, MPFR_RNDN);
        mpfr_div_ui(x, x, heads, MPFR_RNDN);
    }
    mpfr_mul_d(x, x, -bias_max, MPFR_RNDN);
    mpfr_exp2(x, x, MPFR_RNDN);
    mpfr_mul_si(x, x, k, MPFR_RNDN);
    const double value = slow_round(dtype, x);
    mpfr_clear(x);
    return value;
}

typedef struct setting {
    size_t heads, queries, keys, form, dtype;
    bool formula;
    double bias_max, mask;
} setting;

static setting random_setting(random_source *random)
{
    static const double bias_max[] = {8, 8, 8, 16, 5.3, 0.01};
    const size_t keys = (size_t)random_int(random, 1, 40);
    return (setting){.heads = (size_t)random_int(random, 1, 20),
                     .keys = keys,
                     .queries = (size_t)random_int(random, 1, (int64_t)keys),
                     .form = (size_t)random_int(random, 0, 2),
                     .dtype = (size_t)random_int(random, 0, 3),
                     .formula = random_int(random, 0, 1) == 1,
                     .bias_max = bias_max[random_int(random, 0, PE_LEN(bias_max) - 1)],
                     .mask = random_int(random, 0, 1) ? -1000 : -HUGE_VAL};
}

static encoded encode_setting(const setting *s)
{
    const bool masked = strcmp(forms[s->form], "causal") == 0 && isfinite(s->mask);
    return encode(&pe_alibi_bias,
                  "num_heads=%zu&query_length=%zu&key_length=%zu&form=%s&dtype=%s&variant=%s&"
                  "alibi_bias_max=%.17g%s",
                  s->heads, s->queries, s->keys, forms[s->form], dtypes[s->dtype],
                  s->formula ? "formula" : "press", s->bias_max, masked ? "&mask_value=-1000" : "");
}

static size_t rows_of(const setting *s)
{
    return strcmp(forms[s->form], "key") == 0 ? 1 : s->queries;
}

static double wanted(const setting *s, size_t h, size_t row, size_t key)
{
    const int64_t query = (int64_t)(s->keys - s->queries + row), distance = query - (int64_t)key;
    int64_t k = distance > 0 ? -distance : distance;
    if (strcmp(forms[s->form], "causal") == 0 && distance < 0)
        return s->mask;
    if (strcmp(forms[s->form], "key") == 0)
        k = (int64_t)key;
    return product(s->heads, h, s->formula, s->bias_max, k, (pe_dtype)s->dtype);
}

static void biases_are_the_formula_correctly_rounded(void **state)
{
    random_source random = random_make("alibi");
    for (int round = 0; round < 150; round++) {
        const setting s = random_setting(&random);
        encoded e = encode_setting(&s);
        double *got = encoded_all(&e, 0);
        const size_t rows = rows_of(&s);
        for (size_t j = 0; j < s.heads * rows * s.keys; j++) {
            const size_t h = j / s.keys / rows, row = j / s.keys % rows, key = j % s.keys;
            const double want = wanted(&s, h, row, key);
            if (bits_of(got[j]) != bits_of(want))
                fail_msg("seed %llu: head %zu of %zu (%s), bias_max %.17g, %s %s, %zu queries of "
                         "%zu keys, row %zu key %zu: got %a, wanted %a",
                         (unsigned long long)random.seed, h, s.heads,
                         s.formula ? "formula" : "press", s.bias_max, forms[s.form],
                         dtypes[s.dtype], s.queries, s.keys, row, key, got[j], want);
        }
        free(got);
        encoded_free(&e);
    }
}

/* Dyadic slopes at long distances: ties of every type, rounded to even. */
static void long_distances_round_ties_to_even(void **state)
{
    static const size_t lengths[PE_DTYPES] = {[PE_FLOAT32] = 1 << 18,
                                              [PE_FLOAT64] = 1 << 12,
                                              [PE_FLOAT16] = 12000,
                                              [PE_BFLOAT16] = 12000};
    for (size_t t = 0; t < PE_LEN(dtypes); t++) {
        encoded e = encode(&pe_alibi_bias,
                           "num_heads=8&heads=1,7&query_length=1&key_length=%zu&dtype=%s&form=key",
                           lengths[t], dtypes[t]);
        double *got = encoded_all(&e, 0);
        for (size_t j = 0; j < 2 * lengths[t]; j++) {
            const size_t key = j % lengths[t];
            unsigned char want[8];
            pe_dtype_store((pe_dtype)t, ldexp((double)key, j < lengths[t] ? -2 : -8), want);
            assert_true(got[j] == pe_dtype_load((pe_dtype)t, want));
        }
        free(got);
        encoded_free(&e);
    }
}

static void bias_is_linear_in_distance_and_symmetric(void **state)
{
    random_source random = random_make("alibi linear");
    for (int round = 0; round < 30; round++) {
        const size_t n = (size_t)random_int(&random, 2, 60), heads = 8;
        encoded e = encode(&pe_alibi_bias, "num_heads=8&query_length=%zu&dtype=float64", n);
        double *b = encoded_all(&e, 0);
        for (size_t j = 0; j < heads * n * n; j++) {
            const size_t h = j / n / n, q = j / n % n, k = j % n;
            const double step = b[h * n * n + 1]; /* distance 1 */
            assert_true(b[j] == step * fabs((double)q - (double)k));
            assert_true(b[j] == b[h * n * n + k * n + q]);
        }
        free(b);
        encoded_free(&e);
    }
}

static void slopes_are_geometric(void **state)
{
    random_source random = random_make("alibi slopes");
    for (int round = 0; round < 40; round++) {
        const size_t heads = (size_t)random_int(&random, 1, 300);
        const double bias_max = random_real(&random, 0.5, 60);
        encoded e = encode(&pe_alibi_slopes,
                           "num_heads=%zu&alibi_bias_max=%.17g&variant=formula&dtype=float64",
                           heads, bias_max);
        double *m = encoded_all(&e, 0);
        for (size_t h = 0; h < heads; h++) {
            const double want = product(heads, h, true, bias_max, 1, PE_FLOAT64);
            if (m[h] != want)
                fail_msg("seed %llu: slope %zu of %zu, bias_max %.17g: got %a, wanted %a",
                         (unsigned long long)random.seed, h, heads, bias_max, m[h], want);
            /* m_h = m_0^(h+1), to the error that the power of a rounded m_0 has. */
            const double power = pow(m[0], (double)(h + 1));
            assert_true(fabs(power - m[h]) <= 0x1p-50 * (double)(h + 2) * m[h]);
        }
        free(m);
        encoded_free(&e);
    }
}

static void both_variants_agree_at_powers_of_two(void **state)
{
    for (size_t heads = 1; heads <= 4096; heads *= 8)
        for (size_t t = 0; t < PE_LEN(dtypes); t++) {
            encoded a = encode(&pe_alibi_slopes, "num_heads=%zu&dtype=%s", heads, dtypes[t]);
            encoded b = encode(&pe_alibi_slopes, "num_heads=%zu&dtype=%s&variant=formula", heads,
                               dtypes[t]);
            double *x = encoded_all(&a, 0), *y = encoded_all(&b, 0);
            assert_memory_equal(x, y, heads * sizeof *x);
            free(x);
            free(y);
            encoded_free(&a);
            encoded_free(&b);
        }
}

/* Elements are units: any window, starting within a row and ending in another head. */
static void a_window_is_those_elements_of_the_whole(void **state)
{
    random_source random = random_make("alibi window");
    for (int round = 0; round < 200; round++) {
        const setting s = random_setting(&random);
        encoded e = encode_setting(&s);
        assert_windows(&e, &random);
        encoded_free(&e);
    }
}

static encoded encode_one(const void *s)
{
    return encode_setting(s);
}

static void all_variants_give_the_same_biases(void **state)
{
    random_source random = random_make("alibi variants");
    for (int round = 0; round < 30; round++) {
        const setting s = random_setting(&random);
        assert_levels_agree(encode_one, &s);
    }
}

static void chosen_heads_are_those_of_all(void **state)
{
    encoded all = encode(&pe_alibi_bias, "num_heads=12&query_length=3&key_length=7");
    encoded some =
        encode(&pe_alibi_bias, "num_heads=12&query_length=3&key_length=7&heads=11,0,5,5");
    double *a = encoded_all(&all, 0), *s = encoded_all(&some, 0);
    static const size_t chosen[] = {11, 0, 5, 5};
    for (size_t i = 0; i < PE_LEN(chosen); i++)
        assert_memory_equal(s + i * 21, a + chosen[i] * 21, 21 * sizeof *a);
    free(a);
    free(s);
    encoded_free(&all);
    encoded_free(&some);
}

static void long_distances_fit_float16_as_far_as_they_round_down(void **state)
{
    /* Slope 1/2 leaves distances up to 65519 finite in float16: 65519.5 rounds down. */
    encoded fits = encode(&pe_alibi_bias,
                          "num_heads=8&query_length=1&key_length=131040&dtype=float16&heads=0");
    double *b = encoded_units(&fits, 0, 0, 1);
    assert_true(b[0] == -65504);
    free(b);
    encoded_free(&fits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(biases_are_the_formula_correctly_rounded),
        cmocka_unit_test(long_distances_round_ties_to_even),
        cmocka_unit_test(bias_is_linear_in_distance_and_symmetric),
        cmocka_unit_test(slopes_are_geometric),
        cmocka_unit_test(both_variants_agree_at_powers_of_two),
        cmocka_unit_test(a_window_is_those_elements_of_the_whole),
        cmocka_unit_test(all_variants_give_the_same_biases),
        cmocka_unit_test(chosen_heads_are_those_of_all),
        cmocka_unit_test(long_distances_fit_float16_as_far_as_they_round_down),
    };
    return cmocka_run_group_tests_name("laws: ALiBi", tests, NULL, NULL);
}
