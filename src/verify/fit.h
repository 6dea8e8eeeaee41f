/* SPDX-License-Identifier: MIT */
/* fit.h - numbers that are wrong, read off the upload. */
#ifndef PE_VERIFY_FIT_H
#define PE_VERIFY_FIT_H

#include "verify/expect.h"
#include "verify/faults.h"

extern const pe_fault pe_fits[]; /* value, and_value: where to look */
extern const size_t pe_fits_n;

/**
 * Find the value of the fit's row for which a pair turns as it does in the upload, at the
 * token next to position 0: the angle there falls or rises steadily with the value. Of the values
 * that do, the one with fewest digits.
 * *made is false where there is none, or the row is not there. Errors  INTERNAL (memory).
 */
pe_status pe_fit_apply(const pe_fault *fit, const pe_sheet *sheet, pe_guess *guess, bool *made,
                       size_t *work, pe_problem *why) PE_MUST_CHECK;

#endif
