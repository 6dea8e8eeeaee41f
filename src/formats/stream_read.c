/* SPDX-License-Identifier: MIT */
/* stream_read.c - from segments to bytes, one block of numbers at a time. */
#include "formats/stream_state.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "base/yield.h"

/* Room for the text of a block, unless it is unusually long. */
#define TEXT_BYTES ((size_t)80 << 10)

/* Bytes of the blocks before that an encoding may still hold. */
#define CARRIED_BYTES 3

/* What a reader wants: `bytes` bytes at `out`, of which `got` are there. */
typedef struct reading {
    char *out;
    size_t bytes, got;
} reading;

static char *next_of(const reading *into)
{
    return into->out + into->got;
}

static size_t room_of(const reading *into)
{
    return into->bytes - into->got;
}

static double now(void)
{
    return 1e-9 * (double)pe_clock();
}

/* The encoder of the numbers that are next. */
static const pe_encoder *encoder_at(const pe_stream *stream)
{
    return stream->segments.segment[stream->segment].encoder;
}

/* ---- numbers that pass through a block ---- */

/* A block of numbers, or fewer where the reader stops before its end: no number is longer than its
 * encoding, so where `end` is known, the bytes that are left bound the numbers. */
static size_t numbers_wanted(const pe_stream *stream)
{
    const pe_tensor *tensor = stream->blocks.tensor;
    const size_t most = pe_tensor_blocks_most(tensor), size = pe_dtype_bytes(tensor->dtype);
    const uint64_t bytes = stream->end - stream->at;
    if (stream->end == UINT64_MAX || encoder_at(stream)->length == NULL ||
        bytes > (uint64_t)most * size)
        return most;
    const size_t step = tensor->unit <= most ? tensor->unit : PE_PART_ELEMENTS;
    const size_t n = (size_t)(bytes + stream->skip + CARRIED_BYTES) / size + step;
    return pe_size_min(most, n < step ? step : n / step * step);
}

static pe_status make_numbers(pe_stream *stream, void *block, const void **numbers, size_t *n,
                              pe_problem *why)
{
    return pe_tensor_blocks_make(&stream->blocks, numbers_wanted(stream), block, numbers, n, why);
}

/* Numbers as text, timed. */
static size_t encode(pe_stream *stream, const void *numbers, size_t n, char *out)
{
    const pe_encoder *encoder = encoder_at(stream);
    const size_t index = stream->blocks.index;
    const pe_elements elements = {stream->blocks.tensor, stream->blocks.next, n, numbers,
                                  index < PE_MAX_TENSORS ? &stream->segments.labels[index] : NULL};
    if (encoder->encode == NULL) {
        const size_t bytes = n * pe_dtype_bytes(elements.tensor->dtype);
        memcpy(out, numbers, bytes);
        return bytes;
    }
    const double start = now();
    const size_t bytes = encoder->encode(&elements, &stream->carry, out);
    pe_yield_spend((uint64_t)n * pe_stream_number_work(stream, stream->segment));
    stream->encode += now() - start;
    return bytes;
}

static size_t text_max(const pe_stream *stream)
{
    return pe_stream_text_max(stream, stream->segment);
}

/* Text of which the reader skips the beginning, takes what fits, *made bytes, and leaves the rest
 * pending. The rest is held in memory of its own size, since what hundreds of readers hold must not
 * leave holes behind. */
static pe_status hand_out(pe_stream *stream, pe_slice text, const reading *into, size_t *made,
                          pe_problem *why)
{
    const size_t skipped = stream->skip < text.bytes ? (size_t)stream->skip : text.bytes;
    stream->skip -= skipped;
    text.text += skipped;
    text.bytes -= skipped;
    *made = pe_size_min(text.bytes, room_of(into));
    memcpy(next_of(into), text.text, *made);
    const size_t rest = text.bytes - *made;
    if (rest == 0)
        return PE_OK;
    stream->text = malloc(rest);
    if (stream->text == NULL)
        return pe_fail_memory(why);
    memcpy(stream->text, text.text + *made, rest);
    stream->pending = (pe_slice){stream->text, rest};
    return PE_OK;
}

