/* SPDX-License-Identifier: MIT */
/* segments.h - a representation as a list of segments: literal text, or the numbers of a tensor. */
#ifndef PE_FORMATS_SEGMENTS_H
#define PE_FORMATS_SEGMENTS_H

#include <nettle/base64.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "formats/format.h"
#include "plan/plan.h"

/** What one block leaves for the next: bits, as base64 works in groups of three bytes; and the CRC-32
 * of each tensor so far, which npz needs. */
typedef struct pe_carry {
    struct base64_encode_ctx base64;
    size_t tensor; /* the one that is read */
    uint32_t crc[PE_MAX_TENSORS];
} pe_carry;

/** What stands before the numbers of a row of CSV. */
typedef struct pe_row_labels {
    const char *block;             /* the tensor's name; NULL: nothing */
    size_t empty;                  /* fields for axes that other tensors have more */
    size_t leading;                /* axes before that of rows: their indices follow */
    bool numbered;                 /* then the position of the row, or its index */
    const pe_positions *positions; /* borrowed, or NULL */
} pe_row_labels;

/** Elements [first, first + n) of a tensor, packed. */
typedef struct pe_elements {
    const pe_tensor *tensor;
    size_t first, n;
    const void *data;
    const pe_row_labels *labels; /* of its rows; NULL: none */
} pe_elements;

/**
 * How the numbers of a tensor become bytes. Knows the tensor's shape (brackets, line ends) and is
 * handed its elements in consecutive blocks.
 *
 * Threads  any; the state between blocks is the caller's carry.
 */
typedef struct pe_encoder {
    /** Bytes of the whole tensor; NULL when that is not known beforehand. */
    uint64_t (*length)(const pe_tensor *tensor);
    /** Where that is NULL: an upper bound of it; NULL: there are none. */
    uint64_t (*length_max)(const pe_tensor *tensor);
    /** Bytes that a block of n elements may take; NULL: those of the packed numbers. */
    size_t (*block_max)(const pe_tensor *tensor, size_t n);
    /** Units of work (plan/price.h) that a row takes beside its numbers; a vector's rows then have
     * one number. */
    size_t row_work;
    /** Encode the next elements; returns the bytes written. NULL: the packed numbers are the
     * representation. */
    size_t (*encode)(const pe_elements *elements, pe_carry *carry, char *out);
    /** With length only. The first number byte that byte `at` of the encoding is made of; and the
     * byte of the encoding where one begins that starts with number byte `raw`. NULL: the same. */
    uint64_t (*raw_of)(uint64_t at);
    uint64_t (*text_of)(uint64_t raw);
} pe_encoder;

/** Of numbers as they are (npy.c), and of numbers that the reducer takes (format_registry.c). */
extern const pe_encoder pe_raw_encode, pe_reduced_encode;

/**
 * Makes the text of a representation that no number of has bytes of its own: a figure. It takes the
 * numbers of the segments with pe_reduced_encode, block by block; then what it finishes with follows
 * the last of these segments.
 */
typedef struct pe_reducer {
    size_t elements[PE_MAX_TENSORS]; /* that it needs: the first ones of each of its tensors */
    uint64_t bytes_max;              /* of its text */
    uint64_t work; /* of making that, in units (plan/price.h), without the elements */
    void *state;   /* owned */
    pe_status (*take)(void *state, const pe_elements *elements, pe_problem *why);
    pe_status (*finish)(void *state, pe_buffer *out, pe_problem *why);
    void (*release)(void *state); /* NULL: there is no reducer */
} pe_reducer;

/** Instead of a tensor's index: the column numbers 0, 1, ... of segments->columns. */
#define PE_COLUMNS SIZE_MAX

typedef struct pe_segment {
    const pe_encoder *encoder; /* NULL: literal text */
    size_t text, bytes;        /* literal: a slice of segments->text */
    size_t tensor;             /* else: which tensor of the plan, or PE_COLUMNS */
    /** Literal text of `bytes` bytes that is known once all numbers before it have been read. */
    void (*late)(const pe_plan *plan, size_t tensor, const pe_carry *carry, pe_buffer *out);
} pe_segment;

#define PE_MAX_SEGMENTS (3 * PE_MAX_TENSORS + 2)

typedef struct pe_segments {
    size_t n;
    pe_segment segment[PE_MAX_SEGMENTS];
    pe_buffer text;    /* of all literal segments; append here, then pe_segments_text */
    size_t text_taken; /* bytes of it that segments own already */
    pe_tensor columns; /* for PE_COLUMNS */
    pe_row_labels labels[PE_MAX_TENSORS];
    pe_reducer reducer;
} pe_segments;

/** Close what was appended to segments->text since the last call into a literal segment. */
void pe_segments_text(pe_segments *segments);
void pe_segments_numbers(pe_segments *segments, size_t tensor, const pe_encoder *encoder);
/** Text of so many bytes that `late` makes. */
void pe_segments_late(pe_segments *segments, size_t tensor, size_t bytes,
                      void (*late)(const pe_plan *plan, size_t tensor, const pe_carry *carry,
                                   pe_buffer *out));

/* The formats, in order of preference: the file of each defines pe_format_<name>. */
#define PE_FORMATS(X)                                                                              \
    X(json)                                                                                        \
    X(npy)                                                                                         \
    X(raw)                                                                                         \
    X(npz)                                                                                         \
    X(csv)                                                                                         \
    X(safetensors)                                                                                 \
    X(svg)                                                                                         \
    X(png)

#define PE_FORMAT_DECLARE(name) extern const pe_format pe_format_##name;
PE_FORMATS(PE_FORMAT_DECLARE)
#undef PE_FORMAT_DECLARE

/** The header of an .npy file. */
void pe_npy_header(const pe_tensor *tensor, pe_buffer *out);
/** Refuses a tensor that NumPy has no type for. */
pe_status pe_npy_check(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                       pe_problem *why) PE_MUST_CHECK;

/** The name of a tensor in an answer: "data" for a lone tensor without scalars, else its own. */
const char *pe_segments_tensor_name(const pe_plan *plan, size_t tensor);

/** Bytes of the tensor's numbers, packed. */
uint64_t pe_segments_tensor_bytes(const pe_tensor *tensor);

/** A plan's engine settings by kind and by program, {"yarn": {"vllm": {"value": ..., "note":
 * ...}}}. The plan has some. */
void pe_engine_settings_json(const pe_plan *plan, pe_buffer *out);

/** Where these settings are documented, {"vllm": "..."}. */
void pe_engine_setting_sources_json(const pe_plan *plan, pe_buffer *out);

#endif
