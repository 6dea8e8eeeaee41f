/* SPDX-License-Identifier: MIT */
/* daemon.h - the library's daemons: I/O threads that serve connections. */
#ifndef PE_HTTP_DAEMON_H
#define PE_HTTP_DAEMON_H

#include "http/request/service.h"

struct MHD_Daemon;

/** A daemon without a socket of its own: the acceptor hands it connections. NULL where it cannot
 * start. */
struct MHD_Daemon *pe_daemon_start(pe_service *service, size_t threads, bool tls);

#endif
