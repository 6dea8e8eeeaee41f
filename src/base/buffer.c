/* SPDX-License-Identifier: MIT */
/* buffer.c - a growable run of bytes. */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/utf8.h"

static bool grow(pe_buffer *buffer, size_t bytes)
{
    size_t need;
    if (buffer->failed || !pe_size_add(buffer->bytes, bytes, &need)) {
        buffer->failed = true;
        return false;
    }
    if (need <= buffer->capacity)
        return true;
    /* What is large at once is mostly all that comes. */
    size_t capacity = buffer->capacity > 0 ? buffer->capacity : need > 4096 ? need : 64;
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

void pe_buffer_little(pe_buffer *buffer, uint64_t number, size_t bytes)
{
    for (size_t b = 0; b < bytes; b++) {
        const char byte = (char)(b < 8 ? number >> (8 * b) : 0);
        pe_buffer_add(buffer, &byte, 1);
    }
}

char *pe_buffer_take(pe_buffer *buffer)
{
    (void)pe_buffer_text(buffer);
    char *text = buffer->failed ? NULL : buffer->data;
    if (buffer->failed)
        free(buffer->data);
    *buffer = (pe_buffer){0};
    return text;
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

void pe_buffer_json_string(pe_buffer *buffer, const char *text)
{
    const char *end = text + strlen(text);
    pe_buffer_str(buffer, "\"");
    for (const char *s = text; s < end;) {
        const size_t length = pe_utf8_length(s, (size_t)(end - s));
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            pe_buffer_format(buffer, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            pe_buffer_format(buffer, "\\u%04x", (unsigned)c);
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

void pe_buffer_fit(pe_buffer *buffer)
{
    char *fitting =
        buffer->data != NULL ? realloc(buffer->data, buffer->bytes > 0 ? buffer->bytes : 1) : NULL;
    if (fitting != NULL) {
        buffer->data = fitting;
        buffer->capacity = buffer->bytes;
    }
}

void pe_buffer_free(pe_buffer *buffer)
{
    free(buffer->data);
    *buffer = (pe_buffer){0};
}
