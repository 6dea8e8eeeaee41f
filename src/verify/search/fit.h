/* SPDX-License-Identifier: MIT */
/* fit.h - faults that are wrong numbers, which are read off the upload. */
#ifndef PE_VERIFY_SEARCH_FIT_H
#define PE_VERIFY_SEARCH_FIT_H

#include "verify/compare/expect.h"
#include "verify/mistakes/faults.h"

/** Frequencies that were measured where the guess has its pairs. */
typedef struct pe_known_turns {
    const double *turned; /* [pairs] borrowed; NAN: not known */
    size_t pairs;
    double step; /* positions from row to row */
    double span; /* positions over which they were measured */
} pe_known_turns;

extern const pe_fault pe_fits[]; /* value to and_value: the range of the number */
extern const size_t pe_fits_n;
/** Of these the one that adds linear scaling. */
extern const pe_fault *const pe_fits_linear;

/**
 * Find the value of the fit's row that explains the upload, and add the fault to to->guess.
 *
 * Method    Bisect for the angle of one pair at one token: those that tell most among those that
 *           cannot be a turn off. Narrow the bracket with other pairs, ever farther from position 0.
 *           Take the shortest decimal that explains all. Where the angles of all values in the range are
 *           turns apart, as far from position 0, nothing is found, nor where `known` (NULL: nothing
 *           is) contradicts the value.
 * Errors    OVERLOADED (memory). *made is false where no value is found or the row is not there.
 */
pe_status pe_fit_apply(const pe_fault *fit, const pe_comparison *to, const pe_known_turns *known,
                       bool *made, pe_problem *why) PE_MUST_CHECK;

#endif
