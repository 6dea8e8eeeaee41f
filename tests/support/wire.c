/* SPDX-License-Identifier: MIT */
/* wire.c - a connection to a test server, byte by byte: also what libcurl would not send. */
#include "support/check.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "support/wire.h"

/* Segments and buffers of this many bytes (0: as usual). */
static test_wire open_with(const test_server *server, const char *from, int segment, int buffer)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((in_port_t)server->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    test_wire made = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_true(made.fd >= 0);
    if (segment > 0) {
        setsockopt(made.fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
        setsockopt(made.fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    }
    if (from != NULL) {
        struct sockaddr_in own = {.sin_family = AF_INET};
        assert_int_equal(inet_pton(AF_INET, from, &own.sin_addr), 1);
        assert_int_equal(bind(made.fd, (struct sockaddr *)&own, sizeof own), 0);
    }
    assert_int_equal(connect(made.fd, (struct sockaddr *)&address, sizeof address), 0);
    return made;
}

test_wire wire_open(const test_server *server)
{
    return open_with(server, NULL, 0, 0);
}

test_wire wire_open_from(const test_server *server, const char *address)
{
    return open_with(server, address, 0, 0);
}

test_wire wire_open_narrow(const test_server *server)
{
    return open_with(server, NULL, 536, 4096);
}

bool wire_try_tls(const test_server *server, test_wire *out, const char **why)
{
    static gnutls_certificate_credentials_t nothing;
    *out = wire_open(server);
    setsockopt(out->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); /* records are short */
    if (nothing == NULL)
        assert_int_equal(gnutls_certificate_allocate_credentials(&nothing), 0);
    assert_int_equal(gnutls_init(&out->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL), 0);
    gnutls_set_default_priority(out->session);
    gnutls_credentials_set(out->session, GNUTLS_CRD_CERTIFICATE, nothing);
    gnutls_transport_set_int(out->session, out->fd);
    int done;
    while ((done = gnutls_handshake(out->session)) < 0 && !gnutls_error_is_fatal(done))
        ;
    *why = gnutls_strerror(done);
    if (done < 0)
        wire_close(out);
    return done >= 0;
}

test_wire wire_open_tls(const test_server *server)
{
    test_wire made;
    const char *why;
    if (!wire_try_tls(server, &made, &why))
        fail_msg("no handshake: %s", why);
    return made;
}

void wire_close(test_wire *wire)
{
    if (wire->session != NULL)
        gnutls_deinit(wire->session);
    wire->session = NULL;
    close(wire->fd);
    free(wire->data);
    wire->data = NULL;
    wire->bytes = 0;
}

static ssize_t send_some(const test_wire *wire, const char *data, size_t bytes)
{
    return wire->session != NULL ? gnutls_record_send(wire->session, data, bytes)
                                 : send(wire->fd, data, bytes, MSG_NOSIGNAL);
}

bool wire_send(test_wire *wire, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t sent = send_some(wire, at, bytes);
        if (sent <= 0)
            return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

bool wire_send_text(test_wire *wire, const char *text)
{
    return wire_send(wire, text, strlen(text));
}

static bool is_waiting(const test_wire *wire)
{
    struct pollfd wait = {.fd = wire->fd, .events = POLLIN};
    return (wire->session != NULL && gnutls_record_check_pending(wire->session) > 0) ||
           poll(&wait, 1, TEST_PATIENCE * 1000) == 1;
}

static ssize_t receive_some(const test_wire *wire, char *out, size_t room)
{
    ssize_t got = GNUTLS_E_AGAIN; /* as it is for a record that is not the server's answer */
    if (wire->session == NULL)
        return recv(wire->fd, out, room, 0);
    while (got == GNUTLS_E_AGAIN || got == GNUTLS_E_INTERRUPTED)
        got = gnutls_record_recv(wire->session, out, room);
    return got;
}

/* Receive more; false at the end of the connection. Fails the test when nothing comes. */
static bool receive(test_wire *wire)
{
    if (!is_waiting(wire))
        fail_msg("the server neither answers nor ends the connection; so far: %.500s",
                 wire->data != NULL ? wire->data : "");
    char *larger = realloc(wire->data, wire->bytes + 65537);
    assert_non_null(larger);
    wire->data = larger;
    ssize_t got = receive_some(wire, wire->data + wire->bytes, 65536);
    if (got > 0)
        wire->bytes += (size_t)got;
    wire->data[wire->bytes] = '\0';
    return got > 0;
}

static void take(test_wire *wire, size_t bytes)
{
    memmove(wire->data, wire->data + bytes, wire->bytes - bytes + 1);
    wire->bytes -= bytes;
}

/* The header block with its empty line, taken; NULL when the connection ended before. */
static char *take_header(test_wire *wire)
{
    for (;;) {
        char *end = wire->bytes > 0 ? memmem(wire->data, wire->bytes, "\r\n\r\n", 4) : NULL;
        if (end != NULL) {
            size_t bytes = (size_t)(end - wire->data) + 4;
            char *header = strndup(wire->data, bytes);
            take(wire, bytes);
            return header;
        }
        if (!receive(wire))
            return NULL;
    }
}

static void append(reply *answer, const char *data, size_t bytes)
{
    char *larger = realloc(answer->body, answer->bytes + bytes + 1);
    if (larger == NULL)
        fail_msg("no memory for %zu bytes", answer->bytes + bytes);
    answer->body = larger;
    memcpy(answer->body + answer->bytes, data, bytes);
    answer->bytes += bytes;
    answer->body[answer->bytes] = '\0';
}

/* The connection has ended within an answer. */
static bool ended_within(const test_wire *wire, const reply *answer)
{
    if (!wire->may_end)
        fail_msg("the connection ended within a body; headers were: %s", answer->headers);
    return false;
}

/* Move `bytes` to the body. */
static bool take_body(test_wire *wire, reply *answer, size_t bytes)
{
    while (bytes > 0) {
        if (wire->bytes == 0 && !receive(wire))
            return ended_within(wire, answer);
        size_t part = wire->bytes < bytes ? wire->bytes : bytes;
        append(answer, wire->data, part);
        take(wire, part);
        bytes -= part;
    }
    return true;
}

static bool take_line(test_wire *wire, const reply *answer, char *out, size_t room)
{
    char *end;
    while ((end = wire->bytes > 0 ? memmem(wire->data, wire->bytes, "\r\n", 2) : NULL) == NULL)
        if (!receive(wire))
            return ended_within(wire, answer);
    snprintf(out, room, "%.*s", (int)(end - wire->data), wire->data);
    take(wire, (size_t)(end - wire->data) + 2);
    return true;
}

static bool take_chunks(test_wire *wire, reply *answer)
{
    char line[64];
    for (;;) {
        if (!take_line(wire, answer, line, sizeof line))
            return false;
        size_t bytes = strtoul(line, NULL, 16);
        if (!take_body(wire, answer, bytes) || !take_line(wire, answer, line, sizeof line))
            return false;
        assert_string_equal(line, "");
        if (bytes == 0)
            return true;
    }
}

static bool take_content(test_wire *wire, reply *answer)
{
    char text[64];
    if (answer->status == 204 || answer->status == 304)
        return true;
    if (reply_header(answer, "Transfer-Encoding", text, sizeof text) != NULL)
        return take_chunks(wire, answer);
    if (reply_header(answer, "Content-Length", text, sizeof text) != NULL)
        return take_body(wire, answer, strtoull(text, NULL, 10));
    while (receive(wire)) {
    }
    append(answer, wire->data, wire->bytes);
    take(wire, wire->bytes);
    return true;
}

reply wire_answer(test_wire *wire, bool to_head)
{
    reply answer = {0};
    do {
        free(answer.headers);
        answer.headers = take_header(wire);
        answer.status = answer.headers != NULL ? strtol(strchr(answer.headers, ' '), NULL, 10) : 0;
    } while (answer.status == 100);
    if (answer.headers == NULL)
        answer.headers = strdup("");
    append(&answer, "", 0);
    if (answer.status != 0 && !to_head && !take_content(wire, &answer))
        answer.status = 0;
    return answer;
}

/* In one piece: what comes later may come too late, or wait for an acknowledgement. */
reply wire_request(test_wire *wire, const char *method, const char *target,
                   const char *const *headers, const void *body, size_t bytes)
{
    pe_buffer request = {0};
    pe_buffer_format(&request, "%s %s HTTP/1.1\r\nHost: test\r\n", method, target);
    for (; headers != NULL && *headers != NULL; headers++)
        pe_buffer_format(&request, "%s\r\n", *headers);
    if (body != NULL)
        pe_buffer_format(&request, "Content-Length: %zu\r\n", bytes);
    pe_buffer_str(&request, "\r\n");
    pe_buffer_add(&request, body, body != NULL ? bytes : 0);
    assert_false(request.failed);
    wire_send(wire, request.data, request.bytes);
    pe_buffer_free(&request);
    return wire_answer(wire, strcmp(method, "HEAD") == 0);
}

void wire_take(test_wire *wire, char *out, size_t bytes)
{
    reply taken = {.headers = NULL};
    append(&taken, "", 0);
    if (!take_body(wire, &taken, bytes))
        fail_msg("the connection ended before %zu bytes", bytes);
    memcpy(out, taken.body, bytes);
    reply_free(&taken);
}

size_t wire_drain(test_wire *wire)
{
    size_t bytes = wire->bytes;
    for (wire->bytes = 0; receive(wire); wire->bytes = 0)
        bytes += wire->bytes;
    return bytes;
}

bool wire_ended(test_wire *wire)
{
    size_t before = wire->bytes;
    while (receive(wire)) {
    }
    return before == 0 && wire->bytes == 0;
}
