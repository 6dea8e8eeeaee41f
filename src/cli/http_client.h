/* SPDX-License-Identifier: MIT */
/* http_client.h - one request of HTTP/1.1 over a socket that is connected, and its answer. */
#ifndef PE_CLI_HTTP_CLIENT_H
#define PE_CLI_HTTP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

#define PE_CLIENT_PARTS_MAX 40

/** What is asked, by POST where there is a body, else by GET; all of it is borrowed. */
typedef struct pe_client_request {
    const char *target, *host;
    const char *accept, *type;           /* NULL: the field is left out */
    pe_slice parts[PE_CLIENT_PARTS_MAX]; /* of the body, one after the other */
    size_t n_parts;
} pe_client_request;

/** A connection. Set fd (which does not block) and deadline, then pe_client_ask, and pe_client_read
 * until it gives no byte.   Threads  one. */
typedef struct pe_client {
    int fd;              /* the caller's to close */
    int64_t deadline_ms; /* by pe_clock; 0: none */
    int status;          /* of the answer */
    char line[128];      /* "HTTP/1.1 200 OK" */
    char type[64];       /* its Content-Type, "" where it has none */
    bool chunked, ended;
    uint64_t left;      /* of the body, or of a chunk */
    uint64_t done, all; /* bytes of the body that are read, and of how many; 0: not known */
    size_t at, end;
    char held[65536]; /* bytes from `at` to `end` have come and are not read */
} pe_client;

/** Send the request, and read the answer up to its body. An answer may come before the whole of the
 * request has gone.   Errors  INTERNAL: the connection ends, the deadline passes, it is no HTTP. */
pe_status pe_client_ask(pe_client *client, const pe_client_request *request,
                        pe_problem *why) PE_MUST_CHECK;

/** Up to `room` bytes of the body; *got is 0 at its end.   Errors  INTERNAL: it ends too early. */
pe_status pe_client_read(pe_client *client, char *out, size_t room, size_t *got,
                         pe_problem *why) PE_MUST_CHECK;

/* A line on a terminal says how long a command has worked, and how far it is. */

/** From now on, where standard error is a terminal. */
void pe_progress_line_begin(void);
/** The line vanishes, and does not come back. A handler of signals may call this. */
void pe_progress_line_end(void);

#endif
