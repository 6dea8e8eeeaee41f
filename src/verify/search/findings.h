/* SPDX-License-Identifier: MIT */
/* findings.h - what explains an upload, the best first. */
#ifndef PE_VERIFY_SEARCH_FINDINGS_H
#define PE_VERIFY_SEARCH_FINDINGS_H

#include "verify/compare/measure.h"

/** A guess that explains the whole upload, by these arithmetics (bits), becomes a finding. */
pe_status pe_findings_explain(pe_report *report, const pe_comparison *whole, unsigned by,
                              pe_problem *why) PE_MUST_CHECK;

/** Put a finding of which only numbers are set into its place, with the sentences and values of its
 * guess. The evidence is used up. */
pe_status pe_findings_add(pe_report *report, pe_finding *finding, pe_guess *guess,
                          pe_buffer *evidence, pe_problem *why) PE_MUST_CHECK;

/** Put a finding into its place; what it owns is the report's. */
void pe_findings_put(pe_report *report, pe_finding *finding);

/** One fault more than a guess has, and its sentence. */
typedef struct pe_told {
    const pe_fault *fault;
    const char *rule; /* in which {a} and {b} are numbers */
    double a, b;
    bool fitted, exact;
} pe_told;

/** It becomes a finding where the guess has room for it; evidence: what was looked at. */
pe_status pe_findings_tell(pe_report *report, const pe_guess *guess, const pe_told *told,
                           pe_problem *why, const char *evidence, ...)
    __attribute__((format(printf, 5, 6))) PE_MUST_CHECK;

/** Set the ranks, when all findings are there. */
void pe_findings_rank(pe_report *report);

#endif
