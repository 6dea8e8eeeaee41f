/* SPDX-License-Identifier: MIT */
/* upload_sample.h - some tokens, or some heads, of an upload. */
#ifndef PE_VERIFY_UPLOAD_SAMPLE_H
#define PE_VERIFY_UPLOAD_SAMPLE_H

#include "verify/upload_view.h"

/** Elements of an upload beyond which faults are looked for in a sample of its rows. */
#define PE_SAMPLE_ELEMENTS 8192

/**
 * Some tokens of a view: the first, the last and others between, with a few rows each. positions:
 * theirs, as a claim's. *sampled is false, and nothing is made, when the view is small or holds
 * plain numbers.
 */
pe_status pe_upload_sample_make(const pe_upload_view *view, pe_upload_view *out,
                                pe_positions *positions, bool *sampled,
                                pe_problem *why) PE_MUST_CHECK;

/** The same of so many tokens, and so many rows of each: no more than there are. */
pe_status pe_upload_sample_few(const pe_upload_view *view, size_t tokens, size_t rows,
                               pe_upload_view *out, pe_positions *positions,
                               pe_problem *why) PE_MUST_CHECK;

/** Rotated vectors of some heads alone, of all tokens. which: [heads]. *made is false, and nothing
 * is made, where they are more than a view holds. */
pe_status pe_upload_sample_heads(const pe_upload_view *view, const bool *which, pe_upload_view *out,
                                 bool *made, pe_problem *why) PE_MUST_CHECK;

#endif
