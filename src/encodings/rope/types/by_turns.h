/* SPDX-License-Identifier: MIT */
/* by_turns.h - kept and stretched, blended by turns over the original context. */
#ifndef PE_ENCODINGS_ROPE_TYPES_BY_TURNS_H
#define PE_ENCODINGS_ROPE_TYPES_BY_TURNS_H

#include "encodings/rope/types/rope_types.h"

/**
 * theta_i ((1 - s) / factor + s), s = clamp((turns - low) / (high - low), 0, 1), which is a step
 * for low = high: then no number of turns is either, since pi divides them.
 *
 *     turns = original theta^(-2i/d) / (2 pi)
 *
 * Source  Peng et al. 2023, arXiv:2309.00071, section 3.2, definition 2.
 */
void pe_rope_by_turns(const pe_rope_formula *formula, double low, double high, size_t i,
                      mpfr_ptr theta);

#endif
