/* SPDX-License-Identifier: MIT */
/* buffer.c - a growable run of bytes. */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"

static bool grow(pe_buffer *buffer, size_t bytes)
{
    size_t need;
    if (buffer->failed || !pe_size_add(buffer->bytes, bytes, &need)) {
        buffer->failed = true;
        return false;
    }
    if (need <= buffer->capacity)
        return true;
    size_t capacity = buffer->capacity < 64 ? 64 : buffer->capacity;
    while (capacity < need)
        if (!pe_size_mul(capacity, 2, &capacity))
            capacity = need;
    char *data = realloc(buffer->data, capacity);
    if (data == NULL) {
        buffer->failed = true;
        return false;
    }
    pe_memory_use_huge_pages(data, capacity);
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void pe_buffer_add(pe_buffer *buffer, const void *data, size_t bytes)
{
    if (bytes == 0 || !grow(buffer, bytes))
        return;
    memcpy(buffer->data + buffer->bytes, data, bytes);
    buffer->bytes += bytes;
}

void pe_buffer_str(pe_buffer *buffer, const char *text)
{
    pe_buffer_add(buffer, text, strlen(text));
}

void pe_buffer_format(pe_buffer *buffer, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length >= 0 && grow(buffer, (size_t)length + 1)) {
        vsnprintf(buffer->data + buffer->bytes, (size_t)length + 1, format, again);
        buffer->bytes += (size_t)length;
    } else {
        buffer->failed = true;
    }
    va_end(again);
}

/* Bytes of the UTF-8 sequence at s (RFC 3629: no overlong forms, no surrogates), 0 when it is none.
 */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    const size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

void pe_buffer_json_string(pe_buffer *buffer, const char *text)
{
    pe_buffer_str(buffer, "\"");
    for (const unsigned char *s = (const unsigned char *)text; *s != 0;) {
        const size_t length = utf8_length(s);
        if (*s == '"' || *s == '\\')
            pe_buffer_format(buffer, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            pe_buffer_format(buffer, "\\u%04x", (unsigned)*s);
        else if (length == 0)
            pe_buffer_str(buffer, "\xef\xbf\xbd");
        else
            pe_buffer_add(buffer, s, length);
        s += length == 0 ? 1 : length;
    }
    pe_buffer_str(buffer, "\"");
}

char *pe_buffer_reserve(pe_buffer *buffer, size_t bytes)
{
    return grow(buffer, bytes) ? buffer->data + buffer->bytes : NULL;
}

const char *pe_buffer_text(pe_buffer *buffer)
{
    if (!grow(buffer, 1))
        return "";
    buffer->data[buffer->bytes] = '\0';
    return buffer->data;
}

void pe_buffer_free(pe_buffer *buffer)
{
    free(buffer->data);
    *buffer = (pe_buffer){0};
}
