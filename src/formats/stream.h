/* SPDX-License-Identifier: MIT */
/* stream.h - a representation as a stream of bytes, made block by block. */
#ifndef PE_FORMATS_STREAM_H
#define PE_FORMATS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/format.h"

/**
 * The representation's bytes, made as they are read: forward, and never the whole at once. Between
 * reads a stream holds at most the text of 2048 numbers; of a plan whose wide units cannot be cut,
 * a unit too. Borrows plan and rendering until freed. One thread at a time.
 */
typedef struct pe_stream pe_stream;

pe_status pe_stream_make(const pe_plan *plan, const pe_rendering *rendering, pe_stream **out,
                         pe_problem *why) PE_MUST_CHECK;
void pe_stream_free(pe_stream *stream);

/** What a stream comes to, which is known before it is read. */
typedef struct pe_stream_facts {
    uint64_t length;       /* bytes; UINT64_MAX: not known beforehand (nested JSON, CSV) */
    uint64_t length_max;   /* an upper bound, always known: what a cache may reckon with */
    uint64_t length_usual; /* about how many there will be, as its price reckons with */
    size_t room; /* the longest text of a block; 0: no number becomes text. A reader with less room
                  * gets a part, and the rest is held for the next read */
    uint64_t reduced_work; /* of all that a reducer takes and makes, in units; 0: there is none */
    uint64_t text_work;    /* of writing all numbers as text, where that is done */
    bool
        expensive; /* some numbers surely take long: each costs more than one of a plain table, many
                     * can only be made at once, or the first byte needs all */
} pe_stream_facts;

const pe_stream_facts *pe_stream_facts_of(const pe_stream *stream);

/** The next bytes: up to `bytes` into out, fewer also before the end. *got == 0 at the end, and
 * while the stream reduces. */
pe_status pe_stream_read(pe_stream *stream, void *out, size_t bytes, size_t *got,
                         pe_problem *why) PE_MUST_CHECK;
/** Numbers are read of which text is made only in the end, as of a figure. A read makes a block of
 * them, as many as others make in a read. */
bool pe_stream_reduces(const pe_stream *stream);
/** Continue at byte `offset` (known_length formats only): only what follows is computed. */
pe_status pe_stream_seek(pe_stream *stream, uint64_t offset, pe_problem *why) PE_MUST_CHECK;

/** Stop at byte `end` (known_length formats only): reads end there, and numbers that only later
 * bytes need are not computed. */
void pe_stream_limit(pe_stream *stream, uint64_t end);

/**
 * Continue near part / parts of all numbers, to take a sample. The bytes read there are those of
 * the representation, without literal text before the first number. Offsets and lengths mean
 * nothing until pe_stream_restart.
 */
void pe_stream_sample(pe_stream *stream, size_t part, size_t parts);
/** Stand before the first byte again, of which no part may be reduced. */
void pe_stream_restart(pe_stream *stream);

/** What the numbers of `bytes` bytes cost, in units of work, where they cost most. */
uint64_t pe_stream_work(const pe_stream *stream, size_t bytes);

/** What the numbers cost that have not been made yet, without a limit. */
uint64_t pe_stream_work_left(const pe_stream *stream);

/** Seconds spent in fill and in encoding so far, for Server-Timing. */
void pe_stream_times(const pe_stream *stream, double *compute, double *encode);

#endif
