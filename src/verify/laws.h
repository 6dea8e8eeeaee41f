/* SPDX-License-Identifier: MIT */
/* laws.h - which laws the measured frequencies follow. */
#ifndef PE_VERIFY_LAWS_H
#define PE_VERIFY_LAWS_H

#include "verify/ladder.h"

/**
 * The next law from *law on that the measured frequencies follow and the claimed ones do not. It is
 * added to the guess, which borrows ladder->put. False: there is none.
 */
bool pe_laws_next(pe_ladder *ladder, size_t *law, pe_guess *guess) PE_MUST_CHECK;

/** Are the numbers of the law with this fault only read off? */
bool pe_laws_is_fitted(const pe_fault *fault);
/** Does it hardly move frequencies, so that only elements tell it? */
bool pe_laws_is_subtle(const pe_fault *fault);

/** Are the measured frequencies the claimed ones but for one number: a base, or a multiple? */
bool pe_laws_is_one_number(pe_ladder *ladder);

#endif
