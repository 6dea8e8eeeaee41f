/* SPDX-License-Identifier: MIT */
/* stream.c - from segments to bytes, one block of numbers at a time. */
#include "formats/stream.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/slice.h"
#include "formats/segments.h"
#include "plan/price.h"

/* Numbers that become text at once. They are few, since a reader who stalls holds the text that was
 * made and not read, and hundreds of readers may stall. Wider units are made in parts where the
 * plan can do that. */
#define NUMBERS_BYTES ((size_t)8 << 10)
#define NUMBERS_MAX   ((size_t)2048)
/* Room for their text, unless it is unusually long. */
#define TEXT_BYTES ((size_t)80 << 10)
/* Elements of a plain table that a block may cost: some milliseconds. */
#define BLOCK_WORK ((size_t)1 << 19)
/* The work of an element is that of one alone. Elements made together may share most of it, as rows
 * that repeat each other do, so a stream allows twice the work after each block that was quick, and
 * begins anew after a slow one. */
#define QUICK_NANOSECONDS (4 * (int64_t)PE_NANOSECONDS_PER_MS)
#define SLOW_NANOSECONDS  (3 * QUICK_NANOSECONDS)
#define BLOCK_ALIGN       64
/* Making a unit of so many elements takes tens of microseconds. */
#define WIDE_ELEMENTS ((size_t)8 << 10)

/*
 * Segments are read in order; the element `next` of `segment` is the next to be made. `pending` is
 * what was made and not yet read. Numbers that are sent as they are, and text that surely fits, are
 * made where the reader wants them; other text is held in `text` until it has been read.
 */
struct pe_stream {
    const pe_plan *plan;
    pe_segments segments;
    size_t segment, next; /* the element of its tensor */
    pe_slice pending;
    uint64_t skip;    /* of the coming text, after a seek */
    uint64_t at, end; /* byte to be read next; where to stop */
    pe_carry carry;
    char *text; /* owned: what `pending` is of, unless that is a literal */
    char *unit; /* a wide unit that cannot be cut, from unit_at on, until it has been used */
    size_t unit_at;
    size_t allowed, spent; /* work: of a block at most, of the read under way */
    bool reduced;          /* the reducer, if there is one, has finished */
    double compute, encode;
};

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

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t down(size_t n, size_t step)
{
    return n / step * step;
}

static size_t unit_bytes(const pe_tensor *tensor)
{
    return tensor->unit * pe_dtype_bytes(tensor->dtype);
}

static const pe_tensor *tensor_at(const pe_stream *stream)
{
    return pe_segments_tensor(&stream->segments, stream->plan, stream->segment);
}

/* Elements of a block that becomes text. */
static size_t numbers_max(const pe_tensor *tensor)
{
    return smaller(NUMBERS_BYTES / pe_dtype_bytes(tensor->dtype), NUMBERS_MAX);
}

static bool can_cut(const pe_stream *stream, const pe_tensor *tensor)
{
    return stream->plan->makes_parts && tensor->unit > numbers_max(tensor);
}

/*
 * How many of the next elements to make, at most `most` and no more than the work allowed: whole
 * units, or a part of one. 0 when a unit is more than that and cannot be cut.
 */
static size_t fitting(const pe_stream *stream, bool cut, size_t most)
{
    const pe_tensor *tensor = tensor_at(stream);
    const size_t at = stream->next, unit = tensor->unit, left = unit - at % unit;
    const size_t bearable = stream->allowed / tensor->work;
    if (left == unit && most >= unit && (bearable >= unit || !cut)) {
        const size_t units = bearable < unit ? 1 : smaller(most, bearable) / unit;
        return smaller(units * unit, tensor->elements - at);
    }
    if (!cut)
        return 0;
    most = smaller(most, bearable > PE_PART_ELEMENTS ? bearable : PE_PART_ELEMENTS);
    return most >= left ? left : down(most, PE_PART_ELEMENTS);
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
    stream->allowed = BLOCK_WORK;
    rendering->format->ops->describe(plan, rendering, tensor, &stream->segments);
    if (stream->segments.text.failed) {
        pe_stream_free(stream);
        return pe_fail_memory(why);
    }
    *out = stream;
    return PE_OK;
}

