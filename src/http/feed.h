/* SPDX-License-Identifier: MIT */
/* feed.h - a numeric answer that is produced while the client takes it. */
#ifndef PE_HTTP_FEED_H
#define PE_HTTP_FEED_H

#include "http/coding.h"
#include "http/numeric.h"

/**
 * Decide the reply: a stream of numeric, which is taken, in that coding. Blocks that take long to
 * make are made by a worker while the connection is suspended, so that an I/O thread never waits
 * for one.
 */
void pe_feed_reply(pe_request *request, pe_numeric *numeric, pe_coding coding);

#endif
