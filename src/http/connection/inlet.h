/* SPDX-License-Identifier: MIT */
/* inlet.h - every byte that a client sends passes here before the library reads it. */
#ifndef PE_HTTP_CONNECTION_INLET_H
#define PE_HTTP_CONNECTION_INLET_H

#include <gnutls/gnutls.h>

#include "http/connection/framing.h"
#include "http/connection/proxy_header.h"
#include "http/connection/watchdog.h"

/**
 * The library has no place for us before its parser, and gives answers of its own to what it cannot
 * read: some with two headers, some in pieces, and what it reads wrongly it does not answer so at
 * all. It receives by recv(), and the program has a recv of its own (a program's function is found
 * before the C library's): what it returns of a socket that stands here has been read by framing.h.
 * Of TLS it receives by gnutls_record_recv(), and the program has its own of that, too: what GnuTLS
 * itself receives is coded and passes. The handshake is made there, since the library would burn a
 * core while one waits. The program has a send() and a sendmsg() as well, which count.
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
    void (*late)(void *context); /* of TLS: only the connection's own thread may send */
    void *context;
    bool lost;    /* there was no memory for what was to be held */
    bool told;    /* late */
    bool proxied; /* a header of the PROXY protocol is still to come */
    pe_proxy_header proxy;
} pe_inlet;

/**
 * From now on the socket's bytes pass here; the caller has filled socket, session, watchdog, watch,
 * limits, held_max, refused, late, context, and proxied where a proxy has to say first whose the
 * connection is, also before TLS. refused(context) is called once, when the connection may be told:
 * it does so by itself, and the library then finds the connection's end. So is late(context), of
 * TLS, when the watchdog has made the connection LEAVING. False where a descriptor is beyond every
 * limit.
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

/** The body of the request that the library has just begun has been refused already. */
bool pe_inlet_is_refused(const pe_inlet *inlet);

/** When the request that the library reads now began to arrive.   Call once for each. */
int64_t pe_inlet_began(pe_inlet *inlet);

/** A text of the refused request's header, ended by NUL in its place. */
const char *pe_inlet_text(pe_inlet *inlet, pe_framing_text text);

#endif
