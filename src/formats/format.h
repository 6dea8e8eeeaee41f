/* SPDX-License-Identifier: MIT */
/* format.h - output formats: how the tensors of a plan become bytes, block by block. */
#ifndef PE_FORMATS_FORMAT_H
#define PE_FORMATS_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "plan/plan.h"

/** A row of the format registry. */
typedef struct pe_format {
    const char *name;       /* "npy": format=npy */
    const char *extension;  /* ".npy" */
    const char *media_type; /* "application/x-npy" */
    const char *help;       /* one sentence: how it holds the numbers */
    bool holds_many;        /* json, safetensors: all tensors; else one, chosen by tensor= */
    bool known_length;      /* the length is known before a number is computed */
    const struct pe_format_ops *ops;
} pe_format;

/** In order of preference; NULL-terminated. json first. */
extern const pe_format *const pe_formats[];
const pe_format *pe_format_by_name(const char *name);
const pe_format *pe_format_by_extension(const char *file_name);

/** What the bytes depend on besides the plan. */
typedef struct pe_rendering {
    const pe_format *format;
    bool base64;            /* encoding_format=base64 (JSON) */
    const char *tensor;     /* tensor=NAME, or NULL */
    const char *encoding;   /* "sinusoidal" */
    const char *parameters; /* canonical parameters as a JSON object's text; borrowed */
} pe_rendering;

/**
 * Can this plan be rendered so? Sets *tensor to the tensor chosen where the format holds one.
 * Errors  NOT_ACCEPTABLE: several tensors and none chosen (lists their names), bfloat16 as npy
 * (says what does), a 3-D tensor as csv; INVALID_PARAMETER: tensor names none (lists them).
 */
pe_status pe_format_check(const pe_plan *plan, const pe_rendering *rendering, size_t *tensor,
                          pe_problem *why) PE_MUST_CHECK;

/**
 * A pull producer of the representation's bytes: reads forward, never holds the whole. Between
 * reads it holds at most the text of 2048 numbers; of a plan whose wide units cannot be cut, a unit
 * too. Borrows plan and rendering until freed. One thread at a time.
 */
typedef struct pe_stream pe_stream;

pe_status pe_stream_make(const pe_plan *plan, const pe_rendering *rendering, pe_stream **out,
                         pe_problem *why) PE_MUST_CHECK;
void pe_stream_free(pe_stream *stream);

/** Bytes of the whole representation; false when it is not known beforehand (nested JSON, CSV). */
bool pe_stream_length(const pe_stream *stream, uint64_t *out);
/** Upper bound, always known: what a cache may reckon with. */
uint64_t pe_stream_length_max(const pe_stream *stream);

/** The next bytes: up to `bytes` into out, fewer also before the end. *got == 0 at the end. */
pe_status pe_stream_read(pe_stream *stream, void *out, size_t bytes, size_t *got,
                         pe_problem *why) PE_MUST_CHECK;
/** Continue at byte `offset` (known_length formats only): only what follows is computed. */
pe_status pe_stream_seek(pe_stream *stream, uint64_t offset, pe_problem *why) PE_MUST_CHECK;

/** Stop at byte `end` (known_length formats only): reads end there and what only the bytes behind
 * it need is not computed. */
void pe_stream_limit(pe_stream *stream, uint64_t end);

/** With this much room no block of text is too large for the reader; what is too large is held for
 * the next read. */
size_t pe_stream_room(const pe_stream *stream);

/**
 * For samples: continue near part / parts of all numbers. What is read then is as it will be there,
 * but for text that leads to the first number; offsets and lengths mean nothing any more.
 */
void pe_stream_sample(pe_stream *stream, size_t part, size_t parts);

/** Are there numbers that surely take long: each costs more than one of a plain table, or many can
 * only be made at once? */
bool pe_stream_expensive(const pe_stream *stream);

/** Seconds spent in fill and in encoding so far, for Server-Timing. */
void pe_stream_times(const pe_stream *stream, double *compute, double *encode);

#endif
