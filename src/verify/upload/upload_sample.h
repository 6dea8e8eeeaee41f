/* SPDX-License-Identifier: MIT */
/* upload_sample.h - some tokens of an upload. */
#ifndef PE_VERIFY_UPLOAD_UPLOAD_SAMPLE_H
#define PE_VERIFY_UPLOAD_UPLOAD_SAMPLE_H

#include "verify/upload/upload_view.h"

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

#endif
