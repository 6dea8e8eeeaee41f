/* SPDX-License-Identifier: MIT */
/* utf8.c - is it UTF-8? */
#include "api/utf8.h"

/* Bytes of the sequence that begins with this byte, 0 when none does. */
static size_t sequence_bytes(unsigned char first)
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

bool pe_utf8_valid(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + bytes;
    while (at < end) {
        size_t n = sequence_bytes(*at);
        if (n == 0 || (size_t)(end - at) < n || (n > 1 && !second_fits(at[0], at[1])))
            return false;
        for (size_t i = 2; i < n; i++)
            if ((at[i] & 0xc0) != 0x80)
                return false;
        at += n;
    }
    return true;
}
