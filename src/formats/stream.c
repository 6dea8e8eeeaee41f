/* SPDX-License-Identifier: MIT */
/* stream.c - the pull engine: from segments to bytes, one block of numbers at a time. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/segments.h"

/* Numbers per block. Whole units of what is sent as it is are made where the reader wants them and
 * need none. A reader that stalls holds its block, so it is small: hundreds of them stall. */
#define BLOCK_BYTES      ((size_t)32 << 10)
#define TEXT_BLOCK_BYTES ((size_t)8 << 10)
/* Elements of a plain table that a block may cost: some milliseconds. */
#define BLOCK_WORK  ((size_t)1 << 19)
#define BLOCK_ALIGN ((size_t)64)

/*
 * Life: segments are read in order. `pending` is text made and not yet read, of the literal or
 * block before (segment, next_unit), which come next.
 */
struct pe_stream {
    const pe_plan *plan;
    pe_segments segments;
    size_t segment, next_unit;
    const char *pending;
    size_t pending_bytes;
    uint64_t skip;    /* of the coming text, after a seek */
    uint64_t at, end; /* byte to be read next; where to stop */
    pe_carry carry;
    size_t block_bytes, text_bytes;
    void *block; /* these two once they are needed */
    char *text;
    size_t spent; /* work of the read under way */
    double compute, encode;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t unit_bytes(const pe_tensor *tensor)
{
    return tensor->unit * pe_dtype_bytes(tensor->dtype);
}

/* Units that may be waited for: at least one. */
static size_t bearable_units(const pe_tensor *tensor)
{
    size_t units = BLOCK_WORK / tensor->work / tensor->unit;
    return units == 0 ? 1 : units;
}

/* Units in one block: as many as fit and may be waited for, at least one, no more than there are.
 */
static size_t block_units(const pe_tensor *tensor, const pe_encoder *encoder)
{
    size_t bytes = encoder->encode == NULL ? BLOCK_BYTES : TEXT_BLOCK_BYTES;
    size_t units = smaller(bytes / unit_bytes(tensor), bearable_units(tensor));
    return smaller(units == 0 ? 1 : units, tensor->units);
}

/* One block and one text serve every segment, so they are as large as the largest needs. */
static void measure_blocks(pe_stream *stream)
{
    for (size_t i = 0; i < stream->segments.n; i++) {
        const pe_encoder *encoder = stream->segments.segment[i].encoder;
        if (encoder == NULL)
            continue;
        const pe_tensor *tensor = pe_segments_tensor(&stream->segments, stream->plan, i);
        size_t units = tensor->elements == 0 ? 0 : block_units(tensor, encoder);
        size_t bytes = units * unit_bytes(tensor);
        stream->block_bytes = bytes > stream->block_bytes ? bytes : stream->block_bytes;
        size_t most =
            encoder->encode == NULL ? 0 : encoder->block_max(tensor, units * tensor->unit);
        stream->text_bytes = most > stream->text_bytes ? most : stream->text_bytes;
    }
}

static pe_status make_blocks(pe_stream *stream, pe_problem *why)
{
    size_t bytes = (stream->block_bytes + BLOCK_ALIGN - 1) & ~(BLOCK_ALIGN - 1);
    if (stream->block == NULL && (stream->block = aligned_alloc(BLOCK_ALIGN, bytes)) == NULL)
        return pe_fail_memory(why);
    if (stream->text == NULL && stream->text_bytes > 0 &&
        (stream->text = malloc(stream->text_bytes)) == NULL)
        return pe_fail_memory(why);
    return PE_OK;
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
    stream->plan = plan;
    stream->end = UINT64_MAX;
    rendering->format->ops->describe(plan, rendering, tensor, &stream->segments);
    if (stream->segments.text.failed) {
        pe_stream_free(stream);
        return pe_fail_memory(why);
    }
    measure_blocks(stream);
    *out = stream;
    return PE_OK;
}

void pe_stream_free(pe_stream *stream)
{
    if (stream == NULL)
        return;
    pe_buffer_free(&stream->segments.text);
    free(stream->block);
    free(stream->text);
    free(stream);
}

static bool segment_length(const pe_stream *stream, size_t i, uint64_t *out)
{
    const pe_segment *segment = &stream->segments.segment[i];
    if (segment->encoder != NULL && segment->encoder->length == NULL)
        return false;
    *out = segment->encoder == NULL
               ? segment->bytes
               : segment->encoder->length(pe_segments_tensor(&stream->segments, stream->plan, i));
    return true;
}

bool pe_stream_length(const pe_stream *stream, uint64_t *out)
{
    uint64_t sum = 0, length = 0;
    for (size_t i = 0; i < stream->segments.n; i++) {
        if (!segment_length(stream, i, &length))
            return false;
        sum += length;
    }
    *out = sum;
    return true;
}

uint64_t pe_stream_length_max(const pe_stream *stream)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < stream->segments.n; i++) {
        const pe_segment *segment = &stream->segments.segment[i];
        const pe_encoder *encoder = segment->encoder;
        sum += encoder == NULL
                   ? segment->bytes
                   : encoder->length_max(pe_segments_tensor(&stream->segments, stream->plan, i));
    }
    return sum;
}

