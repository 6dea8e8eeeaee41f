/* SPDX-License-Identifier: MIT */
/* explain.h - what made an upload of plain numbers, which have no pairs. */
#ifndef PE_VERIFY_PLAIN_EXPLAIN_H
#define PE_VERIFY_PLAIN_EXPLAIN_H

#include "verify/search/numbers.h"

/** Read an upload of plain numbers; where nothing has been found, try causes that it follows.
 * Several may explain it. */
pe_try pe_explain_try;
/** Causes that the upload follows behind the faults of the guess. */
pe_try pe_explain_behind;
/** The same behind a value that was ignored, for each value. */
pe_try pe_explain_ignored;
/** Two causes, one behind the other. */
pe_try pe_explain_two;
/** A value that was another one, and a cause behind it. */
pe_try pe_explain_values;
/** Numbers that only fit. */
pe_try pe_explain_fitted;

#endif
