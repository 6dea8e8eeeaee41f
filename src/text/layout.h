/* SPDX-License-Identifier: MIT */
/* layout.h - where the digits of a number go, in ECMAScript's notation. */
#ifndef PE_TEXT_LAYOUT_H
#define PE_TEXT_LAYOUT_H

#include <stdint.h>

/** The longest text, without sign and exponent. */
#define PE_LAYOUT_BYTES 24

/**
 * Where digits go. The digits d are 0 to 9, the first is not 0, and zeros follow the last. Digits
 * before the point keep their place, digits behind it move by `shift`, and `text` has the other
 * bytes: byte j of a text is (d[j] & own[j]) | (d[j - shift] & moved[j]) | text[j]. With the point
 * after two digits
 *
 *     own     12              moved      3456789    (shift 1)       text   00.00000000
 *
 * and all digits of 0.00123 are `moved`. `own` and `moved` hold 0 or 255. `from` is the same for
 * instructions that pick bytes: the index of the digit that comes at j (for j from 16 on counted
 * from the eighth digit), 255 for none.
 *
 * With n digits, not counting zeros at the end, the text has bytes[n] bytes; whole numbers keep no
 * point. An exponent follows at once.
 */
typedef struct pe_layout {
    _Alignas(128) uint8_t from[PE_LAYOUT_BYTES];
    uint8_t text[PE_LAYOUT_BYTES];
    uint8_t bytes[18];
    uint8_t exponent_bits, shift;
    uint8_t own[PE_LAYOUT_BYTES], moved[PE_LAYOUT_BYTES];
} pe_layout;

/** How 0.d1d2d3... * 10^point is laid out: an exponent ("e-45"), and the number of its layout. */
typedef struct pe_place {
    char exponent[7];
    uint8_t layout;
} pe_place;

/** The points of doubles: 5e-324 has the first, 1.7e308 the last. */
#define PE_POINT_MIN (-323)
#define PE_POINT_MAX 309

/* Layouts: 6 with zeros before the digits, 21 with the point after 1 to 21 digits, and 3 with an
 * exponent of one to three digits. */
#define PE_LAYOUTS 30

/** Filled before main runs, never written again. Entry point - PE_POINT_MIN is of that point. */
extern pe_layout pe_layouts[PE_LAYOUTS];
extern pe_place pe_layout_places[PE_POINT_MAX - PE_POINT_MIN + 1];

#endif
