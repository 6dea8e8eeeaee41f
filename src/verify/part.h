/* SPDX-License-Identifier: MIT */
/* part.h - a part of an upload as a claim of its own. */
#ifndef PE_VERIFY_PART_H
#define PE_VERIFY_PART_H

#include "verify/attempts.h"

/** A claim with the resource of the search, and no values or uploads. */
void pe_part_begin(const pe_search *s, pe_claim *out);

/**
 * Verify it with the work that the search has left. A part that cannot be planned has no report:
 * *out stays as it was.
 */
pe_status pe_part_verify(pe_search *s, pe_claim *part, const pe_verify_context *context,
                         pe_report *out, pe_problem *why) PE_MUST_CHECK;

/** Compare it, and search for nothing. */
pe_status pe_part_matches(const pe_search *s, pe_claim *part, bool *out,
                          pe_problem *why) PE_MUST_CHECK;

#endif
