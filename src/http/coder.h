/* SPDX-License-Identifier: MIT */
/* coder.h - a content coding applied to a stream, block by block. */
#ifndef PE_HTTP_CODER_H
#define PE_HTTP_CODER_H

#include "formats/format.h"
#include "http/coding.h"

/**
 * The coded form of a stream, pulled as the stream itself is. It takes little memory, since
 * hundreds of stalled readers may hold one each: windows of 16 KiB, in all 100 KB for gzip and
 * 220 KB for zstd. The bytes do not depend on how much is read at once. One thread at a time.
 */
typedef struct pe_coder pe_coder;

/** Reads from stream, which is borrowed. coding is not identity.   Errors  INTERNAL (memory). */
pe_status pe_coder_make(pe_coding coding, pe_stream *stream, pe_coder **out,
                        pe_problem *why) PE_MUST_CHECK;
void pe_coder_free(pe_coder *coder); /* accepts NULL */

/** The next bytes, as pe_stream_read. */
pe_status pe_coder_read(pe_coder *coder, void *out, size_t bytes, size_t *got,
                        pe_problem *why) PE_MUST_CHECK;

#endif
