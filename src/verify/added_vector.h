/* SPDX-License-Identifier: MIT */
/* added_vector.h - tables to each row of which the same vector was added. */
#ifndef PE_VERIFY_ADDED_VECTOR_H
#define PE_VERIFY_ADDED_VECTOR_H

#include "verify/beside.h"
#include "verify/numbers.h"

/** Of plain numbers: the vector is one of the last axis. */
pe_status pe_added_vector_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

/** Of rows of a table of pairs. */
pe_status pe_added_vector_beside(pe_search *s, const pe_beside *b, pe_problem *why) PE_MUST_CHECK;

#endif
