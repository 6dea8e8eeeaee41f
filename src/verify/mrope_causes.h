/* SPDX-License-Identifier: MIT */
/* mrope_causes.h - pairs of several axes: which positions and sections made them. */
#ifndef PE_VERIFY_MROPE_CAUSES_H
#define PE_VERIFY_MROPE_CAUSES_H

#include "verify/attempts.h"

/** Of three axes: other positions or sections at all tokens, or frequencies that begin again in each
 * section. */
pe_try pe_mrope_causes_try;
/** Do `next` with each of these guesses. */
pe_status pe_mrope_causes_each(pe_search *s, pe_guess *guess, pe_try *next,
                               pe_problem *why) PE_MUST_CHECK;
/** Tell which axis each pair follows. */
pe_try pe_mrope_causes_measure;

#endif
