/* SPDX-License-Identifier: MIT */
/* patterns.h - what may stand in the place of a claimed element of pairs, as rows. */
#ifndef PE_VERIFY_MISTAKES_PATTERNS_H
#define PE_VERIFY_MISTAKES_PATTERNS_H

#include "verify/mistakes/beside.h"

size_t pe_patterns_count(void);

/** Its sentence and remedy; the sentence tells of elements without saying which. */
const pe_fault *pe_patterns_fault(size_t pattern);

/** Does it make sense of this upload? */
bool pe_patterns_applies(size_t pattern, const pe_beside *b);

/** Does it read bytes anew? Those of all elements are the same bytes. */
bool pe_patterns_is_of_bytes(size_t pattern);

/** Is the element what the pattern says? */
bool pe_patterns_is_near(size_t pattern, const pe_beside *b, size_t row, size_t column);

#endif
