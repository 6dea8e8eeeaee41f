/* SPDX-License-Identifier: MIT */
/* body_stream.h - a representation answer that is produced while the client takes it. */
#ifndef PE_HTTP_ANSWER_BODY_STREAM_H
#define PE_HTTP_ANSWER_BODY_STREAM_H

#include "http/reply/coding.h"
#include "http/answer/representation.h"

/**
 * Decide the reply: a stream of representation, which is taken, in that coding. Its first block is
 * made here. The I/O thread makes the following ones if they are quick; else workers do, while the
 * connection is suspended.   Threads  a worker.
 */
void pe_body_stream_reply(pe_request *request, pe_representation *representation, pe_coding coding);

#endif
