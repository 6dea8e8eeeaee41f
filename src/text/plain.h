/* SPDX-License-Identifier: MIT */
/* plain.h - the fast way through long arrays of numbers. */
#ifndef PE_TEXT_PLAIN_H
#define PE_TEXT_PLAIN_H

#include <stddef.h>

#include "base/array.h"

/**
 * Read numbers of the form -123.456, each with the comma after it (and one space), to `out` for as
 * long as they are in dtype's range, there is room, and the ends of the text are not near. *text
 * moves behind the last comma read; `start` is where the text begins, which is looked at in pieces
 * that may reach back. Whatever ends the run, mistakes included, is left to the caller. Returns how
 * many were read; none of PE_INT32.
 *
 * Shapes   out: [room] dtype.
 */
size_t pe_plain_run(const char *start, const char **text, const char *end, pe_dtype dtype,
                    void *out, size_t room);

#endif
