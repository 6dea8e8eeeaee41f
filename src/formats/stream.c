/* SPDX-License-Identifier: MIT */
/* stream.c - a representation as a stream of bytes: from segments to bytes, a block of numbers at a
 * time. */
#include "formats/stream.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "base/slice.h"
#include "base/yield.h"
#include "formats/segments.h"
#include "plan/price.h"
#include "text/blocks.h"
#include "text/number.h"

/* Bytes of the elements that become text at once. They are few, since a reader who stalls holds the
 * text that was made and not read, and hundreds of readers may stall. */
#define BLOCK_BYTES  ((size_t)8 << 10)
#define BLOCK_ALIGN  64
#define ELEMENTS_MAX ((size_t)2048)

/* Elements of a plain table that a block may cost: some milliseconds. */
#define BLOCK_WORK ((size_t)1 << 19)
/* The work of an element is that of one alone. Elements made together may share most of it, as rows
 * that repeat each other do, so twice the work is allowed after each block that was quick, and
 * BLOCK_WORK again after a slow one. */
#define QUICK_NANOSECONDS (4 * (int64_t)PE_NANOSECONDS_PER_MS)
#define SLOW_NANOSECONDS  (3 * QUICK_NANOSECONDS)

/*
 * Segments are read in order. `pending` is what was made and not yet read. Numbers that are sent as
 * they are, and text that surely fits, are made where the reader wants them; other text is held in
 * `text` until it has been read. Blocks of numbers are whole units of the plan, or a part of one
 * where the plan makes parts. A unit that is wider than a block and cannot be cut is made as a whole
 * and held until it has been used.
 */
struct pe_stream {
    const pe_plan *plan;
    pe_stream_facts facts;
    pe_segments segments;
    size_t segment;          /* the one that is being read */
    const pe_tensor *tensor; /* its own, if it is numbers; carry.tensor tells which */
    size_t next;             /* the element to be made next */
    char *unit;              /* owned: a wide unit, from element unit_at on; NULL: there is none */
    size_t unit_at;
    size_t allowed, spent; /* work of a read at most, and so far */
    pe_slice pending;
    uint64_t skip;    /* of the coming text, after a seek */
    uint64_t at, end; /* byte to be read next; where to stop */
    pe_carry carry;
    char *text;             /* owned: what `pending` is of, unless that is a literal */
    bool reduced;           /* the reducer, if there is one, has finished */
    double compute, encode; /* seconds */
};

/* Elements that become text at once. */
static size_t most_of(const pe_tensor *tensor)
{
    return pe_size_min(BLOCK_BYTES / pe_dtype_bytes(tensor->dtype), ELEMENTS_MAX);
}

/* Can its units, wider than such a block, be made in parts? */
static bool can_cut(const pe_stream *stream, const pe_tensor *tensor)
{
    assert(stream->plan != NULL);
    return stream->plan->makes_parts && tensor->unit > most_of(tensor);
}

static size_t down(size_t n, size_t step)
{
    return n / step * step;
}

static void free_unit(pe_stream *stream)
{
    free(stream->unit);
    stream->unit = NULL;
}

/* The tensor of segment i; NULL for literal text. */
static const pe_tensor *tensor_of(const pe_stream *stream, size_t i)
{
    const pe_segment *segment = &stream->segments.segment[i];
    if (i >= stream->segments.n || segment->encoder == NULL)
        return NULL;
    return segment->tensor == PE_COLUMNS ? &stream->segments.columns
                                         : &stream->plan->tensors[segment->tensor];
}

/* Stand before an element of segment i, or before its text. i == segments.n: the end. */
static void enter(pe_stream *stream, size_t i, size_t element)
{
    stream->segment = i;
    stream->tensor = tensor_of(stream, i);
    stream->next = element;
    stream->allowed = BLOCK_WORK;
    free_unit(stream);
    if (i == 0 && element == 0)
        stream->carry = (pe_carry){0};
    stream->carry.tensor = stream->tensor != NULL ? stream->segments.segment[i].tensor : 0;
    base64_encode_init(&stream->carry.base64);
}

/* ---- what it comes to ---- */

/* Making a unit of so many elements takes tens of microseconds. */
#define WIDE_ELEMENTS ((size_t)8 << 10)

