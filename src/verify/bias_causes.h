/* SPDX-License-Identifier: MIT */
/* bias_causes.h - linear biases of attention: which slopes and which distances made them. */
#ifndef PE_VERIFY_BIAS_CAUSES_H
#define PE_VERIFY_BIAS_CAUSES_H

#include "verify/numbers.h"

/** Of biases, or of slopes alone. */
pe_status pe_bias_causes_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
