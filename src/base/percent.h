/* SPDX-License-Identifier: MIT */
/* percent.h - percent-encoded text (RFC 3986, 2.1). */
#ifndef PE_BASE_PERCENT_H
#define PE_BASE_PERCENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/slice.h"

/** The value of a hexadecimal digit of either case; -1: it is none. */
int pe_hex_digit(char c);

/** The value of the two hexadecimal digits after a '%' at `at`; -1: there are none before `end`. */
int pe_percent_byte(const char *at, const char *end);

/** Decode in place and set *bytes; false: a '%' without two hexadecimal digits. A plus sign is
 * itself. */
bool pe_percent_decode(char *text, size_t *bytes);

/** Append the text with all bytes encoded but letters, digits and those of `plain`. */
void pe_percent_encode(pe_slice text, const char *plain, pe_buffer *out);

#endif
