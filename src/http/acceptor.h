/* SPDX-License-Identifier: MIT */
/* acceptor.h - the thread that accepts connections and hands them to the library. */
#ifndef PE_HTTP_ACCEPTOR_H
#define PE_HTTP_ACCEPTOR_H

#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "http/connection/sockets.h"
#include "http/connection/watchdog.h"
#include "http/request/service.h"

/** A socket, and the daemon of the library that serves its connections. */
typedef struct pe_listener {
    pe_socket socket;
    struct MHD_Daemon *daemon;
    pe_place place; /* that its connections take, but those beyond a limit */
} pe_listener;

/** A connection as the library knows it: what was decided when it was accepted travels with the
 * peer's address. libmicrohttpd 1.0 copies no more than a sockaddr_storage. */
typedef struct pe_accepted {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un path;
    } peer;
    pe_place place;
    bool address_full; /* why it is refused: connections_per_address, else connections_max */
} pe_accepted;

_Static_assert(sizeof(pe_accepted) <= sizeof(struct sockaddr_storage), "the library copies it");

/** Of an open connection. */
const pe_accepted *pe_acceptor_accepted(struct MHD_Connection *connection);

/** OVERLOADED, with the limit that a refused connection met. */
pe_status pe_acceptor_fail(const pe_settings *settings, const pe_accepted *accepted,
                           pe_problem *why);

/** Most sockets of one server. */
#define PE_LISTENERS_MAX 16

/**
 * The library could accept by itself, but could not stop without a loss: what the system
 * has taken meanwhile would be reset, and a socket that was passed would stay in its epoll sets.
 */
typedef struct pe_acceptor pe_acceptor;

/** Accept on n listeners, whose daemons have no socket of their own, while fewer than
 * connections_max connections are open, or one of them can be dropped. */
pe_status pe_acceptor_start(pe_service *service, const pe_listener *listener, size_t n,
                            pe_acceptor **out, pe_problem *why) PE_MUST_CHECK;

/** A connection has been opened or has ended.   Threads  any. */
void pe_acceptor_wake(pe_acceptor *acceptor);

/** Have the system take no more connections, accept all that it has taken, and end the thread. The
 * sockets stay open. */
void pe_acceptor_end(pe_acceptor *acceptor);

/** After the last connection.   Accepts NULL. */
void pe_acceptor_free(pe_acceptor *acceptor);

#endif
