/* SPDX-License-Identifier: MIT */
/* percent.c - percent-encoded text. */
#include "base/percent.h"

#include <string.h>

int pe_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 32);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int pe_percent_byte(const char *at, const char *end)
{
    const int high = end - at > 2 && *at == '%' ? pe_hex_digit(at[1]) : -1;
    const int low = high >= 0 ? pe_hex_digit(at[2]) : -1;
    return low >= 0 ? high * 16 + low : -1;
}

bool pe_percent_decode(char *text, size_t *bytes)
{
    const char *from = text, *end = text + *bytes;
    char *to = text;
    while (from < end) {
        const int byte = pe_percent_byte(from, end);
        if (*from == '%' && byte < 0)
            return false;
        *to++ = byte >= 0 ? (char)byte : *from;
        from += byte >= 0 ? 3 : 1;
    }
    *bytes = (size_t)(to - text);
    return true;
}

void pe_percent_encode(pe_slice text, const char *plain, pe_buffer *out)
{
    for (const char *at = text.text, *end = at + text.bytes; at < end; at++) {
        const char lower = (char)(*at | 32);
        const bool letter = (*at >= '0' && *at <= '9') || (lower >= 'a' && lower <= 'z');
        if (letter || (*at != '\0' && strchr(plain, *at) != NULL))
            pe_buffer_add(out, at, 1);
        else
            pe_buffer_format(out, "%%%02X", (unsigned)(unsigned char)*at);
    }
}
