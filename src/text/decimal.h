/* SPDX-License-Identifier: MIT */
/* decimal.h - a number as its text spells it, and its rounding to a type. */
#ifndef PE_TEXT_DECIMAL_H
#define PE_TEXT_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/dtype.h"

/** (-1)^negative * digits * 10^exponent; somewhat more when `cut`: digits past the 19th left
 * out. */
typedef struct pe_decimal {
    uint64_t digits;
    int64_t exponent;
    bool negative, cut;
    const char *text; /* borrowed: as read, sign included */
    size_t bytes;
} pe_decimal;

/** Read a number of JSON's grammar at the start of [text, end). False when there is none. */
bool pe_decimal_read(const char *text, const char *end, pe_decimal *out);

/** The nearest double, ties to even; an infinity on overflow. */
double pe_decimal_to_double(const pe_decimal *decimal);

/** The nearest value of a floating-point dtype, rounded once; an infinity on overflow. */
double pe_decimal_round(const pe_decimal *decimal, pe_dtype dtype);

/** 10^k for 0 <= k <= 22: those that are doubles. */
extern const double pe_decimal_powers[23];

/**
 * The double nearest to digits * 10^exponent by one 64 x 128-bit product: 0 < digits,
 * -342 <= exponent <= 308. False when that cannot tell.
 */
bool pe_decimal_product(uint64_t digits, int exponent, double *out);

/** Whether a positive double lies half-way between two neighbours of a narrower type. */
static inline bool pe_decimal_is_midpoint(double magnitude, pe_dtype dtype)
{
    /* Significand bits, hidden one included, and the exponent of the smallest normal number. */
    static const struct {
        int bits, lowest;
    } types[PE_DTYPES] = {
        [PE_FLOAT32] = {24, -126},
        [PE_FLOAT16] = {11, -14},
        [PE_BFLOAT16] = {8, -126},
    };
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    const int leading = (int)(bits >> 52) - 1023, lowest = types[dtype].lowest;
    const int shift = 53 - types[dtype].bits + (leading < lowest ? lowest - leading : 0);
    const uint64_t significand = (bits & ((1ULL << 52) - 1)) | 1ULL << 52;
    return shift <= 53 && (significand & ((1ULL << shift) - 1)) == 1ULL << (shift - 1);
}

#endif
