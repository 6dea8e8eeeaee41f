/* SPDX-License-Identifier: MIT */
/* scan.h - text as correctly rounded numbers. */
#ifndef PE_TEXT_SCAN_H
#define PE_TEXT_SCAN_H

#include <stddef.h>

#include "base/array.h"

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
