/* SPDX-License-Identifier: MIT */
/* rendered.h - decided answers as bytes in memory, and coded. */
#ifndef PE_HTTP_ANSWER_RENDERED_H
#define PE_HTTP_ANSWER_RENDERED_H

#include "http/reply/coding.h"
#include "http/answer/representation.h"

/** How long the answer will be, and whether parts of it may be asked for. */
pe_status pe_representation_measure(pe_representation *representation,
                                    pe_problem *why) PE_MUST_CHECK;

/** Work that may be done in one go, in elements of a plain table: some tenths of a second. What
 * costs more is made in blocks while it is sent, so that it ends when its reader leaves or the
 * server stops. */
#define PE_WHOLE_WORK ((uint64_t)1 << 24)

/** The canonical request in this coding, appended: what the coded bytes, as a whole or in the
 * blocks of a stream, depend on. Fails as buffers do. */
void pe_representation_key(const pe_representation *representation, pe_coding coding,
                           bool in_blocks, pe_buffer *out);

/** The tag of the answer coded as a whole, or in the blocks of a stream, which makes other bytes;
 * false when there is none (transforms). */
bool pe_representation_coded_tag(const pe_representation *representation, pe_coding coding,
                                 bool in_blocks, char out[PE_ETAG_BYTES]);

/** The metadata are from now on those of the coded answer. */
pe_status pe_representation_set_coding(pe_representation *representation, pe_coding coding,
                                       bool in_blocks, pe_problem *why) PE_MUST_CHECK;

/** Render it, or the part, into memory. *data is the caller's, to free. */
pe_status pe_representation_render(pe_representation *representation, const pe_range *range,
                                   char **data, size_t *bytes, pe_problem *why) PE_MUST_CHECK;

#endif
