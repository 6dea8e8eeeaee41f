/* SPDX-License-Identifier: MIT */
/* test_number_array.c - nested JSON arrays to typed arrays, each number rounded once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

#include <mpfr.h>

#include "text/blocks.h"
#include "text/number.h"
#include "text/scan.h"

/* Reads `bytes` of text from memory that ends there, so that a sanitizer sees a read too far. */
static pe_status scan_bytes(const char *text, size_t bytes, pe_dtype dtype, size_t most,
                            pe_array *out, size_t *used, pe_problem *why)
{
    char *copy = malloc(bytes + (bytes == 0));
    assert_non_null(copy);
    memcpy(copy, text, bytes);
    const pe_scan_wanted wanted = {"vectors", dtype, most, false};
    pe_status status = pe_scan_numbers((pe_slice){copy, bytes}, &wanted, out, used, why);
    free(copy);
    return status;
}

static pe_array scan(const char *text, pe_dtype dtype)
{
    pe_array array;
    pe_problem why;
    size_t used = 0;
    if (scan_bytes(text, strlen(text), dtype, 1000, &array, &used, &why) != PE_OK)
        fail_msg("%s in %.200s", why.detail, text);
    assert_int_equal(used, strlen(text));
    return array;
}

static void shapes(void **unused)
{
    static const struct {
        const char *text;
        pe_shape shape;
    } cases[] = {
        {"[]", {1, {0}}},
        {"[ \t\r\n ]", {1, {0}}},
        {"[1]", {1, {1}}},
        {"[1,2.5,-3e2]", {1, {3}}},
        {"[ 1 ,\n2 ]", {1, {2}}},
        {"[[1,2,3],[4,5,6]]", {2, {2, 3}}},
        {"[ [ 1 , 2 ] , [ 3 , 4 ] , [5,6] ]", {2, {3, 2}}},
        {"[[],[]]", {2, {2, 0}}},
        {"[[[]]]", {3, {1, 1, 0}}},
        {"[[[1,2]],[[3,4]]]", {3, {2, 1, 2}}},
        {"[[[[[[[[7]]]]]]]]", {8, {1, 1, 1, 1, 1, 1, 1, 1}}},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        pe_array array = scan(cases[i].text, PE_FLOAT64);
        size_t elements;
        assert_int_equal(array.shape.ndim, cases[i].shape.ndim);
        for (size_t d = 0; d < array.shape.ndim; d++)
            assert_int_equal(array.shape.dim[d], cases[i].shape.dim[d]);
        assert_true(pe_array_elements(&array.shape, &elements));
        assert_int_equal(array.elements, elements);
        assert_int_equal(array.dtype, PE_FLOAT64);
        pe_array_free(&array);
    }
}

static void values_in_order(void **unused)
{
    for (pe_dtype dtype = 0; dtype < PE_DTYPES; dtype++) {
        pe_array array = scan("[[1,-2],[3,4e0],[50E-1,-0]]", dtype);
        static const double wanted[] = {1, -2, 3, 4, 5, 0};
        for (size_t i = 0; i < 6; i++) {
            const char *at = (const char *)array.data + i * pe_dtype_bytes(dtype);
            assert_true(pe_dtype_load(dtype, at) == wanted[i]);
        }
        pe_array_free(&array);
    }
}

static void rest_is_left_alone(void **unused)
{
    pe_array array;
    pe_problem why;
    size_t used = 0;
    assert_int_equal(scan_bytes("[1,2],\"b\":3}", 12, PE_FLOAT32, 9, &array, &used, &why), PE_OK);
    assert_int_equal(used, 5);
    assert_int_equal(array.elements, 2);
    pe_array_free(&array);
}

