/* SPDX-License-Identifier: MIT */
/* test_array.c - element types: every 16-bit value, roundings at the edges, checked sizes. */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>

#include "base/array.h"

static uint16_t store16(pe_dtype dtype, double value)
{
    uint16_t bits;
    pe_dtype_store(dtype, value, &bits);
    return bits;
}

static double load16(pe_dtype dtype, uint16_t bits)
{
    return pe_dtype_load(dtype, &bits);
}

/* Widening a 16-bit float and narrowing it again is the identity on everything but NaN payloads. */
static void every_16_bit_value_survives_the_round_trip(void **state)
{
    static const pe_dtype types[] = {PE_FLOAT16, PE_BFLOAT16};
    for (size_t t = 0; t < PE_LEN(types); t++)
        for (uint32_t bits = 0; bits < 65536; bits++) {
            const double value = load16(types[t], (uint16_t)bits);
            if (isnan(value))
                assert_true(isnan(load16(types[t], store16(types[t], value))));
            else
                assert_int_equal(store16(types[t], value), bits);
        }
}

/* What MPFR rounds to with the type's precision and exponent range, subnormals included. */
static double rounded_by_mpfr(pe_dtype dtype, double value)
{
    const bool half = dtype == PE_FLOAT16;
    mpfr_t x;
    mpfr_set_emin(half ? -23 : -132);
    mpfr_set_emax(half ? 16 : 128);
    mpfr_init2(x, half ? 11 : 8);
    const int ternary = mpfr_set_d(x, value, MPFR_RNDN);
    mpfr_subnormalize(x, mpfr_check_range(x, ternary, MPFR_RNDN), MPFR_RNDN);
    const double result = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    return result;
}

/* Around every midpoint of neighbours: a little below, the tie itself, a little above. */
static void midpoints_round_as_mpfr_rounds(void **state)
{
    static const pe_dtype types[] = {PE_FLOAT16, PE_BFLOAT16};
    for (size_t t = 0; t < PE_LEN(types); t++)
        for (uint32_t bits = 0; bits < 65535; bits++) {
            const double low = load16(types[t], (uint16_t)bits);
            const double high = load16(types[t], (uint16_t)(bits + 1));
            if (!isfinite(low) || !isfinite(high) || signbit(low) != signbit(high))
                continue;
            const double middle = low / 2 + high / 2;
            const double inputs[] = {nextafter(middle, (double)-INFINITY), middle,
                                     nextafter(middle, (double)INFINITY)};
            for (size_t i = 0; i < PE_LEN(inputs); i++) {
                const double got = load16(types[t], store16(types[t], inputs[i]));
                const double wanted = rounded_by_mpfr(types[t], inputs[i]);
                if (got != wanted)
                    fail_msg("%s(%a): got %a, wanted %a", pe_dtype_name(types[t]), inputs[i], got,
                             wanted);
            }
        }
}

static void overflow_gives_infinity_and_zero_keeps_its_sign(void **state)
{
    assert_int_equal(store16(PE_FLOAT16, 65519.99), 0x7bff);
    assert_int_equal(store16(PE_FLOAT16, 65520), 0x7c00);
    assert_int_equal(store16(PE_FLOAT16, -1e300), 0xfc00);
    assert_int_equal(store16(PE_BFLOAT16, 3.4e38), 0x7f80);
    assert_int_equal(store16(PE_FLOAT16, -0.0), 0x8000);
    assert_int_equal(store16(PE_FLOAT16, 5e-324), 0);
    assert_int_equal(store16(PE_BFLOAT16, 0x1p-134),
                     0); /* half the least subnormal: a tie to even */
    assert_int_equal(store16(PE_BFLOAT16, 0x1.8p-134), 1);
}

static void sizes_are_multiplied_with_a_check(void **state)
{
    size_t out = 7;
    assert_false(pe_size_mul((size_t)1 << 40, (size_t)1 << 30, &out));
    assert_false(pe_size_add(SIZE_MAX, 1, &out));
    assert_int_equal(out, 7);
    assert_false(pe_array_elements(&(pe_shape){3, {1UL << 30, 1UL << 30, 1UL << 30}}, &out));
    assert_true(pe_array_elements(&(pe_shape){3, {4, 0, 5}}, &out));
    assert_int_equal(out, 0);
    assert_true(pe_array_elements(&(pe_shape){0, {0}}, &out));
    assert_int_equal(out, 1);
}

static void an_array_too_large_is_a_problem_not_a_crash(void **state)
{
    pe_array array;
    pe_problem why;
    assert_int_equal(
        pe_array_make(PE_FLOAT64, &(pe_shape){2, {1UL << 40, 1UL << 40}}, &array, &why),
        PE_OVERLOADED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_16_bit_value_survives_the_round_trip),
        cmocka_unit_test(midpoints_round_as_mpfr_rounds),
        cmocka_unit_test(overflow_gives_infinity_and_zero_keeps_its_sign),
        cmocka_unit_test(sizes_are_multiplied_with_a_check),
        cmocka_unit_test(an_array_too_large_is_a_problem_not_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
