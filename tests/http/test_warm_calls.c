/* SPDX-License-Identifier: MIT */
/* test_warm_calls.c - the system calls of a request that was seen before. */
#include "support/check.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/array.h"
#include "support/traced_calls.h"
#include "support/problem.h"
#include "support/wire.h"

enum { REQUESTS = 200 };

static test_server server;

/* One of each: whose calls are counted, must be known. */
/* In one piece, so that each is received at once. */
static const struct {
    const char *request;
    size_t bytes;
} sizes[] = {
    {"GET /v1/sinusoidal?d_model=10&positions=0:5&format=raw HTTP/1.1\r\nHost: a\r\n\r\n", 200},
    {"GET /v1/sinusoidal?d_model=128&positions=0:128&format=raw HTTP/1.1\r\nHost: a\r\n\r\n",
     65536},
    {"GET /v1/sinusoidal?d_model=512&positions=0:512&format=raw HTTP/1.1\r\nHost: a\r\n\r\n",
     1048576},
};

static long metric_on(test_wire *wire, const char *name)
{
    wire_send_text(wire, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    reply answer = wire_answer(wire, false);
    return (long)reply_metric(&answer, name);
}

typedef struct asking {
    test_wire wire;
    size_t size;
} asking;

static void ask_once(void *context)
{
    asking *all = context;
    wire_send_text(&all->wire, sizes[all->size].request);
    reply answer = wire_answer(&all->wire, false);
    assert_status("warm", &answer, 200);
    assert_int_equal(answer.bytes, sizes[all->size].bytes);
    reply_free(&answer);
}

static void ask_often(void *context)
{
    for (int i = 0; i < REQUESTS; i++)
        ask_once(context);
}

/* The calls of REQUESTS warm requests of one connection, but those for a lock that another thread
 * holds: how often one does, is the system's affair, but never at every request. False where they
 * cannot be counted. */
static bool count_calls(size_t size, call_counts *counts, size_t *waits, size_t *sends)
{
    asking all = {.wire = wire_open(&server), .size = size};
    ask_once(&all);
    ask_once(&all);
    /* The end of every other one is dealt with first, by calls of its own. */
    for (const time_t began = time(NULL); metric_on(&all.wire, "posenc_connections") > 1;)
        assert_true(time(NULL) - began < TEST_PATIENCE);
    const long hits = metric_on(&all.wire, "posenc_warm_hits_total");
    const bool counted = calls_count(&server, ask_often, ask_once, &all, counts);
    if (counted)
        assert_int_equal(metric_on(&all.wire, "posenc_warm_hits_total") - hits, REQUESTS + 1);
    wire_close(&all.wire);
    *waits = counts->of[SYS_epoll_pwait];
#ifdef SYS_epoll_wait
    *waits += counts->of[SYS_epoll_wait];
#endif
    *sends = counts->of[SYS_sendmsg] + counts->of[SYS_sendto];
    assert_true(counts->of[SYS_futex] < REQUESTS);
    counts->all -= counts->of[SYS_futex];
    return counted;
}

static void skip_where_calls_are_not_ours(void)
{
    const char *emulator = getenv("TEST_EMULATOR");
    if (emulator != NULL && *emulator != '\0')
        skip(); /* the calls would be the emulator's */
}

/* One to receive, one to send. Waiting is not counted: it is shared by all connections that are
 * ready, and with one connection there is one wait a request. */
static void a_small_warm_request_takes_two_calls(void **state)
{
    call_counts counts = {0};
    size_t waits, sends;
    skip_where_calls_are_not_ours();
    if (!count_calls(0, &counts, &waits, &sends)) {
        print_message("this machine does not let us trace the server\n");
        skip();
    }
    assert_int_equal(counts.of[SYS_recvfrom], REQUESTS);
    assert_int_equal(sends, REQUESTS);
    assert_in_range(waits, 0, REQUESTS + 1);
    assert_int_equal(counts.all - waits, 2 * REQUESTS);
}

/* What the socket does not take at once is sent when there is room again; nothing else is done. How
 * often, is the system's affair: it makes room as the client reads. */
static void a_large_one_takes_no_calls_but_to_send_on(void **state)
{
    skip_where_calls_are_not_ours();
    for (size_t i = 1; i < sizeof sizes / sizeof sizes[0]; i++) {
        call_counts counts = {0};
        size_t waits, sends;
        if (!count_calls(i, &counts, &waits, &sends))
            skip();
        print_message("%zu bytes: %.2f sends, %.2f waits\n", sizes[i].bytes,
                      (double)sends / REQUESTS, (double)waits / REQUESTS);
        assert_int_equal(counts.of[SYS_recvfrom], REQUESTS);
        assert_true(sends >= REQUESTS);
        assert_int_equal(counts.all - waits - sends, REQUESTS);
    }
}

int main(void)
{
    static const char *const flags[] = {"--threads", "1", "--workers", "1", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_warm_request_takes_two_calls),
        cmocka_unit_test(a_large_one_takes_no_calls_but_to_send_on),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, flags);
}
