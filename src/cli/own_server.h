/* SPDX-License-Identifier: MIT */
/* own_server.h - a server inside this process, whose one client is the command that runs. */
#ifndef PE_CLI_OWN_SERVER_H
#define PE_CLI_OWN_SERVER_H

#include "base/buffer.h"
#include "cli/http_client.h"

/** Of the settings that its flags, the environment and the file tell. */
typedef struct pe_own_server pe_own_server;

/** Errors  those of settings, and of pe_server_start. */
pe_status pe_own_server_start(int n_settings, char **settings, pe_own_server **out,
                              pe_problem *why) PE_MUST_CHECK;
void pe_own_server_stop(pe_own_server *own);

/** Most bytes of a body. */
size_t pe_own_server_bytes_max(const pe_own_server *own);

/** Ask it, and leave the body of the answer to pe_client_read.
 * Errors  what it answers as a problem, with all mistakes. */
pe_status pe_own_server_ask(pe_own_server *own, const pe_client_request *request, pe_client *out,
                            pe_problem *why) PE_MUST_CHECK;

/** The same with the whole body, which is appended. */
pe_status pe_own_server_fetch(pe_own_server *own, const pe_client_request *request, pe_buffer *out,
                              pe_problem *why) PE_MUST_CHECK;

#endif
