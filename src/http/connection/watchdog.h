/* SPDX-License-Identifier: MIT */
/* watchdog.h - absolute deadlines of connections, and their end when the server drains. */
#ifndef PE_HTTP_CONNECTION_WATCHDOG_H
#define PE_HTTP_CONNECTION_WATCHDOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "http/connection/progress.h"

/**
 * The library's own timeout is of inactivity, which one byte a second defeats, and it takes a
 * reader for silent who reads less than the socket holds. So it has none: every connection stands
 * in a registry with what it is doing and until when it may.
 *
 * FRESH (no byte yet) -> HEADER (a part of one is there) -> RECEIVING the body -> WORKING (ours; no
 * deadline) -> SENDING the answer -> IDLE until the next byte. A header that comes whole leaves
 * HEADER out, an answer that is there leaves WORKING out.
 *
 * LEAVING: the connection has been answered past the library, or is to be closed. It stays that; so
 * of an answer and a 408, whoever enters the next phase first sends one, and the other does not.
 */
typedef enum pe_phase {
    PE_PHASE_FRESH,
    PE_PHASE_HEADER,
    PE_PHASE_RECEIVING,
    PE_PHASE_WORKING,
    PE_PHASE_SENDING,
    PE_PHASE_IDLE,
    PE_PHASE_LEAVING,
    PE_PHASES
} pe_phase;

/** Whose places a connection takes. */
typedef enum pe_place {
    PE_PLACE_PUBLIC,
    PE_PLACE_OPERATOR,
    PE_PLACE_REFUSED, /* beyond a limit: open until it has its reply */
    PE_PLACES
} pe_place;

typedef struct pe_watchdog pe_watchdog;

/** "GET /v1/...", cut where it is long, and NUL. */
#define PE_REQUEST_LABEL_BYTES 128

/** One connection's row. */
typedef struct pe_watch {
    struct pe_watch *previous, *next; /* the registry's */
    int socket;
    atomic_uint_fast64_t state; /* phase and its deadline, which change together */
    uint_fast64_t judged;       /* the watchdog's: the state that `progress` is of */
    pe_progress progress;       /* the watchdog's */
    pe_progress_passed passed;
    bool left;    /* the watchdog's: the client had ended its side when last seen */
    bool dropped; /* the watchdog's: to make room for another */
    bool unheard; /* the watchdog's: late before there was a whole header */
    char label[PE_REQUEST_LABEL_BYTES]; /* the watchdog's */
    atomic_int_fast64_t started;        /* of the label's request, pe_clock(); 0: there is none */
    pe_place place;                     /* never changes */
} pe_watch;

/** How long a phase may last, in nanoseconds (WORKING: no bound), and what slow clients may do. */
typedef struct pe_deadlines {
    int64_t of[PE_PHASES];
    pe_progress_rules reader, sender;
} pe_deadlines;

/** Starts the watchdog's thread. A connection whose request did not arrive in time becomes LEAVING
 * and learns of it as of its end: its own thread tells the client, who is left LEAVING's time to read
 * that. */
pe_status pe_watchdog_make(const pe_deadlines *deadlines, pe_watchdog **out,
                           pe_problem *why) PE_MUST_CHECK;

/** Ends the thread. Every connection has been removed. Accepts NULL. */
void pe_watchdog_free(pe_watchdog *watchdog);

/** Enter a new connection, FRESH; the caller has filled place, and zeroed the rest. */
void pe_watchdog_add(pe_watchdog *watchdog, pe_watch *watch, int socket);
/** Take it out, before its socket is closed. */
void pe_watchdog_remove(pe_watchdog *watchdog, pe_watch *watch);

/** The connection goes on to `phase`, with that phase's time from `since` on. False, and nothing
 * is changed, when it is LEAVING. */
bool pe_watchdog_enter(pe_watchdog *watchdog, pe_watch *watch, pe_phase phase, int64_t since);

/** LEAVING from a phase in which no answer is on its way, false from others: then the caller may
 * send one past the library. */
bool pe_watchdog_leave(pe_watchdog *watchdog, pe_watch *watch);

bool pe_watchdog_is_leaving(const pe_watch *watch);

/** Of a connection that is LEAVING: can it still be sent a reply? */
bool pe_watchdog_owes_reply(const pe_watch *watch);

/** Have operators see the request of a connection: only those get a label that may take long, which
 * have a body, a worker or a long answer. Whoever has the next request sets watch->started to 0. */
void pe_watchdog_label(pe_watchdog *watchdog, pe_watch *watch, const char *method,
                       const char *target, int64_t started);

/**
 * End the connections that are IDLE, from now on each that becomes idle, and after half a second
 * those without a whole header (FRESH, HEADER); what they have sent before is answered. Wait until
 * none is left or timeout_ms have passed, then shut the others.
 */
void pe_watchdog_drain(pe_watchdog *watchdog, int64_t timeout_ms);

/** What an open connection is doing. */
typedef struct pe_watched {
    pe_phase phase;
    int64_t started;                    /* the request, pe_clock(); 0: not known */
    char label[PE_REQUEST_LABEL_BYTES]; /* "" while started is 0 */
    pe_place place;
} pe_watched;

/** Look at up to n_max connections that are not IDLE, the youngest first; returns how many. */
size_t pe_watchdog_look(pe_watchdog *watchdog, pe_watched *out, size_t n_max);

/** Connections with a request under way. */
size_t pe_watchdog_active(pe_watchdog *watchdog);

/** Connections that are open. */
size_t pe_watchdog_count(pe_watchdog *watchdog);

/** Those in places of this kind, without those that have been dropped. */
size_t pe_watchdog_count_of(pe_watchdog *watchdog, pe_place place);

/**
 * Make room for one more in such a place: end the connection that has been silent for longest of
 * those that are LEAVING, else of those that wait for a request or for the rest of its
 * header. What it has sent before is answered. False where there is none such.
 *
 * Cost  one look at all connections for each 64 that are dropped.
 */
bool pe_watchdog_drop_silent(pe_watchdog *watchdog, pe_place place);

#endif
