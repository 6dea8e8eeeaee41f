/* SPDX-License-Identifier: MIT */
/* report.c - the life of reports. */
#include "verify/compare/report.h"

#include <stdlib.h>

void pe_verify_finding_free(pe_finding *finding)
{
    free(finding->rule);
    free(finding->evidence);
    free(finding->remedy);
    free(finding->parameters);
}

void pe_verify_report_free(pe_report *report)
{
    for (size_t f = 0; f < report->n_findings; f++)
        pe_verify_finding_free(&report->findings[f]);
    free(report->parameters);
    free(report->reading.claimed);
    free(report->difference.cell);
    pe_buffer_free(&report->facts.text);
    pe_buffer_free(&report->facts.json);
    *report = (pe_report){0};
}
