/* SPDX-License-Identifier: MIT */
/* stream_state.c - a stream is made, stands somewhere, goes on elsewhere, and ends. */
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
    if (i == 0 && element == 0)
        stream->carry = (pe_carry){0};
    stream->carry.tensor = index;
    base64_encode_init(&stream->carry.base64);
    pe_tensor_blocks_enter(&stream->blocks, index, tensor, element);
}

pe_status pe_stream_make(const pe_plan *plan, const pe_rendering *rendering, pe_stream **out,
                         pe_problem *why)
{
    size_t tensor = 0;
    PE_TRY(pe_format_check(plan, rendering, &tensor, why));
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
    pe_stream_measure(stream);
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

/* ---- elsewhere: at an offset of a range, or near a sample ---- */

/* What was made for the place before is dropped. */
static void leave(pe_stream *stream)
{
    free(stream->text);
    stream->text = NULL;
    stream->pending.bytes = 0;
    stream->skip = 0;
}

static size_t beginning(const pe_stream *stream, const pe_tensor *tensor, uint64_t element)
{
    return element < tensor->elements
               ? pe_tensor_blocks_beginning(stream->plan, tensor, (size_t)element)
               : tensor->elements;
}

/* Stand before the numbers that hold byte `offset` of the segment. */
static void enter_at(pe_stream *stream, size_t i, uint64_t offset)
{
    const pe_encoder *encoder = stream->segments.segment[i].encoder;
    const pe_tensor *tensor = pe_stream_tensor(stream, i);
    stream->skip = offset;
    if (tensor == NULL || tensor->elements == 0) {
        pe_stream_enter(stream, i, 0);
        return;
    }
    const size_t size = pe_dtype_bytes(tensor->dtype);
    const uint64_t raw = encoder->raw_of != NULL ? encoder->raw_of(offset) : offset;
    const size_t element = beginning(stream, tensor, raw / size);
    const uint64_t at = (uint64_t)element * size;
    pe_stream_enter(stream, i, element);
    stream->skip -= encoder->text_of != NULL ? encoder->text_of(at) : at;
}

pe_status pe_stream_seek(pe_stream *stream, uint64_t offset, pe_problem *why)
{
    const uint64_t total = stream->facts.length;
    uint64_t length = 0, left = offset;
    size_t i = 0;
    if (total == UINT64_MAX)
        return pe_fail(why, PE_INTERNAL, "", "a representation of unknown length has no offsets");
    if (offset > total)
        return pe_fail(why, PE_RANGE_NOT_SATISFIABLE, "", "offset %llu is past the end, %llu",
                       (unsigned long long)offset, (unsigned long long)total);
    leave(stream);
    stream->at = offset;
    while (i < stream->segments.n && pe_stream_segment_length(stream, i, &length) &&
           left >= length) {
        left -= length;
        i++;
    }
    if (i < stream->segments.n)
        enter_at(stream, i, left);
    else
        pe_stream_enter(stream, i, 0);
    return PE_OK;
}

void pe_stream_restart(pe_stream *stream)
{
    leave(stream);
    stream->at = 0;
    pe_stream_enter(stream, 0, 0);
}

void pe_stream_sample(pe_stream *stream, size_t part, size_t parts)
{
    size_t elements = 0, i = 0;
    for (size_t s = 0; s < stream->segments.n; s++) {
        const pe_tensor *tensor = pe_stream_tensor(stream, s);
        elements += tensor != NULL ? tensor->elements : 0;
    }
    size_t element = elements / parts * part, start = 0;
    leave(stream);
    for (; i < stream->segments.n; i++) {
        const pe_tensor *tensor = pe_stream_tensor(stream, i);
        if (tensor == NULL)
            continue;
        if (element < tensor->elements) {
            start = beginning(stream, tensor, element);
            break;
        }
        element -= tensor->elements;
    }
    pe_stream_enter(stream, i, start);
}
