/* SPDX-License-Identifier: MIT */
/* relative.h - what tables of relative positions share: lengths, and rows that
 * repeat each other. */
#ifndef PE_ENCODINGS_RELATIVE_RELATIVE_H
#define PE_ENCODINGS_RELATIVE_RELATIVE_H

#include <stddef.h>
#include <stdint.h>

#include "plan/common_params.h"
#include "plan/plan.h"

#define PE_RELATIVE_LENGTH_MAX 1099511627776.0 /* 2^40 */

extern const pe_param_set pe_relative_window_params; /* query_length, key_length */
extern const pe_param_set pe_relative_dtype_params;  /* of indices: int32 */

/** A row: keys, by default as many as `fallback` says. */
#define PE_RELATIVE_KEY_LENGTH(fallback)                                                           \
    {                                                                                              \
        .name = "key_length", .kind = PE_KIND_INT, .optional = true, .fallback_text = (fallback),  \
        .min = 1, .max = PE_RELATIVE_LENGTH_MAX, .unit = "tokens",                                 \
        .help = "Keys; at least as many as queries.", .example = "16"                              \
    }

/**
 * key_length, as many as queries where absent (it becomes part of the canonical form).
 * Errors  INVALID_PARAMETER at `where`: fewer keys than queries.
 */
pe_status pe_relative_lengths(pe_values *values, int64_t queries, const char *where,
                              pe_problem *why) PE_MUST_CHECK;

/**
 * A table [layers, rows, keys] of units (elements, or vectors). A unit depends on its layer and on
 * relative = position of the key - position of the query alone, so that each row is the one above
 * it, one key to the right.
 */
typedef struct pe_relative {
    size_t rows, keys;   /* of a layer */
    int64_t first_query; /* position of row 0; keys count from 0 */
    size_t bytes;        /* of a unit */
    /** The units of keys relative, relative + 1, ... (n of them) to out. */
    void (*run)(const void *state, size_t layer, int64_t relative, size_t n, unsigned char *out);
} pe_relative;

/** A table of so many queries and keys. */
pe_relative pe_relative_make(size_t queries, size_t keys, size_t bytes);

/**
 * A plan's fill; the plan's state begins with its pe_relative. Units [first, first + units), row by
 * row: what has no neighbour above left in out is asked of run, the rest is copied. No errors.
 */
pe_status pe_relative_fill(const pe_plan *plan, size_t t, size_t first, size_t units, void *out,
                           pe_problem *why);

/** out: `unit` n times. */
void pe_relative_repeat(const void *unit, size_t bytes, size_t n, unsigned char *out);

#endif
