/* SPDX-License-Identifier: MIT */
/* flow.h - the story of a request, from its last byte to a decided reply. */
#ifndef PE_HTTP_FLOW_H
#define PE_HTTP_FLOW_H

#include "http/request/request.h"

/**
 * All of the request has arrived: decide its reply. DEFERRED: a worker decides it and resumes the
 * connection; the request is no longer the caller's.   Threads  the connection's I/O thread.
 */
pe_outcome pe_flow_process(pe_request *request);

/**
 * Of the body as much has arrived as the route takes at a time: a worker takes it, and the
 * connection waits meanwhile.   Threads  the connection's I/O thread.
 */
void pe_flow_take_part(pe_request *request);

/**
 * The header has arrived: whose request is it, and may it be served? What has no body asks for that
 * itself, in pe_flow_process.   Errors  UNAUTHORIZED, FORBIDDEN, RATE_LIMITED.
 */
pe_status pe_flow_admit(pe_request *request, pe_problem *why) PE_MUST_CHECK;

/** The reply of a problem, made here for all requests that have come whole; what is refused before
 * that gets pe_reply_raw. */
void pe_flow_fail(pe_request *request, const pe_problem *why);

#endif
