/* SPDX-License-Identifier: MIT */
/* by_patterns.h - uploads of pairs of which all, or some rows or heads, follow a pattern. */
#ifndef PE_VERIFY_SEARCH_BY_PATTERNS_H
#define PE_VERIFY_SEARCH_BY_PATTERNS_H

#include "verify/search/attempts.h"

/** A pattern that all elements follow that do not follow the guess becomes a finding. */
pe_try pe_by_patterns_try;
/** The same with vectors in each other layout. */
pe_try pe_by_patterns_in_layouts;

#endif