static void drop(char **memory)
{
    free(*memory);
    *memory = NULL;
}

void pe_stream_free(pe_stream *stream)
{
    if (stream == NULL)
        return;
    pe_segments_free(&stream->segments);
    free(stream->text);
    free(stream->unit);
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
    return sum + stream->segments.reducer.bytes_max;
}

/* The pseudo tensor of a CSV header: element i is i. */
static void fill_columns(size_t first, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)(first + i);
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

/* Elements [next, next + n), timed: whole units, or a part of one. */
static pe_status fill(pe_stream *stream, size_t n, void *out, pe_problem *why)
{
    pe_status status = PE_OK;
    const size_t index = stream->segments.segment[stream->segment].tensor, at = stream->next;
    const pe_tensor *tensor = tensor_at(stream);
    const double start = now();
    const int64_t before = tensor->work > 1 ? pe_clock_of_thread() : 0;
    if (index == PE_COLUMNS) {
        fill_columns(at, n, out);
    } else {
        const size_t unit = tensor->unit;
        const bool whole = at % unit == 0 && n % unit == 0;
        const pe_region region = {.tensor = index,
                                  .first = at / unit,
                                  .units = whole ? n / unit : 1,
                                  .column = at % unit,
                                  .columns = whole ? unit : n};
        status = stream->plan->fill(stream->plan, &region, out, why);
    }
    stream->spent += n * tensor->work;
    if (tensor->work > 1)
        learn(stream, n * tensor->work, pe_clock_of_thread() - before);
    stream->compute += now() - start;
    return status;
}

/* ---- numbers that pass through a block ---- */

/* A block of numbers, or fewer where the reader stops before its end: no number is longer than its
 * encoding, so where `end` is known, the bytes that are left bound the numbers. */
static size_t numbers_wanted(const pe_stream *stream, const pe_tensor *tensor)
{
    const pe_encoder *encoder = stream->segments.segment[stream->segment].encoder;
    const size_t most = numbers_max(tensor), size = pe_dtype_bytes(tensor->dtype);
    const uint64_t bytes = stream->end - stream->at;
    if (stream->end == UINT64_MAX || encoder->length == NULL || bytes > (uint64_t)most * size)
        return most;
    const size_t step = tensor->unit <= most ? tensor->unit : PE_PART_ELEMENTS;
    const size_t n = (size_t)(bytes + stream->skip + sizeof stream->carry.byte) / size + step;
    return smaller(most, n < step ? step : down(n, step));
}

/* The next numbers: made into `block`, or taken from a wide unit that was made as a whole. */
static pe_status make_numbers(pe_stream *stream, void *block, const void **numbers, size_t *n,
                              pe_problem *why)
{
    pe_status status = PE_OK;
    const pe_tensor *tensor = tensor_at(stream);
    const size_t most = numbers_wanted(stream, tensor), size = pe_dtype_bytes(tensor->dtype);
    *n = stream->unit != NULL ? 0 : fitting(stream, can_cut(stream, tensor), most);
    *numbers = block;
    if (*n > 0)
        return fill(stream, *n, block, why);
    if (stream->unit == NULL) {
        const size_t bytes = unit_bytes(tensor) + BLOCK_ALIGN - 1;
        stream->unit = aligned_alloc(BLOCK_ALIGN, down(bytes, BLOCK_ALIGN));
        stream->unit_at = stream->next;
        status = stream->unit != NULL ? fill(stream, tensor->unit, stream->unit, why)
                                      : pe_fail_memory(why);
    }
    *numbers = stream->unit + (stream->next - stream->unit_at) * size;
    *n = smaller(most, stream->unit_at + tensor->unit - stream->next);
    return status;
}