/* The pseudo tensor of a CSV header: element i is i. */
static void fill_columns(size_t first, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)(first + i);
}

/* The units worth making now: a block of them, or fewer when the reader stops before. Numbers are
 * never longer than their encoding, where `end` is known, so the bytes to come bound them. */
static size_t units_wanted(const pe_stream *stream, const pe_tensor *tensor,
                           const pe_encoder *encoder)
{
    size_t units = smaller(block_units(tensor, encoder), tensor->units - stream->next_unit);
    uint64_t bytes = stream->end - stream->at;
    if (stream->end == UINT64_MAX || encoder->length == NULL ||
        bytes > (uint64_t)units * unit_bytes(tensor))
        return units;
    bytes += stream->skip + sizeof stream->carry.byte;
    return smaller(units, (size_t)(bytes / unit_bytes(tensor)) + 1);
}

/* Numbers of the next units, timed. */
static pe_status fill(pe_stream *stream, size_t index, size_t units, void *out, pe_problem *why)
{
    pe_status status = PE_OK;
    double start = now();
    if (index == PE_COLUMNS) {
        fill_columns(stream->next_unit, units, out);
    } else {
        const pe_tensor *tensor = &stream->plan->tensors[index];
        status = stream->plan->fill(stream->plan, index, stream->next_unit, units, out, why);
        stream->spent += units * tensor->unit * tensor->work;
    }
    stream->compute += now() - start;
    return status;
}

/* Make the next block of numbers, and its text. */
static pe_status make_numbers(pe_stream *stream, const pe_segment *segment, pe_problem *why)
{
    const pe_encoder *encoder = segment->encoder;
    const pe_tensor *tensor = pe_segments_tensor(&stream->segments, stream->plan, stream->segment);
    const size_t units = units_wanted(stream, tensor, encoder);

    pe_status status = make_blocks(stream, why);
    if (status == PE_OK)
        status = fill(stream, segment->tensor, units, stream->block, why);
    if (status != PE_OK)
        return status;
    if (encoder->encode == NULL) {
        stream->pending = stream->block;
        stream->pending_bytes = units * unit_bytes(tensor);
    } else {
        double start = now();
        stream->pending = stream->text;
        stream->pending_bytes =
            encoder->encode(tensor, stream->next_unit * tensor->unit, stream->block,
                            units * tensor->unit, &stream->carry, stream->text);
        stream->encode += now() - start;
    }
    stream->next_unit += units;
    return PE_OK;
}

/* Put the next literal or block into pending; a finished tensor is stepped over. */
static pe_status make_pending(pe_stream *stream, pe_problem *why)
{
    const pe_segment *segment = &stream->segments.segment[stream->segment];
    if (segment->encoder == NULL) {
        stream->pending = stream->segments.text.data + segment->text;
        stream->pending_bytes = segment->bytes;
        stream->segment++;
        return PE_OK;
    }
    if (stream->next_unit <
        pe_segments_tensor(&stream->segments, stream->plan, stream->segment)->units)
        return make_numbers(stream, segment, why);
    stream->segment++;
    stream->next_unit = 0;
    stream->carry.n = 0;
    return PE_OK;
}

static void drop_skipped(pe_stream *stream)
{
    size_t drop =
        stream->skip < stream->pending_bytes ? (size_t)stream->skip : stream->pending_bytes;
    stream->pending += drop;
    stream->pending_bytes -= drop;
    stream->skip -= drop;
}

/* How many of the next units may be made where the reader wants them: those that are sent as they
 * are and fit. */
