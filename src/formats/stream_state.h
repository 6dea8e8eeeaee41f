/* SPDX-License-Identifier: MIT */
/* stream_state.h - what a stream is, for the files that implement stream.h. */
#ifndef PE_FORMATS_STREAM_STATE_H
#define PE_FORMATS_STREAM_STATE_H

#include "base/slice.h"
#include "formats/segments.h"
#include "formats/stream.h"
#include "formats/tensor_blocks.h"

/**
 * Segments are read in order. `pending` is what was made and not yet read. Numbers that are sent as
 * they are, and text that surely fits, are made where the reader wants them; other text is held in
 * `text` until it has been read.
 */
struct pe_stream {
    const pe_plan *plan;
    pe_stream_facts facts;
    pe_segments segments;
    size_t segment;          /* the one that is being read */
    pe_tensor_blocks blocks; /* of its tensor, if it is numbers */
    pe_slice pending;
    uint64_t skip;    /* of the coming text, after a seek */
    uint64_t at, end; /* byte to be read next; where to stop */
    pe_carry carry;
    char *text;    /* owned: what `pending` is of, unless that is a literal */
    bool reduced;  /* the reducer, if there is one, has finished */
    double encode; /* seconds */
};

/** The tensor of segment i; NULL for literal text. */
const pe_tensor *pe_stream_tensor(const pe_stream *stream, size_t i);

/** Stand before an element of segment i, or before its text. i == segments.n: the end. */
void pe_stream_enter(pe_stream *stream, size_t i, size_t element);

/** Bytes of segment i; false when they are not known beforehand. */
bool pe_stream_segment_length(const pe_stream *stream, size_t i, uint64_t *out);

/** The longest text of a block of segment i; 0 for literal text. */
size_t pe_stream_text_max(const pe_stream *stream, size_t i);

/** Sets stream->facts. The segments are there. */
void pe_stream_measure(pe_stream *stream);

/** What the text of a number of segment i costs beside the number; 0: it has none. */
size_t pe_stream_number_work(const pe_stream *stream, size_t i);

#endif
