/* SPDX-License-Identifier: MIT */
/* decimal.c - reading decimals and rounding them to binary. */
#include "text/decimal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/digits.h"
#include "text/powers.h"

/* 10^19 is the last power of ten that fits 64 bits. */
#define DIGITS_KEPT 19

/* Exponents beyond this do not grow: no text is long enough to bring them back. */
#define EXPONENT_CEILING 1000000000000000

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Add the digits at p to *sum (wrapping when there are many); returns where they end. */
static inline const char *read_digits(const char *p, const char *end, uint64_t *sum)
{
    uint64_t n = *sum, eight;
    while (end - p >= 8 && (memcpy(&eight, p, 8), pe_digits_are(eight))) {
        n = n * 100000000 + pe_digits_join(eight - PE_EIGHT_ZEROS);
        p += 8;
    }
    while (p < end && is_digit(*p))
        n = n * 10 + (uint64_t)(*p++ - '0');
    *sum = n;
    return p;
}

/* The e of 1e-7, sign and digits; NULL when it is not one. */
static const char *read_exponent(const char *p, const char *end, int64_t *out)
{
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end || !is_digit(*p))
        return NULL;
    int64_t e = 0;
    for (; p < end && is_digit(*p); p++)
        e = e < EXPONENT_CEILING ? e * 10 + (*p - '0') : e;
    *out = negative ? -e : e;
    return p;
}

/* Take the first 19 significant digits alone when there are more than fit. */
static void keep_leading(const char *p, const char *end, pe_decimal *out)
{
    int kept = 0;
    bool lost = false;
    int64_t dropped = 0;
    uint64_t n = 0;
    for (; p < end; p++) {
        if (*p == '.') {
            continue;
        } else if (kept < DIGITS_KEPT) {
            n = n * 10 + (uint64_t)(*p - '0');
            kept += n != 0;
        } else {
            lost |= *p != '0';
            dropped++;
        }
    }
    out->digits = n;
    out->exponent += dropped;
    out->cut = lost;
}

bool pe_decimal_read(const char *text, const char *end, pe_decimal *out)
{
    const char *p = text;
    bool negative = p < end && *p == '-';
    p += negative;
    const char *whole = p;
    uint64_t digits = 0;
    int64_t fraction = 0, exponent = 0;
    if (p == end || !is_digit(*p))
        return false;
    if (*p == '0') {
        p++;
        if (p < end && is_digit(*p))
            return false;
    } else {
        p = read_digits(p, end, &digits);
    }
    int64_t read = p - whole;
    if (p < end && *p == '.') {
        const char *point = ++p;
        p = read_digits(p, end, &digits);
        fraction = p - point;
        if (fraction == 0)
            return false;
    }
    const char *last = p;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p = read_exponent(p + 1, end, &exponent);
        if (p == NULL)
            return false;
    }
    *out = (pe_decimal){digits, exponent - fraction, negative, false, text, (size_t)(p - text)};
    if (read + fraction > DIGITS_KEPT)
        keep_leading(whole, last, out);
    return true;
}

/* --- decimal to double --- */

