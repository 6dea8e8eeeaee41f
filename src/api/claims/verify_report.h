/* SPDX-License-Identifier: MIT */
/* verify_report.h - what POST /v1/verify answers: as JSON, as text, as a picture. */
#ifndef PE_API_CLAIMS_VERIFY_REPORT_H
#define PE_API_CLAIMS_VERIFY_REPORT_H

#include "base/buffer.h"
#include "formats/format.h"
#include "plan/resource.h"
#include "verify/verify.h"

/** The verdict in a sentence. */
const char *pe_report_conclusion(const pe_report *report);

/** What cannot be decided, and which rows were not searched: a line each; and lines of doubts. */
void pe_report_warnings(const pe_report *report, const pe_buffer *doubts, pe_buffer *out);

/** The largest distance that was allowed, and its arithmetic, in a sentence. */
void pe_report_allowed(const pe_allowed *allowed, pe_buffer *out);

/** What the rows that were sent cannot show, in a sentence: "positions 0:8 cannot tell
 * rope_type=yarn from rope_type=default; send rows from 96 on". */
void pe_report_indistinguishable(const pe_claim *claim, const pe_indistinguishable_other *other,
                                 pe_buffer *out);

/** What the upload is, in sentences, and as an object that has them as its text. */
void pe_report_measured(const pe_report *report, pe_buffer *text, pe_buffer *json);
/** Has a token several rows, the vectors of its heads and batch items? */
bool pe_report_has_heads(const pe_report *report);

/** One of several claims of a body, as an item of an array: the tensors and the verdict. */
void pe_report_part(const pe_claim *claim, const pe_report *report, pe_buffer *out);

/** sent: the claim that has what was read off all tensors. parts: items of pe_report_part; readings:
 * items of an upload that nobody claims, or empty. */
void pe_report_json(const pe_claim *claim, const pe_report *report, const pe_claim *sent,
                    const pe_buffer *parts, const pe_buffer *readings, pe_buffer *out);

/** Verdict, causes with their remedies, the first wrong element and a map of the wrong ones. */
void pe_report_text(const pe_claim *claim, const pe_report *report, const pe_claim *sent,
                    bool markdown, pe_buffer *out);

/**
 * Draw a heatmap of the distances from the claim, by row and pair, or by row and column. The report
 * has a difference.
 * Errors  OVERLOADED (memory).
 */
pe_status pe_report_figure(const pe_claim *claim, const pe_report *report, const pe_format *format,
                           pe_buffer *out, pe_problem *why) PE_MUST_CHECK;

/** All bytes of a plan in a format.   Errors  those of the stream; OVERLOADED (memory). */
pe_status pe_report_render(const pe_plan *plan, const pe_rendering *rendering, pe_buffer *out,
                           pe_problem *why) PE_MUST_CHECK;

#endif
