/* SPDX-License-Identifier: MIT */
/* rope_warnings.h - where the published implementations do something else than they say. */
#ifndef PE_ENCODINGS_ROPE_ROPE_WARNINGS_H
#define PE_ENCODINGS_ROPE_ROPE_WARNINGS_H

#include "encodings/rope/rope.h"

/** Warn of what this rotation, at these positions, meets in them; positions NULL: none. */
void pe_rope_warnings_add(const pe_rope *rope, const pe_positions *positions, pe_plan *plan);

#endif
