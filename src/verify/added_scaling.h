/* SPDX-License-Identifier: MIT */
/* added_scaling.h - frequencies that are scaled, where the claim has no scaling. */
#ifndef PE_VERIFY_ADDED_SCALING_H
#define PE_VERIFY_ADDED_SCALING_H

#include "verify/attempts.h"

/** The types that keep fast pairs and slow others down by this factor, with each usual original
 * length. Nothing is tried of a claim that is scaled. */
pe_status pe_added_scaling_of(pe_search *s, pe_guess *guess, double factor,
                              pe_problem *why) PE_MUST_CHECK;

/** The same by the slowest pair that was measured; of a lone wave by usual factors, too. */
pe_try pe_added_scaling_try;

#endif
