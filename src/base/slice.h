/* SPDX-License-Identifier: MIT */
/* slice.h - a part of a longer text. */
#ifndef PE_BASE_SLICE_H
#define PE_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** Borrowed and not NUL-terminated. */
typedef struct pe_slice {
    const char *text;
    size_t bytes;
} pe_slice;

/** How much of a client's text a problem repeats; PE_SLICE_SHOWN goes with "%.*s". */
#define PE_SLICE_SHOWN_MAX 40
#define PE_SLICE_SHOWN(slice)                                                                      \
    (int)((slice).bytes < PE_SLICE_SHOWN_MAX ? (slice).bytes : PE_SLICE_SHOWN_MAX), (slice).text

static inline pe_slice pe_slice_of(const char *text)
{
    return (pe_slice){text, strlen(text)};
}

static inline bool pe_slice_is(pe_slice slice, const char *text)
{
    return strlen(text) == slice.bytes && memcmp(slice.text, text, slice.bytes) == 0;
}

#endif
