/* SPDX-License-Identifier: MIT */
/* reply.h - decides the reply to a request, and queues it. */
#ifndef PE_HTTP_REPLY_REPLY_H
#define PE_HTTP_REPLY_REPLY_H

#include <gnutls/gnutls.h>

#include "http/reply/header_fields.h"

struct pe_cache_entry;

/*
 * Each function of this header decides request->reply. Where memory
 * runs out the reply is empty, and pe_reply_send closes the connection.
 */

/** The problem as application/problem+json. http/daemon.c alone calls it: whoever has a problem
 * returns its status with it. */
void pe_reply_problem(pe_request *request, const pe_problem *problem);

/**
 * Write a problem to the socket, or the session of TLS that it has, where the library cannot reply any
 * more: in the middle of a body or of a header. Nothing more is sent there; the caller closes the
 * connection.   request: NULL: nothing is known of it. head: the content is left out.
 * Threads  of TLS that of the connection, else any; does not wait.
 */
void pe_reply_raw(pe_service *service, int socket, gnutls_session_t session,
                  const pe_problem *problem, pe_request *request, bool head);

/** 200 with a document; takes content's bytes. status: whether it could be written; *why holds its
 * problem.   Errors  that; OVERLOADED: the buffer has failed. */
pe_outcome pe_reply_content(pe_request *request, pe_status status, pe_buffer *content,
                            const pe_field *fields, pe_problem *why);

/** application/json with this Cache-Control; else as pe_reply_content. */
pe_outcome pe_reply_json(pe_request *request, pe_status status, pe_buffer *content,
                         const char *cache_control, pe_problem *why);

/** A response of a buffer, whose bytes are taken.   NULL: no memory. */
struct MHD_Response *pe_response_of(pe_buffer *content);

/** A response of bytes that an entry of a cache holds, whose reference is taken (NULL: they are
 * constant); and the reply with it. */
struct MHD_Response *pe_response_held(const void *data, size_t bytes, struct pe_cache_entry *entry);
pe_outcome pe_reply_held(pe_request *request, const void *data, size_t bytes,
                         struct pe_cache_entry *entry, const pe_field *fields);

/** No content: 204, 304. */
pe_outcome pe_reply_empty(pe_request *request, unsigned http_status, const pe_field *fields);

/** Queue the reply. The only caller of MHD_queue_response. */
enum MHD_Result pe_reply_send(pe_request *request);

/** Let go of the reply: it has been sent, or never will be. */
void pe_reply_drop(pe_request *request);

/** 200 or 206 with the content of a representation, as request->range says; or 304, where
 * If-None-Match names it. response: taken; NULL: no memory, and the metadata may be gone. timing:
 * Server-Timing. */
pe_outcome pe_reply_representation(pe_request *request, struct MHD_Response *response,
                                   const pe_metadata *metadata, const char *timing);

/** 304 for a representation. */
pe_outcome pe_reply_not_modified(pe_request *request, const pe_metadata *metadata);

/** Is there room for Content-Location? The library writes the reply's header beside the request's,
 * and ends the connection without a reply where it does not fit. So it is left out then. */
bool pe_reply_fits_location(const pe_request *request, const pe_metadata *metadata);

#endif
