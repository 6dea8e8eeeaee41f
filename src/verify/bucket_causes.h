/* SPDX-License-Identifier: MIT */
/* bucket_causes.h - indices of relative positions: the function of key - query that made them. */
#ifndef PE_VERIFY_BUCKET_CAUSES_H
#define PE_VERIFY_BUCKET_CAUSES_H

#include "verify/numbers.h"

/** Of T5, DeBERTa and Shaw. */
pe_status pe_bucket_causes_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
