/* SPDX-License-Identifier: MIT */
/* scale_causes.h - plain numbers that are the claimed ones times a number, and one more added. */
#ifndef PE_VERIFY_SCALE_CAUSES_H
#define PE_VERIFY_SCALE_CAUSES_H

#include "verify/numbers.h"

pe_status pe_scale_causes_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
