/* SPDX-License-Identifier: MIT */
/* utf8.h - is it UTF-8? */
#ifndef PE_API_UTF8_H
#define PE_API_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/** Well-formed UTF-8: no overlong forms, surrogates, or code points past U+10FFFF.
 *
 * Source  RFC 3629 section 4.
 */
bool pe_utf8_valid(const char *text, size_t bytes);

#endif