/* The next numbers as text: *made bytes for the reader, and what does not fit there pending. */
static pe_status make_text(pe_stream *stream, const reading *into, size_t *made, pe_problem *why)
{
    alignas(PE_TENSOR_BLOCK_ALIGN) unsigned char block[PE_TENSOR_BLOCK_BYTES];
    char usual[TEXT_BYTES], *text = usual;
    const void *numbers;
    size_t n, most = text_max(stream);
    pe_status status = make_numbers(stream, block, &numbers, &n, why);
    PE_TRY(status);
    if (room_of(into) >= most && stream->skip == 0) {
        *made = encode(stream, numbers, n, next_of(into));
    } else {
        if (most > sizeof usual && (text = malloc(most)) == NULL)
            return pe_fail_memory(why);
        const pe_slice encoded = {text, encode(stream, numbers, n, text)};
        status = hand_out(stream, encoded, into, made, why);
        if (text != usual)
            free(text);
    }
    pe_tensor_blocks_pass(&stream->blocks, n);
    return status;
}

/* ---- numbers that a reducer takes ---- */

bool pe_stream_reduces(const pe_stream *stream)
{
    return stream->segment < stream->segments.n && !stream->reduced &&
           encoder_at(stream) == &pe_reduced_encode;
}

static pe_status finish_reducing(pe_stream *stream, pe_problem *why)
{
    const pe_reducer *reducer = &stream->segments.reducer;
    const double start = now();
    const pe_status status = reducer->finish(reducer->state, &stream->segments.text, why);
    pe_segments_text(&stream->segments);
    stream->blocks.next = stream->blocks.tensor->elements;
    stream->reduced = true;
    stream->encode += now() - start;
    return status;
}

/* ---- numbers where the reader wants them ---- */

/* How many of the next elements may be made where the reader wants them: those that are sent as
 * they are. A unit is cut only when the whole room could not hold it. */
static size_t in_place(const pe_stream *stream, const reading *into)
{
    const pe_tensor_blocks *blocks = &stream->blocks;
    const pe_tensor *tensor = blocks->tensor;
    const size_t size = pe_dtype_bytes(tensor->dtype);
    if (encoder_at(stream)->encode != NULL || stream->skip > 0 || blocks->unit != NULL ||
        blocks->next >= tensor->elements || (uintptr_t)next_of(into) % size != 0)
        return 0;
    const bool within = blocks->next % tensor->unit != 0 || tensor->unit > into->bytes / size;
    return pe_tensor_blocks_fitting(
        blocks, within && pe_tensor_blocks_can_cut(stream->plan, tensor), room_of(into) / size);
}

/* ---- reading ---- */

/* The first bytes of what is pending. */
static void take_pending(pe_stream *stream, size_t bytes)
{
    if (bytes > 0) /* else there may be no text to point into */
        stream->pending.text += bytes;
    stream->pending.bytes -= bytes;
    if (stream->pending.bytes > 0)
        return;
    free(stream->text);
    stream->text = NULL;
}

/* Steps over a literal, which is pending then, or over a tensor that has ended. False: numbers are
 * next. */
static bool step(pe_stream *stream, pe_status *status, pe_problem *why)
{
    const pe_segment *segment = &stream->segments.segment[stream->segment];
    if (segment->late != NULL) {
        pe_buffer text = {0};
        segment->late(stream->plan, segment->tensor, &stream->carry, &text);
        stream->text = text.failed ? NULL : text.data;
        stream->pending = text.failed ? (pe_slice){NULL, 0} : (pe_slice){text.data, text.bytes};
        *status = text.failed ? pe_fail_memory(why) : PE_OK;
        if (text.failed)
            pe_buffer_free(&text);
    } else if (segment->encoder == NULL) {
        stream->pending = (pe_slice){stream->segments.text.data + segment->text, segment->bytes};
    } else if (stream->blocks.next < stream->blocks.tensor->elements || pe_stream_reduces(stream)) {
        return false;
    }
    pe_stream_enter(stream, stream->segment + 1, 0);
    return true;
}

