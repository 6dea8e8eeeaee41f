/* SPDX-License-Identifier: MIT */
/* plain_rows.h - rows of a learned table that are those of other positions. */
#ifndef PE_VERIFY_PLAIN_PLAIN_ROWS_H
#define PE_VERIFY_PLAIN_PLAIN_ROWS_H

#include "verify/search/numbers.h"

/** Rules of positions by which the rows of the table are those of the upload. */
pe_status pe_plain_rows_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
