/* SPDX-License-Identifier: MIT */
/* mrope_causes.h - tables of several axes: which positions and sections made them. */
#ifndef PE_VERIFY_MROPE_CAUSES_H
#define PE_VERIFY_MROPE_CAUSES_H

#include "verify/numbers.h"

/** Of tables of M-RoPE: ask whether other positions or sections explain the upload. */
pe_status pe_mrope_causes_find(const pe_comparison *of, const pe_numbers_asker *asker,
                               pe_problem *why) PE_MUST_CHECK;

#endif
