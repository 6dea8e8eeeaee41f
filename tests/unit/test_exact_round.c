/* SPDX-License-Identifier: MIT */
/* test_exact_round.c - rounding of what MPFR evaluates, and 128-bit arithmetic. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/power.h"
#include "exact/round.h"
#include "base/size.h"
#include "exact/fixed128.h"
#include "support/bits.h"
#include "support/random.h"

static random_source source;

static uint64_t next(void)
{
    return random_bits(&source);
}

static uint64_t below(uint64_t n)
{
    return random_below(&source, n);
}

static double unit(void)
{
    return random_real(&source, 0, 1);
}

static int seed(void **unused)
{
    source = random_make("all cases");
    return 0;
}

/* ---- rounding ------------------------------------------------------------------------------- */

typedef struct fixed_case {
    const char *value; /* MPFR text: exact, given enough bits */
    pe_dtype dtype;
    double want;
} fixed_case;

static void eval_text(const void *context, size_t index, mpfr_ptr out)
{
    mpfr_set_str(out, ((const fixed_case *)context)[index].value, 0, MPFR_RNDN);
}

static const fixed_case fixed[] = {
    {"0", PE_FLOAT32, 0},
    {"0x1.8p0", PE_FLOAT16, 1.5},
    {"0x1.002p0", PE_FLOAT16, 1},         /* tie, to even */
    {"0x1.006p0", PE_FLOAT16, 0x1.008p0}, /* tie, to even */
    {"0x1.00200000000000000000000000000001p0", PE_FLOAT16, 0x1.004p0},
    {"0x1.001fffffffffffffffffffffffffffffp0", PE_FLOAT16, 1},
    {"0x1.01p0", PE_BFLOAT16, 1},
    {"0x1.010000000001p0", PE_BFLOAT16, 0x1.02p0}, /* float32 would have made it a tie */
    {"65519", PE_FLOAT16, 65504},
    {"65520", PE_FLOAT16, (double)INFINITY},
    {"-65520", PE_FLOAT16, -(double)INFINITY},
    {"0x1p-24", PE_FLOAT16, 0x1p-24},
    {"0x1p-25", PE_FLOAT16, 0}, /* tie, to even */
    {"0x1.0000000001p-25", PE_FLOAT16, 0x1p-24},
    {"-0x1.0000000001p-25", PE_FLOAT16, -0x1p-24},
    {"-0x1.8p-26", PE_FLOAT16, 0},
    {"0x1.8p-24", PE_FLOAT16, 0x1p-23}, /* tie, to even */
    {"0x1.8p-133", PE_BFLOAT16, 0x1p-132},
    {"0x1.000001p0", PE_FLOAT32, 1},
    {"0x1.000003p0", PE_FLOAT32, 0x1.000004p0},
    {"0x1.8p-149", PE_FLOAT32, 0x1p-148},
    {"0x1.00000000000008p0", PE_FLOAT64, 1},
    {"0x1.8p-1074", PE_FLOAT64, 0x1p-1073},
    {"0x1p-1075", PE_FLOAT64, 0},
};

static void test_round(void **unused)
{
    for (size_t k = 0; k < PE_LEN(fixed); k++) {
        const double got = pe_exact_round(fixed[k].dtype, eval_text, fixed, k);
        if (bits_of(got) != bits_of(fixed[k].want))
            fail_msg("%s as %s: got %a, wanted %a", fixed[k].value, pe_dtype_name(fixed[k].dtype),
                     got, fixed[k].want);
    }
}

static void eval_root(const void *context, size_t index, mpfr_ptr out)
{
    mpfr_sqrt_ui(out, (unsigned long)index, MPFR_RNDN);
}

static void test_pair(void **unused)
{
    mpfr_t root, rest;
    mpfr_inits2(400, root, rest, (mpfr_ptr)NULL);
    for (size_t k = 0; k < 50; k++) {
        double hi, lo;
        pe_exact_pair(eval_root, NULL, k, &hi, &lo);
        mpfr_sqrt_ui(root, (unsigned long)k, MPFR_RNDN);
        assert_true(hi == mpfr_get_d(root, MPFR_RNDN));
        mpfr_sub_d(rest, root, hi, MPFR_RNDN);
        assert_true(lo == mpfr_get_d(rest, MPFR_RNDN));
    }
    mpfr_clears(root, rest, (mpfr_ptr)NULL);
}

static void test_powf(void **unused)
{
    mpfr_t x, y;
    mpfr_inits2(24, x, y, (mpfr_ptr)NULL);
    for (int k = 0; k < 500; k++) {
        const float base = (float)random_magnitude(&source, 1e12), exponent = (float)unit();
        mpfr_set_flt(x, base, MPFR_RNDN);
        mpfr_set_flt(y, exponent, MPFR_RNDN);
        mpfr_pow(x, x, y, MPFR_RNDN);
        assert_true(pe_exact_powf(base, exponent) == mpfr_get_flt(x, MPFR_RNDN));
    }
    mpfr_clears(x, y, (mpfr_ptr)NULL);
    assert_true(pe_exact_powf(10000, 0.5F) == 100.0F);
    assert_true(pe_exact_powf(7, 0) == 1.0F);
}

/* ---- 128-bit arithmetic --------------------------------------------------------------------- */

