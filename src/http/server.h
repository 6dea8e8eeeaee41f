/* SPDX-License-Identifier: MIT */
/* server.h - the HTTP server: start, serve, drain, stop. */
#ifndef PE_HTTP_SERVER_H
#define PE_HTTP_SERVER_H

#include <stdbool.h>

#include "config/settings.h"

typedef struct pe_server pe_server;

/**
 * Start listening; warm-up goes on in the background (readyz answers 503 until it is done, and
 * `ready` is called then, by another thread, or NULL). Logs the "listening" line once connections
 * are accepted.
 */
pe_status pe_server_start(const pe_config *config, void (*ready)(void), pe_server **out,
                          pe_problem *why) PE_MUST_CHECK;

/**
 * Start a server for the calling program alone: it listens nowhere, has neither keys nor rates nor
 * deadlines that a reader could miss, and the process stays what it is (no sandbox, no other user).
 * Connections are those of pe_server_connect.   Errors  as pe_server_start.
 */
pe_status pe_server_start_within(const pe_config *config, pe_server **out,
                                 pe_problem *why) PE_MUST_CHECK;

/** A connection to a server of pe_server_start_within: *out, a socket, is the caller's to close. */
pe_status pe_server_connect(pe_server *server, int *out, pe_problem *why) PE_MUST_CHECK;

/** Does readyz answer 200? */
bool pe_server_is_ready(const pe_server *server);

/** Is this what a server could start with? Reads the files that the settings name; listens nowhere.
 * Errors  as pe_server_start. */
pe_status pe_server_check(const pe_config *config, pe_problem *why) PE_MUST_CHECK;

/** Look for what should never happen while nobody asks for anything, and count it for /metrics. To
 * be called every few seconds.   Threads  one at a time. */
void pe_server_judge(pe_server *server);

/** The port of the first socket (for port 0). */
int pe_server_port(const pe_server *server);

/** Put to use what settings and files say now, as far as http/reload.h goes; `fresh` is read during
 * the call alone. Errors  those of its rows; then nothing has changed.   Threads  one at a time. */
pe_status pe_server_reload(pe_server *server, const pe_config *fresh,
                           pe_problem *why) PE_MUST_CHECK;

/** readyz goes 503; after drain_grace_ms new connections are refused, answers under way finish
 * (drain_timeout_ms), then all is freed. */
void pe_server_stop(pe_server *server);

#endif
