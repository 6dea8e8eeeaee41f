/* SPDX-License-Identifier: MIT */
/* measured.h - an upload of pairs, read with a guess. */
#ifndef PE_VERIFY_SEARCH_MEASURED_H
#define PE_VERIFY_SEARCH_MEASURED_H

#include "verify/search/attempts.h"

/** Read the whole upload with a guess; least: as pe_reading_make.   Errors  OVERLOADED (memory). */
pe_status pe_measured_read(pe_search *s, const pe_guess *guess, pe_reading_least least,
                           pe_measured *out, pe_problem *why) PE_MUST_CHECK;
void pe_measured_free(pe_measured *at);

/** Read it as claimed, or where that makes no sense in another layout. */
pe_status pe_measured_best(pe_search *s, const pe_guess *claim, pe_measured *best,
                           pe_problem *why) PE_MUST_CHECK;

#endif