static void mistakes(void **unused)
{
    static const struct {
        const char *text;
        pe_dtype dtype;
        pe_status status;
        const char *where, *detail;
    } cases[] = {
        {"", PE_FLOAT32, PE_MALFORMED_REQUEST, "vectors",
         "vectors must be an array, got the end of the text"},
        {"3", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors",
         "vectors must be an array, got a number"},
        {"[[1,2,3],[4,5,\"6\"]]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/1/2",
         "vectors/1/2 must be a number, got a string"},
        {"[1,null]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/1",
         "vectors/1 must be a number, got null"},
        {"[true]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/0",
         "vectors/0 must be a number, got true or false"},
        {"[{}]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/0",
         "vectors/0 must be a number, got an object"},
        {"[1,NaN]", PE_FLOAT32, PE_MALFORMED_REQUEST, "vectors/1",
         "vectors/1 must be a number, got NaN or Infinity"},
        {"[1,]", PE_FLOAT32, PE_MALFORMED_REQUEST, "vectors/1",
         "vectors/1 must be a number, got nothing"},
        {"[,1]", PE_FLOAT32, PE_MALFORMED_REQUEST, "vectors/0",
         "vectors/0 must be a number, got nothing"},
        {"[01]", PE_FLOAT32, PE_MALFORMED_REQUEST, "vectors/0",
         "vectors/0 must be a number, got a malformed number"},
        {"[+1]", PE_FLOAT32, PE_MALFORMED_REQUEST, "vectors/0",
         "vectors/0 must be a number, got a malformed number"},
        {"[1 2]", PE_FLOAT32, PE_MALFORMED_REQUEST, "vectors/0",
         "vectors/0 must be followed by a comma or a closing bracket, got a number"},
        {"[1;2]", PE_FLOAT32, PE_MALFORMED_REQUEST, "vectors/0",
         "vectors/0 must be followed by a comma or a closing bracket, got something that is not "
         "JSON"},
        {"[[1,2],3]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/1",
         "vectors/1 must be an array, got a number"},
        {"[[1,2],[3,[4]]]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/1/1",
         "vectors/1/1 must be a number, got an array"},
        {"[1,[2]]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/1",
         "vectors/1 must be a number, got an array"},
        {"[[1,2],[3]]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/1",
         "vectors/1 must have 2 elements as those before it, got 1"},
        {"[[1,2],[3,4,5]]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/1",
         "vectors/1 must have 2 elements as those before it, got 3"},
        {"[[[1],[2]],[[3]]]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/1",
         "vectors/1 must have 2 elements as those before it, got 1"},
        {"[[1],[]]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/1",
         "vectors/1 must have 1 elements as those before it, got 0"},
        {"[[],[1]]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/1",
         "vectors/1 must have 0 elements as those before it, got 1"},
        {"[[[[[[[[[1]]]]]]]]]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/0/0/0/0/0/0/0/0",
         "vectors/0/0/0/0/0/0/0/0 is nested too deeply"},
        {"[1,nul]", PE_FLOAT32, PE_MALFORMED_REQUEST, "vectors/1",
         "vectors/1 must be a number, got null"},
        {"[1e999]", PE_FLOAT32, PE_MALFORMED_REQUEST, "vectors/0",
         "vectors/0 overflows float32: 1e999"},
        {"[1,1e39]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/1",
         "vectors/1 overflows float32: 1e39"},
        {"[3.4028235677973367e38]", PE_FLOAT32, PE_INVALID_PARAMETER, "vectors/0",
         "vectors/0 overflows float32: 3.4028235677973367e38"},
        {"[1e999]", PE_FLOAT64, PE_MALFORMED_REQUEST, "vectors/0",
         "vectors/0 overflows float64: 1e999"},
        {"[-65520]", PE_FLOAT16, PE_INVALID_PARAMETER, "vectors/0",
         "vectors/0 overflows float16: -65520"},
        {"[1.5]", PE_INT32, PE_INVALID_PARAMETER, "vectors/0", "vectors/0 must be an integer"},
        {"[2147483648]", PE_INT32, PE_INVALID_PARAMETER, "vectors/0",
         "vectors/0 overflows int32: 2147483648"},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        pe_array array = {0};
        pe_problem why = {0};
        size_t used;
        pe_status got = scan_bytes(cases[i].text, strlen(cases[i].text), cases[i].dtype, 1000,
                                   &array, &used, &why);
        if (got != cases[i].status || strcmp(why.where, cases[i].where) != 0 ||
            strcmp(why.detail, cases[i].detail) != 0)
            fail_msg("%s: got %d \"%s\" \"%s\", wanted %d \"%s\" \"%s\"", cases[i].text, got,
                     why.where, why.detail, cases[i].status, cases[i].where, cases[i].detail);
        assert_null(array.data);
    }
}

