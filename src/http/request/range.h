/* SPDX-License-Identifier: MIT */
/* range.h - which bytes of a representation a client wants. */
#ifndef PE_HTTP_REQUEST_RANGE_H
#define PE_HTTP_REQUEST_RANGE_H

#include <stdint.h>

/** Content-Range: "bytes ", three numbers of twenty digits, "-", "/", NUL. */
#define PE_RANGE_TEXT_BYTES 72

typedef enum pe_range_kind {
    PE_RANGE_WHOLE, /* no range, one that is not read, or one whose condition fails */
    PE_RANGE_PART,
    PE_RANGE_NOWHERE /* not satisfiable */
} pe_range_kind;

typedef struct pe_range {
    pe_range_kind kind;
    uint64_t first, bytes;          /* of a PART */
    char text[PE_RANGE_TEXT_BYTES]; /* Content-Range of a PART or NOWHERE */
} pe_range;

/**
 * Read a Range header (NULL: whole) against a representation of `length` bytes with this tag. One
 * range of bytes is served; several, other units and what cannot be read are answered whole, as
 * the standard allows. if_range (NULL: none) must be the strong tag.
 * Source  RFC 9110, sections 14.1.2, 14.2, 13.1.5.
 */
void pe_range_read(const char *range, const char *if_range, const char *etag, uint64_t length,
                   pe_range *out);

#endif
