/* SPDX-License-Identifier: MIT */
/* formula_causes.h - numbers of a formula with a mistake in it, resource by resource. */
#ifndef PE_VERIFY_FORMULA_CAUSES_H
#define PE_VERIFY_FORMULA_CAUSES_H

#include "verify/numbers.h"

/** Of scales, decays, windows, and tokens beside padding. */
pe_status pe_formula_causes_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

/** Where none of them explains the upload: one, and another or a line through its numbers. */
pe_status pe_formula_causes_find_two(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