/* Whether the next read, with as much room as this one had, gets these numbers without a copy. */
static bool fits_next_time(const pe_stream *stream, const reading *into)
{
    const reading again = {into->out, into->bytes, 0};
    return encoder_at(stream)->encode == NULL
               ? in_place(stream, &again) > 0
               : stream->skip == 0 && into->bytes >= text_max(stream);
}

/* The next numbers of the tensor: *made bytes for the reader, or pending. Nothing is made when the
 * next read gets them without a copy. */
static pe_status make(pe_stream *stream, const reading *into, size_t *made, pe_problem *why)
{
    if (pe_stream_reduces(stream)) {
        /* A block of numbers for the reducer, or its text after the last one. */
        alignas(PE_TENSOR_BLOCK_ALIGN) unsigned char block[PE_TENSOR_BLOCK_BYTES];
        const pe_reducer *reducer = &stream->segments.reducer;
        pe_elements elements = {.tensor = stream->blocks.tensor, .first = stream->blocks.next};
        if (elements.first >= reducer->elements[stream->blocks.index]) {
            const size_t next = stream->segment + 1;
            if (next >= stream->segments.n ||
                stream->segments.segment[next].encoder != &pe_reduced_encode)
                return finish_reducing(stream, why);
            pe_stream_enter(stream, next, 0);
            return PE_OK;
        }
        PE_TRY(make_numbers(stream, block, &elements.data, &elements.n, why));
        const double start = now();
        pe_status status = reducer->take(reducer->state, &elements, why);
        stream->encode += now() - start;
        pe_tensor_blocks_pass(&stream->blocks, elements.n);
        return status;
    }
    const size_t n = in_place(stream, into);
    const bool text = encoder_at(stream)->encode != NULL;
    if (n > 0) {
        PE_TRY(pe_tensor_blocks_fill(&stream->blocks, n, next_of(into), why));
        pe_tensor_blocks_pass(&stream->blocks, n);
        *made = n * pe_dtype_bytes(stream->blocks.tensor->dtype);
        return PE_OK;
    }
    if (into->got > 0 && !(text && room_of(into) >= text_max(stream)) &&
        fits_next_time(stream, into))
        return PE_OK;
    return make_text(stream, into, made, why);
}

pe_status pe_stream_read(pe_stream *stream, void *out, size_t bytes, size_t *got, pe_problem *why)
{
    pe_status status = PE_OK;
    if (stream->end - stream->at < bytes)
        bytes = (size_t)(stream->end - stream->at);
    reading into = {out, bytes, 0};
    const size_t allowed = stream->blocks.allowed;
    stream->blocks.spent = 0;
    while (into.got < bytes && status == PE_OK) {
        size_t n = 0;
        if (stream->pending.bytes > 0) {
            n = pe_size_min(room_of(&into), stream->pending.bytes);
            memcpy(next_of(&into), stream->pending.text, n);
            take_pending(stream, n);
        } else if (stream->segment == stream->segments.n ||
                   ((into.got > 0 || pe_stream_reduces(stream)) &&
                    stream->blocks.spent >= allowed)) {
            break;
        } else if (step(stream, &status, why)) {
            const size_t skipped =
                stream->skip < stream->pending.bytes ? (size_t)stream->skip : stream->pending.bytes;
            stream->skip -= skipped;
            take_pending(stream, skipped);
        } else {
            status = make(stream, &into, &n, why);
            if (n == 0 && stream->pending.bytes == 0 && stream->skip == 0 && into.got > 0)
                break;
        }
        into.got += n;
        stream->at += n;
    }
    *got = into.got;
    return status;
}
