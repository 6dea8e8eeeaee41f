/* SPDX-License-Identifier: MIT */
/* render.c - the whole of a representation, however it is read. */
#include "support/check.h"
#include "support/render.h"

pe_rendering render_as(const char *format, bool base64, const char *tensor)
{
    return (pe_rendering){.format = pe_format_by_name(format),
                          .base64 = base64,
                          .tensor = tensor,
                          .encoding = "fake",
                          .parameters = "{\"a\":1}"};
}

void render(const pe_plan *plan, const pe_rendering *rendering, uint64_t offset, size_t piece,
            pe_buffer *out)
{
    pe_stream *stream = NULL;
    pe_problem why = {0};
    size_t got = 0;
    if (pe_stream_make(plan, rendering, &stream, &why) != PE_OK)
        fail_msg("no stream: %s", why.detail);
    if (offset > 0 && pe_stream_seek(stream, offset, &why) != PE_OK)
        fail_msg("no seek: %s", why.detail);
    do {
        char *at = pe_buffer_reserve(out, piece);
        assert_non_null(at);
        if (pe_stream_read(stream, at, piece, &got, &why) != PE_OK)
            fail_msg("no read: %s", why.detail);
        assert_true(got <= piece);
        out->bytes += got;
    } while (got > 0 || pe_stream_reduces(stream));
    pe_stream_free(stream);
}

const char *render_text(const pe_plan *plan, const pe_rendering *rendering, pe_buffer *out)
{
    out->bytes = 0;
    render(plan, rendering, 0, 4096, out);
    return pe_buffer_text(out);
}
