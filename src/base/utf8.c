/* SPDX-License-Identifier: MIT */
/* utf8.c - whether text is UTF-8. */
#include "base/utf8.h"

/* By the first byte, 0 when no sequence begins with it. */
static size_t length_by(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* The second byte rules out overlong forms, surrogates and what lies past U+10FFFF. */
static bool second_fits(unsigned char first, unsigned char second)
{
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

size_t pe_utf8_length(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    const size_t length = bytes > 0 ? length_by(at[0]) : 0;
    if (length > bytes || (length > 1 && !second_fits(at[0], at[1])))
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