/* Bytes of segment i; false when they are not known beforehand. */
static bool segment_length(const pe_stream *stream, size_t i, uint64_t *out)
{
    const pe_segment *segment = &stream->segments.segment[i];
    if (segment->encoder != NULL && segment->encoder->length == NULL)
        return false;
    *out =
        segment->encoder == NULL ? segment->bytes : segment->encoder->length(tensor_of(stream, i));
    return true;
}

/* The longest text of a block of segment i; 0 for literal text. */
static size_t text_max(const pe_stream *stream, size_t i)
{
    const pe_encoder *encoder = stream->segments.segment[i].encoder;
    const pe_tensor *tensor = tensor_of(stream, i);
    if (tensor == NULL || encoder == &pe_reduced_encode)
        return 0;
    const size_t most = most_of(tensor);
    return encoder->block_max != NULL ? encoder->block_max(tensor, most)
                                      : most * pe_dtype_bytes(tensor->dtype);
}

/* ---- work ---- */

uint64_t pe_stream_work(const pe_stream *stream, size_t bytes)
{
    uint64_t most = 0;
    for (size_t i = 0; i < stream->segments.n; i++) {
        const pe_tensor *tensor = tensor_of(stream, i);
        if (tensor == NULL)
            continue;
        /* Text has no more numbers than as many bytes of binary ones. A unit that cannot be cut is
         * made for the sake of any of its elements. */
        size_t n = bytes / pe_dtype_bytes(tensor->dtype) + 1;
        if (n < tensor->unit && !can_cut(stream, tensor))
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
        const pe_tensor *tensor = tensor_of(stream, i);
        const size_t made = i == stream->segment ? stream->next : 0;
        if (tensor != NULL && made < tensor->elements)
            work = pe_price_plus(work, pe_price_times(tensor->elements - made, tensor->work));
    }
    return work;
}

/* What the text of a number of segment i costs beside the number; 0: it has none. */
static size_t number_work(const pe_stream *stream, size_t i)
{
    const pe_segment *segment = &stream->segments.segment[i];
    const pe_tensor *tensor = tensor_of(stream, i);
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
    const pe_tensor *tensor = tensor_of(stream, i);
    const bool reduced = encoder == &pe_reduced_encode;
    uint64_t length = 0;
    const bool known = segment_length(stream, i, &length);
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
    const size_t room = text_max(stream, i);
    facts->room = room > facts->room ? room : facts->room;
    const uint64_t each = number_work(stream, i);
    facts->text_work = pe_price_plus(facts->text_work, pe_price_times(tensor->elements, each));
    if (reduced)
        facts->reduced_work = pe_price_plus(
            facts->reduced_work,
            pe_price_times(stream->segments.reducer.elements[segment->tensor], tensor->work));
    const bool wide = tensor->unit > WIDE_ELEMENTS && !can_cut(stream, tensor);
    facts->expensive = facts->expensive || tensor->work > 1 || reduced || wide;
}

const pe_stream_facts *pe_stream_facts_of(const pe_stream *stream)
{
    return &stream->facts;
}

/* ---- its life ---- */

pe_status pe_stream_make(const pe_plan *plan, const pe_rendering *rendering, pe_stream **out,
                         pe_problem *why)
{
    size_t tensor = 0;
    PE_TRY(pe_format_check(plan, rendering, &tensor, why));
    pe_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return pe_fail_memory(why);
    stream->plan = plan;
    stream->end = UINT64_MAX;
    rendering->format->describe(plan, rendering, tensor, &stream->segments);
    if (stream->segments.text.failed) {
        pe_stream_free(stream);
        return pe_fail_memory(why);
    }
    const pe_reducer *reducer = &stream->segments.reducer;
    stream->facts = (pe_stream_facts){.length_max = reducer->bytes_max,
                                      .length_usual = reducer->bytes_max,
                                      .room = (size_t)reducer->bytes_max,
                                      .reduced_work = reducer->work};
    for (size_t i = 0; i < stream->segments.n; i++)
        measure(stream, i, &stream->facts);
    enter(stream, 0, 0);
    *out = stream;
    return PE_OK;
}