static void cut_short(void **unused)
{
    static const char text[] = "[ [1, -2.5e+3], [0.25 ,4] ]";
    for (size_t bytes = 0; bytes < sizeof text - 1; bytes++) {
        pe_array array = {0};
        pe_problem why = {0};
        size_t used;
        assert_int_equal(scan_bytes(text, bytes, PE_FLOAT32, 9, &array, &used, &why),
                         PE_MALFORMED_REQUEST);
    }
}

static void too_many(void **unused)
{
    pe_array array = {0};
    pe_problem why = {0};
    size_t used;
    static const char text[] = "[[1,2,3],[4,5,6]],[7,8]";
    assert_int_equal(scan_bytes(text, sizeof text - 1, PE_FLOAT32, 5, &array, &used, &why),
                     PE_TOO_MANY_ELEMENTS);
    assert_int_equal(why.max_elements, 5);
    assert_int_equal(why.requested_elements, 6);
    assert_string_equal(why.where, "vectors");
    assert_string_equal(why.detail, "vectors may hold at most 5 numbers, got 6");
    assert_int_equal(scan_bytes(text, sizeof text - 1, PE_FLOAT32, 6, &array, &used, &why), PE_OK);
    assert_int_equal(used, 17);
    pe_array_free(&array);
}

/* --- rounding, against MPFR --- */

static const struct type {
    int bits, lowest; /* significand bits, exponent of the last place of subnormals */
} types[] = {
    [PE_FLOAT32] = {24, -149},
    [PE_FLOAT64] = {53, -1074},
    [PE_FLOAT16] = {11, -24},
    [PE_BFLOAT16] = {8, -133},
};

static double rounded(pe_dtype dtype, const char *text)
{
    mpfr_t x;
    mpfr_init2(x, types[dtype].bits);
    mpfr_set_emin(types[dtype].lowest + 1);
    int side = mpfr_strtofr(x, text, NULL, 10, MPFR_RNDN);
    mpfr_subnormalize(x, side, MPFR_RNDN);
    double value = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    mpfr_set_emin(mpfr_get_emin_min());
    return value;
}

/* The number alone, and where long arrays are read another way. */
static void check_rounding(pe_dtype dtype, const char *number)
{
    static const struct {
        const char *before, *after;
        size_t element;
    } places[] = {{"[", "]", 0},
                  {"[0.5,-0.25,0.125,-0.5,",
                   ",0.5,0.25,0.125,0.5,0.25,0.125,0.5,0.25,0.125,0.5,0.25,0.125,0.5]", 4}};
    static char text[1400];
    const double wanted = rounded(dtype, number);
    for (size_t i = 0; i < PE_LEN(places); i++) {
        double got = __builtin_nan("");
        pe_array array = {0};
        pe_problem why;
        size_t used;
        const int bytes =
            snprintf(text, sizeof text, "%s%s%s", places[i].before, number, places[i].after);
        const pe_status status = scan_bytes(text, (size_t)bytes, dtype, 20, &array, &used, &why);
        if (status == PE_OK)
            got = pe_dtype_load(dtype, (const char *)array.data +
                                           places[i].element * pe_dtype_bytes(dtype));
        else if (fabs(wanted) > pe_dtype_max(dtype) && status == PE_INVALID_PARAMETER)
            got = wanted;
        if (memcmp(&got, &wanted, sizeof got) != 0)
            fail_msg("%s to %s: got %a, wanted %a", text, pe_dtype_name(dtype), got, wanted);
        pe_array_free(&array);
    }
}

/* The midpoint above each value: alone, and with a last digit that lifts or lowers it a trifle. */
static void check_midpoint(pe_dtype dtype, double v)
{
    int place = v == 0 ? types[dtype].lowest : ilogb(v) - types[dtype].bits + 1;
    if (place < types[dtype].lowest)
        place = types[dtype].lowest;
    double midpoint = v + ldexp(1, place - 1);
    char text[1100], tail[16];
    int n = snprintf(text, sizeof text, "%.900f", midpoint);
    check_rounding(dtype, text);
    text[n - 1] = '1';
    check_rounding(dtype, text);
    snprintf(text, sizeof text, "%.160e", midpoint); /* exact: all 16-bit and float32 midpoints */
    char *e = strchr(text, 'e');
    snprintf(tail, sizeof tail, "%s", e);
    check_rounding(dtype, text);
    char *last = e - 1;
    while (*last == '0')
        last--;
    if (*last == '.')
        return;
    (*last)--;
    memset(last + 1, '9', (size_t)(e - last - 1));
    check_rounding(dtype, text);
    snprintf(text, sizeof text, "%.17g", midpoint);
    check_rounding(dtype, text);
    snprintf(text, sizeof text, "-%.9e", midpoint);
    check_rounding(dtype, text);
}

