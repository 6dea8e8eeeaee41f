/* SPDX-License-Identifier: MIT */
/* framing.h - where requests begin and end in the bytes that arrive. */
#ifndef PE_HTTP_CONNECTION_FRAMING_H
#define PE_HTTP_CONNECTION_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/** What comes next. */
typedef enum pe_framing_part {
    PE_FRAMING_HEADER, /* a request line, fields, and the empty line */
    PE_FRAMING_BODY,   /* of a length that was declared */
    PE_FRAMING_SIZE,   /* the line before a chunk */
    PE_FRAMING_CHUNK,
    PE_FRAMING_CHUNK_END,
    PE_FRAMING_TRAILER,
    PE_FRAMING_OVER /* the client closes: nothing is read any more */
} pe_framing_part;

/** A place in the header that is being read. */
typedef struct pe_framing_text {
    uint32_t at, bytes;
} pe_framing_text;

/** What the header that is being read says so far. */
typedef struct pe_framing_header {
    uint32_t at;     /* bytes whose lines have been read */
    uint32_t fields; /* lines */
    uint32_t expect; /* where Expect stands; 0: nowhere */
    bool begun, http_1_0, head, closes;
    uint8_t hosts, lengths, codings; /* how often; 2 stands for more, too */
    uint64_t length;                 /* Content-Length */
    pe_framing_text target, id;      /* id: X-Request-Id */
} pe_framing_header;

/**
 * A connection's reader. Starts zeroed.
 *
 * A header, the line before a chunk and a line of a trailer pass when they are whole; of a body
 * each byte passes. So the library sees no header that is not whole and sound, and two readers of
 * the bytes, a proxy and we, cannot take them for different requests.
 */
typedef struct pe_framing {
    pe_framing_part part;
    pe_framing_header header;
    uint64_t left;         /* of a body or chunk */
    size_t trailer_bytes;  /* so far */
    uint64_t requests;     /* headers that passed */
    const char *complaint; /* once refused: one sentence */
} pe_framing;

/** Bytes that have arrived: the first `passed` may be read, those from there to `bytes` wait for
 * more. */
typedef struct pe_arrived {
    char *data;
    size_t bytes, passed;
} pe_arrived;

typedef struct pe_framing_limits {
    size_t header_bytes; /* with field_bytes for each field; of a trailer, too */
    size_t field_bytes;
} pe_framing_limits;

/**
 * Read on from arrived->passed. Changes what the library would misread: spaces at the end of a
 * value move to its front, Cookie, and Expect without a body, become fields that it does not read,
 * a chunk's extension becomes zeros before its size, and trailers are taken out, so that there are
 * fewer bytes.
 *
 * Source  RFC 9112, sections 2.2, 3, 5, 6, 7.1; RFC 9110, 5.5, 5.6.2, 7.2.
 * Errors  MALFORMED_REQUEST, HEADER_TOO_LARGE, BODY_TOO_LARGE, with framing->complaint: what waits
 *         then is the request that is refused.
 */
pe_status pe_framing_read(pe_framing *framing, const pe_framing_limits *limits,
                          pe_arrived *arrived) PE_MUST_CHECK;

#endif
