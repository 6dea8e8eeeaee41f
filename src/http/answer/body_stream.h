/* SPDX-License-Identifier: MIT */
/* body_stream.h - a numeric answer that is produced while the client takes it. */
#ifndef PE_HTTP_ANSWER_BODY_STREAM_H
#define PE_HTTP_ANSWER_BODY_STREAM_H

#include "http/reply/coding.h"
#include "http/answer/representation.h"

/**
 * Decide the reply: a stream of numeric, which is taken, in that coding. Its first block is made
 * here. The I/O thread makes the following ones if they are quick; else workers do, while the
 * connection is suspended.   Threads  a worker.
 */
void pe_feed_reply(pe_request *request, pe_numeric *numeric, pe_coding coding);

#endif