const double pe_decimal_powers[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#define INFINITY_BITS (0x7ffULL << 52)

/* What pe_decimal_product does, where fewer than 53 bits are kept; none are
 * exact powers' products. */
static bool round_subnormal(pe_uint128 top, int leading, double *out)
{
    const int kept = 53 + 1022 + leading;
    uint64_t bits = 0;
    if (kept == 0 || kept == -1)
        return false;
    if (kept > 0) {
        const int shift = 127 + (int)(top >> 127) - kept;
        const pe_uint128 half = (pe_uint128)1 << (shift - 1), rest = top & (2 * half - 1);
        if (rest == half)
            return false;
        bits = (uint64_t)(top >> shift) + (rest > half);
    }
    memcpy(out, &bits, sizeof bits);
    return true;
}

/*
 * The power is rounded up by less than one unit of its 128 bits, so the true product lies
 * less than one unit of `top` below or above it: only a rest of exactly one half is in doubt. Exact
 * powers leave no doubt, and their ties go to even.
 *
 * Source   D. Lemire, "Number parsing at a gigabyte per second", 2021.
 */
bool pe_decimal_product(uint64_t digits, int exponent, double *out)
{
    const pe_power power = pe_powers[exponent - PE_POWER_MIN];
    const int zeros = __builtin_clzll(digits);
    digits <<= zeros;
    const pe_uint128 low = (pe_uint128)power.lo * digits;
    const pe_uint128 top = (pe_uint128)power.hi * digits + (uint64_t)(low >> 64);
    const uint64_t upper = (uint64_t)(top >> 64), lower = (uint64_t)top;
    const int high = (int)(upper >> 63); /* the value is 1.xxx * 2^leading */
    const int leading = high + 63 + pe_log2_pow10(exponent) - zeros;
    if (leading < -1022)
        return round_subnormal(top, leading, out);

    const int shift = 10 + high;
    const uint64_t half = 1ULL << (shift - 1), rest = upper & (2 * half - 1);
    uint64_t m = upper >> shift;
    if (rest == half && lower == 0) {
        if (exponent < 0 || exponent > 55)
            return false;
        m += (uint64_t)low != 0 || (m & 1);
    } else {
        m += rest >= half;
    }
    uint64_t bits = ((uint64_t)(leading + 1022) << 52) + m;
    if (bits > INFINITY_BITS)
        bits = INFINITY_BITS;
    memcpy(out, &bits, sizeof bits);
    return true;
}

/* The midpoint of two doubles has at most 767 digits; what follows can only break a tie. */
#define DIGITS_MAX 800

/* Significant digits of a number's text, a last 1 for all that was cut; value =
 * 0.ddd * 10^point. */
typedef struct long_decimal {
    char digits[DIGITS_MAX + 2];
    size_t count;
    int64_t point;
} long_decimal;

static void spell_out(const char *p, const char *end, long_decimal *out)
{
    bool fraction = false, more = false;
    int64_t exponent = 0;
    out->count = 0;
    out->point = 0;
    if (p < end && *p == '-')
        p++;
    for (; p < end && (is_digit(*p) || *p == '.'); p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        bool leading = out->count == 0 && *p == '0';
        out->point += fraction ? -leading : !leading;
        if (leading)
            continue;
        if (out->count < DIGITS_MAX)
            out->digits[out->count++] = *p;
        else
            more |= *p != '0';
    }
    if (more)
        out->digits[out->count++] = '1';
    out->digits[out->count] = '\0';
    if (p < end)
        read_exponent(p + 1, end, &exponent);
    out->point += exponent;
}

static double round_long(const pe_decimal *decimal)
{
    long_decimal full;
    char text[DIGITS_MAX + 32];
    spell_out(decimal->text, decimal->text + decimal->bytes, &full);
    snprintf(text, sizeof text, "0.%se%" PRId64, full.digits, full.point);
    return strtod(text, NULL);
}

static inline double round_magnitude(const pe_decimal *decimal)
{
    uint64_t digits = decimal->digits;
    if (digits == 0)
        return 0;
    if (decimal->exponent < PE_POWER_MIN)
        return 0;
    if (decimal->exponent > 308)
        return HUGE_VAL;
    int exponent = (int)decimal->exponent;
    if (digits <= 1ULL << 53 && exponent >= -22 && exponent <= 22 && !decimal->cut)
        return exponent < 0 ? (double)digits / pe_decimal_powers[-exponent]
                            : (double)digits * pe_decimal_powers[exponent];
    double value, above;
    if (!pe_decimal_product(digits, exponent, &value))
        return round_long(decimal);
    if (decimal->cut && (!pe_decimal_product(digits + 1, exponent, &above) || above != value))
        return round_long(decimal);
    return value;
}

double pe_decimal_to_double(const pe_decimal *decimal)
{
    double magnitude = round_magnitude(decimal);
    return decimal->negative ? -magnitude : magnitude;
}

/* --- decimal to narrower types --- */

/* The sign of a decimal's magnitude less a midpoint's, by all their digits. */
static int compare_long(const pe_decimal *decimal, double midpoint)
{
    long_decimal a, b;
    char text[DIGITS_MAX + 32];
    /* A midpoint has at most 25 bits, the lowest worth 2^-150 or more: 125 digits spell it. */
    int bytes = snprintf(text, sizeof text, "%.125e", midpoint);
    spell_out(decimal->text, decimal->text + decimal->bytes, &a);
    spell_out(text, text + bytes, &b);
    if (a.point != b.point)
        return a.point < b.point ? -1 : 1;
    memset(a.digits + a.count, '0', sizeof a.digits - a.count);
    memset(b.digits + b.count, '0', sizeof b.digits - b.count);
    return memcmp(a.digits, b.digits, sizeof a.digits);
}

/* The same; fma rounds but keeps the sign, so it decides where the power of ten is exact. */
static int compare(const pe_decimal *decimal, double midpoint)
{
    double digits = (double)decimal->digits, difference;
    int64_t exponent = decimal->exponent;
    if (decimal->cut || decimal->digits > 1ULL << 53 || exponent < -22 || exponent > 22)
        return compare_long(decimal, midpoint);
    if (exponent < 0)
        difference = fma(midpoint, -pe_decimal_powers[-exponent], digits);
    else
        difference = fma(digits, pe_decimal_powers[exponent], -midpoint);
    return (difference > 0) - (difference < 0);
}

/*
 * Rounding to double never carries a number across a double, and midpoints of narrower types are
 * doubles: only where it ends on a midpoint does the second rounding need to know from which side.
 */
static double round_narrow(const pe_decimal *decimal, double magnitude, pe_dtype dtype)
{
    char element[8];
    if (pe_decimal_is_midpoint(magnitude, dtype)) {
        int side = compare(decimal, magnitude);
        if (side != 0)
            magnitude = nextafter(magnitude, side < 0 ? 0 : HUGE_VAL);
    }
    pe_dtype_store(dtype, magnitude, element);
    return pe_dtype_load(dtype, element);
}

double pe_decimal_round(const pe_decimal *decimal, pe_dtype dtype)
{
    double magnitude = round_magnitude(decimal);
    if (dtype != PE_FLOAT64)
        magnitude = round_narrow(decimal, magnitude, dtype);
    return decimal->negative ? -magnitude : magnitude;
}
