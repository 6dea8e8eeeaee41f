/* SPDX-License-Identifier: MIT */
/* number.h - numbers as shortest text, and text as correctly rounded numbers. */
#ifndef PE_TEXT_NUMBER_H
#define PE_TEXT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

/** No number of any dtype prints longer than this. */
#define PE_NUMBER_TEXT_MAX 32

/**
 * Write the shortest JSON number that reads back to the same value of `dtype`; of the shortest, the
 * nearest to the value. Fixed notation for 1e-6 <= |v| < 1e21 (as ECMAScript's Number::toString,
 * which is what browsers print: 0.000001, 1e-7, 123456789012345680000, 1e21 as "1e+21"), exponent
 * form else. Integral values print without ".0", those below 2^53 with all their digits (the
 * float32 123456792, not 123456790). -0 prints "-0". `value` must be a value of dtype, finite;
 * infinities and NaN print `null`.
 *
 * Returns how many bytes the text has (no NUL). `out` has room for PE_NUMBER_TEXT_MAX, of which
 * those behind the text may be written too.
 */
size_t pe_number_print(pe_dtype dtype, double value, char *out);

/**
 * Print n elements of dtype at `data` (packed little-endian, any alignment), each followed by
 * `separator` except the last. out needs n * PE_NUMBER_TEXT_MAX bytes. Returns the bytes written.
 */
size_t pe_numbers_print(pe_dtype dtype, const void *data, size_t n, char separator, char *out);

/**
 * Choose how pe_numbers_print works on blocks, by name: "auto", "baseline", "v3", "v4" or "vbmi2".
 * All give the same text. False when there is no such variant or this CPU cannot run it; the one
 * in use then stays, at first the best there is. Threads: once, before others run.
 */
bool pe_blocks_select(const char *name);

/** What pe_scan_number found. */
typedef enum pe_scan {
    PE_SCAN_OK,
    PE_SCAN_NOT_A_NUMBER, /* not the JSON number grammar (nan, inf, hex, "+1", "1.", ".5", "01"
                             refused) */
    PE_SCAN_OVERFLOW      /* a number, but beyond the largest finite double: 1e999 */
} pe_scan;

/**
 * Read one JSON number (RFC 8259 grammar) at the start of [text, text + bytes) into the nearest
 * double (ties to even, any number of digits). *used tells how many bytes it took. Not
 * NUL-terminated input.
 */
pe_scan pe_scan_number(const char *text, size_t bytes, double *out, size_t *used);

/**
 * Read a JSON array of numbers, nested to any depth up to PE_MAX_DIMS, rectangular, white space
 * allowed, straight into an array of dtype: each number is rounded once, from its decimal digits to
 * dtype (float32: not through double unless the result provably does not depend on it).
 *
 * text starts at '['. *used: bytes up to and including the matching ']'.
 * Errors   MALFORMED_REQUEST (bad JSON, a number beyond any double), INVALID_PARAMETER (JSON that
 * is no such array: a string or null among the numbers, ragged rows, depth over PE_MAX_DIMS; a
 *          number that overflows dtype), TOO_MANY_ELEMENTS (more than max_elements), INTERNAL
 * (memory). why->where is `name` or "name/3/2", the indices of the element at fault; detail names
 * it.
 */
pe_status pe_scan_numbers(const char *text, size_t bytes, pe_dtype dtype, const char *name,
                          size_t max_elements, pe_array *out, size_t *used,
                          pe_problem *why) PE_MUST_CHECK;

#endif
