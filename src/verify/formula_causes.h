/* SPDX-License-Identifier: MIT */
/* formula_causes.h - numbers of a formula with a mistake in it, resource by resource. */
#ifndef PE_VERIFY_FORMULA_CAUSES_H
#define PE_VERIFY_FORMULA_CAUSES_H

#include "verify/numbers.h"

/** Of scales, decays and windows. */
pe_status pe_formula_causes_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
