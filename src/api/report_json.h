/* SPDX-License-Identifier: MIT */
/* report_json.h - what POST /v1/verify answers. */
#ifndef PE_API_REPORT_JSON_H
#define PE_API_REPORT_JSON_H

#include "base/buffer.h"
#include "verify/verify.h"

void pe_report_json(const pe_claim *claim, const pe_report *report, pe_buffer *out);

#endif
