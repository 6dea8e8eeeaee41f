/* SPDX-License-Identifier: MIT */
/* answer.h - how requests for numbers are answered: at once, as a stream, or before anybody asks. */
#ifndef PE_HTTP_ANSWER_ANSWER_H
#define PE_HTTP_ANSWER_ANSWER_H

#include "http/request/wanted.h"
#include "http/request/request.h"
#include "http/request/service.h"

/** Reply with a stored response when the same request, to the letter, has been answered before;
 * else CONTINUE. One look-up; nothing is parsed, allocated or locked beside it. */
pe_outcome pe_answer_from_cache(pe_request *request);

/** The handler of every resource of the registry: the story of answer.c. */
pe_step pe_answer_resource;

/**
 * Reply with a stream of the request's representation, which is taken, in that coding. Its first
 * block is made here. The I/O thread makes the following ones if they are quick; else workers do,
 * while the connection is suspended.
 * Errors  OVERLOADED (memory).   Threads  a worker.
 */
pe_outcome pe_body_stream_reply(pe_request *request, pe_coding coding, pe_problem *why);

/** Plan the target, and compute it into the response cache where it is to be stored.
 * Errors  NOT_FOUND: no table; those of a request for it; TOO_MANY_ELEMENTS: it is too large for the
 * cache. */
pe_status pe_precompute(pe_service *service, const char *target, bool to_store,
                        pe_problem *why) PE_MUST_CHECK;

#endif