/* Numbers as text, timed. */
static size_t encode(pe_stream *stream, const void *numbers, size_t n, char *out)
{
    const pe_encoder *encoder = stream->segments.segment[stream->segment].encoder;
    const pe_elements elements = {tensor_at(stream), stream->next, n, numbers};
    if (encoder->encode == NULL) {
        const size_t bytes = n * pe_dtype_bytes(elements.tensor->dtype);
        memcpy(out, numbers, bytes);
        return bytes;
    }
    const double start = now();
    const size_t bytes = encoder->encode(&elements, &stream->carry, out);
    stream->encode += now() - start;
    return bytes;
}

/* The longest text of a block; 0 for literals. */
static size_t text_max_of(const pe_stream *stream, size_t i)
{
    const pe_encoder *encoder = stream->segments.segment[i].encoder;
    if (encoder == NULL)
        return 0;
    const pe_tensor *tensor = pe_segments_tensor(&stream->segments, stream->plan, i);
    return encoder->block_max(tensor, numbers_max(tensor));
}

static size_t text_max(const pe_stream *stream)
{
    return text_max_of(stream, stream->segment);
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
    *made = smaller(text.bytes, room_of(into));
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

/* Numbers were used; the wide unit that they ended has been, too. */
static void pass(pe_stream *stream, size_t n)
{
    stream->next += n;
    if (stream->unit != NULL && stream->next == stream->unit_at + tensor_at(stream)->unit)
        drop(&stream->unit);
}

/* The next numbers as text: *made bytes for the reader, and what does not fit there pending. */
static pe_status make_text(pe_stream *stream, const reading *into, size_t *made, pe_problem *why)
{
    alignas(BLOCK_ALIGN) unsigned char block[NUMBERS_BYTES];
    char usual[TEXT_BYTES], *text = usual;
    const void *numbers;
    size_t n, most = text_max(stream);
    pe_status status = make_numbers(stream, block, &numbers, &n, why);
    if (status != PE_OK)
        return status;
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
    pass(stream, n);
    return status;
}

/* ---- numbers that a reducer takes ---- */

bool pe_stream_reduces(const pe_stream *stream)
{
    return stream->segment < stream->segments.n && !stream->reduced &&
           stream->segments.segment[stream->segment].encoder == &pe_reduced_encode;
}

static pe_status finish_reducing(pe_stream *stream, pe_problem *why)
{
    const pe_reducer *reducer = &stream->segments.reducer;
    const double start = now();
    const pe_status status = reducer->finish(reducer->state, &stream->segments.text, why);
    pe_segments_text(&stream->segments);
    stream->next = tensor_at(stream)->elements;
    stream->reduced = true;
    stream->encode += now() - start;
    return status;
}

/* A block of numbers for the reducer, or its text after the last one. */
static pe_status reduce(pe_stream *stream, pe_problem *why)
{
    alignas(BLOCK_ALIGN) unsigned char block[NUMBERS_BYTES];
    const pe_reducer *reducer = &stream->segments.reducer;
    pe_elements elements = {.tensor = tensor_at(stream), .first = stream->next};
    if (stream->next >= reducer->elements)
        return finish_reducing(stream, why);
    pe_status status = make_numbers(stream, block, &elements.data, &elements.n, why);
    if (status != PE_OK)
        return status;
    const double start = now();
    status = reducer->take(reducer->state, &elements, why);
    stream->encode += now() - start;
    pass(stream, elements.n);
    return status;
}

/* ---- numbers where the reader wants them ---- */

/* How many of the next elements may be made where the reader wants them: those that are sent as
 * they are. A unit is cut only when the whole room could not hold it. */
static size_t in_place(const pe_stream *stream, const reading *into)
{
    const pe_encoder *encoder = stream->segments.segment[stream->segment].encoder;
    if (encoder == NULL || encoder->encode != NULL || stream->skip > 0 || stream->unit != NULL)
        return 0;
    const pe_tensor *tensor = tensor_at(stream);
    const size_t size = pe_dtype_bytes(tensor->dtype);
    if (stream->next >= tensor->elements || (uintptr_t)next_of(into) % size != 0)
        return 0;
    const bool within = stream->next % tensor->unit != 0 || tensor->unit > into->bytes / size;
    return fitting(stream, within && can_cut(stream, tensor), room_of(into) / size);
}

static pe_status make_in_place(pe_stream *stream, size_t n, char *to, size_t *made, pe_problem *why)
{
    pe_status status = fill(stream, n, to, why);
    if (status != PE_OK)
        return status;
    stream->next += n;
    *made = n * pe_dtype_bytes(tensor_at(stream)->dtype);
    return PE_OK;
}

/* ---- reading ---- */

/* The first bytes of what is pending. */
static void take_pending(pe_stream *stream, size_t bytes)
{
    if (bytes > 0) /* else there may be no text to point into */
        stream->pending.text += bytes;
    stream->pending.bytes -= bytes;
    if (stream->pending.bytes == 0)
        drop(&stream->text);
}

static size_t copy_pending(pe_stream *stream, const reading *into)
{
    const size_t n = smaller(room_of(into), stream->pending.bytes);
    memcpy(next_of(into), stream->pending.text, n);
    take_pending(stream, n);
    return n;
}

static void skip_pending(pe_stream *stream)
{
    const size_t n =
        stream->skip < stream->pending.bytes ? (size_t)stream->skip : stream->pending.bytes;
    stream->skip -= n;
    take_pending(stream, n);
}

/* Steps over a literal, which is pending then, or over a tensor that has ended. False: numbers are
 * next. */
static bool step(pe_stream *stream)
{
    const pe_segment *segment = &stream->segments.segment[stream->segment];
    const bool literal = segment->encoder == NULL;
    if (!literal && (stream->next < tensor_at(stream)->elements || pe_stream_reduces(stream)))
        return false;
    if (literal)
        stream->pending = (pe_slice){stream->segments.text.data + segment->text, segment->bytes};
    stream->segment++;
    stream->next = 0;
    stream->carry.n = 0;
    stream->allowed = BLOCK_WORK;
    return true;
}

/* Whether the next read, with as much room as this one had, gets these numbers without a copy. */
static bool fits_next_time(const pe_stream *stream, const reading *into)
{
    const pe_encoder *encoder = stream->segments.segment[stream->segment].encoder;
    const reading again = {into->out, into->bytes, 0};
    return encoder->encode == NULL ? in_place(stream, &again) > 0
                                   : stream->skip == 0 && into->bytes >= text_max(stream);
}

/* The next numbers of the tensor: *made bytes for the reader, or pending. Nothing is made when the
 * next read gets them without a copy. */
static pe_status make(pe_stream *stream, const reading *into, size_t *made, pe_problem *why)
{
    if (pe_stream_reduces(stream))
        return reduce(stream, why);
    const size_t n = in_place(stream, into);
    const bool text = stream->segments.segment[stream->segment].encoder->encode != NULL;
    if (n > 0)
        return make_in_place(stream, n, next_of(into), made, why);
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
    const size_t allowed = stream->allowed;
    stream->spent = 0;
    while (into.got < bytes && status == PE_OK) {
        size_t n = 0;
        if (stream->pending.bytes > 0) {
            n = copy_pending(stream, &into);
        } else if (stream->segment == stream->segments.n ||
                   ((into.got > 0 || pe_stream_reduces(stream)) && stream->spent >= allowed)) {
            break;
        } else if (step(stream)) {
            skip_pending(stream);
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

static void empty(pe_stream *stream)
{
    drop(&stream->text);
    drop(&stream->unit);
    stream->pending.bytes = 0;
    stream->skip = 0;
    stream->carry.n = 0;
}

/* Where the numbers that hold this element begin. */
static size_t beginning(const pe_stream *stream, const pe_tensor *tensor, size_t element)
{
    const size_t unit = down(element, tensor->unit);
    return can_cut(stream, tensor) ? unit + down(element - unit, PE_PART_ELEMENTS) : unit;
}

/* Stand before the numbers that hold byte `offset` of the segment. */
static void enter_segment(pe_stream *stream, size_t i, uint64_t offset)
{
    const pe_encoder *encoder = stream->segments.segment[i].encoder;
    stream->segment = i;
    stream->next = 0;
    stream->skip = offset;
    if (encoder == NULL)
        return;
    const pe_tensor *tensor = tensor_at(stream);
    const size_t size = pe_dtype_bytes(tensor->dtype);
    const uint64_t element = encoder->raw_of(offset) / size;
    if (tensor->elements == 0)
        return;
    stream->next =
        element < tensor->elements ? beginning(stream, tensor, (size_t)element) : tensor->elements;
    stream->skip = offset - encoder->text_of((uint64_t)stream->next * size);
}

pe_status pe_stream_seek(pe_stream *stream, uint64_t offset, pe_problem *why)
{
    uint64_t total = 0, length = 0, left = offset;
    if (!pe_stream_length(stream, &total))
        return pe_fail(why, PE_INTERNAL, "", "a representation of unknown length has no offsets");
    if (offset > total)
        return pe_fail(why, PE_RANGE_NOT_SATISFIABLE, "", "offset %llu is past the end, %llu",
                       (unsigned long long)offset, (unsigned long long)total);
    empty(stream);
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
    return PE_OK;
}

void pe_stream_sample(pe_stream *stream, size_t part, size_t parts)
{
    size_t elements = 0, i = 0;
    for (size_t s = 0; s < stream->segments.n; s++)
        if (stream->segments.segment[s].encoder != NULL)
            elements += pe_segments_tensor(&stream->segments, stream->plan, s)->elements;
    size_t element = elements / parts * part;
    empty(stream);
    for (; i < stream->segments.n; i++) {
        if (stream->segments.segment[i].encoder == NULL)
            continue;
        const pe_tensor *tensor = pe_segments_tensor(&stream->segments, stream->plan, i);
        if (element < tensor->elements) {
            stream->next = beginning(stream, tensor, element);
            break;
        }
        element -= tensor->elements;
    }
    stream->segment = i;
}

size_t pe_stream_room(const pe_stream *stream)
{
    size_t most = (size_t)stream->segments.reducer.bytes_max;
    for (size_t i = 0; i < stream->segments.n; i++) {
        const size_t room = text_max_of(stream, i);
        most = room > most ? room : most;
    }
    return most;
}

/* Text has no more numbers than as many bytes of binary ones. A unit that cannot be cut is made for
 * the sake of any of its elements. */
static uint64_t segment_work(const pe_stream *stream, size_t i, size_t bytes)
{
    const pe_tensor *tensor = pe_segments_tensor(&stream->segments, stream->plan, i);
    size_t n = bytes / pe_dtype_bytes(tensor->dtype) + 1;
    if (n < tensor->unit && !can_cut(stream, tensor))
        n = tensor->unit;
    return pe_price_times(smaller(n, tensor->elements), tensor->work);
}

uint64_t pe_stream_work(const pe_stream *stream, size_t bytes)
{
    uint64_t most = 0;
    for (size_t i = 0; i < stream->segments.n; i++) {
        if (stream->segments.segment[i].encoder == NULL)
            continue;
        const uint64_t work = segment_work(stream, i, bytes);
        most = work > most ? work : most;
    }
    return most;
}

uint64_t pe_stream_reduced_work(const pe_stream *stream)
{
    const pe_reducer *reducer = &stream->segments.reducer;
    if (reducer->release == NULL)
        return 0;
    const pe_tensor *tensor = tensor_at(stream);
    return pe_price_plus(pe_price_times(reducer->elements, tensor->work), reducer->work);
}

bool pe_stream_is_text(const pe_stream *stream)
{
    return pe_stream_room(stream) > 0;
}

bool pe_stream_expensive(const pe_stream *stream)
{
    for (size_t i = 0; i < stream->segments.n; i++) {
        if (stream->segments.segment[i].encoder == NULL)
            continue;
        const pe_tensor *tensor = pe_segments_tensor(&stream->segments, stream->plan, i);
        if (tensor->work > 1 || stream->segments.segment[i].encoder == &pe_reduced_encode ||
            (tensor->unit > WIDE_ELEMENTS && !can_cut(stream, tensor)))
            return true;
    }
    return false;
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
