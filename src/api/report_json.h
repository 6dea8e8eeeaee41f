/* SPDX-License-Identifier: MIT */
/* report_json.h - what POST /v1/verify answers. */
#ifndef PE_API_REPORT_JSON_H
#define PE_API_REPORT_JSON_H

#include "base/buffer.h"
#include "verify/verify.h"

/** The verdict in a sentence. */
const char *pe_report_conclusion(const pe_report *report);

/** What cannot be decided, in a sentence; nothing where all can. */
void pe_report_warning(const pe_report *report, pe_buffer *out);

/** What the upload is, in sentences. */
void pe_report_measured(const pe_report *report, pe_buffer *out);

void pe_report_json(const pe_claim *claim, const pe_report *report, pe_buffer *out);

#endif
