/* SPDX-License-Identifier: MIT */
/* verify.c - the life of claims and reports. */
#include "verify/verify.h"

#include <stdlib.h>

void pe_verify_claim_free(pe_claim *claim)
{
    pe_values_free(&claim->values);
    for (size_t t = 0; t < PE_LEN(claim->tensors); t++)
        pe_array_free(&claim->tensors[t]);
    for (size_t u = 0; u < claim->n_uploads; u++)
        pe_array_free(&claim->uploads[u].array);
    pe_array_free(&claim->inputs);
    pe_buffer_free(&claim->said);
    pe_buffer_free(&claim->doubts);
    if (claim->next != NULL)
        pe_verify_claim_free(claim->next); /* as many as groups of tensors: few */
    free(claim->next);
    *claim = (pe_claim){0};
}

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
