/* SPDX-License-Identifier: MIT */
/* nest.h - numbers as nested JSON arrays. */
#ifndef PE_TESTS_SUPPORT_NEST_H
#define PE_TESTS_SUPPORT_NEST_H

#include <stddef.h>

#include "base/buffer.h"

/** Append data [shape] as JSON arrays, each number to 17 digits. */
void nest(const double *data, const size_t *shape, size_t ndim, pe_buffer *out);

#endif
