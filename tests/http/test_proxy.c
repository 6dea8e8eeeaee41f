/* SPDX-License-Identifier: MIT */
/* test_proxy.c - the PROXY protocol: whose connection it is, and who may say so. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "support/problem.h"
#include "support/wire.h"

/* The proxy; 127.0.0.1 is a client, also of server_start. */
#define PROXY "127.0.0.2"

static const char *const flags[] = {"--trusted-proxies", PROXY, "--proxy-protocol", "--access-log",
                                    NULL};

/* A string's own bytes, with NUL among them. */
#define TEXT(text) text, sizeof(text) - 1

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define PORTS     "\x10\xe1\x01\xbb"
#define IPV4      "\xc0\x00\x02\x07\x0a\x00\x00\x01" PORTS
#define IPV6_ONE  "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x09"

typedef struct begin {
    const char *name, *text;
    size_t bytes;
    const char *client; /* in the log */
} begin;

static const begin sound[] = {
    {"v1-ipv4", TEXT("PROXY TCP4 192.0.2.7 10.0.0.1 4321 443\r\n"), "192.0.2.7"},
    {"v1-ipv6", TEXT("PROXY TCP6 2001:db8::9 ::1 0 65535\r\n"), "2001:db8::9"},
    {"v1-mapped", TEXT("PROXY TCP6 ::ffff:192.0.2.7 ::1 1 2\r\n"), "192.0.2.7"},
    {"v1-unknown", TEXT("PROXY UNKNOWN\r\n"), PROXY},
    {"v1-unknown-more", TEXT("PROXY UNKNOWN ffff:f::1 what 1 2\r\n"), PROXY},
    {"v2-ipv4", TEXT(SIGNATURE "\x21\x11\0\x0c" IPV4), "192.0.2.7"},
    {"v2-ipv6", TEXT(SIGNATURE "\x21\x21\0\x24" IPV6_ONE IPV6_ONE PORTS), "2001:db8::9"},
    {"v2-more", TEXT(SIGNATURE "\x21\x11\0\x10" IPV4 "\x04\0\x01x"), "192.0.2.7"},
    {"v2-local", TEXT(SIGNATURE "\x20\x00\0\0"), PROXY},
    {"v2-local-more", TEXT(SIGNATURE "\x20\x11\0\x0c" IPV4), PROXY},
    {"v2-no-family", TEXT(SIGNATURE "\x21\x00\0\x03xyz"), PROXY},
};

static const begin broken[] = {
    {"none", TEXT(""), NULL},
    {"v1-lower", TEXT("proxy TCP4 192.0.2.7 10.0.0.1 1 2\r\n"), NULL},
    {"v1-kind", TEXT("PROXY UDP4 192.0.2.7 10.0.0.1 1 2\r\n"), NULL},
    {"v1-family", TEXT("PROXY TCP4 2001:db8::9 ::1 1 2\r\n"), NULL},
    {"v1-address", TEXT("PROXY TCP4 192.0.2.256 10.0.0.1 1 2\r\n"), NULL},
    {"v1-name", TEXT("PROXY TCP4 localhost 10.0.0.1 1 2\r\n"), NULL},
    {"v1-nul", TEXT("PROXY TCP4 192.0.2.7\0 10.0.0.1 1 2\r\n"), NULL},
    {"v1-port", TEXT("PROXY TCP4 192.0.2.7 10.0.0.1 65536 2\r\n"), NULL},
    {"v1-port-zeros", TEXT("PROXY TCP4 192.0.2.7 10.0.0.1 01 2\r\n"), NULL},
    {"v1-sign", TEXT("PROXY TCP4 192.0.2.7 10.0.0.1 -1 2\r\n"), NULL},
    {"v1-no-port", TEXT("PROXY TCP4 192.0.2.7 10.0.0.1 1\r\n"), NULL},
    {"v1-word-more", TEXT("PROXY TCP4 192.0.2.7 10.0.0.1 1 2 3\r\n"), NULL},
    {"v1-two-spaces", TEXT("PROXY  TCP4 192.0.2.7 10.0.0.1 1 2\r\n"), NULL},
    {"v1-tab", TEXT("PROXY\tTCP4 192.0.2.7 10.0.0.1 1 2\r\n"), NULL},
    {"v1-bare-lf", TEXT("PROXY TCP4 192.0.2.7 10.0.0.1 1 2\n"), NULL},
    {"v1-nothing", TEXT("PROXY \r\n"), NULL},
    {"v1-long",
     TEXT("PROXY UNKNOWN "
          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
          "aaaaaaaaaaaaaaaaaaaa"),
     NULL},
    {"v1-twice", TEXT("PROXY TCP4 192.0.2.7 10.0.0.1 1 2\r\nPROXY TCP4 192.0.2.7 10.0.0.1 1 2\r\n"),
     NULL},
    {"v2-signature", TEXT("\r\n\r\n\0\r\nQUIT\r\x21\x11\0\x0c" IPV4), NULL},
    {"v2-version", TEXT(SIGNATURE "\x11\x11\0\x0c" IPV4), NULL},
    {"v2-command", TEXT(SIGNATURE "\x22\x11\0\x0c" IPV4), NULL},
    {"v2-datagram", TEXT(SIGNATURE "\x21\x12\0\x0c" IPV4), NULL},
    {"v2-family", TEXT(SIGNATURE "\x21\x41\0\x0c" IPV4), NULL},
    {"v2-short-ipv4", TEXT(SIGNATURE "\x21\x11\0\x0b" IPV4), NULL},
    {"v2-short-ipv6", TEXT(SIGNATURE "\x21\x21\0\x0c" IPV4), NULL},
    {"v2-huge", TEXT(SIGNATURE "\x21\x11\xff\xff" IPV4), NULL},
};

