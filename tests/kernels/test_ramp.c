/* SPDX-License-Identifier: MIT */
/* test_ramp.c - multiples of a slope at spaced integers, against MPFR. */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>

#include "kernels/kernels.h"
#include "support/bits.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/slow.h"

#define N_MAX 700

static const pe_dtype floats[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};

typedef struct ramp {
    double hi, lo;
    int64_t first, step;
    size_t n;
} ramp;

/* (hi + lo) * k rounded to dtype. */
static double product(pe_dtype dtype, double hi, double lo, int64_t k)
{
    mpfr_t m;
    mpfr_init2(m, 2300);
    mpfr_set_d(m, hi, MPFR_RNDN);
    mpfr_add_d(m, m, lo, MPFR_RNDN);
    mpfr_mul_si(m, m, k, MPFR_RNDN);
    const double value = slow_round(dtype, m);
    mpfr_clear(m);
    return value;
}

/* Every element is right or listed; returns how many are listed. */
static size_t check_ramp(const pe_kernels *kernels, pe_dtype dtype, const ramp *r, size_t gap)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    uint32_t doubtful[N_MAX];
    guarded out = guard_make(r->n * bytes, gap);
    const size_t listed =
        kernels->ramp(dtype, r->hi, r->lo, r->first, r->step, r->n, out.data, doubtful);
    guard_check(&out, kernels->name);
    for (size_t j = 0, d = 0; j < r->n; j++) {
        const int64_t k = r->first + (int64_t)j * r->step;
        if (d < listed && doubtful[d] == j) {
            d++;
            continue;
        }
        const double got = pe_dtype_load(dtype, out.data + j * bytes);
        const double want = product(dtype, r->hi, r->lo, k);
        if (bits_of(got) != bits_of(want))
            fail_msg("%s %s: (%a + %a) * %lld gave %a, wanted %a", kernels->name,
                     pe_dtype_name(dtype), r->hi, r->lo, (long long)k, got, want);
    }
    guard_free(&out);
    return listed;
}

static void exact_slopes_are_rounded_exactly(void **state)
{
    /* Ties included: 1 + 2^-11 at odd k is halfway for float16, 0x1p-25 rounds to an even zero. */
    static const ramp ramps[] = {
        {0.25, 0, -300, 1, 600},
        {-0x1p-8, 0, 0, 1, 700},
        {0x1.002p0, 0, -64, 3, 130},
        {0x1.01p0, 0, 1, 2, 300},
        {0x1.000001p0, 0, -99, 2, 200},
        {0x1.fffffffffffffp-1, 0, 9007199254740000, 1, 700},
        {-0x1.fffffffffffffp-1, 0, -9007199254740991, 12868427507493, 700},
        {0x1.5555555555555p-3, 0, -9007199254740991, 18014398509481981, 2},
        {0x1p-25, 0, -5, 1, 11},
        {-0x1.0000000000001p-25, 0, -5, 1, 11},
        {-0x1p-134, 0, -5, 1, 11},
        {-0x1p-150, 0, -5, 1, 11},
        {655.2, 0, -101, 1, 203},
        {0x1.fffffep120, 0, -300, 1, 600},
        {1, 0, 7, 0, 5},
    };
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
        for (size_t d = 0; d < PE_LEN(floats); d++)
            for (size_t i = 0; i < PE_LEN(ramps); i++)
                assert_int_equal(check_ramp(*k, floats[d], &ramps[i], 0), 0);
}

static void pairs_are_rounded_right_or_listed(void **state)
{
    random_source random = random_make("ramp");
    for (int round = 0; round < 60; round++) {
        const double hi = ldexp(random_real(&random, -1, 1), (int)random_int(&random, -60, 2));
        const double lo = hi * random_real(&random, -0x1p-54, 0x1p-54);
        const int64_t span = (int64_t)1 << random_int(&random, 4, 52);
        const ramp r = {hi, lo, random_int(&random, -span, span), random_int(&random, -9, 9), 130};
        for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
            for (size_t d = 0; d < PE_LEN(floats); d++)
                if (check_ramp(*k, floats[d], &r, (size_t)round % 16) != 0)
                    fail_msg("%s %s: doubts about a random slope %a + %a", (*k)->name,
                             pe_dtype_name(floats[d]), hi, lo);
    }
}

/* Products that lie as near a boundary as the error allows must be listed; zero never. */
static void what_the_pair_cannot_decide_is_listed(void **state)
{
    const ramp midpoint = {0x1.0000010000000p0, 0x1p-110, 0, 1, 3};
    const ramp halfway = {1, 0x1p-53 + 0x1p-105, 0, 1, 2};
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++) {
        unsigned char out[24];
        uint32_t doubtful[3];
        assert_int_equal((*k)->ramp(PE_FLOAT32, midpoint.hi, midpoint.lo, 0, 1, 3, out, doubtful),
                         2);
        assert_int_equal(doubtful[0], 1);
        assert_int_equal(doubtful[1], 2);
        assert_int_equal((*k)->ramp(PE_FLOAT64, halfway.hi, halfway.lo, 0, 1, 2, out, doubtful), 1);
        assert_int_equal(doubtful[0], 1);
    }
}

static void every_length_stays_inside(void **state)
{
    for (const pe_kernels *const *k = pe_kernels_all(); *k; k++)
        for (size_t d = 0; d < PE_LEN(floats); d++)
            for (size_t n = 0; n <= 130; n++) {
                const ramp exact = {-0.0625, 0, 3 - (int64_t)n, 1, n};
                const ramp pair = {-0x1.6a09e667f3bcdp-1, 0x1.bdd3413b26456p-55, 5, -1, n};
                check_ramp(*k, floats[d], &exact, n % 16);
                check_ramp(*k, floats[d], &pair, n % 16);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_slopes_are_rounded_exactly),
        cmocka_unit_test(pairs_are_rounded_right_or_listed),
        cmocka_unit_test(what_the_pair_cannot_decide_is_listed),
        cmocka_unit_test(every_length_stays_inside),
    };
    return cmocka_run_group_tests_name("kernels: ramp", tests, NULL, NULL);
}
