/* SPDX-License-Identifier: MIT */
/* answer.h - the handler of the representation resources. */
#ifndef PE_HTTP_ANSWER_ANSWER_H
#define PE_HTTP_ANSWER_ANSWER_H

#include "http/request/request.h"

/** GET, HEAD and POST of the resource that the request has been routed to. */
void pe_answer_resource(pe_request *request);

/** A raw GET or HEAD seen before, answered from the cache without reading it; false when it was
 * not. */
bool pe_answer_from_cache(pe_request *request);

#endif
