/* SPDX-License-Identifier: MIT */
/* causes.h - what a reading says of the positions and the frequencies: a named mistake, or the bare numbers. */
#ifndef PE_VERIFY_READING_CAUSES_H
#define PE_VERIFY_READING_CAUSES_H

#include "verify/mistakes/sequence.h"
#include "verify/reading/reading.h"

/** How the positions of a reading came from those of the claim. */
typedef struct pe_cause {
    const pe_slip *patch; /* NULL: they are the claimed ones */
    pe_sequence made;     /* that has it: of what it makes, without arrays */
    bool mirrored;        /* the mistake says what the negative positions are */
    size_t rows;
    double *predicted; /* [rows] owned */
    size_t exceptions; /* rows that are at another position, or at none */
} pe_cause;

/** The first mistake that all rows but a few have. *found is false where there is none. */
pe_status pe_causes_find(const pe_reading *reading, bool vectors, pe_cause *out, bool *found,
                         pe_problem *why) PE_MUST_CHECK;

/** Is every row at a position of its own? Then the cause holds for the reading's tokens only. */
bool pe_causes_is_list(const pe_cause *cause);

/** Are positions only multiplied, as scaled frequencies do it, too? */
bool pe_causes_is_multiple(const pe_cause *cause);

/** Are they multiplied and shifted? */
bool pe_causes_is_line(const pe_cause *cause);

/** Add it to a guess, which borrows it. */
void pe_causes_apply(const pe_cause *cause, pe_guess *guess);

void pe_cause_free(pe_cause *cause);

/* ---- claimed and measured frequencies of the pairs of an upload, fastest first ---- */

/** The frequencies that were measured, beside those of the reading's guess, without arrays. */
pe_sequence pe_inv_freq_of_reading(const pe_reading *reading);

/** Make what inv_freq->plain holds, and the scaling, for a guess. Free it after an error, too.
 * Errors  OVERLOADED (memory). */
pe_status pe_inv_freq_make(const pe_guess *guess, pe_sequence *inv_freq,
                           pe_problem *why) PE_MUST_CHECK;
void pe_inv_freq_free(pe_sequence *inv_freq);

/**
 * The next mistake from *row on that the measured frequencies have and the claimed ones do not. It
 * is added to the guess, which borrows its numbers. False: there is none.
 */
bool pe_inv_freq_next(pe_sequence *inv_freq, size_t *row, pe_guess *guess) PE_MUST_CHECK;

#endif
