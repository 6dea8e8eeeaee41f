/* SPDX-License-Identifier: MIT */
/* by_laws.h - guesses whose frequencies follow a law. */
#ifndef PE_VERIFY_BY_LAWS_H
#define PE_VERIFY_BY_LAWS_H

#include "verify/attempts.h"
#include "verify/ladder.h"

/** Each law that the upload follows, alone and with each single fault. It is frequencies itself. */
pe_try pe_by_laws_uploaded;
/** Nothing but which of them are others. */
pe_try pe_by_laws_others;
/** The same of frequencies that were measured in it. */
pe_try pe_by_laws_measured;
/** Laws with a name, alone, and all of them: elements tell what turns do not. */
pe_try pe_by_laws_named;
/** The same with patterns and bad elements, which hide that a law is not quite true:
 * to be tried once values were. */
pe_try pe_by_laws_mixed;
/** Laws that the measured numbers follow, where no fault explains the elements. */
pe_try pe_by_laws_alone;

/** Behind the faults of a guess, which makes the claimed frequencies of the ladder: each law, or
 * `number` where one number is left. */
pe_status pe_by_laws_behind(pe_search *s, const pe_guess *guess, pe_ladder *ladder, pe_try *number,
                            pe_problem *why) PE_MUST_CHECK;

/** Do `how` with each law that the measured frequencies follow. */
pe_status pe_by_laws_each(pe_search *s, pe_guess *guess, pe_try *how,
                          pe_problem *why) PE_MUST_CHECK;

#endif
