/* SPDX-License-Identifier: MIT */
/* findings.h - what explains an upload, the best first. */
#ifndef PE_VERIFY_FINDINGS_H
#define PE_VERIFY_FINDINGS_H

#include "verify/measure.h"

/** A guess that explains the whole upload, by these arithmetics (bits), becomes a finding. */
pe_status pe_findings_explain(pe_report *report, const pe_comparison *whole, unsigned by,
                              pe_problem *why) PE_MUST_CHECK;

/** Put a finding of which only numbers are set into its place, with the sentences and values of its
 * guess. The evidence is used up. */
pe_status pe_findings_add(pe_report *report, pe_finding *finding, pe_guess *guess,
                          pe_buffer *evidence, pe_problem *why) PE_MUST_CHECK;

/** Set the ranks, when all findings are there. */
void pe_findings_rank(pe_report *report);

#endif
