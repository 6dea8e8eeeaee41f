/* SPDX-License-Identifier: MIT */
/* fit_residual.h - a number from the residual of all pairs. */
#ifndef PE_VERIFY_FIT_RESIDUAL_H
#define PE_VERIFY_FIT_RESIDUAL_H

#include "verify/fitting.h"

/** Narrow the bracket with tokens farther and farther from position 0, which tell the value ever
 * more precisely. *made is false where there is no such table. */
pe_status pe_fit_residual_refine(pe_fitting *fit, pe_bracket *at, bool *made,
                                 pe_problem *why) PE_MUST_CHECK;

#endif