void pe_stream_free(pe_stream *stream)
{
    if (stream == NULL)
        return;
    if (stream->segments.reducer.release != NULL)
        stream->segments.reducer.release(stream->segments.reducer.state);
    pe_buffer_free(&stream->segments.text);
    free(stream->unit);
    free(stream->text);
    free(stream);
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

/* ---- elsewhere: at an offset of a range, or near a sample ---- */

/* What was made for the place before is dropped. */
static void leave(pe_stream *stream)
{
    free(stream->text);
    stream->text = NULL;
    stream->pending.bytes = 0;
    stream->skip = 0;
}

/* The first element of the unit, or of the part of one, that holds this element. */
static size_t beginning(const pe_stream *stream, const pe_tensor *tensor, uint64_t element)
{
    if (element >= tensor->elements)
        return tensor->elements;
    const size_t unit = down((size_t)element, tensor->unit);
    return can_cut(stream, tensor) ? unit + down((size_t)element - unit, PE_PART_ELEMENTS) : unit;
}

/* Stand before the numbers that hold byte `offset` of the segment. */
static void enter_at(pe_stream *stream, size_t i, uint64_t offset)
{
    const pe_encoder *encoder = stream->segments.segment[i].encoder;
    const pe_tensor *tensor = tensor_of(stream, i);
    stream->skip = offset;
    if (tensor == NULL || tensor->elements == 0) {
        enter(stream, i, 0);
        return;
    }
    const size_t size = pe_dtype_bytes(tensor->dtype);
    const uint64_t raw = encoder->raw_of != NULL ? encoder->raw_of(offset) : offset;
    const size_t element = beginning(stream, tensor, raw / size);
    const uint64_t at = (uint64_t)element * size;
    enter(stream, i, element);
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
    while (i < stream->segments.n && segment_length(stream, i, &length) && left >= length) {
        left -= length;
        i++;
    }
    if (i < stream->segments.n)
        enter_at(stream, i, left);
    else
        enter(stream, i, 0);
    return PE_OK;
}

void pe_stream_restart(pe_stream *stream)
{
    leave(stream);
    stream->at = 0;
    enter(stream, 0, 0);
}

void pe_stream_sample(pe_stream *stream, size_t part, size_t parts)
{
    size_t elements = 0, i = 0;
    for (size_t s = 0; s < stream->segments.n; s++) {
        const pe_tensor *tensor = tensor_of(stream, s);
        elements += tensor != NULL ? tensor->elements : 0;
    }
    size_t element = elements / parts * part, start = 0;
    leave(stream);
    for (; i < stream->segments.n; i++) {
        const pe_tensor *tensor = tensor_of(stream, i);
        if (tensor == NULL)
            continue;
        if (element < tensor->elements) {
            start = beginning(stream, tensor, element);
            break;
        }
        element -= tensor->elements;
    }
    enter(stream, i, start);
}

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

/* ---- the elements of a tensor ---- */

/* How many of the next elements to make, at most `most` and no more than the work allowed: whole
 * units, or a part of one. 0 when a unit is more than that and cannot be cut. */
static size_t fitting(const pe_stream *stream, bool cut, size_t most)
{
    const pe_tensor *tensor = stream->tensor;
    const size_t at = stream->next, unit = tensor->unit, left = unit - at % unit;
    const size_t bearable = stream->allowed / tensor->work;
    if (left == unit && most >= unit && (bearable >= unit || !cut)) {
        const size_t units = bearable < unit ? 1 : pe_size_min(most, bearable) / unit;
        return pe_size_min(units * unit, tensor->elements - at);
    }
    if (!cut)
        return 0;
    most = pe_size_min(most, bearable > PE_PART_ELEMENTS ? bearable : PE_PART_ELEMENTS);
    return most >= left ? left : down(most, PE_PART_ELEMENTS);
}

/* A block of this work took so long. One that was small for another reason tells nothing. */
static void learn(pe_stream *stream, size_t work, int64_t nanoseconds)
{
    if (nanoseconds > SLOW_NANOSECONDS)
        stream->allowed = BLOCK_WORK;
    else if (nanoseconds < QUICK_NANOSECONDS && work >= stream->allowed / 2 &&
             stream->allowed < SIZE_MAX / 2)
        stream->allowed *= 2;
}

/* The next n elements, whole units or a part of one, at `out`. */
static pe_status fill(pe_stream *stream, size_t n, void *out, pe_problem *why)
{
    pe_status status = PE_OK;
    const size_t work = stream->tensor->work;
    const int64_t start = pe_clock(), before = work > 1 ? pe_clock_of_thread() : 0;
    if (stream->carry.tensor == PE_COLUMNS) {
        for (size_t i = 0; i < n; i++) /* the pseudo tensor of a CSV header: element i is i */
            ((int32_t *)out)[i] = (int32_t)(stream->next + i);
    } else {
        const size_t unit = stream->tensor->unit, at = stream->next;
        const bool whole = at % unit == 0 && n % unit == 0;
        const pe_region region = {.tensor = stream->carry.tensor,
                                  .first = at / unit,
                                  .units = whole ? n / unit : 1,
                                  .column = at % unit,
                                  .columns = whole ? unit : n};
        status = pe_plan_make_region(stream->plan, &region, out, why);
    }
    stream->spent += n * work;
    if (work > 1)
        learn(stream, n * work, pe_clock_of_thread() - before);
    stream->compute += 1e-9 * (double)(pe_clock() - start);
    return status;
}

/* The next n elements have been used. */
static void pass(pe_stream *stream, size_t n)
{
    stream->next += n;
    if (stream->unit != NULL && stream->next == stream->unit_at + stream->tensor->unit)
        free_unit(stream);
}

/* ---- numbers that pass through a block ---- */

/* A block of numbers, or those of a wide unit; fewer where the reader stops before its end: no number
 * is longer than its encoding, so where `end` is known, the bytes that are left bound the numbers. */
static pe_status make_numbers(pe_stream *stream, void *block, const void **numbers, size_t *n,
                              pe_problem *why)
{
    const pe_tensor *tensor = stream->tensor;
    const size_t size = pe_dtype_bytes(tensor->dtype);
    const uint64_t bytes = stream->end - stream->at;
    size_t most = most_of(tensor);
    if (stream->end != UINT64_MAX && encoder_at(stream)->length != NULL &&
        bytes <= (uint64_t)most * size) {
        const size_t step = tensor->unit <= most ? tensor->unit : PE_PART_ELEMENTS;
        const size_t wanted = (size_t)(bytes + stream->skip + CARRIED_BYTES) / size + step;
        most = pe_size_min(most, wanted < step ? step : down(wanted, step));
    }
    if (stream->unit == NULL) {
        *n = fitting(stream, can_cut(stream, tensor), most);
        *numbers = block;
        if (*n > 0)
            return fill(stream, *n, block, why);
        stream->unit =
            aligned_alloc(BLOCK_ALIGN, down(tensor->unit * size + BLOCK_ALIGN - 1, BLOCK_ALIGN));
        stream->unit_at = stream->next;
        if (stream->unit == NULL)
            return pe_fail_memory(why);
        PE_TRY(fill(stream, tensor->unit, stream->unit, why));
    }
    const size_t used = stream->next - stream->unit_at;
    *numbers = stream->unit + used * size;
    *n = pe_size_min(most, tensor->unit - used);
    return PE_OK;
}

/* Numbers as text, timed. */
static size_t encode(pe_stream *stream, const void *numbers, size_t n, char *out)
{
    const pe_encoder *encoder = encoder_at(stream);
    const size_t index = stream->carry.tensor;
    const pe_elements elements = {stream->tensor, stream->next, n, numbers,
                                  index < PE_MAX_TENSORS ? &stream->segments.labels[index] : NULL};
    if (encoder->encode == NULL) {
        const size_t bytes = n * pe_dtype_bytes(elements.tensor->dtype);
        memcpy(out, numbers, bytes);
        return bytes;
    }
    const double start = now();
    const size_t bytes = encoder->encode(&elements, &stream->carry, out);
    pe_yield_spend((uint64_t)n * number_work(stream, stream->segment));
    stream->encode += now() - start;
    return bytes;
}

/* The next numbers as text: *made bytes for the reader, who may skip some, and what does not fit there
 * pending. That is held in memory of its own size, since what hundreds of readers hold must not leave
 * holes behind. */
static pe_status make_text(pe_stream *stream, const reading *into, size_t *made, pe_problem *why)
{
    alignas(BLOCK_ALIGN) unsigned char block[BLOCK_BYTES];
    char usual[TEXT_BYTES], *text = usual;
    const void *numbers;
    size_t n, most = text_max(stream, stream->segment);
    PE_TRY(make_numbers(stream, block, &numbers, &n, why));
    if (room_of(into) >= most && stream->skip == 0) {
        *made = encode(stream, numbers, n, next_of(into));
        pass(stream, n);
        return PE_OK;
    }
    if (most > sizeof usual && (text = malloc(most)) == NULL)
        return pe_fail_memory(why);
    const size_t bytes = encode(stream, numbers, n, text);
    const size_t skipped = stream->skip < bytes ? (size_t)stream->skip : bytes;
    stream->skip -= skipped;
    *made = pe_size_min(bytes - skipped, room_of(into));
    memcpy(next_of(into), text + skipped, *made);
    const size_t rest = bytes - skipped - *made;
    stream->text = rest > 0 ? malloc(rest) : NULL;
    if (stream->text != NULL) {
        memcpy(stream->text, text + skipped + *made, rest);
        stream->pending = (pe_slice){stream->text, rest};
    }
    if (text != usual)
        free(text);
    pass(stream, n);
    return rest == 0 || stream->text != NULL ? PE_OK : pe_fail_memory(why);
}

/* ---- numbers that a reducer takes ---- */

bool pe_stream_reduces(const pe_stream *stream)
{
    return stream->segment < stream->segments.n && !stream->reduced &&
           encoder_at(stream) == &pe_reduced_encode;
}

/* ---- numbers where the reader wants them ---- */

/* How many of the next elements may be made where the reader wants them: those that are sent as
 * they are. A unit is cut only when the whole room could not hold it. */
static size_t in_place(const pe_stream *stream, const reading *into)
{
    const pe_tensor *tensor = stream->tensor;
    const size_t size = pe_dtype_bytes(tensor->dtype);
    if (encoder_at(stream)->encode != NULL || stream->skip > 0 || stream->unit != NULL ||
        stream->next >= tensor->elements || (uintptr_t)next_of(into) % size != 0)
        return 0;
    const bool within = stream->next % tensor->unit != 0 || tensor->unit > into->bytes / size;
    return fitting(stream, within && can_cut(stream, tensor), room_of(into) / size);
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
    } else if (stream->next < stream->tensor->elements || pe_stream_reduces(stream)) {
        return false;
    }
    enter(stream, stream->segment + 1, 0);
    return true;
}

