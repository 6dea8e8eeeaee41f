/* SPDX-License-Identifier: MIT */
/* utf8.h - whether text is UTF-8, and has control characters. */
#ifndef PE_BASE_UTF8_H
#define PE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Bytes of the sequence at the start of [text, text + bytes), 0 when none begins there: no overlong
 * forms, surrogates, or code points past U+10FFFF.
 *
 * Source  RFC 3629 section 4.
 */
size_t pe_utf8_length(const char *text, size_t bytes);

/** Whether the text is made of such sequences throughout. */
bool pe_utf8_valid(const char *text, size_t bytes);

/** Control characters, which a terminal would obey, become question marks. */
void pe_hide_controls(char *text);

#endif
