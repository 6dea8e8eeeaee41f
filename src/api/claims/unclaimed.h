/* SPDX-License-Identifier: MIT */
/* unclaimed.h - an upload of which nobody says what it is, held against usual tables. */
#ifndef PE_API_CLAIMS_UNCLAIMED_H
#define PE_API_CLAIMS_UNCLAIMED_H

#include "base/buffer.h"
#include "verify/verify.h"

/** Of so many usual tables faults are looked for. */
#define PE_UNCLAIMED_SEARCHES 5

/** Read the claim of the upload with these parameters, as a query string has them. */
typedef pe_status pe_unclaimed_read(void *context, const char *parameters, pe_claim *out,
                                    pe_problem *why);

/**
 * The table that an upload is: the first one that matches; else, with faults looked for, the one
 * that fewest faults explain. Sets the claim, and its report, which points into it; both are the
 * caller's, and pe_unclaimed_free is for the claim. Sets `readings`, too:
 * JSON objects of all that match, or of those whose faults were looked for, the best first.
 * Errors  MISSING_PARAMETER at encoding: the upload has the shape of none of these tables;
 *         OVERLOADED (memory).
 */
pe_status pe_unclaimed_verify(pe_unclaimed_read *read, void *of, const pe_verify_context *context,
                              pe_claim **claim, pe_report *report, pe_buffer *readings,
                              pe_problem *why) PE_MUST_CHECK;
/** Accepts NULL. */
void pe_unclaimed_free(pe_claim *claim);

#endif