static void midpoints_of_16_bit_types(void **unused)
{
    for (pe_dtype dtype = PE_FLOAT16; dtype <= PE_BFLOAT16; dtype++)
        for (uint32_t bits = 0; bits < 0x8000; bits += 1 + bits % 3) {
            uint16_t element = (uint16_t)bits;
            double v = pe_dtype_load(dtype, &element);
            if (isfinite(v))
                check_midpoint(dtype, v);
        }
}

static void midpoints_of_float32(void **unused)
{
    random_source random = random_make("midpoints");
    for (int i = 0; i < 20000; i++) {
        uint32_t bits = (uint32_t)(random_bits(&random) >> (i % 4 == 0 ? 48 : 33));
        float v;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v))
            check_midpoint(PE_FLOAT32, (double)v);
    }
}

static void random_decimals(void **unused)
{
    random_source random = random_make("decimals");
    for (int i = 0; i < 50000; i++)
        for (pe_dtype dtype = PE_FLOAT32; dtype <= PE_BFLOAT16; dtype++) {
            char text[64];
            uint64_t digits = random_bits(&random), shape = random_bits(&random);
            snprintf(text, sizeof text, "%llu.%llue%d",
                     (unsigned long long)(digits >> (shape % 64)),
                     (unsigned long long)(random_bits(&random) >> (shape / 64 % 64)),
                     (int)(shape >> 40 & 63) - (dtype == PE_FLOAT16 ? 40 : 50));
            check_rounding(dtype, text);
        }
}

/* A number as bodies have them, or at times as they might. */
static size_t random_number(random_source *random, char *out, size_t bytes)
{
    uint64_t shape = random_bits(random), digits = random_bits(random);
    const char *sign = shape & 1 ? "-" : "";
    double v = (double)(digits >> 11) * 0x1p-53;
    switch (shape >> 1 & 15) {
    case 0:
        return (size_t)snprintf(out, bytes, "%s0", sign);
    case 1:
        return (size_t)snprintf(out, bytes, "%s%llu", sign,
                                (unsigned long long)(digits >> (50 + (shape >> 8 & 13))));
    case 2:
        return (size_t)snprintf(out, bytes, "%s%.*f", sign, (int)(shape >> 8 & 31) + 1, v * 10);
    case 3:
        return (size_t)snprintf(out, bytes, "%s%.*e", sign, (int)(shape >> 8 & 15), v);
    case 4: /* a midpoint of some type */
        return (size_t)snprintf(
            out, bytes, "%s%.12f", sign,
            1 + ldexp((double)(digits >> 55 | 1), -(int)(8 + (shape >> 8 & 3))));
    case 5:
        return (size_t)snprintf(out, bytes, "%s0.%012llu", sign, (unsigned long long)digits >> 44);
    case 6:
        return (size_t)snprintf(out, bytes, "%s%.3f", sign, v * 60000);
    case 7:
    case 8:
        return (size_t)snprintf(out, bytes, "%s%.17g", sign, v);
    default:
        return (size_t)snprintf(out, bytes, "%s%.*f", sign, (int)(shape >> 8 & 7) + 4, v);
    }
}

/* Printed and read back, both in long arrays. */
static void every_16_bit_value(void **unused)
{
    enum { ALL = 0x10000 };
    static uint16_t bits[ALL];
    static char text[ALL * PE_NUMBER_TEXT_MAX + 2];
    for (pe_dtype dtype = PE_FLOAT16; dtype <= PE_BFLOAT16; dtype++) {
        pe_array array = {0};
        pe_problem why;
        size_t n = 0, used;
        for (uint32_t i = 0; i < ALL; i++) {
            bits[n] = (uint16_t)i;
            n += isfinite(pe_dtype_load(dtype, &bits[n])) != 0;
        }
        text[0] = '[';
        const size_t bytes = 1 + pe_blocks_print(dtype, bits, n, ',', text + 1);
        text[bytes] = ']';
        assert_int_equal(scan_bytes(text, bytes + 1, dtype, ALL, &array, &used, &why), PE_OK);
        assert_int_equal(array.elements, n);
        assert_memory_equal(array.data, bits, 2 * n);
        pe_array_free(&array);
    }
}

