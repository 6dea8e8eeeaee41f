/* SPDX-License-Identifier: MIT */
/* answer.h - the handler of the numeric resources. */
#ifndef PE_HTTP_ANSWER_H
#define PE_HTTP_ANSWER_H

#include "http/numeric.h"
#include "http/request.h"

/** GET, HEAD and POST of the resource that the request has been routed to. */
void pe_answer_numeric(pe_request *request);

/** Is the body one JSON document, neither coded nor of another type? Errors
 * UNSUPPORTED_MEDIA_TYPE. */
pe_status pe_answer_json_only(const pe_request *request, pe_problem *why) PE_MUST_CHECK;

/** A raw GET or HEAD seen before, answered from the cache without reading it; false when it was
 * not. */
bool pe_answer_warm(pe_request *request);

/**
 * What a POST's body is: sets media_type, body, shape and dtype of *wanted, and json_body. binary:
 * tensors are read, too.
 * Errors  UNSUPPORTED_MEDIA_TYPE; MALFORMED_REQUEST: a JSON body and a query.
 */
pe_status pe_post_read(pe_request *request, bool binary, pe_wanted *wanted,
                       pe_problem *why) PE_MUST_CHECK;

#endif
