/* SPDX-License-Identifier: MIT */
/* mrope_causes.h - tables of several axes: which positions and sections made them. */
#ifndef PE_VERIFY_MROPE_CAUSES_H
#define PE_VERIFY_MROPE_CAUSES_H

#include "verify/numbers.h"

/** Of tables of three axes: other positions or sections, at all tokens. */
pe_try pe_mrope_causes_try;

/** Of position ids themselves, [3, tokens]. */
pe_status pe_mrope_causes_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
