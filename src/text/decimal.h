/* SPDX-License-Identifier: MIT */
/* decimal.h - a number as its text spells it, and its rounding to a type. */
#ifndef PE_TEXT_DECIMAL_H
#define PE_TEXT_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/** (-1)^negative * digits * 10^exponent; somewhat more when `cut`: digits past the 19th left out.
 */
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

#endif