/* Whether the next read, with as much room as this one had, gets these numbers without a copy. */
static bool fits_next_time(const pe_stream *stream, const reading *into)
{
    const reading again = {into->out, into->bytes, 0};
    return encoder_at(stream)->encode == NULL
               ? in_place(stream, &again) > 0
               : stream->skip == 0 && into->bytes >= text_max(stream, stream->segment);
}

/* The next numbers of the tensor: *made bytes for the reader, or pending. Nothing is made when the
 * next read gets them without a copy. */
static pe_status make(pe_stream *stream, const reading *into, size_t *made, pe_problem *why)
{
    pe_status status;
    if (pe_stream_reduces(stream)) {
        /* A block of numbers for the reducer, or its text after the last one. */
        alignas(BLOCK_ALIGN) unsigned char block[BLOCK_BYTES];
        const pe_reducer *reducer = &stream->segments.reducer;
        pe_elements elements = {.tensor = stream->tensor, .first = stream->next};
        if (elements.first >= reducer->elements[stream->carry.tensor]) {
            const size_t next = stream->segment + 1;
            if (next < stream->segments.n &&
                stream->segments.segment[next].encoder == &pe_reduced_encode) {
                enter(stream, next, 0);
                return PE_OK;
            }
            const double start = now();
            status = reducer->finish(reducer->state, &stream->segments.text, why);
            pe_segments_text(&stream->segments);
            stream->next = stream->tensor->elements;
            stream->reduced = true;
            stream->encode += now() - start;
            return status;
        }
        PE_TRY(make_numbers(stream, block, &elements.data, &elements.n, why));
        const double start = now();
        status = reducer->take(reducer->state, &elements, why);
        stream->encode += now() - start;
        pass(stream, elements.n);
        return status;
    }
    const size_t n = in_place(stream, into);
    const bool text = encoder_at(stream)->encode != NULL;
    if (n > 0) {
        PE_TRY(fill(stream, n, next_of(into), why));
        pass(stream, n);
        *made = n * pe_dtype_bytes(stream->tensor->dtype);
        return PE_OK;
    }
    if (into->got > 0 && !(text && room_of(into) >= text_max(stream, stream->segment)) &&
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
    const size_t allowed = stream->allowed;
    stream->spent = 0;
    while (into.got < bytes && status == PE_OK) {
        size_t n = 0;
        if (stream->pending.bytes > 0) {
            n = pe_size_min(room_of(&into), stream->pending.bytes);
            memcpy(next_of(&into), stream->pending.text, n);
            take_pending(stream, n);
        } else if (stream->segment == stream->segments.n ||
                   ((into.got > 0 || pe_stream_reduces(stream)) && stream->spent >= allowed)) {
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
