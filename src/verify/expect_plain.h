/* SPDX-License-Identifier: MIT */
/* expect_plain.h - the numbers that a guess stands for, where an upload has no pairs. */
#ifndef PE_VERIFY_EXPECT_PLAIN_H
#define PE_VERIFY_EXPECT_PLAIN_H

#include "verify/expect_state.h"

/** Has the plan the upload's sizes? A bias of one row for all queries ([heads, 1, keys]) may stand
 * for one of each. */
bool pe_expect_plain_fits(pe_expect *expect);

/** Room for what the plan fills.   Errors  OVERLOADED (memory). */
pe_status pe_expect_plain_make(pe_expect *expect, pe_problem *why) PE_MUST_CHECK;

/** Fill expect->row with PE_PLAIN_ROW elements, or those that are left. */
pe_status pe_expect_plain_row(pe_expect *expect, size_t row, pe_problem *why) PE_MUST_CHECK;

#endif
