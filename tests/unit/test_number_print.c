/* SPDX-License-Identifier: MIT */
/* test_number_print.c - the shortest text of numbers, against a slow search by snprintf. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "base/size.h"
#include "support/random.h"
#include "text/number.h"
#include "support/bits.h"

static const struct type {
    int bits, lowest; /* significand bits, exponent of the last place of subnormals */
} types[] = {
    [PE_FLOAT32] = {24, -149},
    [PE_FLOAT64] = {53, -1074},
    [PE_FLOAT16] = {11, -24},
    [PE_BFLOAT16] = {8, -133},
};

/* Decimal text to the nearest value of a type by other means than the code under test. */
static double read_back(pe_dtype dtype, const char *text)
{
    if (dtype == PE_FLOAT64)
        return strtod(text, NULL);
    if (dtype == PE_FLOAT32)
        return (double)strtof(text, NULL);
    /* long double has bits enough that at most five digits cannot come near a midpoint. */
    long double x = strtold(text, NULL);
    if (x == 0)
        return (double)x;
    int place = ilogbl(x) - types[dtype].bits + 1;
    if (place < types[dtype].lowest)
        place = types[dtype].lowest;
    return (double)ldexpl(rintl(ldexpl(x, -place)), place);
}

static bool reads_back(pe_dtype dtype, uint64_t digits, int exponent, double v)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu64 "e%d", digits, exponent);
    return read_back(dtype, text) == v;
}

/* Number::toString of digits * 10^exponent, string by string. */
static void notation(uint64_t digits, int exponent, char *out, size_t bytes)
{
    while (digits % 10 == 0)
        digits /= 10, exponent++;
    char s[24];
    int n = snprintf(s, sizeof s, "%" PRIu64, digits), point = n + exponent;
    if (n <= point && point <= 21)
        snprintf(out, bytes, "%s%.*s", s, point - n, "000000000000000000000");
    else if (0 < point && point <= 21)
        snprintf(out, bytes, "%.*s.%s", point, s, s + point);
    else if (-6 < point && point <= 0)
        snprintf(out, bytes, "0.%.*s%s", -point, "000000", s);
    else if (n == 1)
        snprintf(out, bytes, "%se%+d", s, point - 1);
    else
        snprintf(out, bytes, "%c.%se%+d", s[0], s + 1, point - 1);
}

/*
 * What v should print as. The nearest decimal of p + 1 digits is tried for growing p; where v is a
 * power of two its interval reaches further up than down, so the next decimal up is tried as well.
 */
static void expected_text(pe_dtype dtype, double v, int p, char *out, size_t bytes)
{
    char sign[2] = {signbit(v) ? '-' : '\0', '\0'}, text[48], rest[48];
    double m = fabs(v);
    if (m < 0x1p53 && m == rint(m)) {
        snprintf(out, bytes, "%s%.0f", sign, m);
        return;
    }
    for (;; p++) {
        snprintf(text, sizeof text, "%.*e", p, m);
        uint64_t digits = (uint64_t)(text[0] - '0');
        int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10) - p;
        for (int i = 0; i < p; i++)
            digits = digits * 10 + (uint64_t)(text[2 + i] - '0');
        bool same = reads_back(dtype, digits, exponent, m);
        if (!same && reads_back(dtype, digits + 1, exponent, m))
            same = true, digits++;
        if (same) {
            notation(digits, exponent, rest, sizeof rest);
            snprintf(out, bytes, "%s%s", sign, rest);
            return;
        }
    }
}

static void print(pe_dtype dtype, double v, char *out)
{
    size_t n = pe_number_print(dtype, v, out);
    assert_in_range(n, 1, PE_NUMBER_TEXT_MAX);
    out[n] = '\0';
}

static int digits_in(const char *text)
{
    int n = 0, significant = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        n += (*text >= '1' && *text <= '9') || (*text == '0' && n > 0);
        significant = *text >= '1' && *text <= '9' ? n : significant;
    }
    return significant;
}

static void check(pe_dtype dtype, double v, bool whole_search)
{
    char got[PE_NUMBER_TEXT_MAX + 1], wanted[64];
    print(dtype, v, got);
    int n = digits_in(got);
    expected_text(dtype, v, whole_search || n < 2 ? 0 : n - 2, wanted, sizeof wanted);
    if (strcmp(got, wanted) != 0 || read_back(dtype, got) != v)
        fail_msg("%s %a: got %s, wanted %s", pe_dtype_name(dtype), v, got, wanted);
}