static void request_line(const char *name, char out[128])
{
    snprintf(out, 128, "GET /livez?%s HTTP/1.1\r\nHost: a\r\n\r\n", name);
}

/* All at once, or byte by byte. */
static void send_begin(test_wire *wire, const begin *row, size_t piece)
{
    for (size_t at = 0; at < row->bytes; at += piece) {
        const size_t left = row->bytes - at;
        wire_send(wire, row->text + at, left < piece ? left : piece);
    }
}

static reply answer_to(const test_server *server, const char *from, const begin *row, size_t piece)
{
    char text[128];
    test_wire wire = wire_open_from(server, from);
    request_line(row->name, text);
    send_begin(&wire, row, piece);
    wire_send_text(&wire, text);
    reply answer = wire_answer(&wire, false);
    wire_close(&wire);
    return answer;
}

/* A line of the access log has the target and the client. */
static void assert_logged(const char *log, const begin *row)
{
    char target[64], client[64];
    snprintf(target, sizeof target, "/livez?%s\"", row->name);
    snprintf(client, sizeof client, "\"client\":\"%s\"", row->client);
    const char *line = strstr(log, target);
    if (line == NULL)
        fail_msg("%s: no line of the log", row->name);
    while (line > log && line[-1] != '\n')
        line--;
    const char *found = strstr(line, client);
    if (found == NULL || found > strchr(line, '\n'))
        fail_msg("%s: wanted %s, got %.*s", row->name, client, (int)strcspn(line, "\n"), line);
}

static void a_proxy_tells_whose_connection_it_is(void **state)
{
    test_server server;
    server_start(&server, flags);
    for (size_t i = 0; i < 2 * PE_LEN(sound); i++) {
        const begin *row = &sound[i / 2];
        reply answer = answer_to(&server, PROXY, row, i % 2 == 0 ? row->bytes : 1);
        assert_status(row->name, &answer, 200);
        reply_free(&answer);
    }
    assert_int_equal(server_stop(&server), 0);
    for (size_t i = 0; i < PE_LEN(sound); i++)
        assert_logged(server.log, &sound[i]);
    server_free(&server);
}

static void a_broken_header_is_400_and_no_request(void **state)
{
    test_server server;
    server_start(&server, flags);
    for (size_t i = 0; i < PE_LEN(broken); i++) {
        char text[128];
        test_wire wire = wire_open_from(&server, PROXY);
        request_line(broken[i].name, text);
        wire_send(&wire, broken[i].text, broken[i].bytes);
        wire_send_text(&wire, text);
        reply answer = wire_answer(&wire, false);
        assert_status(broken[i].name, &answer, 400);
        assert_header(broken[i].name, &answer, "Content-Type", "application/problem+json");
        shutdown(wire.fd, SHUT_WR); /* nothing more for the server to wait for */
        assert_true(wire_ended(&wire));
        reply_free(&answer);
        wire_close(&wire);
    }
    assert_int_equal(server_stop(&server), 0);
    /* Nothing is believed of what is refused; of v1-twice the first was sound. */
    const char *client = strstr(server.log, "192.0.2.7");
    assert_non_null(client);
    assert_null(strstr(client + 1, "192.0.2.7"));
    server_free(&server);
}

