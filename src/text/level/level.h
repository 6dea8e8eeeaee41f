/* SPDX-License-Identifier: MIT */
/* level.h - what the files of level/ share: names per level, beginnings of numbers, digits. */
#ifndef PE_TEXT_LEVEL_LEVEL_H
#define PE_TEXT_LEVEL_LEVEL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "text/digits.h"

/*
 * The files of this folder are compiled once per instruction-set level, each time with
 * -DPE_LEVEL=<level> and that level's -march, to functions called PE_TEXT_NAME(f).
 */
#ifndef PE_LEVEL
#error "compile with -DPE_LEVEL=baseline, v3 or v4 (the Makefile does)"
#endif
#define PE_TEXT_PASTE2(f, level) f##_##level
#define PE_TEXT_PASTE(f, level)  PE_TEXT_PASTE2(f, level)
#define PE_TEXT_NAME(f)          PE_TEXT_PASTE(f, PE_LEVEL)
#define PE_TEXT_QUOTE2(level)    #level
#define PE_TEXT_QUOTE(level)     PE_TEXT_QUOTE2(level)

/** Numbers that go through the passes together. */
#define PE_BLOCK 128

/**
 * How a number begins: `text` with its first digit added at `shift` bits, the other digits to
 * follow after `bytes`. A kind is twice the class, which is how many zeros come between 0. and the
 * first digit, plus one; class 0 has the first digit before the point. Odd kinds are negative.
 */
typedef struct pe_prefix {
    char text[8];
    uint8_t bytes, shift;
} pe_prefix;

#define PE_CLASSES 6
#define PE_KINDS   (2 * PE_CLASSES)

/** Kinds of numbers from 10 up, p of whose digits stand before the point: these plus 2 p, odd ones
 * negative. Their first digit is not zero. */
#define PE_LARGE (PE_KINDS - 2)
/** For the general path. */
#define PE_GENERAL 64

static const pe_prefix pe_prefixes[PE_KINDS] = {
    {"0.", 2, 0},      {"-0.", 3, 8},      {"0.0", 3, 16},     {"-0.0", 4, 24},
    {"0.00", 4, 24},   {"-0.00", 5, 32},   {"0.000", 5, 32},   {"-0.000", 6, 40},
    {"0.0000", 6, 40}, {"-0.0000", 7, 48}, {"0.00000", 7, 48}, {"-0.00000", 8, 56},
};

/** Numbers below 10^9 to their first digit and to two numbers of four digits. */
static inline void pe_split_first(const uint32_t *number, uint32_t *first, uint32_t *fours)
{
    for (size_t i = 0; i < PE_BLOCK; i++) {
        uint32_t one = number[i] / 100000000, rest = number[i] - one * 100000000;
        uint32_t high = rest / 10000;
        first[i] = one;
        fours[2 * i] = high;
        fours[2 * i + 1] = rest - high * 10000;
    }
}

/** Numbers below 10^4 to four bytes each. x * 5243 >> 19 is x / 100; digits.h has the rest. */
static inline void pe_split_fours(uint32_t *fours)
{
    for (size_t i = 0; i < 2 * PE_BLOCK; i++) {
        uint32_t x = fours[i], hundreds = x * 5243 >> 19;
        uint32_t twos = hundreds | (x - 100 * hundreds) << 16;
        uint32_t tens = (twos * 103 >> 10) & 0x000f000f;
        fours[i] = tens | (twos - 10 * tens) << 8;
    }
}

/**
 * The text of a large kind whose digits are `first` and `rest`, of which `digits` in all are not
 * zeros at the end. Stores reach 18 bytes far. Returns its length: a whole number keeps no point.
 * Nothing jumps, since it is by turns that the numbers of a ramp are whole.
 */
static inline size_t pe_write_nine(uint32_t kind, uint32_t first, uint64_t rest, size_t digits,
                                   char *out)
{
    const size_t p = (kind - PE_LARGE) / 2, sign = kind & 1;
    const uint64_t ascii = rest | PE_EIGHT_ZEROS, after = ascii >> 4 * (p - 1) >> 4 * (p - 1);
    out[0] = '-';
    out += sign;
    out[0] = (char)('0' + first);
    memcpy(out + 1, &ascii, 8);
    out[p] = '.';
    memcpy(out + p + 1, &after, 8);
    return sign + (digits <= p ? p : digits + 1);
}

/** The same for seventeen digits. Stores reach 26 bytes far. */
static inline size_t pe_write_seventeen(uint32_t kind, uint32_t first, uint64_t rest, uint64_t more,
                                        size_t digits, char *out)
{
    const size_t p = (kind - PE_LARGE) / 2, sign = kind & 1;
    const uint64_t eight = rest | PE_EIGHT_ZEROS, last = more | PE_EIGHT_ZEROS;
    out[0] = '-';
    out += sign;
    out[0] = (char)('0' + first);
    memcpy(out + 1, &eight, 8);
    memcpy(out + 9, &last, 8);
    if (p <= 8) { /* the point comes among the first */
        const unsigned bits = 8 * (unsigned)(p - 1);
        const uint64_t after = eight >> bits | last << 1 << (63 - bits), end = last >> bits;
        out[p] = '.';
        memcpy(out + p + 1, &after, 8);
        memcpy(out + p + 9, &end, 8);
    } else {
        const uint64_t after = last >> 8 * (p - 9);
        out[p] = '.';
        memcpy(out + p + 1, &after, 8);
    }
    return sign + (digits <= p ? p : digits + 1);
}

/** Print float64: pe_number_blocks.print_doubles of the level. */
char *PE_TEXT_NAME(pe_doubles_print)(const void *data, size_t n, char separator, char *out);

#endif
