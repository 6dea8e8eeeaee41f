/* SPDX-License-Identifier: MIT */
/* real.h - real numbers of parameters and positions as text. */
#ifndef PE_PLAN_REAL_H
#define PE_PLAN_REAL_H

#include <stddef.h>

#include "base/buffer.h"

/** Append the shortest text of a real number as the canonical form writes it: integers below 2^53
 * have no exponent, and -0 is 0. */
void pe_real_print(double real, pe_buffer *out);

/** Append n of them with commas between them. */
void pe_real_print_list(const double *list, size_t n, pe_buffer *out);

#endif
