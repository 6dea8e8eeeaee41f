/* SPDX-License-Identifier: MIT */
/* test_softmax.c - exponentials, pairs and probabilities against MPFR. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "exact/softmax.h"
#include "support/random.h"
#include "support/slow.h"

#define BITS 400

static void set_pair(mpfr_ptr out, pe_pair x)
{
    mpfr_set_d(out, x.hi, MPFR_RNDN);
    mpfr_add_d(out, out, x.lo, MPFR_RNDN);
}

static void set_wide(mpfr_ptr out, const pe_fixed128 *x)
{
    mpfr_set_ui(out, (uint64_t)(x->m >> 64), MPFR_RNDN);
    mpfr_mul_2ui(out, out, 64, MPFR_RNDN);
    mpfr_add_ui(out, out, (uint64_t)x->m, MPFR_RNDN);
    mpfr_mul_2si(out, out, x->exponent - 128, MPFR_RNDN);
}

/* log2 |x/wanted - 1|; -infinity where they are the same. */
static double error_bits(mpfr_srcptr x, mpfr_srcptr wanted)
{
    mpfr_t off;
    mpfr_init2(off, BITS);
    mpfr_sub(off, x, wanted, MPFR_RNDN);
    if (!mpfr_zero_p(off))
        mpfr_div(off, off, wanted, MPFR_RNDN);
    mpfr_abs(off, off, MPFR_RNDN);
    mpfr_log2(off, off, MPFR_RNDN);
    const double bits = mpfr_get_d(off, MPFR_RNDN);
    mpfr_clear(off);
    return bits;
}

static pe_pair random_pair(random_source *random, double most)
{
    const double hi = random_real(random, -most, most);
    return pe_pair_sum(hi, hi * random_real(random, -0x1p-54, 0x1p-54));
}

static void exponentials_are_good_to_104_bits(void **state)
{
    random_source random = random_make("exp");
    static const double most[] = {0x1p-60, 0x1p-20, 0.5, 3, 80, 1099};
    static const double edges[] = {
        0, 0x1p-1074, 0x1p-116, 0x1.62e42fefa39efp-1, 0x1.62e42fefa39fp-1, 1, 1100};
    mpfr_t got, wanted;
    mpfr_inits2(BITS, got, wanted, (mpfr_ptr)NULL);
    for (int round = 0; round < 20000; round++) {
        pe_pair t = round < (int)PE_LEN(edges) ? (pe_pair){edges[round], 0}
                                               : random_pair(&random, most[round % 6]);
        if (t.hi < 0)
            t = (pe_pair){-t.hi, -t.lo};
        const pe_fixed128 x = pe_softmax_exp(t);
        set_wide(got, &x);
        set_pair(wanted, t);
        mpfr_neg(wanted, wanted, MPFR_RNDN);
        mpfr_exp(wanted, wanted, MPFR_RNDN);
        if (error_bits(got, wanted) > -104)
            fail_msg("seed %llu: e^-(%a + %a) is off by 2^%g", (unsigned long long)random.seed,
                     t.hi, t.lo, error_bits(got, wanted));
    }
    mpfr_clears(got, wanted, (mpfr_ptr)NULL);
    assert_true(pe_softmax_exp((pe_pair){1101, 0}).m == 0);
}

static void pairs_are_good_to_103_bits(void **state)
{
    random_source random = random_make("pairs");
    mpfr_t x, y, got;
    mpfr_inits2(BITS, x, y, got, (mpfr_ptr)NULL);
    for (int round = 0; round < 20000; round++) {
        const pe_pair a = random_pair(&random, 10);
        pe_pair b = random_pair(&random, ldexp(1, (int)random_int(&random, -60, 60)));
        if (round % 3 == 0) /* sums that cancel */
            b = pe_pair_sum(-a.hi, a.hi * ldexp(random_real(&random, -1, 1), -(round % 100)));
        set_pair(x, a);
        set_pair(y, b);
        set_pair(got, pe_pair_add(a, b));
        mpfr_add(x, x, y, MPFR_RNDN);
        if (mpfr_zero_p(x))
            assert_true(mpfr_zero_p(got));
        else
            assert_true(error_bits(got, x) < -103);
        set_pair(x, a);
        mpfr_mul(x, x, y, MPFR_RNDN);
        set_pair(got, pe_pair_mul(a, b));
        assert_true(error_bits(got, x) < -103);
    }
    mpfr_clears(x, y, got, (mpfr_ptr)NULL);
}

static void dot_products_keep_their_bound(void **state)
{
    random_source random = random_make("dot");
    static double x[300], y[300];
    mpfr_t sum, size, term, got;
    mpfr_inits2(BITS, sum, size, term, got, (mpfr_ptr)NULL);
    for (int round = 0; round < 300; round++) {
        const size_t n = (size_t)random_int(&random, 1, 300);
        mpfr_set_ui(sum, 0, MPFR_RNDN);
        mpfr_set_ui(size, 0, MPFR_RNDN);
        for (size_t j = 0; j < n; j++) {
            x[j] = random_real(&random, -1, 1);
            y[j] = ldexp(random_real(&random, -1, 1), (int)random_int(&random, -30, 30));
            mpfr_set_d(term, x[j], MPFR_RNDN);
            mpfr_mul_d(term, term, y[j], MPFR_RNDN);
            mpfr_add(sum, sum, term, MPFR_RNDN);
            mpfr_abs(term, term, MPFR_RNDN);
            mpfr_add(size, size, term, MPFR_RNDN);
        }
        set_pair(got, pe_pair_dot(x, y, n));
        mpfr_sub(got, got, sum, MPFR_RNDN);
        mpfr_abs(got, got, MPFR_RNDN);
        mpfr_mul_d(size, size, ldexp((double)(n * n), -105), MPFR_RNDN);
        assert_true(mpfr_cmp(got, size) <= 0);
    }
    mpfr_clears(sum, size, term, got, (mpfr_ptr)NULL);
}

