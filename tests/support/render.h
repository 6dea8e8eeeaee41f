/* SPDX-License-Identifier: MIT */
/* render.h - the whole of a representation, however it is read. */
#ifndef PE_TESTS_SUPPORT_RENDER_H
#define PE_TESTS_SUPPORT_RENDER_H

#include "formats/stream.h"

/** A rendering of encoding "fake" with parameters {"a":1}. */
pe_rendering render_as(const char *format, bool base64, const char *tensor);

/** Read everything from `offset` on, at most `piece` bytes at a time; a failure fails the test. */
void render(const pe_plan *plan, const pe_rendering *rendering, uint64_t offset, size_t piece,
            pe_buffer *out);

/** The whole as NUL-terminated text. */
const char *render_text(const pe_plan *plan, const pe_rendering *rendering, pe_buffer *out);

#endif
