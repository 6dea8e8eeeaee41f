/* SPDX-License-Identifier: MIT */
/* ladder.h - claimed and measured frequencies of the pairs of an upload, fastest first. */
#ifndef PE_VERIFY_READING_LADDER_H
#define PE_VERIFY_READING_LADDER_H

#include "verify/mistakes/patches.h"

/** The frequencies that were measured, beside those of the reading's guess, without arrays. */
pe_sequence pe_ladder_of_reading(const pe_reading *reading);

/** Make what ladder->plain holds, and the scaling, for a guess. Free it after an error, too.
 * Errors  OVERLOADED (memory). */
pe_status pe_ladder_make(const pe_guess *guess, pe_sequence *ladder, pe_problem *why) PE_MUST_CHECK;
void pe_ladder_free(pe_sequence *ladder);

/** Row k of those of frequencies; NULL: beyond the last one. */
const pe_patch *pe_ladder_patch(size_t k);

/**
 * The next mistake from *row on that the measured frequencies have and the claimed ones do not. It
 * is added to the guess, which borrows the ladder's numbers. False: there is none.
 */
bool pe_ladder_next(pe_sequence *ladder, size_t *row, pe_guess *guess) PE_MUST_CHECK;

/** Are the measured frequencies the claimed ones but for one number: a base, or a multiple? */
bool pe_ladder_is_one_number(pe_sequence *ladder);

#endif
