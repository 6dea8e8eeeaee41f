/* SPDX-License-Identifier: MIT */
/* rope_warnings.h - warnings of where published implementations deviate from their description. */
#ifndef PE_ENCODINGS_ROPE_ROPE_WARNINGS_H
#define PE_ENCODINGS_ROPE_ROPE_WARNINGS_H

#include "encodings/rope/rope.h"

/** Warn of the deviations that this rotation meets at these positions; NULL: at none. */
void pe_rope_warnings_add(const pe_rope *rope, const pe_positions *positions, pe_plan *plan);

#endif
