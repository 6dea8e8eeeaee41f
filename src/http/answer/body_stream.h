/* SPDX-License-Identifier: MIT */
/* body_stream.h - content that is made while the client takes it. */
#ifndef PE_HTTP_ANSWER_BODY_STREAM_H
#define PE_HTTP_ANSWER_BODY_STREAM_H

#include "http/request/accept_encoding.h"
#include "http/request/request.h"

/**
 * Reply with a stream of the request's representation, which is taken, in that coding. Its first
 * block is made here. The I/O thread makes the following ones if they are quick; else workers do,
 * while the connection is suspended.
 * Errors  OVERLOADED (memory).   Threads  a worker.
 */
pe_outcome pe_body_stream_reply(pe_request *request, pe_coding coding, pe_problem *why);

#endif
