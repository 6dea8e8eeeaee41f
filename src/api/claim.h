/* SPDX-License-Identifier: MIT */
/* claim.h - what POST /v1/verify is asked and answers. */
#ifndef PE_API_CLAIM_H
#define PE_API_CLAIM_H

#include "api/query.h"
#include "verify/verify.h"

/**
 * A claim from a JSON object: encoding (a name below, or a table of the registry) or config;
 * parameters, the resource's rows, of which positions, dtype and numerics may also stand beside it;
 * table (an array, or an object of tensors), bias, slopes, or inputs and rotated; tolerance,
 * seq_axis.
 * Errors  as pe_query_json_parse; those of tensors name "table/cos/3/2".
 */
pe_status pe_claim_json_parse(const char *body, size_t bytes, const pe_read_limits *limits,
                              pe_claim *out, pe_problem *why) PE_MUST_CHECK;

/** The same with tensors in a binary body and everything else in the query. */
pe_status pe_claim_binary_parse(const char *string, size_t string_bytes, const pe_binary_body *body,
                                const pe_read_limits *limits, pe_claim *out,
                                pe_problem *why) PE_MUST_CHECK;

/** The answer as JSON. */
void pe_report_json(const pe_claim *claim, const pe_report *report, pe_buffer *out);

/* ---- shared by the two
 * readers (claim.c) -------------------------------------------------------- */

/** The table that an encoding's name means; `slopes`: the claim holds slopes. Errors
 * MISSING_PARAMETER, INVALID_PARAMETER. */
pe_status pe_claim_resource(const char *encoding, bool slopes, const pe_resource **out,
                            pe_problem *why) PE_MUST_CHECK;

/** Take the values of an ask, and whether it says which arithmetic; the ask is freed. Errors
 * INVALID_PARAMETER: it wants another answer than a report. */
pe_status pe_claim_take_query(pe_claim *claim, pe_query *query, pe_problem *why) PE_MUST_CHECK;

#endif