static size_t units_in_place(const pe_stream *stream, const char *to, size_t bytes)
{
    const pe_encoder *encoder = stream->segments.segment[stream->segment].encoder;
    if (encoder == NULL || encoder->encode != NULL || stream->skip > 0)
        return 0;
    const pe_tensor *tensor = pe_segments_tensor(&stream->segments, stream->plan, stream->segment);
    if (stream->next_unit >= tensor->units || (uintptr_t)to % pe_dtype_bytes(tensor->dtype) != 0)
        return 0;
    return smaller(smaller(bytes / unit_bytes(tensor), bearable_units(tensor)),
                   tensor->units - stream->next_unit);
}

static pe_status make_in_place(pe_stream *stream, size_t units, char *to, size_t *made,
                               pe_problem *why)
{
    const size_t index = stream->segments.segment[stream->segment].tensor;
    pe_status status = fill(stream, index, units, to, why);
    if (status != PE_OK)
        return status;
    stream->next_unit += units;
    *made =
        units * unit_bytes(pe_segments_tensor(&stream->segments, stream->plan, stream->segment));
    return PE_OK;
}

static size_t take_pending(pe_stream *stream, char *to, size_t bytes)
{
    size_t n = smaller(bytes, stream->pending_bytes);
    memcpy(to, stream->pending, n);
    stream->pending += n;
    stream->pending_bytes -= n;
    return n;
}

pe_status pe_stream_read(pe_stream *stream, void *out, size_t bytes, size_t *got, pe_problem *why)
{
    pe_status status = PE_OK;
    size_t n, units;
    if (stream->end - stream->at < bytes)
        bytes = (size_t)(stream->end - stream->at);
    stream->spent = 0;
    for (*got = 0; *got < bytes && status == PE_OK; *got += n, stream->at += n) {
        char *to = (char *)out + *got;
        n = 0;
        if (stream->pending_bytes > 0) {
            n = take_pending(stream, to, bytes - *got);
        } else if (stream->segment == stream->segments.n ||
                   (*got > 0 && stream->spent >= BLOCK_WORK)) {
            break;
        } else if ((units = units_in_place(stream, to, bytes - *got)) > 0) {
            status = make_in_place(stream, units, to, &n, why);
        } else if (*got > 0 && units_in_place(stream, out, bytes) > 0) {
            break; /* the next unit does not fit any more, and will in the next call */
        } else {
            status = make_pending(stream, why);
            if (status == PE_OK)
                drop_skipped(stream);
        }
    }
    return status;
}

/* Stand before the block that holds byte `offset` of the segment. */
static void enter_segment(pe_stream *stream, size_t i, uint64_t offset)
{
    const pe_encoder *encoder = stream->segments.segment[i].encoder;
    stream->segment = i;
    stream->next_unit = 0;
    stream->carry.n = 0;
    stream->skip = offset;
    if (encoder == NULL)
        return;
    const pe_tensor *tensor = pe_segments_tensor(&stream->segments, stream->plan, i);
    if (tensor->units == 0)
        return;
    uint64_t unit = encoder->raw_of(offset) / unit_bytes(tensor);
    stream->next_unit = unit < tensor->units ? (size_t)unit : tensor->units;
    stream->skip = offset - encoder->text_of((uint64_t)stream->next_unit * unit_bytes(tensor));
}

pe_status pe_stream_seek(pe_stream *stream, uint64_t offset, pe_problem *why)
{
    uint64_t total = 0, length = 0, left = offset;
    if (!pe_stream_length(stream, &total))
        return pe_fail(why, PE_INTERNAL, "", "a representation of unknown length has no offsets");
    if (offset > total)
        return pe_fail(why, PE_RANGE_NOT_SATISFIABLE, "", "offset %llu is past the end, %llu",
                       (unsigned long long)offset, (unsigned long long)total);
    stream->pending_bytes = 0;
    stream->at = offset;
    for (size_t i = 0; i < stream->segments.n; i++) {
        if (!segment_length(stream, i, &length))
            break;
        if (left < length) {
            enter_segment(stream, i, left);
            return PE_OK;
        }
        left -= length;
    }
    stream->segment = stream->segments.n;
    stream->skip = 0;
    return PE_OK;
}

void pe_stream_limit(pe_stream *stream, uint64_t end)
{
    stream->end = end > stream->at ? end : stream->at;
}

void pe_stream_times(const pe_stream *stream, double *compute, double *encode)
{
    *compute = stream->compute;
    *encode = stream->encode;
}
