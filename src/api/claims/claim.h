/* SPDX-License-Identifier: MIT */
/* claim.h - what POST /v1/verify is asked: an upload, and what it is claimed to be. */
#ifndef PE_API_CLAIMS_CLAIM_H
#define PE_API_CLAIMS_CLAIM_H

#include "api/query.h"
#include "models/model.h"
#include "verify/verify.h"

/**
 * A claim from a JSON object: encoding (a name of claim_reader.c, or a table of the registry) or config;
 * parameters, the resource's rows, of which positions, dtype and numerics may also stand beside it;
 * table (an array, or an object of tensors), bias, slopes, or inputs and rotated; tolerance,
 * seq_axis. more: parameters beside them, as a query string has them, or "".
 * Errors  as pe_query_parse; those of tensors name "table/cos/3/2".
 */
pe_status pe_claim_json_parse(pe_slice json, const char *more, const pe_read_limits *limits,
                              pe_claim *out, pe_problem *why) PE_MUST_CHECK;

/** The same with tensors in a binary body and everything else in the query string. Where the end of
 * the body is still to come, some of what can be claimed is refused, and is to be read when all of
 * it is there; the array of the claim is that of the whole table. */
pe_status pe_claim_binary_parse(const pe_binary_body *body, const pe_read_limits *limits,
                                pe_claim *out, pe_problem *why) PE_MUST_CHECK;

/** What a GGUF file makes of the first positions in layers of this type (NULL: the default), as the
 * bytes of a file .safetensors: then it can be held against another configuration.
 * Errors  those of pe_gguf_file_read, pe_model_resolve and pe_model_choose; INVALID_PARAMETER: they do
 *         not rotate. */
pe_status pe_claim_gguf_table(pe_slice file, const char *layer_type, const pe_read_limits *limits,
                              pe_buffer *out, pe_problem *why) PE_MUST_CHECK;

/** Say something of what is read, a line, unless that stands there already. */
void pe_claim_report(pe_buffer *reported, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- an upload of which nobody says what it is (unclaimed.c) ---- */

/** Of so many usual tables faults are looked for. */
#define PE_UNCLAIMED_SEARCHES 5

/** Read the claim of the upload with these parameters, as a query string has them. */
typedef pe_status pe_unclaimed_read(void *context, const char *parameters, pe_claim *out,
                                    pe_problem *why);

/**
 * The table that an upload is: the first one that matches; else, with faults looked for, the one
 * that fewest faults explain. Sets the claim, and its report, which points into it; both are the
 * caller's, and pe_unclaimed_free is for the claim. Sets `readings`, too:
 * JSON objects of all that match, or of those whose faults were looked for, the best first.
 * Errors  MISSING_PARAMETER at encoding: the upload has the shape of none of these tables;
 *         OVERLOADED (memory).
 */
pe_status pe_unclaimed_verify(pe_unclaimed_read *read, void *of, const pe_verify_context *context,
                              pe_claim **claim, pe_report *report, pe_buffer *readings,
                              pe_problem *why) PE_MUST_CHECK;
/** Accepts NULL. */
void pe_unclaimed_free(pe_claim *claim);

#endif
