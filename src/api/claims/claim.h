/* SPDX-License-Identifier: MIT */
/* claim.h - what POST /v1/verify is asked: an upload, and what it is claimed to be. */
#ifndef PE_API_CLAIMS_CLAIM_H
#define PE_API_CLAIMS_CLAIM_H

#include "api/query.h"
#include "models/model.h"
#include "verify/verify.h"

/**
 * A claim from a JSON object: encoding (a name of claim.c, or a table of the registry) or config;
 * parameters, the resource's rows, of which positions, dtype and numerics may also stand beside it;
 * table (an array, or an object of tensors), bias, slopes, or inputs and rotated; tolerance,
 * seq_axis.
 * Errors  as pe_query_json_parse; those of tensors name "table/cos/3/2".
 */
pe_status pe_claim_json_parse(pe_slice json, const pe_read_limits *limits, pe_claim *out,
                              pe_problem *why) PE_MUST_CHECK;

/** The same with tensors in a binary body and everything else in the query string. Where the end of
 * the body is still to come, some of what can be claimed is refused, and is to be read when all of
 * it is there; the array of the claim is that of the whole table. */
pe_status pe_claim_binary_parse(const pe_binary_body *body, const pe_read_limits *limits,
                                pe_claim *out, pe_problem *why) PE_MUST_CHECK;

/* ---- for the two readers ---- */

/** A claim of which nothing was read. */
#define PE_CLAIM_EMPTY ((pe_claim){.tolerance = -1, .seq_axis = -2})

/**
 * The layers that a configuration describes, and whose parameters they have: those of layer_type
 * ("": the default). The model, which they borrow from, is the caller's to free.
 * Errors  those of pe_model_resolve and pe_model_choose; INVALID_PARAMETER at config.
 */
pe_status pe_claim_read_config(pe_slice json, const char *layer_type, pe_model **model,
                               const pe_model_layers **layers, pe_problem *why) PE_MUST_CHECK;

/** The encoding of a model of the catalogue, as pe_claim_set_resource takes it.
 * Errors  INVALID_PARAMETER at model: there is none of that name. */
pe_status pe_claim_encoding_of_model(const char *name, char *out, size_t room,
                                     pe_problem *why) PE_MUST_CHECK;

/** Set the table that an encoding's name means; `slopes`: the claim holds slopes.
 * Errors  MISSING_PARAMETER, INVALID_PARAMETER. */
pe_status pe_claim_set_resource(pe_claim *claim, const char *encoding, bool slopes,
                                pe_problem *why) PE_MUST_CHECK;

/** Errors  INVALID_PARAMETER: no integer from -8 to 7. */
pe_status pe_claim_set_axis(pe_claim *claim, double axis, pe_problem *why) PE_MUST_CHECK;

/** seq_axis counted from the front: below 0 or past the end where the shape has no such axis. */
int64_t pe_claim_axis(const pe_claim *claim, const pe_shape *shape);

/** Take the values of a query, which is freed, and whether it names the arithmetic.
 * Errors  INVALID_PARAMETER: it wants another answer than a report. */
pe_status pe_claim_take_query(pe_claim *claim, pe_query *query, pe_problem *why) PE_MUST_CHECK;

#endif
