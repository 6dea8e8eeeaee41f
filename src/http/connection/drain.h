/* SPDX-License-Identifier: MIT */
/* drain.h - the end of connections whose clients may still send. */
#ifndef PE_HTTP_CONNECTION_DRAIN_H
#define PE_HTTP_CONNECTION_DRAIN_H

#include <stdint.h>

#include "base/status.h"

/**
 * A socket that is closed while bytes arrive resets the connection, and the client loses the answer
 * that it has not read. So our side of it ends, and what still comes is read and dropped, until the
 * client ends its own side, for a bounded time and number of bytes (RFC 9112, 9.6).
 */
typedef struct pe_drain pe_drain;

typedef struct pe_drain_limits {
    int64_t time;   /* nanoseconds */
    uint64_t bytes; /* of one client */
} pe_drain_limits;

/** Starts the thread. */
pe_status pe_drain_make(const pe_drain_limits *limits, pe_drain **out,
                        pe_problem *why) PE_MUST_CHECK;

/** Ends it, and closes what it has. Accepts NULL. */
void pe_drain_free(pe_drain *drain);

/** Takes the descriptor, and closes it: at once when too many are drained.   Threads  any. */
void pe_drain_take(pe_drain *drain, int socket);

#endif
