/* SPDX-License-Identifier: MIT */
/* representation_render.h - planned representations as bytes in memory, and coded. */
#ifndef PE_HTTP_ANSWER_REPRESENTATION_RENDER_H
#define PE_HTTP_ANSWER_REPRESENTATION_RENDER_H

#include "http/answer/representation.h"
#include "http/reply/coding.h"

/** Work that may be done in one go, in elements of a plain table: some tenths of a second. What
 * costs more is made in blocks while it is sent, so that it ends when its reader leaves or the
 * server stops. */
#define PE_WHOLE_WORK ((uint64_t)1 << 24)

/** The canonical request in this coding, appended: what the coded bytes, as a whole or in the
 * blocks of a stream, depend on. Fails as buffers do. */
void pe_representation_key(const pe_representation *representation, pe_coding coding,
                           bool in_blocks, pe_buffer *out);

/** The tag of the representation coded as a whole, or in the blocks of a stream, which makes other
 * bytes; false when there is none (transforms). */
bool pe_representation_coded_tag(const pe_representation *representation, pe_coding coding,
                                 bool in_blocks, char out[PE_ETAG_BYTES]);

/** The metadata is from now on that of the coded representation. */
pe_status pe_representation_set_coding(pe_representation *representation, pe_coding coding,
                                       bool in_blocks, pe_problem *why) PE_MUST_CHECK;

/** Render it, or the part that the range says (NULL: the whole), into memory. Uses its stream.
 * *out is zeroed by the caller, who frees it. */
pe_status pe_representation_render(pe_representation *representation, const pe_range *range,
                                   pe_buffer *out, pe_problem *why) PE_MUST_CHECK;

/** Place its stream, made again if it was used, at the first byte that the range asks for, to end
 * after the last. */
pe_status pe_representation_seek(pe_representation *representation, const pe_range *range,
                                 pe_problem *why) PE_MUST_CHECK;

#endif
