/* SPDX-License-Identifier: MIT */
/* json_string.c - the text of one JSON string, decoded. */
#include "api/json_string.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* What is left to decode, and where the decoded text goes: it is never longer. */
typedef struct decoder {
    const char *at, *end;
    char *to;
} decoder;

/* Four hexadecimal digits, or -1. */
static long take_hex(decoder *d)
{
    long code = 0;
    if (d->end - d->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef";
        const char c = *d->at++;
        const char *digit = memchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c, 16);
        if (digit == NULL)
            return -1;
        code = code * 16 + (digit - digits);
    }
    return code;
}

static void put_utf8(decoder *d, unsigned long code)
{
    if (code < 0x80) {
        *d->to++ = (char)code;
        return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *d->to++ = (char)(lead[more] | (code >> (6 * more)));
    for (int i = more - 1; i >= 0; i--)
        *d->to++ = (char)(0x80 | (code >> (6 * i) & 0x3f));
}

/* \uXXXX, or two of them for a character past U+FFFF. NUL ends our strings and is refused. */
static bool take_unicode(decoder *d)
{
    long code = take_hex(d);
    if (code >= 0xd800 && code < 0xdc00) {
        if (d->end - d->at < 2 || d->at[0] != '\\' || d->at[1] != 'u')
            return false;
        d->at += 2;
        const long low = take_hex(d);
        if (low < 0xdc00 || low > 0xdfff)
            return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code <= 0xdfff) {
        return false;
    }
    if (code <= 0)
        return false;
    put_utf8(d, (unsigned long)code);
    return true;
}

static bool take_escape(decoder *d)
{
    static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    if (d->at == d->end)
        return false;
    const char c = *d->at++;
    if (c == 'u')
        return take_unicode(d);
    const char *name = memchr(names, c, sizeof names - 1);
    if (name == NULL)
        return false;
    *d->to++ = means[name - names];
    return true;
}

static bool decode(decoder *d)
{
    while (d->at < d->end) {
        const char c = *d->at++;
        if (c == '\\') {
            if (!take_escape(d))
                return false;
        } else if (c == '"' || (unsigned char)c < 0x20) {
            return false;
        } else {
            *d->to++ = c;
        }
    }
    return true;
}

pe_status pe_json_string_decode(pe_slice json, const char *place, char **out, pe_problem *why)
{
    char *text = malloc(json.bytes + 1);
    if (text == NULL)
        return pe_fail_memory(why);
    decoder d = {.at = json.text + 1, .end = json.text + json.bytes - 1, .to = text};
    if (json.bytes < 2 || json.text[0] != '"' || *d.end != '"' || !decode(&d) ||
        !pe_utf8_valid(text, (size_t)(d.to - text))) {
        free(text);
        return pe_fail(why, PE_MALFORMED_REQUEST, place,
                       "a string must be JSON in UTF-8 without NUL, got %.*s", PE_SHOWN(json));
    }
    *d.to = '\0';
    *out = text;
    return PE_OK;
}
