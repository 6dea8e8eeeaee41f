/* SPDX-License-Identifier: MIT */
/* stream_size.c - what a stream comes to before it is read: bytes, room, work. */
#include "formats/stream_state.h"

#include "base/size.h"
#include "plan/price.h"
#include "text/blocks.h"
#include "text/number.h"

/* Making a unit of so many elements takes tens of microseconds. */
#define WIDE_ELEMENTS ((size_t)8 << 10)

/* ---- bytes ---- */

bool pe_stream_segment_length(const pe_stream *stream, size_t i, uint64_t *out)
{
    const pe_segment *segment = &stream->segments.segment[i];
    if (segment->encoder != NULL && segment->encoder->length == NULL)
        return false;
    *out = segment->encoder == NULL ? segment->bytes
                                    : segment->encoder->length(pe_stream_tensor(stream, i));
    return true;
}

bool pe_stream_length(const pe_stream *stream, uint64_t *out)
{
    uint64_t sum = 0, length = 0;
    for (size_t i = 0; i < stream->segments.n; i++) {
        if (stream->segments.segment[i].late != NULL || /* no part of it can be made alone */
            !pe_stream_segment_length(stream, i, &length))
            return false;
        sum += length;
    }
    *out = sum;
    return true;
}

uint64_t pe_stream_length_max(const pe_stream *stream)
{
    uint64_t sum = stream->segments.reducer.bytes_max;
    for (size_t i = 0; i < stream->segments.n; i++) {
        const pe_encoder *encoder = stream->segments.segment[i].encoder;
        uint64_t length = 0;
        if (!pe_stream_segment_length(stream, i, &length) && encoder->length_max != NULL)
            length = encoder->length_max(pe_stream_tensor(stream, i));
        sum += length;
    }
    return sum;
}

uint64_t pe_stream_length_usual(const pe_stream *stream)
{
    uint64_t sum = stream->segments.reducer.bytes_max;
    for (size_t i = 0; i < stream->segments.n; i++) {
        const pe_tensor *tensor = pe_stream_tensor(stream, i);
        uint64_t length = 0;
        if (!pe_stream_segment_length(stream, i, &length) &&
            stream->segments.segment[i].encoder != &pe_reduced_encode) /* brackets are few */
            length = (uint64_t)tensor->elements * pe_number_text_usual(tensor->dtype);
        sum += length;
    }
    return sum;
}

/* ---- room ---- */

size_t pe_stream_text_max(const pe_stream *stream, size_t i)
{
    const pe_encoder *encoder = stream->segments.segment[i].encoder;
    const pe_tensor *tensor = pe_stream_tensor(stream, i);
    if (tensor == NULL || encoder == &pe_reduced_encode)
        return 0;
    const size_t most = pe_tensor_blocks_most(tensor);
    return encoder->block_max != NULL ? encoder->block_max(tensor, most)
                                      : most * pe_dtype_bytes(tensor->dtype);
}

size_t pe_stream_room(const pe_stream *stream)
{
    size_t most = (size_t)stream->segments.reducer.bytes_max;
    for (size_t i = 0; i < stream->segments.n; i++) {
        const size_t room = pe_stream_text_max(stream, i);
        most = room > most ? room : most;
    }
    return most;
}

bool pe_stream_is_text(const pe_stream *stream)
{
    return pe_stream_room(stream) > 0;
}

/* ---- work ---- */

uint64_t pe_stream_work(const pe_stream *stream, size_t bytes)
{
    uint64_t most = 0;
    for (size_t i = 0; i < stream->segments.n; i++) {
        const pe_tensor *tensor = pe_stream_tensor(stream, i);
        if (tensor == NULL)
            continue;
        /* Text has no more numbers than as many bytes of binary ones. A unit that cannot be cut is
         * made for the sake of any of its elements. */
        size_t n = bytes / pe_dtype_bytes(tensor->dtype) + 1;
        if (n < tensor->unit && !pe_tensor_blocks_can_cut(stream->plan, tensor))
            n = tensor->unit;
        const uint64_t work = pe_price_times(pe_size_min(n, tensor->elements), tensor->work);
        most = work > most ? work : most;
    }
    return most;
}

uint64_t pe_stream_work_left(const pe_stream *stream)
{
    uint64_t work = 0;
    for (size_t i = stream->segment; i < stream->segments.n; i++) {
        const pe_tensor *tensor = pe_stream_tensor(stream, i);
        const size_t made = i == stream->segment ? stream->blocks.next : 0;
        if (tensor != NULL && made < tensor->elements)
            work = pe_price_plus(work, pe_price_times(tensor->elements - made, tensor->work));
    }
    return work;
}

size_t pe_stream_number_work(const pe_stream *stream, size_t i)
{
    const pe_segment *segment = &stream->segments.segment[i];
    const pe_tensor *tensor = pe_stream_tensor(stream, i);
    if (tensor == NULL || segment->tensor == PE_COLUMNS || segment->encoder->length != NULL ||
        segment->encoder == &pe_reduced_encode)
        return 0;
    const pe_shape *shape = &tensor->shape;
    const size_t of_row = segment->encoder->row_work;
    const bool one = shape->ndim == 0 || (shape->ndim == 1 && of_row > 0);
    const size_t row = one ? 1 : shape->dim[shape->ndim - 1];
    return pe_blocks_work(tensor->dtype, row) + of_row / row;
}

uint64_t pe_stream_text_work(const pe_stream *stream)
{
    uint64_t work = 0;
    for (size_t i = 0; i < stream->segments.n; i++) {
        const uint64_t each = pe_stream_number_work(stream, i);
        if (each > 0)
            work = pe_price_plus(work, pe_price_times(pe_stream_tensor(stream, i)->elements, each));
    }
    return work;
}

uint64_t pe_stream_reduced_work(const pe_stream *stream)
{
    const pe_reducer *reducer = &stream->segments.reducer;
    if (reducer->release == NULL)
        return 0;
    uint64_t work = reducer->work;
    for (size_t i = 0; i < stream->segments.n; i++) {
        const pe_segment *segment = &stream->segments.segment[i];
        if (segment->encoder == &pe_reduced_encode)
            work = pe_price_plus(work, pe_price_times(reducer->elements[segment->tensor],
                                                      pe_stream_tensor(stream, i)->work));
    }
    return work;
}

bool pe_stream_expensive(const pe_stream *stream)
{
    for (size_t i = 0; i < stream->segments.n; i++) {
        const pe_tensor *tensor = pe_stream_tensor(stream, i);
        if (tensor != NULL &&
            (tensor->work > 1 || stream->segments.segment[i].encoder == &pe_reduced_encode ||
             (tensor->unit > WIDE_ELEMENTS && !pe_tensor_blocks_can_cut(stream->plan, tensor))))
            return true;
    }
    return false;
}
