/* SPDX-License-Identifier: MIT */
/* coding.h - content codings: of whole bytes, of a stream in pieces, and whether it is worth it. */
#ifndef PE_HTTP_REPLY_CODING_H
#define PE_HTTP_REPLY_CODING_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
#include "formats/stream.h"
#include "http/request/wanted.h"

/** "gzip"; NULL for identity. */
const char *pe_coding_name(pe_coding coding);

/** What the coded bytes depend on beside the content: the library and its version. Part of tags. */
const char *pe_coding_maker(pe_coding coding);

/** How bytes are coded: at once, for an answer that is kept; or a stream, of numbers as text or of
 * bytes that are packed (base64). */
typedef enum pe_coding_way {
    PE_CODING_WHOLE,
    PE_CODING_STREAMED_TEXT,
    PE_CODING_STREAMED_PACKED,
    PE_CODING_WAYS
} pe_coding_way;

/** What coding so many bytes costs, in units (plan/price.h). */
uint64_t pe_coding_work(pe_coding coding, pe_coding_way way, uint64_t bytes);

/**
 * Code the bytes, when that saves a fifth of them at least; else *out stays empty, as the caller
 * made it.   Errors  OVERLOADED (memory).
 */
pe_status pe_coding_apply(pe_coding coding, const char *data, size_t bytes, pe_buffer *out,
                          pe_problem *why) PE_MUST_CHECK;

/* ---- a stream ---- */

/**
 * The coded form of a stream, pulled as the stream itself is. It takes little memory, since
 * hundreds of stalled readers may hold one each: for gzip next to none, for zstd 40 KB. (Threads
 * that code keep 600 KB each, which pe_coder_kept_bytes tells of all.) The bytes are always the
 * same. One thread at a time.
 */
typedef struct pe_coder pe_coder;

/** Reads from stream, which is borrowed. coding is not identity.   Errors  OVERLOADED (memory). */
pe_status pe_coder_make(pe_coding coding, pe_stream *stream, pe_coder **out,
                        pe_problem *why) PE_MUST_CHECK;
void pe_coder_free(pe_coder *coder); /* accepts NULL */

/** Append the next coded bytes; at the end there are none. About a millisecond. */
pe_status pe_coder_read(pe_coder *coder, pe_buffer *out, pe_problem *why) PE_MUST_CHECK;

/** Append the coded form of what the stream gives next, *most bytes at most; *most is then how many
 * there were.   Errors  OVERLOADED (memory); those of the stream. */
pe_status pe_coder_apply(pe_coding coding, pe_stream *stream, uint64_t *most, pe_buffer *out,
                         pe_problem *why) PE_MUST_CHECK;

/** The share of its size that a stream will keep when it is coded, as samples from all over it,
 * coded the same way, tell; 1 for identity, and for a stream that reduces. The stream then stands
 * at its beginning.   Errors  OVERLOADED (memory). */
pe_status pe_coder_share(pe_coding coding, pe_stream *stream, double *out,
                         pe_problem *why) PE_MUST_CHECK;

/** Threads  any. */
size_t pe_coder_kept_bytes(void);

#endif
