/* SPDX-License-Identifier: MIT */
/* traced_calls.h - the system calls that a server makes, counted. */
#ifndef PE_TESTS_SUPPORT_TRACED_CALLS_H
#define PE_TESTS_SUPPORT_TRACED_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "support/live_server.h"

#define CALLS_MAX 512

/** What one thread called. */
typedef struct call_counts {
    size_t of[CALLS_MAX]; /* by number, as SYS_recvfrom */
    size_t all;
} call_counts;

/**
 * Run requests(context) and count the calls that the server's threads make meanwhile; *out, which
 * is zeros, gets those of the thread that made most. False when this machine does not let us trace.
 * `last` is run after the counting: it must make the server call something.
 */
bool calls_count(const test_server *server, void (*requests)(void *context),
                 void (*last)(void *context), void *context, call_counts *out);

#endif
