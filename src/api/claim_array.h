/* SPDX-License-Identifier: MIT */
/* claim_array.h - the numbers of a tensor from JSON, some of them perhaps masked. */
#ifndef PE_API_CLAIM_ARRAY_H
#define PE_API_CLAIM_ARRAY_H

#include "base/array.h"
#include "base/slice.h"
#include "text/scan.h"

/**
 * Read a rectangular array. `masked`: null among its numbers is a masked bias, -inf.
 * Errors  as pe_scan_numbers; INVALID_PARAMETER: no array, or one with null of over 4 MiB;
 *         MALFORMED_REQUEST: its brackets do not match. On success the array is the caller's.
 */
pe_status pe_claim_array_read(pe_slice json, const pe_scan_wanted *wanted, bool masked,
                              pe_array *out, pe_problem *why) PE_MUST_CHECK;

#endif
