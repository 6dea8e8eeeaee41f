/* SPDX-License-Identifier: MIT */
/* posted.h - what a POST's body is, by its header. */
#ifndef PE_HTTP_REQUEST_POSTED_H
#define PE_HTTP_REQUEST_POSTED_H

#include "http/answer/representation.h"
#include "http/request/request.h"

/** Is the body one JSON document, neither coded nor of another type? Errors
 * UNSUPPORTED_MEDIA_TYPE. */
pe_status pe_posted_json_only(const pe_request *request, pe_problem *why) PE_MUST_CHECK;

/**
 * Sets media_type, body, shape and dtype of *wanted, and json_body. binary: tensors are read, too.
 * Errors  UNSUPPORTED_MEDIA_TYPE; MALFORMED_REQUEST: a JSON body and a query.
 */
pe_status pe_posted_read(pe_request *request, bool binary, pe_request_parameters *wanted,
                         pe_problem *why) PE_MUST_CHECK;

#endif
