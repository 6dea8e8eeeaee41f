/* SPDX-License-Identifier: MIT */
/* blind.h - other parameters that an upload which matches cannot exclude. */
#ifndef PE_VERIFY_SEARCH_BLIND_H
#define PE_VERIFY_SEARCH_BLIND_H

#include "verify/search/attempts.h"

/**
 * Of an upload of pairs on one axis, which matches: other types of scaling, lists of factors,
 * lengths and bases in use that explain it as well, and from which position on they would not. They
 * go to report->blind. A claim without scaling is held against types with a factor of 8 and an
 * original length of 4096.
 *
 * Rule  Two tables differ at a position where some pair's cosines or sines do by more than twice
 *       what the rule of verify.h allows there.
 */
pe_status pe_blind_find(pe_search *s, pe_problem *why) PE_MUST_CHECK;

#endif
