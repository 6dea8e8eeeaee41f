/* SPDX-License-Identifier: MIT */
/* put_back.h - elements that stand elsewhere are put back, and verified as a claim of their own. */
#ifndef PE_VERIFY_PUT_BACK_H
#define PE_VERIFY_PUT_BACK_H

#include "verify/attempts.h"

/** A claim with the resource of the search, and no values or uploads. */
void pe_put_back_begin(const pe_search *s, pe_claim *out);

/**
 * Verify a claim by itself, with the values of a guess. What explains it, behind the faults of the
 * guess, becomes a finding; the reading is the report's, too, where there is one.
 * part: its values are free, and are freed again; its numbers stay the caller's.
 */
pe_status pe_put_back_verify(pe_search *s, const pe_guess *guess, pe_claim *part,
                             pe_problem *why) PE_MUST_CHECK;

/** Vectors of which other channels turn than claimed, or turned ones are in another order: the
 * lengths of pairs tell. The same of tokens in another order. */
pe_try pe_put_back_try;

#endif
