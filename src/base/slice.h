/* SPDX-License-Identifier: MIT */
/* slice.h - a stretch of somebody else's text. */
#ifndef PE_BASE_SLICE_H
#define PE_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** A stretch of text, borrowed, not NUL-terminated. */
typedef struct pe_slice {
    const char *text;
    size_t bytes;
} pe_slice;

/** How much of a client's text a problem repeats: the arguments of "%.*s". */
#define PE_SHOWN_MAX 40
#define PE_SHOWN(slice)                                                                            \
    (int)((slice).bytes < PE_SHOWN_MAX ? (slice).bytes : PE_SHOWN_MAX), (slice).text

static inline pe_slice pe_slice_of(const char *text)
{
    return (pe_slice){text, strlen(text)};
}

static inline bool pe_slice_is(pe_slice slice, const char *text)
{
    return strlen(text) == slice.bytes && memcmp(slice.text, text, slice.bytes) == 0;
}

/** How many pieces there are with `mark` between them: one more than marks. */
static inline size_t pe_slice_pieces(pe_slice text, char mark)
{
    size_t pieces = 1;
    for (size_t i = 0; i < text.bytes; i++)
        pieces += text.text[i] == mark;
    return pieces;
}

/** The piece up to the first `mark`, which is taken off *rest, the mark with it. */
static inline pe_slice pe_slice_next(pe_slice *rest, char mark)
{
    const char *end = rest->bytes != 0 ? memchr(rest->text, mark, rest->bytes) : NULL;
    const pe_slice piece = {rest->text, end != NULL ? (size_t)(end - rest->text) : rest->bytes};
    const size_t taken = piece.bytes + (end != NULL);
    *rest = (pe_slice){rest->text + taken, rest->bytes - taken};
    return piece;
}

#endif
