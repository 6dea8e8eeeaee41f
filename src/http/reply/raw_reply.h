/* SPDX-License-Identifier: MIT */
/* raw_reply.h - a problem written to the socket past the library. */
#ifndef PE_HTTP_REPLY_RAW_REPLY_H
#define PE_HTTP_REPLY_RAW_REPLY_H

#include <gnutls/gnutls.h>
#include <stdbool.h>

#include "base/status.h"
#include "http/request/service.h"

/** Where the reply goes. */
typedef struct pe_raw_way {
    int socket;
    gnutls_session_t session; /* of TLS, by the thread of its connection alone; NULL: plain */
} pe_raw_way;

/** What is known of the request that is answered. */
typedef struct pe_raw_request {
    const char *instance; /* its path; "" when not known */
    const char *id;
    bool head; /* the content is left out */
} pe_raw_request;

/**
 * Write a problem where the library cannot reply any more: in the middle of a body or of a header.
 * Nothing more is sent there; the caller closes the connection.   Threads  any; does not wait.
 */
void pe_raw_reply(pe_service *service, pe_raw_way way, const pe_problem *problem,
                  const pe_raw_request *request);

/** The same for a request of which nothing is known. */
void pe_raw_reply_to_unknown(pe_service *service, pe_raw_way way, const pe_problem *problem);

/** The same for one that did not arrive in time. */
void pe_raw_reply_late(pe_service *service, pe_raw_way way);

#endif
