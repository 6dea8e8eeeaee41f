/* SPDX-License-Identifier: MIT */
/* rope_compare.h - rope types planned for one model and one length. */
#ifndef PE_ENCODINGS_ROPE_COMPARE_ROPE_COMPARE_H
#define PE_ENCODINGS_ROPE_COMPARE_ROPE_COMPARE_H

#include "encodings/rope/rope.h"

/** A type as /v1/rope/frequencies would answer it. */
typedef struct pe_rope_candidate {
    const pe_rope_type *type;
    pe_values values; /* of the rows of rope/frequencies: what to ask it for */
    pe_rope rope;
    pe_shared_wave wave;
    double base, attention_factor; /* correctly rounded */
} pe_rope_candidate;

/** The trained and the wanted context length; factor is what types stretch by. */
typedef struct pe_rope_lengths {
    double trained, target, factor;
} pe_rope_lengths;

/**
 * Read the candidate's type, which is set, from the values of rope/compare, with those keys that it
 * reads. Zeroed when it fails.
 * Errors  those of rope/frequencies, at the places of rope/compare; OVERLOADED (memory).
 */
pe_status pe_rope_candidate_read(const pe_values *values, const pe_rope_lengths *lengths,
                                 pe_tables *tables, pe_rope_candidate *candidate,
                                 pe_problem *why) PE_MUST_CHECK;
void pe_rope_candidate_free(pe_rope_candidate *candidate);

/** Add what each engine has to be told for the candidate.
 * Errors  OVERLOADED (memory). */
pe_status pe_rope_engine_settings_add(const pe_rope_candidate *candidate,
                                      const pe_rope_lengths *lengths, pe_plan *plan,
                                      pe_problem *why) PE_MUST_CHECK;

#endif
