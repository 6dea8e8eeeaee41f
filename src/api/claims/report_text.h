/* SPDX-License-Identifier: MIT */
/* report_text.h - what POST /v1/verify answers to people. */
#ifndef PE_API_CLAIMS_REPORT_TEXT_H
#define PE_API_CLAIMS_REPORT_TEXT_H

#include "base/buffer.h"
#include "verify/verify.h"

/** Verdict, causes with their remedies, the first wrong element and a map of the wrong ones. sent:
 * the claim that has what was read off all tensors. */
void pe_report_text(const pe_claim *claim, const pe_report *report, const pe_claim *sent,
                    bool markdown, pe_buffer *out);

#endif
