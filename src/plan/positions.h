/* SPDX-License-Identifier: MIT */
/* positions.h - the positions a request asks for: a range, or a list. */
#ifndef PE_PLAN_POSITIONS_H
#define PE_PLAN_POSITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/buffer.h"

/**
 * Position r is first + r*step (list == NULL) or list[r]. Magnitudes are below 2^53, so every
 * integer position is an exact double. A list whose entries are integers of constant step is
 * normalised to a range by pe_positions_from_list, so equal positions have one form.
 */
typedef struct pe_positions {
    size_t count;
    int64_t first, step;
    double *list;    /* owned; NULL for a range */
    bool fractional; /* some list entry is not an integer */
    pe_shape shape;  /* as given: [count], [batch, n] or [axes, n], or [axes, batch, n];
                      * elements == count. Several axes have a list. */
} pe_positions;

/** Magnitudes must be below this. */
#define PE_POSITION_LIMIT 9007199254740992.0 /* 2^53 */

/** Position r, exact. */
double pe_positions_at(const pe_positions *positions, size_t r);

/** first, first+step, ... ; count > 0. */
pe_positions pe_positions_range(int64_t first, int64_t step, size_t count);

/**
 * Parse "a:b", "a:b:step", "5", "1,5,9" (a, b, step integers; list entries may be fractional), or
 * several of these, equally long, with semicolons between them: [rows, n].
 * Errors  MALFORMED_REQUEST (does not parse), INVALID_PARAMETER (fractional or zero step, empty or
 *         reversed range, beyond 2^53, rows of different lengths), TOO_MANY_ELEMENTS (more than
 *         max_count in all).
 */
pe_status pe_positions_parse(const char *text, size_t bytes, const char *name, size_t max_count,
                             pe_positions *out, pe_problem *why) PE_MUST_CHECK;

/** Take a float64 array (ownership moves); normalises constant integer steps of 1-D lists. */
pe_status pe_positions_from_list(pe_array *list, const char *name, pe_positions *out,
                                 pe_problem *why) PE_MUST_CHECK;

/** Positions [first, first + n) as positions of their own, [n]: one row of several. */
pe_status pe_positions_row(const pe_positions *from, size_t first, size_t n, pe_positions *out,
                           pe_problem *why) PE_MUST_CHECK;

/** Canonical text: a:b[:step] with b = last +- 1, or a comma-separated list; of [rows, n] one for
 * each row, with semicolons between them. Three axes have no text: only transforms take them, and
 * transforms have no URL. */
void pe_positions_print(const pe_positions *positions, pe_buffer *out);

/** A copy of its own, for what outlives the request's values. */
pe_status pe_positions_copy(const pe_positions *from, pe_positions *out,
                            pe_problem *why) PE_MUST_CHECK;
void pe_positions_free(pe_positions *positions);

#endif
