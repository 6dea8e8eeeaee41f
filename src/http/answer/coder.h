/* SPDX-License-Identifier: MIT */
/* coder.h - a content coding applied to a stream, piece by piece. */
#ifndef PE_HTTP_ANSWER_CODER_H
#define PE_HTTP_ANSWER_CODER_H

#include "formats/stream.h"
#include "http/reply/coding.h"

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

/** The next coded bytes: *out is the caller's, to free; NULL at the end. About a millisecond. */
pe_status pe_coder_read(pe_coder *coder, char **out, size_t *bytes, pe_problem *why) PE_MUST_CHECK;

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
