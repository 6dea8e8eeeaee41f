/* SPDX-License-Identifier: MIT */
/* scan.h - text as correctly rounded numbers. */
#ifndef PE_TEXT_SCAN_H
#define PE_TEXT_SCAN_H

#include <stddef.h>

#include "base/array.h"
#include "base/slice.h"

/** What pe_scan_number found. */
typedef enum pe_scan {
    PE_SCAN_OK,
    PE_SCAN_NOT_A_NUMBER, /* not of JSON's grammar: nan, inf, hex, "+1", "1.", ".5", "01" */
    PE_SCAN_OVERFLOW      /* a number, but beyond the largest finite double: 1e999 */
} pe_scan;

/**
 * Read one JSON number (RFC 8259 grammar) at the start of [text, text + bytes) into the nearest
 * double (ties to even, any number of digits). *used tells how many bytes it took. Not
 * NUL-terminated input.
 */
pe_scan pe_scan_number(const char *text, size_t bytes, double *out, size_t *used);

/** The array that is expected. */
typedef struct pe_scan_wanted {
    const char *name; /* what problems call it */
    pe_dtype dtype;
    size_t max_elements;
    bool takes_null; /* as -inf: a masked bias */
} pe_scan_wanted;

/**
 * Read a JSON array of numbers, nested to any depth up to PE_MAX_DIMS, rectangular, white space
 * allowed, straight into an array of the dtype. Each number is rounded once, from its decimal
 * digits to the dtype (to float32 through double only if the result provably does not depend on
 * it).
 *
 * The text starts at '['. *used: bytes up to and including the matching ']'.
 * Errors  MALFORMED_REQUEST (bad JSON, a number beyond any double), INVALID_PARAMETER (JSON that is
 *         no such array: a string or null among the numbers, ragged rows, depth over PE_MAX_DIMS; a
 *         number that overflows the dtype), TOO_MANY_ELEMENTS (more than max_elements), INTERNAL
 *         (memory). why->where is the name, or "name/3/2" with the indices of the element at fault.
 */
pe_status pe_scan_numbers(pe_slice text, const pe_scan_wanted *wanted, pe_array *out, size_t *used,
                          pe_problem *why) PE_MUST_CHECK;

#endif
