/* SPDX-License-Identifier: MIT */
/* row_causes.h - plain numbers that are those of other rows, or that were made of whole rows. */
#ifndef PE_VERIFY_ROW_CAUSES_H
#define PE_VERIFY_ROW_CAUSES_H

#include "verify/numbers.h"

/** Of a learned table: which of its rows each uploaded one is, and the rule of the positions that
 * follows. */
pe_status pe_row_causes_positions(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

/** Of a lone tensor: rows that were normalized, elements that were quantized. */
pe_status pe_row_causes_values(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

/** Of a lone tensor: places along an axis (heads, items, rows) that hold those of others. */
pe_status pe_row_causes_places(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