/* The relative error of wide, in units of its last place, against want. */
static double units_off(const pe_fixed128 *wide, mpfr_srcptr want)
{
    mpfr_t x;
    mpfr_init2(x, 400);
    mpfr_set_ui(x, (unsigned long)(wide->m >> 64), MPFR_RNDN);
    mpfr_mul_2ui(x, x, 64, MPFR_RNDN);
    mpfr_add_ui(x, x, (unsigned long)(uint64_t)wide->m, MPFR_RNDN);
    mpfr_mul_2si(x, x, wide->exponent - 128, MPFR_RNDN);
    if (wide->negative)
        mpfr_neg(x, x, MPFR_RNDN);
    mpfr_sub(x, x, want, MPFR_RNDN);
    mpfr_mul_2si(x, x, 128 - wide->exponent, MPFR_RNDN);
    const double off = fabs(mpfr_get_d(x, MPFR_RNDN));
    mpfr_clear(x);
    return off;
}

/* x is off by less than a unit of its last place. */
static bool is_near(mpfr_srcptr x, mpfr_srcptr want)
{
    mpfr_t off;
    mpfr_init2(off, 64);
    mpfr_sub(off, x, want, MPFR_RNDN);
    const bool near =
        mpfr_zero_p(off) || mpfr_get_exp(off) <= mpfr_get_exp(want) - mpfr_get_prec(x);
    mpfr_clear(off);
    return near;
}

/* Beside MPFR's own: roots of many orders, exponents that are no quotients of whole numbers, and
 * numbers that no double is near. */
static void test_power(void **unused)
{
    for (int k = 0; k < 300; k++) {
        const mpfr_prec_t bits = 64 + (mpfr_prec_t)below(k % 16 == 0 ? 2048 : 400);
        const double den =
            k % 8 == 1 ? 1 + 99 * unit() : (double)(1 + below(k % 8 == 2 ? 65536 : 300));
        const double num = (k % 2 == 0 ? -1 : 1) * (double)below(k % 8 == 3 ? 1 << 20 : 300);
        mpfr_t x, base, exponent, want;
        mpfr_inits2(bits, x, base, (mpfr_ptr)0);
        mpfr_inits2(bits + 128, exponent, want, (mpfr_ptr)0);
        mpfr_set_d(base, random_magnitude(&source, 1e12) * (k % 8 == 4 ? 1e-12 : 1), MPFR_RNDN);
        if (k % 8 == 5)
            mpfr_mul_2ui(base, base, 1 + below(4000), MPFR_RNDN);
        mpfr_set_d(exponent, num, MPFR_RNDN);
        mpfr_div_d(exponent, exponent, den, MPFR_RNDN);
        mpfr_pow(want, base, exponent, MPFR_RNDN);
        mpfr_set(x, base, MPFR_RNDN);
        pe_power_raise(x, num, den);
        if (!is_near(x, want))
            fail_msg("%.17g to %.17g / %.17g with %ld bits", mpfr_get_d(base, MPFR_RNDN), num, den,
                     (long)bits);
        mpfr_clears(x, base, exponent, want, (mpfr_ptr)0);
    }
}

static void test_power_exact(void **unused)
{
    mpfr_t x;
    mpfr_init2(x, 320);
    for (unsigned long root = 1; root < 40; root++) {
        mpfr_ui_pow_ui(x, root, 5, MPFR_RNDN);
        pe_power_raise(x, 3, 5);
        assert_int_equal(mpfr_cmp_ui(x, root * root * root), 0);
    }
    mpfr_clear(x);
}

static void test_pi(void **unused)
{
    for (mpfr_prec_t bits = 24; bits < 700; bits++) {
        mpfr_t pi, want;
        mpfr_init2(pi, bits);
        mpfr_init2(want, bits + 64);
        mpfr_const_pi(want, MPFR_RNDN);
        pe_power_pi(pi);
        assert_true(is_near(pi, want));
        mpfr_clears(pi, want, (mpfr_ptr)0);
    }
}

static void test_wide_error_bound(void **unused)
{
    double worst = 0;
    mpfr_t angle, sine, cosine;
    mpfr_inits2(400, angle, sine, cosine, (mpfr_ptr)NULL);
    for (int k = 0; k < 20000; k++) {
        uint64_t phase[3] = {next(), next(), next()};
        if (k % 4 == 0) /* close to a quarter turn */
            phase[2] = (uint64_t)below(4) << 62 | next() >> (2 + below(62));
        pe_fixed128 s, c;
        pe_fixed128_sincos(phase, 0, &s, &c);
        mpfr_const_pi(angle, MPFR_RNDN);
        mpfr_set_ui(sine, 0, MPFR_RNDN);
        for (int w = 2; w >= 0; w--) {
            mpfr_mul_2ui(sine, sine, 64, MPFR_RNDN);
            mpfr_add_ui(sine, sine, (unsigned long)phase[w], MPFR_RNDN);
        }
        mpfr_mul(angle, angle, sine, MPFR_RNDN);
        mpfr_mul_2si(angle, angle, -191, MPFR_RNDN);
        mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
        const double off_s = units_off(&s, sine), off_c = units_off(&c, cosine);
        worst = fmax(worst, fmax(off_s, off_c));
        assert_true(off_s <= ldexp(1, s.err) && off_c <= ldexp(1, c.err));
    }
    printf("worst error %.1f units of 2^-128\n", worst);
    mpfr_clears(angle, sine, cosine, (mpfr_ptr)NULL);
    assert_true(worst < 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round),
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_powf),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_power_exact),
        cmocka_unit_test(test_pi),
        cmocka_unit_test(test_wide_error_bound),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
