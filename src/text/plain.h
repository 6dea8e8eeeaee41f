/* SPDX-License-Identifier: MIT */
/* plain.h - the fast way through long arrays of numbers. */
#ifndef PE_TEXT_PLAIN_H
#define PE_TEXT_PLAIN_H

#include <stddef.h>

#include "base/dtype.h"

/** Text that is read from its start to its end; what comes next is at `at`. */
typedef struct pe_cursor {
    const char *start, *at, *end;
} pe_cursor;

/**
 * Read numbers like -123.456 or -1.5e-7, each with the comma after it (and one space), to `out`.
 * text moves behind the last comma read; it is looked at in pieces that may reach back to its
 * start. Ends without room, near the ends of the text, and at whatever is no such number in dtype's
 * range: the caller reads on, and finds mistakes. Returns how many were read; none of PE_INT32.
 *
 * Shapes   out: [room] dtype.
 */
size_t pe_plain_run(pe_cursor *text, pe_dtype dtype, void *out, size_t room);

#endif
