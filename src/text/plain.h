/* SPDX-License-Identifier: MIT */
/* plain.h - reading the numbers that most numbers look like, without a loop. */
#ifndef PE_TEXT_PLAIN_H
#define PE_TEXT_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "text/decimal.h"
#include "text/digits.h"

/** Text that must be at hand: it is loaded in large pieces without asking where it ends. */
#define PE_PLAIN_BYTES 64

/** The first n of eight bytes as digits, after the number `before`. Shifts by halves: 64 is none.
 */
static inline uint64_t pe_plain_append(uint64_t before, uint64_t text, int n)
{
    static const uint64_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    const int half = 32 - 4 * n;
    return before * powers[n] + pe_digits_join((text ^ PE_EIGHT_ZEROS) << half << half);
}

/**
 * How many of eight bytes are digits, up to the first that is not. No branch: numbers end where
 * nothing foretells it.
 */
static inline int pe_plain_count(uint64_t text)
{
    const uint64_t others = pe_digits_others(text), none = others == 0;
    return (__builtin_ctzll(others | none) >> 3) + (int)(none << 3);
}

/** Append the digits at p, of which 24 are looked at, to *sum; returns where they end. */
static inline const char *pe_plain_digits(const char *p, uint64_t *sum)
{
    uint64_t a, b, c;
    memcpy(&a, p, 8);
    memcpy(&b, p + 8, 8);
    const int from_a = pe_plain_count(a);
    const int from_b = pe_plain_count(b) & -(pe_digits_others(a) == 0);
    *sum = pe_plain_append(pe_plain_append(*sum, a, from_a), b, from_b);
    p += from_a + from_b;
    if (from_b == 8) {
        memcpy(&c, p, 8);
        const int from_c = pe_plain_count(c);
        *sum = pe_plain_append(*sum, c, from_c);
        p += from_c;
    }
    return p;
}

/** The same for the second digit on of a whole number, which seldom has more than nine. */
static inline const char *pe_plain_whole(const char *p, uint64_t *sum)
{
    uint64_t a;
    memcpy(&a, p, 8);
    const int from_a = pe_plain_count(a);
    *sum = pe_plain_append(*sum, a, from_a);
    return from_a == 8 ? pe_plain_digits(p + 8, sum) : p + from_a;
}

/** (-1)^negative * digits / 10^fraction. */
typedef struct pe_plain {
    uint64_t digits;
    int fraction;
    bool negative;
} pe_plain;

/**
 * Read a sign, up to 19 digits and perhaps a point among them: a comma must follow. Returns where
 * the comma is, NULL for anything else (which pe_decimal_read tells apart). PE_PLAIN_BYTES of text
 * are readable.
 */
static inline const char *pe_plain_read(const char *text, pe_plain *out)
{
    const bool negative = *text == '-';
    const char *whole = text + negative, *p = whole + 1;
    uint64_t digits = (uint64_t)(unsigned char)whole[0] - '0';
    if (digits > 9)
        return NULL;
    out->fraction = 0;
    if (*p != '.' && digits != 0)
        p = pe_plain_whole(p, &digits);
    if (*p == '.') {
        const char *point = p + 1;
        p = pe_plain_digits(point, &digits);
        out->fraction = (int)(p - point);
        if (p == point)
            return NULL;
    }
    /* Neither a leading zero nor the point is a digit that counts. */
    if (*p != ',' || p - whole - (whole[0] == '0') - (out->fraction > 0) > 19)
        return NULL;
    out->digits = digits;
    out->negative = negative;
    return p;
}

#endif
