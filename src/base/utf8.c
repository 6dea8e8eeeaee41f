/* SPDX-License-Identifier: MIT */
/* utf8.c - whether text is UTF-8. */
#include "base/utf8.h"

size_t pe_utf8_length(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    if (bytes == 0)
        return 0;
    /* By the first byte; 0 when no sequence begins with it. */
    const size_t length = at[0] < 0x80                   ? 1
                          : at[0] < 0xc2 || at[0] > 0xf4 ? 0
                          : at[0] < 0xe0                 ? 2
                          : at[0] < 0xf0                 ? 3
                                                         : 4;
    if (length > bytes)
        return 0;
    /* The second byte rules out overlong forms, surrogates and what lies past U+10FFFF. */
    const unsigned char low = at[0] == 0xe0 ? 0xa0 : at[0] == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = at[0] == 0xed ? 0x9f : at[0] == 0xf4 ? 0x8f : 0xbf;
    if (length > 1 && (at[1] < low || at[1] > high))
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

bool pe_utf8_valid(const char *text, size_t bytes)
{
    for (size_t at = 0, length; at < bytes; at += length)
        if ((length = pe_utf8_length(text + at, bytes - at)) == 0)
            return false;
    return true;
}

void pe_hide_controls(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c != '\0'; c++) {
        const bool wide = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0; /* U+0080 to U+009F */
        if (wide)
            *c++ = '?';
        if (wide || *c < ' ' || *c == 0x7f)
            *c = '?';
    }
}
