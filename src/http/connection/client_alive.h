/* SPDX-License-Identifier: MIT */
/* client_alive.h - is there still a client that waits for its answer? */
#ifndef PE_HTTP_CONNECTION_CLIENT_ALIVE_H
#define PE_HTTP_CONNECTION_CLIENT_ALIVE_H

#include <stdbool.h>

/**
 * False when nobody can read an answer any more, as far as is known now.
 *
 * A client that has closed its connection looks like one that has ended its side and waits for the
 * answer, as netcat does; the difference shows once it is sent something, which the system of the
 * one that has gone answers with a reset. So who has ended its side is sent an interim answer, 100
 * (Continue), which clients of HTTP/1.1 can read whether they expect it or not (RFC 9110, 15.2).
 *
 * interim: the client speaks HTTP/1.1 and its request comes next. Others are taken to wait.
 * Waits a millisecond at most, for who has ended its side alone.
 * Threads  any, while the library leaves the socket alone.
 */
bool pe_client_alive(int socket, bool interim);

#endif
