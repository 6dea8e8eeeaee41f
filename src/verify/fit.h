/* SPDX-License-Identifier: MIT */
/* fit.h - numbers that are wrong, read off the upload. */
#ifndef PE_VERIFY_FIT_H
#define PE_VERIFY_FIT_H

#include "verify/expect.h"
#include "verify/faults.h"

extern const pe_fault pe_fits[]; /* value, and_value: where to look */
extern const size_t pe_fits_n;

/**
 * Find the value of the fit's row that explains the upload: bisect for the angle of one pair at one
 * token, the pair and token that tell most of those that cannot be a turn off; narrow that with
 * tokens ever farther from position 0; take the shortest decimal that explains all. Needs positions
 * near 0: where angles of all values in the range are turns apart, nothing is found.
 * *made is false where there is none, or the row is not there. Errors  INTERNAL (memory).
 */
pe_status pe_fit_apply(const pe_fault *fit, const pe_upload_view *view, pe_guess *guess, bool *made,
                       size_t *work, pe_problem *why) PE_MUST_CHECK;

#endif
