/* SPDX-License-Identifier: MIT */
/* relative.h - what tables of relative positions share: their plan, and rows that repeat each
 * other. */
#ifndef PE_ENCODINGS_RELATIVE_RELATIVE_H
#define PE_ENCODINGS_RELATIVE_RELATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "plan/common_params.h"
#include "plan/plan.h"

#define PE_RELATIVE_LENGTH_MAX 1099511627776.0 /* 2^40 */

extern const pe_param_set pe_relative_window_params; /* query_length, key_length */

#define PE_SWIN_SIDE_MAX 1024
extern const pe_param_set pe_swin_window_params; /* window_height, window_width */

/** A row: keys, by default as many as `fallback` says. */
#define PE_RELATIVE_KEY_LENGTH(fallback)                                                           \
    PE_PARAM("key_length", INT, .axis = true, .optional = true, .fallback_text = (fallback),       \
             .min = 1, .max = PE_RELATIVE_LENGTH_MAX, .unit = "tokens",                            \
             .help = "The number of keys. There are at least as many as queries.",                 \
             .example = "16")

/**
 * key_length, as many as queries where absent (it becomes part of the canonical form).
 * Errors  INVALID_PARAMETER at `where`: fewer keys than queries.
 */
pe_status pe_relative_keys(pe_values *values, int64_t queries, const char *where,
                           pe_problem *why) PE_MUST_CHECK;
/** The same where query_length says how many queries there are. */
pe_status pe_relative_lengths(pe_values *values, pe_problem *why) PE_MUST_CHECK;

/** The units of keys relative, relative + 1, ... (n of them) of a layer to out. */
typedef void (*pe_relative_run)(const void *state, size_t layer, int64_t relative, size_t n,
                                unsigned char *out);

/**
 * A table [layers, rows, keys] of units (elements, or vectors). A unit depends on its layer and on
 * relative = position of the key - position of the query alone, so that each row is the one above
 * it, one key to the right.
 */
typedef struct pe_relative {
    size_t rows, keys;   /* of a layer */
    int64_t first_query; /* position of row 0; keys count from 0 */
    size_t bytes;        /* of a unit */
    pe_relative_run run;
} pe_relative;

/** The tensor of a resource that has such a table: [layers, queries, keys, channels]. */
typedef struct pe_relative_window {
    const char *tensor; /* its name */
    pe_dtype dtype;
    size_t layers, channels; /* 0: there is no such axis */
    bool one_row;            /* of a query at position 0, however many queries there are */
    pe_relative_run run;
    size_t state_bytes; /* of the plan's state, which begins with a pe_relative */
} pe_relative_window;

/**
 * Plan the table of query_length and key_length, which have been read. The state is zeroed but for
 * its pe_relative. fill asks run for the units that have no neighbour above left in out, and copies
 * the others.
 * Errors  TOO_MANY_ELEMENTS, OVERLOADED (memory).
 */
pe_status pe_relative_plan(const pe_relative_window *window, const pe_values *values, pe_plan *out,
                           pe_problem *why) PE_MUST_CHECK;

/** out: `unit` n times. */
void pe_relative_repeat(const void *unit, size_t bytes, size_t n, unsigned char *out);

#endif
