/* SPDX-License-Identifier: MIT */
/* buffer.h - a growable run of bytes. */
#ifndef PE_BASE_BUFFER_H
#define PE_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/**
 * Zero-initialise (`pe_buffer b = {0};`), append, pe_buffer_free. Running out of memory is sticky:
 * appends become no-ops, `failed` is set and the caller checks it once at the end.
 */
typedef struct pe_buffer {
    char *data; /* not NUL-terminated, except after pe_buffer_text */
    size_t bytes, capacity;
    bool failed;
} pe_buffer;

void pe_buffer_add(pe_buffer *buffer, const void *data, size_t bytes);
void pe_buffer_str(pe_buffer *buffer, const char *text);
/** Append `bytes` bytes of a number, the least significant one first; those beyond its eighth are 0. */
void pe_buffer_little(pe_buffer *buffer, uint64_t number, size_t bytes);
/** Give the content, NUL-terminated, to the caller, who frees it. NULL: failed. The buffer is empty. */
char *pe_buffer_take(pe_buffer *buffer);
void pe_buffer_format(pe_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Append text as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void pe_buffer_json_string(pe_buffer *buffer, const char *text);
/** Make room for `bytes` more and return where they go; NULL when memory ran out. The caller adds
 * what it wrote to buffer->bytes. */
char *pe_buffer_reserve(pe_buffer *buffer, size_t bytes);
/** NUL-terminated view of the content, "" when failed or empty. Valid until the next append. */
const char *pe_buffer_text(pe_buffer *buffer);
/** Give back what was not written to. Where that fails, the larger one will do. */
void pe_buffer_fit(pe_buffer *buffer);
void pe_buffer_free(pe_buffer *buffer);

/** The content; "" when failed or empty. Valid until the next append. */
static inline pe_slice pe_buffer_slice(const pe_buffer *buffer)
{
    return buffer->failed || buffer->bytes == 0 ? (pe_slice){"", 0}
                                                : (pe_slice){buffer->data, buffer->bytes};
}

#endif