static double from_bits32(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

static size_t rounds(size_t usual)
{
    const char *build = getenv("POSENC_BUILD");
    bool slow = build != NULL && strcmp(build, "release") != 0;
    return slow ? usual / 10 : usual;
}

static void known_texts(void **unused)
{
    static const struct {
        pe_dtype dtype;
        double value;
        const char *text;
    } cases[] = {
        {PE_FLOAT64, 0.0, "0"},
        {PE_FLOAT64, -0.0, "-0"},
        {PE_FLOAT64, 1, "1"},
        {PE_FLOAT64, -1.5, "-1.5"},
        {PE_FLOAT64, 0.1, "0.1"},
        {PE_FLOAT64, 0.3, "0.3"},
        {PE_FLOAT64, 10000, "10000"},
        {PE_FLOAT64, 0.000001, "0.000001"},
        {PE_FLOAT64, 1e-7, "1e-7"},
        {PE_FLOAT64, 1.5e-7, "1.5e-7"},
        {PE_FLOAT64, 0.000001234567890123456, "0.000001234567890123456"},
        {PE_FLOAT64, 1e20, "100000000000000000000"},
        {PE_FLOAT64, 123456789012345680000.0, "123456789012345680000"},
        {PE_FLOAT64, 1e21, "1e+21"},
        {PE_FLOAT64, 1e22, "1e+22"},
        {PE_FLOAT64, 1e23, "1e+23"},
        {PE_FLOAT64, 9007199254740991, "9007199254740991"},
        {PE_FLOAT64, 9007199254740992, "9007199254740992"},
        {PE_FLOAT64, 5e-324, "5e-324"},
        {PE_FLOAT64, 2.2250738585072014e-308, "2.2250738585072014e-308"},
        {PE_FLOAT64, 2.225073858507201e-308, "2.225073858507201e-308"},
        {PE_FLOAT64, -1.7976931348623157e308, "-1.7976931348623157e+308"},
        {PE_FLOAT64, 3.141592653589793, "3.141592653589793"},
        {PE_FLOAT64, 123456.78901234567, "123456.78901234567"},
        {PE_FLOAT64, 12345678901.234567, "12345678901.234568"},
        {PE_FLOAT64, 0x1p-44, "5.684341886080802e-14"},
        {PE_FLOAT32, 0x1.99999ap-4, "0.1"},
        {PE_FLOAT32, 16777216, "16777216"},
        {PE_FLOAT32, 123456792, "123456792"},
        {PE_FLOAT32, 0x1.fffffep127, "3.4028235e+38"},
        {PE_FLOAT32, 0x1p-149, "1e-45"},
        {PE_FLOAT32, 0x1p-126, "1.1754944e-38"},
        {PE_FLOAT32, 0x1.aed548p-1, "0.84147096"},
        {PE_FLOAT16, 0x1.998p-4, "0.1"},
        {PE_FLOAT16, 65504, "65504"},
        {PE_FLOAT16, 0x1p-24, "6e-8"},
        {PE_BFLOAT16, 0x1.9ap-4, "0.1"},
        {PE_BFLOAT16, 0x1p-133, "9e-41"},
        {PE_FLOAT64, HUGE_VAL, "null"},
        {PE_FLOAT32, -HUGE_VAL, "null"},
        {PE_FLOAT16, __builtin_nan(""), "null"},
        {PE_INT32, -2147483648.0, "-2147483648"},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        char got[PE_NUMBER_TEXT_MAX + 1];
        print(cases[i].dtype, cases[i].value, got);
        assert_string_equal(got, cases[i].text);
    }
}

static void check_all_16(pe_dtype dtype)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t element = (uint16_t)bits;
        double v = pe_dtype_load(dtype, &element);
        if (isfinite(v))
            check(dtype, v, true);
    }
}

static void every_float16(void **unused)
{
    check_all_16(PE_FLOAT16);
}

static void every_bfloat16(void **unused)
{
    check_all_16(PE_BFLOAT16);
}

static void check_with_neighbours(pe_dtype dtype, double v)
{
    for (int i = 0; i < 3; i++) {
        if (isfinite(v))
            check(dtype, v, false);
        v = dtype == PE_FLOAT32 ? (double)nextafterf((float)v, i == 0 ? 0 : HUGE_VALF)
                                : nextafter(v, i == 0 ? 0 : HUGE_VAL);
        if (i == 1)
            v = dtype == PE_FLOAT32 ? (double)nextafterf((float)v, HUGE_VALF)
                                    : nextafter(v, HUGE_VAL);
    }
}

static void powers_and_neighbours(void **unused)
{
    for (int e = -1074; e < 1024; e++)
        check_with_neighbours(PE_FLOAT64, ldexp(1, e));
    for (int e = -149; e < 128; e++)
        check_with_neighbours(PE_FLOAT32, ldexp(1, e));
    for (int k = -323; k <= 308; k++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", k);
        check_with_neighbours(PE_FLOAT64, strtod(text, NULL));
        if (k >= -45 && k <= 38)
            check_with_neighbours(PE_FLOAT32, (double)strtof(text, NULL));
    }
    for (uint64_t bits = 1; bits < 3000; bits++) {
        check(PE_FLOAT64, double_of(bits), true);
        check(PE_FLOAT32, from_bits32((uint32_t)bits), true);
        check(PE_FLOAT64, double_of(0x7ff0000000000000 - bits), false);
        check(PE_FLOAT32, from_bits32(0x7f800000 - (uint32_t)bits), false);
    }
}

static void random_float32(void **unused)
{
    random_source random = random_make("float32");
    for (size_t i = rounds(1000000); i-- > 0;) {
        double v = from_bits32((uint32_t)random_bits(&random));
        if (isfinite(v))
            check(PE_FLOAT32, v, false);
    }
}

static void random_float64(void **unused)
{
    random_source random = random_make("float64");
    for (size_t i = rounds(300000); i-- > 0;) {
        uint64_t bits = random_bits(&random);
        if (isfinite(double_of(bits)))
            check(PE_FLOAT64, double_of(bits), false);
        double sine = sin((double)(bits >> 40));
        check(PE_FLOAT64, sine, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"known numbers have their known text", known_texts, NULL, NULL, NULL},
        {"every float16 prints shortest and nearest", every_float16, NULL, NULL, NULL},
        {"every bfloat16 prints shortest and nearest", every_bfloat16, NULL, NULL, NULL},
        {"powers of two and ten and the range's ends", powers_and_neighbours, NULL, NULL, NULL},
        {"random float32 print shortest and nearest", random_float32, NULL, NULL, NULL},
        {"random float64 print shortest and nearest", random_float64, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
