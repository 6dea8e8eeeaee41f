/* SPDX-License-Identifier: MIT */
/* answer.h - how requests for numbers are answered. */
#ifndef PE_HTTP_ANSWER_ANSWER_H
#define PE_HTTP_ANSWER_ANSWER_H

#include "http/request/request.h"

/** Reply with a stored response when the same request, to the letter, has been answered before;
 * else CONTINUE. One look-up; nothing is parsed, allocated or locked beside it. */
pe_outcome pe_answer_from_cache(pe_request *request);

/** The handler of every resource of the registry: the story of answer.c. */
pe_step pe_answer_resource;

#endif
