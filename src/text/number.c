/* SPDX-License-Identifier: MIT */
/* number.c - numbers as shortest text. */
#include "text/number.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "text/blocks.h"
#include "text/digits.h"
#include "text/shortest.h"

/* Significand bits, hidden one included, and the exponent of the last place of subnormals. */
typedef struct precision {
    int bits, lowest;
} precision;

static const precision precisions[PE_DTYPES] = {
    [PE_FLOAT32] = {24, -149}, [PE_FLOAT64] = {53, -1074}, [PE_FLOAT16] = {11, -24},
    [PE_BFLOAT16] = {8, -133}, [PE_INT32] = {53, -1074},
};

static const uint64_t powers[] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
};

#define DIGITS 17 /* no shortest decimal has more */

/* The digits of a number, zeros behind them, and where the point stands: 0.d1d2d3... * 10^point. */
typedef struct spelling {
    char digits[32];
    int count; /* without the zeros at the end */
    int point;
} spelling;

static int digit_count(uint64_t n)
{
    int about = (64 - __builtin_clzll(n)) * 1233 >> 12; /* 1233 / 2^12 is log10(2) */
    return about + (n >= powers[about < DIGITS ? about : DIGITS - 1] && about < DIGITS);
}

/* 0 < n < 10^17. */
static void spell(uint64_t n, int exponent, spelling *out)
{
    int length = digit_count(n);
    n *= powers[DIGITS - length];
    uint64_t first = n / powers[16];
    n -= first * powers[16];
    uint64_t high = pe_digits_split(n / powers[8]), low = pe_digits_split(n % powers[8]);
    uint64_t zeros = PE_EIGHT_ZEROS, high_text = high | zeros, low_text = low | zeros;
    out->digits[0] = (char)('0' + first);
    memcpy(out->digits + 1, &high_text, 8);
    memcpy(out->digits + 9, &low_text, 8);
    memcpy(out->digits + 17, &zeros, 8);
    if (low != 0)
        out->count = 17 - __builtin_clzll(low) / 8;
    else
        out->count = high != 0 ? 9 - __builtin_clzll(high) / 8 : 1;
    out->point = length + exponent;
}

static size_t write_exponent(int exponent, char *out)
{
    size_t at = 0;
    unsigned e = (unsigned)(exponent < 0 ? -exponent : exponent);
    out[at++] = 'e';
    out[at++] = exponent < 0 ? '-' : '+';
    if (e >= 100)
        out[at++] = (char)('0' + e / 100);
    if (e >= 10)
        out[at++] = (char)('0' + e / 10 % 10);
    out[at++] = (char)('0' + e % 10);
    return at;
}

/*
 * The notation of ECMAScript's Number::toString. Copies have fixed sizes, since those are single
 * moves; they reach at most 31 bytes far.
 */
static size_t lay_out(const spelling *number, char *out)
{
    const char *digits = number->digits;
    int n = number->count, point = number->point;
    if (point > 0 && point <= 21) {
        memcpy(out, digits, 24);
        if (n <= point)
            return (size_t)point;
        out[point] = '.';
        if (point <= 8)
            memcpy(out + point + 1, digits + point, 16);
        else
            memcpy(out + point + 1, digits + point, 8);
        return (size_t)n + 1;
    }
    if (point > -6 && point <= 0) {
        memcpy(out, "0.000000", 8);
        memcpy(out + 2 - point, digits, 24);
        return (size_t)(2 - point + n);
    }
    out[0] = digits[0];
    out[1] = '.';
    memcpy(out + 2, digits + 1, 16);
    size_t length = n > 1 ? (size_t)n + 1 : 1;
    return length + write_exponent(point - 1, out + length);
}

static pe_shortest find(pe_dtype dtype, double magnitude)
{
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    const precision type = precisions[dtype];
    uint64_t fraction = bits & ((1ULL << 52) - 1);
    int q = (int)(bits >> 52) - 1075;
    uint64_t c = fraction | 1ULL << 52;
    if (bits >> 52 == 0)
        c = fraction, q = -1074;
    int spare = 53 - type.bits;
    if (q + spare < type.lowest)
        spare = type.lowest - q;
    assert(spare < 64 && (c & ((1ULL << spare) - 1)) == 0);
    return pe_shortest_find(c >> spare, q + spare, fraction == 0 && q + spare > type.lowest);
}

size_t pe_number_print(pe_dtype dtype, double value, char *out)
{
    char *const start = out;
    if (!isfinite(value)) {
        memcpy(out, "null", 4);
        return 4;
    }
    *out = '-';
    out += signbit(value) != 0;
    double magnitude = fabs(value);
    if (magnitude == 0) {
        *out = '0';
        return (size_t)(out + 1 - start);
    }
    spelling number;
    if (magnitude < 0x1p53 && magnitude == (double)(uint64_t)magnitude) {
        spell((uint64_t)magnitude, 0, &number);
    } else {
        pe_shortest shortest = find(dtype, magnitude);
        spell(shortest.digits, shortest.exponent, &number);
    }
    return (size_t)(out - start) + lay_out(&number, out);
}

size_t pe_numbers_print(pe_dtype dtype, const void *data, size_t n, char separator, char *out)
{
    const char *at = data;
    char *const start = out;
    const size_t step = pe_dtype_bytes(dtype);
    if (n == 0)
        return 0;
    if (dtype == PE_FLOAT32 || dtype == PE_FLOAT16 || dtype == PE_BFLOAT16)
        return (size_t)(pe_number_blocks_get()->print(dtype, data, n, separator, out) - start) - 1;
    for (size_t i = 0; i < n; i++) {
        out += pe_number_print(dtype, pe_dtype_load(dtype, at + i * step), out);
        *out++ = separator;
    }
    return (size_t)(out - 1 - start);
}
