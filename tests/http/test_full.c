/* SPDX-License-Identifier: MIT */
/* test_full.c - when all connections are taken: the longest silent makes room, those at work
 * stay. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/array.h"
#include "support/problem.h"
#include "support/wire.h"

static test_server server, admin;

/* Until so many are open, beside the one that asks. */
static void wait_for_open(long n)
{
    metric_wait(&admin, "posenc_connections", n + 1, n + 1);
}

/* Operators' connections are beside the limit: they see how many there are. */
static void start(const char *most)
{
    const char *const flags[] = {"--admin-listen",
                                 "127.0.0.1:0",
                                 "--connections-max",
                                 most,
                                 "--connections-per-address",
                                 "0",
                                 "--header-deadline-ms=3600000", /* none of them is late */
                                 "--request-deadline-ms=3600000",
                                 "--idle-timeout-ms=3600000",
                                 "--user=",
                                 NULL};
    server_start(&server, flags);
    admin = (test_server){.port = server_logged_port(&server, "admin_listening")};
    wait_for_open(0); /* who asked for /readyz has left */
}

static void wait_for_dropped(long n)
{
    metric_wait(&admin, "posenc_connections_dropped_total", n, n);
}

static void ask(test_wire *wire)
{
    reply answer = wire_request(wire, "GET", "/livez", NULL, NULL, 0);
    assert_status("/livez", &answer, 200);
    reply_free(&answer);
}

/* Until the server has seen a part of a header. */
static void wait_for_part(void)
{
    for (bool seen = false; !seen;) { /* it comes; `make test` ends what takes for ever */
        reply answer = get(&admin, "/requests");
        seen = strstr(answer.body, "header") != NULL;
        reply_free(&answer);
    }
}

/* Until so many of the public connections are anything but idle. An answer may be here before the
 * server, on a busy machine, counts its connection as idle: another one, opened meanwhile, would be
 * silent for longer. */
static void wait_for_listed(int n)
{
    for (int listed = -1; listed != n;) {
        reply answer = get(&admin, "/requests");
        listed = 0;
        for (const char *at = answer.body; (at = strstr(at, "\"public\"")) != NULL; at++)
            listed++;
        reply_free(&answer);
    }
}

static void the_longest_silent_is_dropped_first(void **state)
{
    enum { IDLE, PART, LATER, FRESH, N };
    test_wire wire[N], more[N];
    start("4");
    wire[IDLE] = wire_open(&server);
    ask(&wire[IDLE]);
    wait_for_listed(0);
    wire[PART] = wire_open(&server);
    wire_send_text(&wire[PART], "GET /v1 HTTP/1.1\r\nHost: a\r\nX-A");
    wait_for_part();
    wire[LATER] = wire_open(&server);
    ask(&wire[LATER]);
    wait_for_listed(1);
    wire[FRESH] = wire_open(&server);
    wait_for_open(N);
    for (int i = 0; i < N; i++) {
        more[i] = wire_open(&server);
        assert_true(wire_ended(&wire[i]));
        wait_for_open(N);
        wait_for_dropped(i + 1);
    }
    ask(&more[N - 1]);
    for (int i = 0; i < N; i++) {
        wire_close(&wire[i]);
        wire_close(&more[i]);
    }
    server_end(&server);
}

/* An answer of megabytes whose reader has stalled. */
static test_wire open_busy(void)
{
    test_wire wire = wire_open_narrow(&server);
    char first;
    wire_send_text(&wire,
                   "GET /v1/sinusoidal?d_model=512&positions=0:500000&format=raw HTTP/1.1\r\n"
                   "Host: a\r\n\r\n");
    wire_take(&wire, &first, 1);
    return wire;
}

static void those_at_work_are_not_dropped(void **state)
{
    start("2");
    test_wire busy[] = {open_busy(), open_busy()};
    test_wire third = wire_open(&server);
    reply answer = wire_answer(&third, false);
    assert_status("the third", &answer, 503);
    assert_header("the third", &answer, "Retry-After", "1");
    assert_true(wire_ended(&third));
    reply_free(&answer);
    wire_close(&third);
    wire_close(&busy[0]);
    wait_for_open(1);
    test_wire fourth = wire_open(&server);
    ask(&fourth);
    wait_for_dropped(0);
    wire_close(&fourth);
    wire_close(&busy[1]);
    server_end(&server);
}

enum { SILENT = 4096, COMING = 200 };

/* So many silent ones that half of the descriptors remain, for those who come and for the server's
 * own. */
static int silent_allowed(void)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_max / 2 < SILENT ? (int)(limit.rlim_max / 2) : SILENT;
}

/* How many the server has ended. */
static int count_ended(const test_wire *wire, int n)
{
    int ended = 0;
    for (int i = 0; i < n; i++) {
        char next;
        ended += recv(wire[i].fd, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
    }
    return ended;
}

/* Each of those who come stays, and is answered again. */
static void thousands_of_silent_ones_lock_nobody_out(void **state)
{
    static test_wire silent[SILENT], coming[COMING];
    int most = silent_allowed();
    char text[16];
    snprintf(text, sizeof text, "%d", most);
    start(text);
    for (int i = 0; i < most; i++)
        silent[i] = wire_open(&server);
    wait_for_open(most);
    for (int i = 0; i < COMING; i++) {
        coming[i] = wire_open(&server);
        ask(&coming[i]);
    }
    wait_for_dropped(COMING);
    for (int i = 0; i < COMING; i++)
        ask(&coming[i]);
    while (count_ended(silent, most) < COMING)
        ; /* they will be; `make test` ends what takes for ever */
    assert_int_equal(count_ended(silent, most), COMING);
    for (int i = 0; i < most; i++)
        wire_close(&silent[i]);
    for (int i = 0; i < COMING; i++)
        wire_close(&coming[i]);
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_silent_is_dropped_first),
        cmocka_unit_test(those_at_work_are_not_dropped),
        cmocka_unit_test(thousands_of_silent_ones_lock_nobody_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