#define NUMBERS 400

/* Long arrays are read by shorter ways than single numbers, which strtod and MPFR vouch for. */
static void long_arrays(void **unused)
{
    static const char *const separators[] = {",", ",", ", ", ",\n ", " ,"};
    static char text[NUMBERS * 64];
    random_source random = random_make("long arrays");
    for (int round = 0; round < 100; round++)
        for (pe_dtype dtype = PE_FLOAT32; dtype <= PE_BFLOAT16; dtype++) {
            const size_t element_bytes = pe_dtype_bytes(dtype);
            char wanted[NUMBERS * 8];
            size_t at = 1;
            text[0] = '[';
            for (size_t i = 0; i < NUMBERS; i++) {
                char number[64], alone[80];
                assert_true(random_number(&random, number, sizeof number) < sizeof number);
                snprintf(alone, sizeof alone, "[%s]", number);
                pe_array array = scan(alone, dtype);
                memcpy(wanted + i * element_bytes, array.data, element_bytes);
                pe_array_free(&array);
                const char *separator =
                    separators[random_bits(&random) % (unsigned)(round % 5 + 1)];
                at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", number,
                                       i + 1 < NUMBERS ? separator : "]");
            }
            pe_array array = scan(text, dtype);
            assert_int_equal(array.elements, NUMBERS);
            for (size_t i = 0; i < NUMBERS; i++) {
                const char *got = (const char *)array.data + i * element_bytes;
                if (memcmp(got, wanted + i * element_bytes, element_bytes) != 0)
                    fail_msg("%s, element %zu of %s: got %a, wanted %a", pe_dtype_name(dtype), i,
                             text, pe_dtype_load(dtype, got),
                             pe_dtype_load(dtype, wanted + i * element_bytes));
            }
            pe_array_free(&array);
        }
}

/* One mistake in a long array is found where it is, whatever the way it is read. */
static void mistakes_in_long_arrays(void **unused)
{
    static const char *const wrong[] = {"01",  "1.",  "-", ".5", "1e",    "--1",  "\"1\"",
                                        "1 2", "0x1", "",  "+1", "1.5.5", "00.1", "1e400"};
    char text[1200], where[32];
    for (size_t w = 0; w < PE_LEN(wrong); w++)
        for (size_t place = 0; place < 100; place += 33) {
            size_t at = 0, used;
            pe_array array = {0};
            pe_problem why = {0};
            for (size_t i = 0; i < 100; i++)
                at += (size_t)snprintf(text + at, sizeof text - at, "%c%s", i == 0 ? '[' : ',',
                                       i == place ? wrong[w] : "-0.125");
            at += (size_t)snprintf(text + at, sizeof text - at, "]");
            pe_status status = scan_bytes(text, at, PE_FLOAT64, 1000, &array, &used, &why);
            snprintf(where, sizeof where, "vectors/%zu", place);
            if (status == PE_OK || strcmp(why.where, where) != 0)
                fail_msg("%s: got %d at %s, wanted it refused at %s", text, status, why.where,
                         where);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"nesting gives the shape", shapes, NULL, NULL, NULL},
        {"values come in row-major order in every dtype", values_in_order, NULL, NULL, NULL},
        {"what follows the array is left alone", rest_is_left_alone, NULL, NULL, NULL},
        {"mistakes are named with their place", mistakes, NULL, NULL, NULL},
        {"an array cut short anywhere is malformed", cut_short, NULL, NULL, NULL},
        {"more numbers than allowed are counted and refused", too_many, NULL, NULL, NULL},
        {"16-bit midpoints round once", midpoints_of_16_bit_types, NULL, NULL, NULL},
        {"float32 midpoints round once", midpoints_of_float32, NULL, NULL, NULL},
        {"random decimals round once", random_decimals, NULL, NULL, NULL},
        {"every 16-bit value reads back from its text", every_16_bit_value, NULL, NULL, NULL},
        {"numbers in long arrays read as they do alone", long_arrays, NULL, NULL, NULL},
        {"mistakes in long arrays are found", mistakes_in_long_arrays, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
