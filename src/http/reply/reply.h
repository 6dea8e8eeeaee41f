/* SPDX-License-Identifier: MIT */
/* reply.h - decides the reply to a request, and queues it. */
#ifndef PE_HTTP_REPLY_REPLY_H
#define PE_HTTP_REPLY_REPLY_H

#include "http/reply/header_fields.h"

/*
 * Each function of this header and of representation_reply.h decides request->reply. Where memory
 * runs out the reply is empty, and pe_reply_send closes the connection.
 */

/** The problem as application/problem+json. http/flow.c alone calls it: whoever has a problem
 * returns PE_FAILED with it. */
void pe_reply_problem(pe_request *request, const pe_problem *problem);

/** A document; takes content's bytes.   Errors  INTERNAL: the buffer has failed. */
pe_outcome pe_reply_content(pe_request *request, unsigned http_status, pe_buffer *content,
                            const pe_field *fields, pe_problem *why);

/** application/json with status 200 and this Cache-Control; else as pe_reply_content. */
pe_outcome pe_reply_json(pe_request *request, pe_buffer *content, const char *cache_control,
                         pe_problem *why);

/** A document that outlives the server's connections. */
pe_outcome pe_reply_constant(pe_request *request, const void *data, size_t bytes,
                             const pe_field *fields);

/** No content: 204, 304. */
pe_outcome pe_reply_empty(pe_request *request, unsigned http_status, const pe_field *fields);

/** The last step of every reply with a response of its own: fields that all replies have.
 * response: taken; NULL: no memory. */
pe_outcome pe_reply_decide(pe_request *request, unsigned http_status,
                           struct MHD_Response *response);

/** Queue the reply. The only caller of MHD_queue_response. */
enum MHD_Result pe_reply_send(pe_request *request);

/** Let go of the reply: it has been sent, or never will be. */
void pe_reply_drop(pe_request *request);

#endif
