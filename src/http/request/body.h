/* SPDX-License-Identifier: MIT */
/* body.h - the body of a request while it arrives: kept within bounds, or drained. */
#ifndef PE_HTTP_REQUEST_BODY_H
#define PE_HTTP_REQUEST_BODY_H

#include "http/request/request.h"

/** BODY_TOO_LARGE when Content-Length declares more than the route and max_body_bytes allow. Such a body is not even
 * drained. */
pe_status pe_body_check_declared(const pe_request *request, pe_problem *why) PE_MUST_CHECK;

/**
 * A part of the body has arrived. It is kept when the route reads bodies. A body that grows too
 * large is drained, so that the client reads the reply.
 * Errors  BODY_TOO_LARGE: the body does not end even then; the connection is to be cut.
 */
pe_status pe_body_receive(pe_request *request, const char *upload, size_t bytes,
                          pe_problem *why) PE_MUST_CHECK;

/** Why the body that has arrived cannot be used.   Errors  BODY_TOO_LARGE; OVERLOADED; INTERNAL. */
pe_status pe_body_check(const pe_request *request, pe_problem *why) PE_MUST_CHECK;

/** So many bytes at a place have been used: they are no more held. */
void pe_body_forget(pe_request *request, size_t at, size_t bytes);

/** Hold nothing of the body: what still comes is drained, and pe_body_check has this reason. */
void pe_body_refuse(pe_request *request, pe_status reason);

/** Release what is held of the body. */
void pe_body_release(pe_request *request);

#endif
