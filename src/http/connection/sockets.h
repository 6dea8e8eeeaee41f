/* SPDX-License-Identifier: MIT */
/* sockets.h - sockets that listen: opened here, or passed by whoever started the program. */
#ifndef PE_HTTP_CONNECTION_SOCKETS_H
#define PE_HTTP_CONNECTION_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/status.h"

/** The text of an address, NUL. */
#define PE_SOCKET_NAME_MAX sizeof(((struct sockaddr_un *)NULL)->sun_path)

typedef struct pe_socket {
    int fd;
    int port;                      /* -1: a unix socket */
    char name[PE_SOCKET_NAME_MAX]; /* the host, or the path of a unix socket */
    bool passed;                   /* others may listen on it, too: it is never shut down */
    struct stat file;              /* of a unix socket that was opened here */
} pe_socket;

/** Listen on a port of an IPv4 or IPv6 address; port 0 takes any.
 * Errors  INVALID_PARAMETER: no address, or one that is taken. */
pe_status pe_socket_open(const char *host, int port, pe_socket *out, pe_problem *why) PE_MUST_CHECK;

/** Where to listen, or to find who does. */
typedef struct pe_socket_place {
    char name[256]; /* a host, or the path of a unix socket */
    int port;       /* -1: a unix socket */
} pe_socket_place;

/** Read "unix:/path", "host:port" or "[host]:port".   Errors  INVALID_PARAMETER: another text. */
pe_status pe_socket_place_read(const char *text, pe_socket_place *out,
                               pe_problem *why) PE_MUST_CHECK;

/** False where the path of a unix socket is too long for an address, or does not begin with /. */
bool pe_socket_path_address(const char *path, struct sockaddr_un *out);

/**
 * Listen at "unix:/path", "host:port" or "[host]:port". The file of a unix socket on which nobody
 * listens any more is replaced.
 * Errors  INVALID_PARAMETER: another text, and as pe_socket_open.
 */
pe_status pe_socket_open_place(const char *place, pe_socket *out, pe_problem *why) PE_MUST_CHECK;

/**
 * The sockets that the environment announces (LISTEN_PID, LISTEN_FDS), as systemd passes them;
 * *n is 0 where there are none. The variables are removed.
 * Errors  INVALID_PARAMETER: more than n_max, or a descriptor that does not listen.
 */
pe_status pe_socket_take_passed(pe_socket *out, size_t n_max, size_t *n,
                                pe_problem *why) PE_MUST_CHECK;

/** The system keeps at most so many bytes unsent for each connection that it accepts, and one
 * segment more; 0 is no bound. What has been sent and not yet acknowledged does not count, so a
 * fast reader far away gets all that the path can hold. */
void pe_socket_bound_unsent(const pe_socket *socket, int bytes);

/** From now on the system takes no further connections; those that it has taken can be accepted.
 * The file of a unix socket goes, unless it is another's meanwhile. A socket that was passed is
 * left alone. */
void pe_socket_refuse(const pe_socket *socket);

/** Take packets with so many hops left at least; 0, of a connection that was accepted after that: what
 * the client sends is taken. */
void pe_socket_take_hops(int fd, int least);

/** Close it, and remove the file of a unix socket. */
void pe_socket_close(pe_socket *socket);

#endif
