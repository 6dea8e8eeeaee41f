/* SPDX-License-Identifier: MIT */
/* level.h - what the files of level/ share: names per level, beginnings of numbers, digits. */
#ifndef PE_TEXT_LEVEL_LEVEL_H
#define PE_TEXT_LEVEL_LEVEL_H

#include <stddef.h>
#include <stdint.h>

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
#define PE_KINDS   (2 * PE_CLASSES) /* and above: for the general path */

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

/** Print float64: pe_number_blocks.print_doubles of the level. */
char *PE_TEXT_NAME(pe_doubles_print)(const void *data, size_t n, char separator, char *out);

#endif