/* ---- probabilities ---- */

enum { MOST = 200 };

static void slow_softmax(const pe_pair *score, size_t n, pe_dtype dtype, double *out)
{
    mpfr_t e[MOST], sum;
    mpfr_init2(sum, BITS);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (size_t j = 0; j < n; j++) {
        mpfr_init2(e[j], BITS);
        if (isinf(score[j].hi))
            mpfr_set_ui(e[j], 0, MPFR_RNDN);
        else {
            set_pair(e[j], score[j]);
            mpfr_exp(e[j], e[j], MPFR_RNDN);
        }
        mpfr_add(sum, sum, e[j], MPFR_RNDN);
    }
    for (size_t j = 0; j < n; j++) {
        mpfr_div(e[j], e[j], sum, MPFR_RNDN);
        out[j] = slow_round(dtype, e[j]);
        mpfr_clear(e[j]);
    }
    mpfr_clear(sum);
}

static void check_row(const pe_pair *score, size_t n, const char *what)
{
    for (pe_dtype dtype = PE_FLOAT32; dtype <= PE_BFLOAT16; dtype++) {
        static pe_fixed128 weight[MOST];
        double wanted[MOST];
        unsigned char got[MOST * 8];
        pe_softmax(score, n, dtype, weight, got);
        slow_softmax(score, n, dtype, wanted);
        for (size_t j = 0; j < n; j++) {
            const double value = pe_dtype_load(dtype, got + j * pe_dtype_bytes(dtype));
            if (memcmp(&value, &wanted[j], sizeof value) != 0)
                fail_msg("%s, %s, %zu of %zu: got %a, wanted %a", what, pe_dtype_name(dtype), j, n,
                         value, wanted[j]);
        }
    }
}

static void probabilities_are_correctly_rounded(void **state)
{
    random_source random = random_make("softmax");
    static const double most[] = {0x1p-40, 1, 20, 800, 1e6};
    pe_pair score[MOST];
    char what[96];
    for (int round = 0; round < 400; round++) {
        const size_t n = (size_t)random_int(&random, 1, MOST);
        for (size_t j = 0; j < n; j++)
            score[j] = j > 0 && random_int(&random, 0, 5) == 0
                           ? (pe_pair){-HUGE_VAL, 0}
                           : random_pair(&random, most[round % 5]);
        snprintf(what, sizeof what, "seed %llu", (unsigned long long)random.seed);
        check_row(score, n, what);
    }
}

/* Powers of two from 1 to 1/128, exactly; what is far below the rest is zero or subnormal. */
static void equal_scores_share_evenly(void **state)
{
    pe_pair score[MOST];
    for (size_t n = 1; n <= 128; n++) {
        for (size_t j = 0; j < n; j++)
            score[j] = (pe_pair){-1234.5, 0};
        check_row(score, n, "equal scores");
    }
    for (size_t j = 0; j < MOST; j++)
        score[j] = (pe_pair){-4.0 * (double)j, 0}; /* down to e^-796, past the least subnormals */
    check_row(score, MOST, "falling scores");
    score[1] = (pe_pair){-0x1p900, 0};
    check_row(score, 2, "a mask that is a number");
}

static bool count_look(void *looks)
{
    ++*(size_t *)looks;
    return false;
}

/* A row of the most keys takes tens of milliseconds, and long products as much. */
static void a_long_row_is_looked_at_while_it_is_made(void **state)
{
    static pe_pair score[PE_SOFTMAX_MAX];
    static pe_fixed128 weight[PE_SOFTMAX_MAX];
    static float out[PE_SOFTMAX_MAX];
    static double numbers[PE_SOFTMAX_MAX];
    size_t looks = 0;
    pe_meter meter = {.is_left = count_look, .context = &looks};
    pe_meter_begin(&meter);
    pe_softmax(score, PE_SOFTMAX_MAX, PE_FLOAT32, weight, out);
    assert_true(looks >= 16);
    looks = 0;
    for (int i = 0; i < 16; i++)
        pe_pair_dot(numbers, numbers, PE_SOFTMAX_MAX);
    assert_int_equal(looks, 16);
    pe_meter_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponentials_are_good_to_104_bits),
        cmocka_unit_test(pairs_are_good_to_103_bits),
        cmocka_unit_test(dot_products_keep_their_bound),
        cmocka_unit_test(probabilities_are_correctly_rounded),
        cmocka_unit_test(equal_scores_share_evenly),
        cmocka_unit_test(a_long_row_is_looked_at_while_it_is_made),
    };
    return cmocka_run_group_tests_name("unit: softmax", tests, NULL, NULL);
}
