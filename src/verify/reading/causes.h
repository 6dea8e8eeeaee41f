/* SPDX-License-Identifier: MIT */
/* causes.h - what a reading says of the positions: a named cause, or the bare numbers. */
#ifndef PE_VERIFY_READING_CAUSES_H
#define PE_VERIFY_READING_CAUSES_H

#include "verify/mistakes/sequence.h"
#include "verify/reading/reading.h"

/** How the positions of a reading came from those of the claim. */
typedef struct pe_cause {
    const pe_patch *patch; /* NULL: they are the claimed ones */
    double a, b;           /* its operands */
    double first;          /* claimed position of the first row */
    bool mirrored;         /* the mistake says what the negative positions are */
    size_t rows;
    double *predicted; /* [rows] owned */
    size_t exceptions; /* rows that are at another position, or at none */
} pe_cause;

/** The claimed and measured positions of a reading. */
pe_sequence pe_causes_positions(const pe_reading *reading);

/** The first mistake that all rows but a few have. *found is false where there is none. */
pe_status pe_causes_find(const pe_reading *reading, bool vectors, pe_cause *out, bool *found,
                         pe_problem *why) PE_MUST_CHECK;

/** Of a cause that says nothing but that some rows are elsewhere: the list of the positions of all
 * rows takes its place. False where there is none. */
bool pe_causes_list(const pe_reading *reading, pe_cause *cause);

/** Is every row at a position of its own? Then the cause holds for the reading's tokens only. */
bool pe_causes_is_list(const pe_cause *cause);

/** Are positions only multiplied, as scaled frequencies do it, too? */
bool pe_causes_is_multiple(const pe_cause *cause);

/** Are they multiplied and shifted? */
bool pe_causes_is_line(const pe_cause *cause);

/** Add it to a guess, which borrows it. */
void pe_causes_apply(const pe_cause *cause, pe_guess *guess);

void pe_cause_free(pe_cause *cause);

#endif
