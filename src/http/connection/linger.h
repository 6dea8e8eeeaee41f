/* SPDX-License-Identifier: MIT */
/* linger.h - the end of connections whose clients may still send. */
#ifndef PE_HTTP_CONNECTION_LINGER_H
#define PE_HTTP_CONNECTION_LINGER_H

#include <stdint.h>

#include "base/status.h"

/**
 * A socket that is closed while bytes arrive resets the connection, and the client loses the answer
 * that it has not read. So our side of it ends, and what still comes is read and dropped, until the
 * client ends its own side, for a bounded time and number of bytes (RFC 9112, 9.6).
 */
typedef struct pe_linger pe_linger;

typedef struct pe_linger_limits {
    int64_t time;   /* nanoseconds */
    uint64_t bytes; /* of one client */
} pe_linger_limits;

/** Starts the thread. */
pe_status pe_linger_make(const pe_linger_limits *limits, pe_linger **out,
                         pe_problem *why) PE_MUST_CHECK;

/** Ends it, and closes what it has. Accepts NULL. */
void pe_linger_free(pe_linger *linger);

/** Takes the descriptor, and closes it: at once when too many linger.   Threads  any. */
void pe_linger_take(pe_linger *linger, int socket);

#endif
