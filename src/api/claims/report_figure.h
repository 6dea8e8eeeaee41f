/* SPDX-License-Identifier: MIT */
/* report_figure.h - the report of a verification as a picture of the difference. */
#ifndef PE_API_CLAIMS_REPORT_FIGURE_H
#define PE_API_CLAIMS_REPORT_FIGURE_H

#include "formats/format.h"
#include "verify/verify.h"

/**
 * Draw a heatmap of the distances from the claim, by row and pair, or by row and column. The report
 * has a difference.
 * Errors  OVERLOADED (memory).
 */
pe_status pe_report_figure(const pe_claim *claim, const pe_report *report, const pe_format *format,
                           pe_buffer *out, pe_problem *why) PE_MUST_CHECK;

#endif
