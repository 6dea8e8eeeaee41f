/* SPDX-License-Identifier: MIT */
/* wire.h - a connection to a test server, byte by byte: also what libcurl would not send. */
#ifndef PE_TESTS_SUPPORT_WIRE_H
#define PE_TESTS_SUPPORT_WIRE_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>

#include "support/client.h"
#include "support/live_server.h"

/** One connection, with what has been received and not yet taken. */
typedef struct test_wire {
    int fd;
    gnutls_session_t session; /* NULL: plain */
    char *data;
    size_t bytes;
    bool may_end; /* within an answer, whose status is 0 then; else the test fails */
} test_wire;

test_wire wire_open(const test_server *server);
/** From an address of the loopback, as "127.0.0.2": another client. */
test_wire wire_open_from(const test_server *server, const char *address);
/** Over TLS, whatever the certificate. */
test_wire wire_open_tls(const test_server *server);
/** False where the server ends the connection before the handshake is done; *why says what was
 * seen. */
bool wire_try_tls(const test_server *server, test_wire *out, const char **why);
/** One that takes tens of kilobytes before it stalls, not megabytes. */
test_wire wire_open_narrow(const test_server *server);
void wire_close(test_wire *wire);

/** Send all of it. False when the server has closed the connection. */
bool wire_send(test_wire *wire, const void *data, size_t bytes);
bool wire_send_text(test_wire *wire, const char *text);

/**
 * Take the next answer, chunked or of known length or ended by the connection; interim 100s are
 * passed over. to_head: it has no body whatever it says. status 0 when the connection ended before.
 */
reply wire_answer(test_wire *wire, bool to_head);

/** A whole exchange: method, target, Host, the header lines (NULL-terminated, may be NULL), the
 * body (NULL: none). */
reply wire_request(test_wire *wire, const char *method, const char *target,
                   const char *const *headers, const void *body, size_t bytes);

/** Take the next `bytes` bytes as they are; fails the test when the connection ends before. */
void wire_take(test_wire *wire, char *out, size_t bytes);

/** Receive until the server closes the connection; how many bytes came. */
size_t wire_drain(test_wire *wire);

/** Wait until the server closes the connection; true when it sent nothing more before. */
bool wire_ended(test_wire *wire);

#endif