static void others_may_not_say_who_they_are(void **state)
{
    test_server server;
    server_start(&server, flags);
    reply answer = answer_to(&server, "127.0.0.1", &sound[0], sound[0].bytes);
    assert_status("a client", &answer, 400);
    reply_free(&answer);
    answer = answer_to(&server, "127.0.0.1", &sound[5], sound[5].bytes);
    assert_status("a client, version 2", &answer, 400);
    reply_free(&answer);
    answer = get(&server, "/livez");
    assert_status("without", &answer, 200);
    reply_free(&answer);
    server_end(&server);
}

static void a_part_waits_no_longer_than_a_silent_connection(void **state)
{
    static const char *const soon[] = {"--trusted-proxies",     PROXY,  "--proxy-protocol",
                                       "--request-deadline-ms", "1000", NULL};
    test_server server;
    server_start(&server, soon);
    test_wire ends = wire_open_from(&server, PROXY), waits = wire_open_from(&server, PROXY);
    wire_send_text(&ends, "PROXY TCP4 192");
    wire_send_text(&waits, "PROXY TCP4 192");
    shutdown(ends.fd, SHUT_WR);
    assert_true(wire_drain(&ends) == 0);
    reply answer = wire_answer(&waits, false);
    assert_status("a part", &answer, 408);
    reply_free(&answer);
    wire_close(&ends);
    wire_close(&waits);
    server_end(&server);
}

/* X-Forwarded-For goes on from the address that the header names. */
static void proxies_may_stand_in_a_row(void **state)
{
    static const char *const two[] = {
        "--trusted-proxies", PROXY, "--trusted-proxies", "10.0.0.0/8", "--proxy-protocol",
        "--access-log",      NULL};
    static const begin row = {"row", TEXT("PROXY TCP4 10.9.9.9 10.0.0.1 1 2\r\n"), "192.0.2.44"};
    test_server server;
    server_start(&server, two);
    test_wire wire = wire_open_from(&server, PROXY);
    wire_send(&wire, row.text, row.bytes);
    wire_send_text(&wire, "GET /livez?row HTTP/1.1\r\nHost: a\r\n"
                          "X-Forwarded-For: 203.0.113.9, 192.0.2.44\r\n\r\n");
    reply answer = wire_answer(&wire, false);
    assert_status("row", &answer, 200);
    reply_free(&answer);
    wire_close(&wire);
    assert_int_equal(server_stop(&server), 0);
    assert_logged(server.log, &row);
    server_free(&server);
}

/* The rate is that of the client, not of the proxy. */
static void clients_behind_a_proxy_have_rates_of_their_own(void **state)
{
    static const char *const rates[] = {"--trusted-proxies",
                                        PROXY,
                                        "--proxy-protocol",
                                        "--address-rate",
                                        "1",
                                        "--rate-window-s",
                                        "86400",
                                        NULL};
    char text[64];
    test_server server;
    server_listen(&server, rates);
    for (int i = 0; i < 8; i++) {
        const begin row = {
            "x", text,
            (size_t)snprintf(text, sizeof text, "PROXY TCP4 192.0.2.%d 10.0.0.1 1 2\r\n", i), NULL};
        reply answer = answer_to(&server, PROXY, &row, row.bytes);
        assert_status(text, &answer, 200);
        reply_free(&answer);
    }
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_proxy_tells_whose_connection_it_is),
        cmocka_unit_test(a_broken_header_is_400_and_no_request),
        cmocka_unit_test(others_may_not_say_who_they_are),
        cmocka_unit_test(a_part_waits_no_longer_than_a_silent_connection),
        cmocka_unit_test(proxies_may_stand_in_a_row),
        cmocka_unit_test(clients_behind_a_proxy_have_rates_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
