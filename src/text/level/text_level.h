/* SPDX-License-Identifier: MIT */
/* text_level.h - what the files of text/level/ share: names by level, digits of many numbers, and
 * their text. */
#ifndef PE_TEXT_LEVEL_TEXT_LEVEL_H
#define PE_TEXT_LEVEL_TEXT_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "text/digits.h"
#include "text/layout.h"

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

/** Numbers of a block: each pass goes over all of them. */
#define PE_BLOCK 128

/**
 * A pass over a block is a function of its own, so that its loop has all registers. noipa: gcc 12
 * takes loops over elements of two sizes for loops that store nothing, and would drop the calls.
 */
#ifdef __clang__
#define PE_PASS static __attribute__((noinline))
#else
#define PE_PASS static __attribute__((noipa))
#endif

/** Instead of an index of pe_layout_places: pe_number_print prints this number. */
#define PE_GENERAL UINT32_MAX

/** Sixteen bytes, in one register where the CPU has such. */
typedef uint8_t pe_sixteen __attribute__((vector_size(16)));

/** All ones for true: compilers make no jumps of such masks. */
static inline int32_t pe_text_mask(bool so)
{
    return -(int32_t)so;
}

/*
 * The shortest decimal of a value c * 2^q. With k = floor(log10(2^q)) the value is X units of
 * 10^(k+1), and half the distance to its neighbours is H units, 0.05 <= H < 0.5. A whole number
 * less than H away from X is the shortest decimal. If there is none, the nearest tenth is.
 * (Schubfach's two grids, see shortest.h.)
 *
 * The fraction of X, and H, are kept in units of 1 / PE_ONE, cut off: less than one unit too low. A
 * number is open where this may change the decision. Where both are exact, no number is open: X has
 * fewer bits than H, so it is never H away from a whole number, and ties go to even.
 */
#define PE_ONE (1 << 28)

/** The digit after the whole part of X, or a carry to the whole part and the digit 0. */
typedef struct pe_tenth {
    int32_t digit, carry;
} pe_tenth;

static inline pe_tenth pe_text_find_tenth(int32_t rest, int32_t width)
{
    const uint32_t tenths = 10 * (uint32_t)rest;
    int32_t digit = (int32_t)(tenths >> 28);
    digit -= pe_text_mask((int32_t)(tenths & (PE_ONE - 1)) > PE_ONE / 2 - (digit & 1));
    digit &= ~pe_text_mask(rest < width);
    digit = PE_ONE - rest < width ? 10 : digit;
    const int32_t carry = (digit + 6) >> 4;
    return (pe_tenth){digit - 10 * carry, carry};
}

static inline int32_t pe_text_are_near(int32_t a, int32_t b, uint32_t slack)
{
    return pe_text_mask((uint32_t)(a - b) + slack <= 2 * slack);
}

/** All ones where pe_text_find_tenth may be wrong for inexact numbers. */
static inline int32_t pe_text_is_open(int32_t rest, int32_t width)
{
    const int32_t tenths = (int32_t)(10 * (uint32_t)rest & (PE_ONE - 1));
    return pe_text_are_near(rest, width, 2) | pe_text_are_near(PE_ONE - rest, width, 2) |
           pe_text_are_near(tenths, PE_ONE / 2, 12);
}

/**
 * Numbers below 10^4 to four digits each, two by two: bytes 0 to 9, the first of a pair lower.
 * x * 5243 >> 19 is x / 100, and x * 6554 >> 16 is x / 10 for x < 100.
 */
static inline void pe_text_split_fours(const uint16_t *restrict fours, size_t n,
                                       uint16_t *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        const uint16_t high = (uint16_t)((uint32_t)fours[i] * 5243 >> 16) >> 3;
        out[2 * i] = high;
        out[2 * i + 1] = (uint16_t)(fours[i] - 100 * high);
    }
    for (size_t i = 0; i < 2 * n; i++) {
        const uint16_t tens = (uint16_t)((uint32_t)out[i] * 6554 >> 16);
        out[i] = (uint16_t)(tens | (out[i] - 10 * tens) << 8);
    }
}

static inline pe_sixteen pe_text_load_sixteen(const void *from)
{
    pe_sixteen bytes;
    memcpy(&bytes, from, sizeof bytes);
    return bytes;
}

/** Sixteen bytes of the text of these digits, from byte `at` on: 0, or 16 (eight bytes then). */
static inline pe_sixteen pe_text_lay_out(const pe_layout *layout, const uint8_t *digits, size_t at)
{
    const pe_sixteen text = pe_text_load_sixteen(layout->text + at);
#if defined(__SSSE3__)
    return (pe_sixteen)_mm_shuffle_epi8((__m128i)pe_text_load_sixteen(digits + at / 2),
                                        (__m128i)pe_text_load_sixteen(layout->from + at)) |
           text;
#else
    return (pe_text_load_sixteen(digits + at) & pe_text_load_sixteen(layout->own + at)) |
           (pe_text_load_sixteen(digits + at - layout->shift) &
            pe_text_load_sixteen(layout->moved + at)) |
           text;
#endif
}

/** How many of sixteen digits come before the zeros at the end. */
static inline size_t pe_text_count_digits(const uint8_t *digits)
{
#if defined(__SSE2__)
    const __m128i above =
        _mm_cmpgt_epi8((__m128i)pe_text_load_sixteen(digits), _mm_setzero_si128());
    return 31 - (size_t)__builtin_clz((unsigned)_mm_movemask_epi8(above) << 1 | 1);
#else
    uint64_t head, tail;
    memcpy(&head, digits, 8);
    memcpy(&tail, digits + 8, 8);
    const size_t in_head = head == 0 ? 0 : 8 - (size_t)__builtin_clzll(head) / 8;
    return tail == 0 ? in_head : 16 - (size_t)__builtin_clzll(tail) / 8;
#endif
}

/** Print float64: pe_blocks.print_doubles of the level. */
char *PE_TEXT_NAME(pe_doubles_print)(const void *data, size_t n, char separator, char *out);

#endif
