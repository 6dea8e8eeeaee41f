/* SPDX-License-Identifier: MIT */
/* by_laws.h - guesses whose frequencies follow a law. */
#ifndef PE_VERIFY_SEARCH_BY_LAWS_H
#define PE_VERIFY_SEARCH_BY_LAWS_H

#include "verify/search/attempts.h"
#include "verify/reading/ladder.h"

/** Each law that the upload follows, alone and with each single fault. It is frequencies itself. */
pe_try pe_by_laws_uploaded;
/** The same of frequencies that were measured in it. */
pe_try pe_by_laws_measured;
/** Laws with a name, alone, and all of them: elements tell what turns do not. */
pe_try pe_by_laws_named;
/** Laws that the measured numbers follow, where no fault explains the elements. */
pe_try pe_by_laws_alone;

/** Do `how` with each law that the measured frequencies follow. */
pe_status pe_by_laws_each(pe_search *s, pe_guess *guess, pe_try *how,
                          pe_problem *why) PE_MUST_CHECK;

#endif
