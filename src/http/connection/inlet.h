/* SPDX-License-Identifier: MIT */
/* inlet.h - every byte that a client sends passes here before the library reads it. */
/*
 * What libmicrohttpd 0.9.75 needs of the program; each line names who answers it.
 *
 * - It has no hook before its parser. It passes on what two parsers may read differently (bare CR,
 *   NUL, Transfer-Encoding beside Content-Length), and answers other mistakes by itself, some with
 *   two headers. So the program has a recv() of its own (below), and framing.h decides.
 * - What is sound but misread is changed: a space after a value moves before it. Cookies, trailers,
 *   chunk extensions and Expect without a body are not shown to it (framing.c).
 * - After a read of less than it asked for it waits for the next event. So recv() leaves nothing in
 *   the socket then.
 * - Its timeout would end a reader who takes less than the socket's buffer holds. So it is off, and
 *   the watchdog looks at what has been acknowledged (progress.h): recv(), send() and sendmsg() of
 *   the program count what passes.
 * - It keeps every argument of a query in the connection's memory: some hundreds exhaust it, and
 *   the request is never answered. So the query is hidden from it (daemon.c).
 * - The header of a reply shares that memory with the header of the request. Where it does not fit,
 *   the library sends nothing. So Content-Location is left out then, and a request that leaves no
 *   room at all is refused (reply/).
 * - A reply that is queued on the first call of the access handler ends the connection. So only
 *   refusals are queued there (daemon.c).
 * - A stream that fails is marked as closed, but not always closed before its socket tells
 *   something. So the socket is shut (answer/body_stream.c).
 * - A 304 goes out with Content-Length: 0, which the library adds.
 * - It ends the sending side as soon as it learns of a connection's end. So it learns once a late
 *   client has been told (inlet.c), and what that one still sends is read and dropped: an end with
 *   bytes unread would be a reset (drain.h).
 * - It cannot stop listening without a loss: what the system has taken is reset, and
 *   MHD_quiesce_daemon races with its threads. So it has no listening socket: acceptor.c accepts
 *   and calls MHD_add_connection. At the end a filter on the socket drops what would begin a
 *   connection, and those that have begun are accepted.
 */
#ifndef PE_HTTP_CONNECTION_INLET_H
#define PE_HTTP_CONNECTION_INLET_H

#include <gnutls/gnutls.h>

#include "http/connection/framing.h"
#include "http/connection/client_address.h"
#include "http/connection/watchdog.h"

/**
 * The library receives by recv(), and finds the program's before the C library's: what that returns
 * of a socket that stands here has been read by framing.h. Of TLS it receives by
 * gnutls_record_recv(), of which the program has its own, too: what GnuTLS itself receives is coded
 * and passes. The handshake is made there as well (gnutls_handshake() of the program says at once
 * that it is done), since the library's loop would burn a core while one waits.
 *
 * A header comes whole; what waits for the rest of it is held here, at most
 * connection_memory_bytes. A request that is refused is answered once all before it have been;
 * nothing after it is read.
 */
typedef struct pe_inlet {
    int socket;
    gnutls_session_t session; /* NULL: plain */
    bool secure;              /* its handshake is done */
    ssize_t pulled;           /* the last result of GnuTLS's own recv(), 0 before it */
    pe_watchdog *watchdog;
    pe_watch *watch;
    pe_framing framing;
    pe_framing_limits limits;
    pe_arrived held; /* allocated while there are any; `passed` of them go to the library next */
    size_t held_max;
    uint64_t begun;    /* of framing.requests, by the library */
    uint64_t answered; /* of them */
    pe_status status;  /* of the framing */
    int64_t began;     /* pe_clock() of the first byte of a header that is held; 0: none is */
    void (*refused)(void *context);
    void (*late)(void *context);
    void *context;
    bool lost;    /* there was no memory for what was to be held */
    bool told;    /* has been replied to past the library */
    bool proxied; /* a header of the PROXY protocol is still to come */
    pe_proxy_header proxy;
} pe_inlet;

/**
 * From now on the socket's bytes pass here; the caller has filled socket, session, watchdog, watch,
 * limits, held_max, refused, late, context, and proxied where a proxy has to say first whose the
 * connection is, also before TLS. refused(context) is called once, when the connection may have its reply:
 * it does so by itself, and the library then finds the connection's end. So is late(context), when
 * the watchdog has made the connection LEAVING. False where a descriptor is beyond every limit.
 *
 * Threads  the connection's I/O thread alone.
 */
bool pe_inlet_open(pe_inlet *inlet);
/** Before the library closes the socket. */
void pe_inlet_close(pe_inlet *inlet);

/** A connection that no inlet could be made for: the library finds its end instead of bytes, until
 * pe_inlet_forget, before it closes the socket. */
void pe_inlet_shut(int socket);
void pe_inlet_forget(int socket);

/** A request has been answered to its end. */
void pe_inlet_answered(pe_inlet *inlet);

/** As pe_watchdog_enter and pe_watchdog_leave; where the watchdog was quicker, late() is called. So of
 * an answer and a 408 the client gets one. */
bool pe_inlet_enter(pe_inlet *inlet, pe_phase phase, int64_t since);
bool pe_inlet_leave(pe_inlet *inlet);

/** The body of the request that the library has just begun has been refused already. */
bool pe_inlet_is_refused(const pe_inlet *inlet);

/** When the request that the library reads now began to arrive.   Call once for each. */
int64_t pe_inlet_began(pe_inlet *inlet);

/** A text of the refused request's header, ended by NUL in its place. */
const char *pe_inlet_text(pe_inlet *inlet, pe_framing_text text);

#endif
