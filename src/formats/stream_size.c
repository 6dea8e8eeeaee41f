/* SPDX-License-Identifier: MIT */
/* stream_size.c - what a stream comes to before it is read: bytes, room, work. */
#include "formats/stream_state.h"

#include "base/size.h"
#include "plan/price.h"
#include "text/blocks.h"
#include "text/number.h"

/* Making a unit of so many elements takes tens of microseconds. */
#define WIDE_ELEMENTS ((size_t)8 << 10)

bool pe_stream_segment_length(const pe_stream *stream, size_t i, uint64_t *out)
{
    const pe_segment *segment = &stream->segments.segment[i];
    if (segment->encoder != NULL && segment->encoder->length == NULL)
        return false;
    *out = segment->encoder == NULL ? segment->bytes
                                    : segment->encoder->length(pe_stream_tensor(stream, i));
    return true;
}

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

/* ---- facts ---- */

/* What segment i adds. A part of what is made late cannot be made alone, so that the length of the
 * whole is as good as not known. */
static void measure(const pe_stream *stream, size_t i, pe_stream_facts *facts)
{
    const pe_segment *segment = &stream->segments.segment[i];
    const pe_encoder *encoder = segment->encoder;
    const pe_tensor *tensor = pe_stream_tensor(stream, i);
    const bool reduced = encoder == &pe_reduced_encode;
    uint64_t length = 0;
    const bool known = pe_stream_segment_length(stream, i, &length);
    facts->length =
        known && segment->late == NULL ? pe_price_plus(facts->length, length) : UINT64_MAX;
    facts->length_max += length;
    facts->length_usual += length;
    if (tensor == NULL)
        return;
    if (!known && encoder->length_max != NULL)
        facts->length_max += encoder->length_max(tensor);
    if (!known && !reduced) /* brackets are few */
        facts->length_usual += (uint64_t)tensor->elements * pe_number_text_usual(tensor->dtype);
    const size_t room = pe_stream_text_max(stream, i);
    facts->room = room > facts->room ? room : facts->room;
    const uint64_t each = pe_stream_number_work(stream, i);
    facts->text_work = pe_price_plus(facts->text_work, pe_price_times(tensor->elements, each));
    if (reduced)
        facts->reduced_work = pe_price_plus(
            facts->reduced_work,
            pe_price_times(stream->segments.reducer.elements[segment->tensor], tensor->work));
    const bool wide =
        tensor->unit > WIDE_ELEMENTS && !pe_tensor_blocks_can_cut(stream->plan, tensor);
    facts->expensive = facts->expensive || tensor->work > 1 || reduced || wide;
}

void pe_stream_measure(pe_stream *stream)
{
    const pe_reducer *reducer = &stream->segments.reducer;
    stream->facts = (pe_stream_facts){.length_max = reducer->bytes_max,
                                      .length_usual = reducer->bytes_max,
                                      .room = (size_t)reducer->bytes_max,
                                      .reduced_work = reducer->work};
    for (size_t i = 0; i < stream->segments.n; i++)
        measure(stream, i, &stream->facts);
}

const pe_stream_facts *pe_stream_facts_of(const pe_stream *stream)
{
    return &stream->facts;
}
