/* SPDX-License-Identifier: MIT */
/* percent.h - percent-encoded text (RFC 3986, 2.1). */
#ifndef PE_BASE_PERCENT_H
#define PE_BASE_PERCENT_H

#include <stdbool.h>
#include <stddef.h>

/** The value of the two hexadecimal digits after a '%' at `at`; -1: there are none before `end`. */
int pe_percent_byte(const char *at, const char *end);

/** Decode in place and set *bytes; false: a '%' without two hexadecimal digits. A plus sign is
 * itself. */
bool pe_percent_decode(char *text, size_t *bytes);

#endif
