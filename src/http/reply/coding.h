/* SPDX-License-Identifier: MIT */
/* coding.h - content codings: coded bytes, and whether they are worth it. */
#ifndef PE_HTTP_REPLY_CODING_H
#define PE_HTTP_REPLY_CODING_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/status.h"
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

/** The most that so many bytes are coded to; what needs more is not worth it. */
size_t pe_coding_room(size_t bytes);

/**
 * Code the bytes, when that saves a fifth of them at least; else *out stays empty, as the caller
 * made it.   Errors  OVERLOADED (memory).
 */
pe_status pe_coding_apply(pe_coding coding, const char *data, size_t bytes, pe_buffer *out,
                          pe_problem *why) PE_MUST_CHECK;

#endif
