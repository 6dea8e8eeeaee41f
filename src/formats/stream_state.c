/* SPDX-License-Identifier: MIT */
/* stream_state.c - a stream is made, stands somewhere, and ends. */
#include "formats/stream_state.h"

#include <stdlib.h>

const pe_tensor *pe_stream_tensor(const pe_stream *stream, size_t i)
{
    return i < stream->segments.n && stream->segments.segment[i].encoder != NULL
               ? pe_segments_tensor(&stream->segments, stream->plan, i)
               : NULL;
}

void pe_stream_enter(pe_stream *stream, size_t i, size_t element)
{
    const pe_tensor *tensor = pe_stream_tensor(stream, i);
    const size_t index = tensor != NULL ? stream->segments.segment[i].tensor : 0;
    stream->segment = i;
    stream->carry.n = 0;
    stream->carry.tensor = index;
    if (i == 0 && element == 0)
        stream->carry = (pe_carry){.tensor = index};
    pe_tensor_blocks_enter(&stream->blocks, index, tensor, element);
}

pe_status pe_stream_make(const pe_plan *plan, const pe_rendering *rendering, pe_stream **out,
                         pe_problem *why)
{
    size_t tensor = 0;
    pe_status status = pe_format_check(plan, rendering, &tensor, why);
    if (status != PE_OK)
        return status;
    pe_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return pe_fail_memory(why);
    stream->plan = stream->blocks.plan = plan;
    stream->end = UINT64_MAX;
    rendering->format->ops->describe(plan, rendering, tensor, &stream->segments);
    if (stream->segments.text.failed) {
        pe_stream_free(stream);
        return pe_fail_memory(why);
    }
    pe_stream_enter(stream, 0, 0);
    *out = stream;
    return PE_OK;
}

void pe_stream_free(pe_stream *stream)
{
    if (stream == NULL)
        return;
    pe_segments_free(&stream->segments);
    pe_tensor_blocks_free(&stream->blocks);
    free(stream->text);
    free(stream);
}

void pe_stream_limit(pe_stream *stream, uint64_t end)
{
    stream->end = end > stream->at ? end : stream->at;
}

void pe_stream_times(const pe_stream *stream, double *compute, double *encode)
{
    *compute = stream->blocks.compute;
    *encode = stream->encode;
}
