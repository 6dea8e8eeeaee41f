/* SPDX-License-Identifier: MIT */
/* rope.h - what the rope resources share: the rotation of a request. */
#ifndef PE_ENCODINGS_ROPE_ROPE_H
#define PE_ENCODINGS_ROPE_ROPE_H

#include <stdbool.h>
#include <stddef.h>

#include "encodings/rope/types/rope_types.h"
#include "kernels/kernels.h"
#include "plan/price.h"
#include "tables/tables.h"

/** A request's rotation, checked. */
typedef struct pe_rope {
    size_t head_dim, rotary_dim, pairs; /* rotary_dim == 2 * pairs <= head_dim */
    size_t rotary_offset;               /* the first channel that rotates */
    size_t parts;                       /* of the channels, that hold pairs of their own; 0: one */
    pe_pairing pairing;
    bool float32;
    pe_tables *tables;        /* where its frequency sets are; NULL where none is asked for */
    pe_rope_formula *formula; /* owned */
    size_t formula_bytes;
    struct pe_rope_axes *axes; /* owned; NULL: a token has one position */
    bool uneven;               /* the axes do not have the pairs that mrope_section says */
} pe_rope;

/**
 * Check the shared parameters against each other, fill in what they imply (rotary_dim,
 * partial_rotary_factor, seq_len: part of the canonical form) and read them. head_dim is present.
 * Errors  INVALID_PARAMETER, MISSING_PARAMETER (a key the type needs).
 */
pe_status pe_rope_read(pe_values *values, pe_tables *tables, pe_rope *out,
                       pe_problem *why) PE_MUST_CHECK;
/** What of it can be checked without head_dim. */
pe_status pe_rope_read_bare(pe_values *values, pe_problem *why) PE_MUST_CHECK;
void pe_rope_free(pe_rope *rope);
/** The same with a plan's tables; the plan releases what the rotation owns. */
pe_status pe_rope_plan(pe_values *values, pe_plan *plan, pe_rope *out,
                       pe_problem *why) PE_MUST_CHECK;
/** The same after checks of a request's tensors, whose mistakes are told beside its own; *out is
 * written on PE_OK. */
pe_status pe_rope_plan_beside(pe_status so_far, pe_values *values, pe_plan *plan, pe_rope *out,
                              pe_problem *why) PE_MUST_CHECK;

/** Has a token one position, whatever else of the rotation is at fault? No parameter names axes. */
bool pe_rope_has_one_axis(const pe_values *values);

/** What multiplies sines and cosines. */
typedef enum pe_rope_amplitude {
    PE_ROPE_PLAIN,    /* 1 */
    PE_ROPE_ATTENDED, /* the attention factor A */
    PE_ROPE_SQUARED,  /* A^2: both sides of a score */
    PE_ROPE_UNDONE    /* 1/A */
} pe_rope_amplitude;

/** The frequency set of a rotation, and that of its unscaled frequencies (type default). */
pe_status pe_rope_wave(const pe_rope *rope, pe_rope_amplitude amplitude, pe_shared_wave *out,
                       pe_problem *why) PE_MUST_CHECK;
/** The same in the state of a plan, which releases it. */
pe_status pe_rope_wave_plan(const pe_rope *rope, pe_rope_amplitude amplitude, pe_plan *plan,
                            pe_shared_wave *out, pe_problem *why) PE_MUST_CHECK;
pe_status pe_rope_wave_unscaled(const pe_rope *rope, pe_shared_wave *out,
                                pe_problem *why) PE_MUST_CHECK;

/** A, and the scaled base, correctly rounded to float64. */
double pe_rope_wave_attention_factor(const pe_rope *rope);
double pe_rope_wave_base(const pe_rope *rope);

/** Warn of the deviations that this rotation meets at these positions; NULL: at none. */
void pe_rope_warnings_add(const pe_rope *rope, const pe_positions *positions, pe_plan *plan);

/**
 * The same rotation with the other list of divisors, for a type that has two; for others
 * out->formula is NULL. It is released with free.   Errors  OVERLOADED (memory).
 */
pe_status pe_rope_type_keys_other(const pe_values *values, const pe_rope *rope, pe_rope *out,
                                  pe_problem *why) PE_MUST_CHECK;

#endif
