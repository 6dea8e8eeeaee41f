/* SPDX-License-Identifier: MIT */
/* raw_reply.h - a problem written to the socket past the library. */
#ifndef PE_HTTP_REPLY_RAW_REPLY_H
#define PE_HTTP_REPLY_RAW_REPLY_H

#include "base/status.h"
#include "http/request/service.h"

/**
 * Write a problem to the socket where the library cannot reply any more: in the middle of a body or
 * of a header. id: the request's, or NULL where that is not known. The caller closes the
 * connection.   Threads  any; does not wait.
 */
void pe_raw_reply(pe_service *service, int socket, const pe_problem *problem, const char *instance,
                  const char *id);

#endif
