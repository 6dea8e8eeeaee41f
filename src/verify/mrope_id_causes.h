/* SPDX-License-Identifier: MIT */
/* mrope_id_causes.h - position ids of several axes: what became of them. */
#ifndef PE_VERIFY_MROPE_ID_CAUSES_H
#define PE_VERIFY_MROPE_ID_CAUSES_H

#include "verify/numbers.h"

/** Of [3, tokens]. */
pe_status pe_mrope_id_causes_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
