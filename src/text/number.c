/* SPDX-License-Identifier: MIT */
/* number.c - a number as its shortest text. */
#include "text/number.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "text/digits.h"
#include "text/powers.h"
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
    100000000000000000,
};

/*
 * Seventeen digits, zeros at the end included, and where the point stands: 0.d1d2d3... * 10^point.
 * The eights are as digits.h has them. All this stays in registers: digits stored and loaded again
 * in other pieces would stall.
 */
typedef struct spelling {
    uint64_t first, eight, more;
    int count; /* without the zeros at the end */
    int point;
} spelling;

/*
 * The index of the highest bit of n, 0 < n < 2^63 - 2^10; above 2^53 perhaps one more, since the
 * conversion to double rounds. The exponent of a double tells it faster than bsr, which the oldest
 * x86-64 has and which waits for its last result.
 */
static inline int highest_bit(uint64_t n)
{
    double x = (double)(int64_t)n;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 52) - 1023;
}

/* 0 < n < 10^17; 1233 / 2^12 is log10(2). */
static inline int digit_count(uint64_t n)
{
    int about = (highest_bit(n) + 1) * 1233 >> 12;
    return about + (n >= powers[about]);
}

/* A digit is below 2^4, so shifted by three bits it stays within its byte. */
static inline int zeros_at_end(uint64_t eight)
{
    return 8 - ((highest_bit(eight << 3 | 1) + 5) >> 3);
}

/* 0 < n < 10^9: enough for all types but float64. */
static inline spelling spell_short(uint64_t n, int exponent)
{
    const int length = digit_count(n);
    n *= powers[9 - length];
    const uint64_t first = n / powers[8];
    const uint64_t eight = pe_digits_split(n - first * powers[8]);
    return (spelling){first, eight, 0, 9 - zeros_at_end(eight), length + exponent};
}

/* 0 < n < 10^17. */
static inline spelling spell(uint64_t n, int exponent)
{
    if (n < 1000000000)
        return spell_short(n, exponent);
    const int length = digit_count(n);
    n *= powers[17 - length];
    const uint64_t first = n / powers[16], rest = n - first * powers[16];
    const uint64_t high = rest / powers[8], low = rest - high * powers[8];
    const uint64_t eight = pe_digits_split(high), more = pe_digits_split(low);
    int count = 17 - zeros_at_end(more);
    count -= more == 0 ? zeros_at_end(eight) : 0;
    return (spelling){first, eight, more, count, length + exponent};
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
 * The notation of ECMAScript's Number::toString. Stores have fixed sizes; they reach at most 25
 * bytes far.
 */
static inline size_t lay_out(const spelling *number, char *out)
{
    const pe_uint128 zeros = (pe_uint128)PE_EIGHT_ZEROS << 64 | PE_EIGHT_ZEROS;
    pe_uint128 rest = ((pe_uint128)number->more << 64 | number->eight) | zeros;
    const char first = (char)('0' + number->first);
    const int n = number->count, point = number->point;
    if (point > -6 && point <= 0) {
        memcpy(out, "0.000000", 8);
        out[2 - point] = first;
        memcpy(out + 3 - point, &rest, 16);
        return (size_t)(2 - point + n);
    }
    out[0] = first;
    if (point > 0 && point <= 21) {
        memcpy(out + 1, &rest, 16);
        if (n <= point) {
            memcpy(out + 17, &zeros, 4);
            return (size_t)point;
        }
        rest >>= 8 * (point - 1);
        out[point] = '.';
        memcpy(out + point + 1, &rest, 8);
        rest >>= 64;
        if (point <= 8)
            memcpy(out + point + 9, &rest, 8);
        return (size_t)n + 1;
    }
    out[1] = '.';
    memcpy(out + 2, &rest, 16);
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
    const double magnitude = fabs(value);
    const size_t sign = signbit(value) != 0;
    if (!(magnitude <= DBL_MAX)) {
        memcpy(out, "null", 4);
        return 4;
    }
    out[0] = '-';
    if (magnitude == 0) {
        out[sign] = '0';
        return sign + 1;
    }
    if (magnitude < 0x1p53 && magnitude == (double)(int64_t)magnitude)
        return sign + pe_digits_write((uint64_t)(int64_t)magnitude, out + sign);
    const pe_shortest shortest = find(dtype, magnitude);
    const spelling number = spell(shortest.digits, shortest.exponent);
    return sign + lay_out(&number, out + sign);
}

/* The longest, with some slack: "-1.2345678901234567e-300,". */
static const struct {
    unsigned char most, usual;
} text_bytes[PE_DTYPES] = {
    [PE_FLOAT32] = {24, 11}, [PE_FLOAT64] = {28, 20}, [PE_FLOAT16] = {16, 7},
    [PE_BFLOAT16] = {24, 7}, [PE_INT32] = {12, 5},
};

size_t pe_number_text_most(pe_dtype dtype)
{
    return text_bytes[dtype].most;
}

size_t pe_number_text_usual(pe_dtype dtype)
{
    return text_bytes[dtype].usual;
}
