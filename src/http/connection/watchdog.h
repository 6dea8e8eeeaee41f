/* SPDX-License-Identifier: MIT */
/* watchdog.h - absolute deadlines of connections, and their end when the server drains. */
#ifndef PE_HTTP_CONNECTION_WATCHDOG_H
#define PE_HTTP_CONNECTION_WATCHDOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "http/connection/request_label.h"

/**
 * The library's own timeout is of inactivity, which one byte a second defeats. Here every
 * connection stands in a registry with what it is doing and until when it may.
 *
 * FRESH (no request line yet) -> RECEIVING the rest of a request -> WORKING (ours; no deadline)
 * -> SENDING the answer -> IDLE until the next request line.
 */
typedef enum pe_phase {
    PE_PHASE_FRESH,
    PE_PHASE_RECEIVING,
    PE_PHASE_WORKING,
    PE_PHASE_SENDING,
    PE_PHASE_IDLE
} pe_phase;

typedef struct pe_watchdog pe_watchdog;

/** One connection's row. The connection's thread writes phase and deadline, the watchdog reads. */
typedef struct pe_watch {
    struct pe_watch *previous, *next; /* the registry's */
    uint64_t serial;                  /* the registry's */
    int socket;
    atomic_int phase;
    atomic_int_fast64_t deadline; /* pe_clock() */
    pe_request_label label;
    struct pe_tls *tls; /* of a connection that is not plain: nothing is sent past the library */
    bool admin;         /* accepted for operators; never changes */
    bool expired;       /* the watchdog's: shut down already */
    bool left;          /* the watchdog's: the client had ended its side when last seen */
} pe_watch;

typedef struct pe_deadlines {
    int64_t receive, send, idle; /* nanoseconds; receive is for FRESH and RECEIVING each */
} pe_deadlines;

/** Starts the watchdog's thread. expired(context, socket) is called, once, for a connection whose
 * request did not arrive in time, before it is shut down; the socket is for this call only. */
pe_status pe_watchdog_make(const pe_deadlines *deadlines,
                           void (*expired)(void *context, int socket), void *context,
                           pe_watchdog **out, pe_problem *why) PE_MUST_CHECK;

/** Ends the thread. Every connection has been removed. Accepts NULL. */
void pe_watchdog_free(pe_watchdog *watchdog);

/** Enter a new connection, FRESH. */
void pe_watchdog_add(pe_watchdog *watchdog, pe_watch *watch, int socket);
/** Take it out, before its socket is closed. */
void pe_watchdog_remove(pe_watchdog *watchdog, pe_watch *watch);

/** The connection goes on to `phase`, with that phase's time from `now` on. */
void pe_watchdog_enter(pe_watchdog *watchdog, pe_watch *watch, pe_phase phase, int64_t now);

/** Has its deadline passed? */
bool pe_watchdog_expired(pe_watchdog *watchdog, const pe_watch *watch);

/**
 * End the connections that are IDLE, from now on each that becomes idle, and after half a second
 * those that are FRESH; what they have sent before is answered. Wait until none is left or timeout_ms
 * have passed, then shut the others.
 */
void pe_watchdog_drain(pe_watchdog *watchdog, int64_t timeout_ms);

/** What an open connection is doing. */
typedef struct pe_watched {
    pe_phase phase;
    int64_t started;                    /* the request, pe_clock(); 0: not told */
    char label[PE_REQUEST_LABEL_BYTES]; /* "" while started is 0 */
    bool admin;
} pe_watched;

/** Look at up to n_max connections that are not IDLE, the youngest first; returns how many. */
size_t pe_watchdog_look(pe_watchdog *watchdog, pe_watched *out, size_t n_max);

/** Connections that are open. */
size_t pe_watchdog_count(pe_watchdog *watchdog);

#endif
