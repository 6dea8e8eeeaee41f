/* SPDX-License-Identifier: MIT */
/* explain.h - what made an upload of plain numbers, which have no pairs. */
#ifndef PE_VERIFY_EXPLAIN_H
#define PE_VERIFY_EXPLAIN_H

#include "verify/numbers.h"

/** Read an upload of plain numbers; where nothing has been found, try causes that it follows.
 * Several may explain it. */
pe_try pe_explain_try;
/** Causes that the upload follows behind the faults of the guess. */
pe_try pe_explain_behind;
/** The same behind a value that was ignored, for each value. */
pe_try pe_explain_ignored;
/** Two causes, the first of a formula. */
pe_try pe_explain_two;
/** Elements that are another function of the distance. */
pe_try pe_explain_distance;
/** Causes, too, where some elements may be something else. */
pe_try pe_explain_most;

#endif
