/* SPDX-License-Identifier: MIT */
/* wanted.h - what a client wants of a representation: in which coding, and which bytes. */
#ifndef PE_HTTP_REQUEST_WANTED_H
#define PE_HTTP_REQUEST_WANTED_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pe_coding { PE_CODING_IDENTITY, PE_CODING_GZIP, PE_CODING_ZSTD, PE_CODINGS } pe_coding;

/** What an Accept-Encoding header says. */
typedef struct pe_accepted_codings {
    int weight[PE_CODINGS]; /* thousandths; -1: not named */
    pe_coding best;         /* the greatest weight; of equal ones zstd, then gzip, then identity */
    bool none;              /* identity is excluded, and no other is taken */
} pe_accepted_codings;

/**
 * Read the header (NULL: identity alone). `*` stands for gzip and identity. plain: no coding but
 * identity is offered.
 * Source  RFC 9110, 12.5.3.
 */
void pe_accept_encoding_read(const char *accept_encoding, bool plain, pe_accepted_codings *out);

/** Does the client take `other` as gladly as the best? */
bool pe_accept_encoding_takes(const pe_accepted_codings *codings, pe_coding other);

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
