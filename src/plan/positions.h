/* SPDX-License-Identifier: MIT */
/* positions.h - the positions a request asks for: a range, or a list. */
#ifndef PE_PLAN_POSITIONS_H
#define PE_PLAN_POSITIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/slice.h"

/** One row of several: (first + i*step) / 10^places; of step 0 it is listed, list[first + i] of the
 * positions. */
typedef struct pe_positions_row {
    int64_t first, step;
    size_t places;
} pe_positions_row;

/**
 * Without `rows`, position r is (first + r*step) / 10^places (list == NULL) or list[r]. Magnitudes
 * are below 2^53, so every integer position is an exact double. Those of a fractional range have at
 * most 15 digits; each is the double nearest its decimal, as if it had been listed. A list on one
 * axis whose entries are integers of constant step is normalised to a range by
 * pe_positions_from_list, so equal integer positions have one form.
 *
 * Several axes have a list, or where some row of them was given as a range, `rows`: a range is held
 * as one and costs nothing, however long it is, and the list holds the other rows. Code that knows
 * only of ranges and lists looks at the rows one by one, as pe_positions_part gives them.
 */
typedef struct pe_positions {
    size_t count;
    int64_t first, step;
    size_t places;          /* decimal places of a range; 0 of integers */
    double *list;           /* owned, with its other holders; NULL for a range */
    atomic_size_t *holders; /* of the list: their number; NULL: one */
    pe_positions_row *rows; /* owned; of shape [rows, n] some row of which is a range, else NULL */
    bool fractional;        /* some position is not an integer */
    pe_shape shape;         /* as given: [count], [batch, n] or [axes, n], or [axes, batch, n];
                             * elements == count */
} pe_positions;

/** Magnitudes must be below this; those of a fractional range, in units of its last decimal place,
 * below the other, so that no two have one double. */
#define PE_POSITION_LIMIT       9007199254740992.0 /* 2^53 */
#define PE_POSITION_LIMIT_UNITS 1e15

/** Position r, exact. */
double pe_positions_at(const pe_positions *positions, size_t r);

/** Parts, one after the other, each of which is a range or a list: 1, or as many as there are
 * rows. */
size_t pe_positions_parts(const pe_positions *positions);

/**
 * Part k of `parts` equal ones, as positions [count / parts] of their own that borrow the list.
 * Positions with `rows` have no parts but those.
 */
pe_positions pe_positions_part(const pe_positions *positions, size_t k, size_t parts);

/** The least and the greatest. */
void pe_positions_bounds(const pe_positions *positions, double *least, double *most);

/** first, first+step, ... ; count > 0. */
pe_positions pe_positions_range(int64_t first, int64_t step, size_t count);

/** The same in units of 10^-places, which is at most 15; of as few places as hold them all. */
pe_positions pe_positions_decimal_range(int64_t first, int64_t step, size_t count, size_t places);

/**
 * Parse "a:b", "a:b:step", "5", "1,5,9" (all of them may be fractional), or several of these,
 * equally long, with semicolons between them: [rows, n]. What it allocates is a few times the text
 * at most.
 * Errors  MALFORMED_REQUEST (does not parse), INVALID_PARAMETER (zero step, empty or reversed
 *         range, a fractional one of more than 15 digits, beyond 2^53, rows of different lengths),
 *         TOO_MANY_ELEMENTS (more than max_count in all).
 */
pe_status pe_positions_parse(pe_slice text, const char *name, size_t max_count, pe_positions *out,
                             pe_problem *why) PE_MUST_CHECK;

/** INVALID_PARAMETER unless all magnitudes are below the limit. *fractional: some is no integer. */
pe_status pe_positions_check(const double *list, size_t count, const char *name, bool *fractional,
                             pe_problem *why) PE_MUST_CHECK;

/** Take a float64 array (ownership moves); normalises constant integer steps of 1-D lists. */
pe_status pe_positions_from_list(pe_array *list, const char *name, pe_positions *out,
                                 pe_problem *why) PE_MUST_CHECK;

/** Canonical text: a:b[:step] with b = last +- 1 (of a fractional range last + step, but no more
 * digits than it may have), or a comma-separated list; of [rows, n] one for
 * each row, with semicolons between them. Three axes have no text: only transforms take them, and
 * transforms have no URL. */
void pe_positions_print(const pe_positions *positions, pe_buffer *out);

/** A copy of its own, to be changed. */
pe_status pe_positions_copy(const pe_positions *from, pe_positions *out,
                            pe_problem *why) PE_MUST_CHECK;
/** A copy that shares the list, which nobody changes: for what outlives the request's values. A
 * list may have millions of numbers. */
pe_status pe_positions_share(const pe_positions *from, pe_positions *out,
                             pe_problem *why) PE_MUST_CHECK;
void pe_positions_free(pe_positions *positions);

#endif
