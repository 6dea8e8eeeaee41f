/* SPDX-License-Identifier: MIT */
/* explain.h - what made an upload of plain numbers, which have no pairs. */
#ifndef PE_VERIFY_EXPLAIN_H
#define PE_VERIFY_EXPLAIN_H

#include "verify/numbers.h"

/** Read an upload of plain numbers; ask whether causes that it follows explain it. Several may. The
 * asker is NULL where nothing but facts is wanted. */
pe_status pe_explain_numbers(const pe_comparison *of, pe_facts *facts,
                             const pe_numbers_asker *asker, pe_problem *why) PE_MUST_CHECK;

#endif
