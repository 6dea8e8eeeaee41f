/* SPDX-License-Identifier: MIT */
/* rope_type_keys.h - the keys that only some rope types read. */
#ifndef PE_ENCODINGS_ROPE_ROPE_TYPE_KEYS_H
#define PE_ENCODINGS_ROPE_ROPE_TYPE_KEYS_H

#include "encodings/rope/rope.h"

/**
 * Refuse keys that the type does not read, require those it needs, and fill in its defaults, which
 * become part of the canonical form.
 * Errors  INVALID_PARAMETER, MISSING_PARAMETER.
 */
pe_status pe_rope_type_keys_check(pe_values *values, const pe_rope_type *type,
                                  pe_problem *why) PE_MUST_CHECK;

/** How many numbers a formula of this type needs room for. */
size_t pe_rope_type_keys_room(const pe_values *values, const pe_rope_type *type, size_t pairs);

/** Copy checked keys and lists into a formula that has that room.
 * Errors  INVALID_PARAMETER: a list is not as long as there are pairs. */
pe_status pe_rope_type_keys_read(const pe_values *values, size_t pairs, pe_rope_formula *formula,
                                 pe_problem *why) PE_MUST_CHECK;

/**
 * The same rotation with the other list of divisors, for a type that has two; for others
 * out->formula is NULL. Released with pe_rope_free.   Errors  OVERLOADED (memory).
 */
pe_status pe_rope_type_keys_other(const pe_values *values, const pe_rope *rope, pe_rope *out,
                                  pe_problem *why) PE_MUST_CHECK;

#endif
