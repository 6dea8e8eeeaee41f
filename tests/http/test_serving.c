/* SPDX-License-Identifier: MIT */
/* test_serving.c - what an answer costs in resident bytes, and when the work for it ends. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/problem.h"
#include "support/wire.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

enum { READERS = 200 };

static test_server server;

/* One of each: whose calls are counted, must be known. */
static int start(void **state)
{
    (void)state;
    static const char *const flags[] = {"--threads", "1", "--workers", "1", NULL};
    server_start(&server, flags);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    server_end(&server);
    return 0;
}

static long value_of(const reply *answer, const char *name)
{
    char line[128];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(answer->body, line);
    if (at == NULL)
        fail_msg("/metrics has no %s", name);
    return strtol(at + strlen(line), NULL, 10);
}

static long metric(const char *name)
{
    reply answer = get(&server, "/metrics");
    long value = value_of(&answer, name);
    reply_free(&answer);
    return value;
}

/* ---- resident bytes ---- */

/* A field of /proc/PID/status in kB. */
static long resident_kb(void)
{
    char path[64], line[256];
    long kb = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)server.pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    fclose(file);
    assert_true(kb > 0);
    return kb;
}

/* Wait until no more of the streams is made: all sockets are full. */
static void wait_until_stalled(void)
{
    for (long made = -1, now; (now = metric("posenc_stream_bytes_total")) != made; made = now)
        for (int i = 0; i < 50; i++)
            (void)metric("posenc_connections");
}

/* Answers of a gigabyte and more, and what their stalled readers may cost. */
static const struct {
    const char *name, *request;
    int readers;
    long growth_kb_max;
} gigabytes[] = {
    {"raw",
     "GET /v1/sinusoidal?d_model=1024&positions=0:262144&format=raw HTTP/1.1\r\nHost: a\r\n\r\n",
     READERS, 16 * 1024},
    {"JSON", "GET /v1/sinusoidal?d_model=1024&positions=0:262144 HTTP/1.1\r\nHost: a\r\n\r\n",
     READERS, 16 * 1024},
    {"JSON in gzip",
     "GET /v1/sinusoidal?d_model=1024&positions=0:262144 HTTP/1.1\r\nHost: a\r\n"
     "Accept-Encoding: gzip\r\n\r\n",
     READERS / 10, 32 * 1024 / 10},
    {"JSON in zstd",
     "GET /v1/sinusoidal?d_model=1024&positions=0:262144 HTTP/1.1\r\nHost: a\r\n"
     "Accept-Encoding: zstd\r\n\r\n",
     READERS / 10, 64 * 1024 / 10},
};

static void take_some(test_wire *wire, size_t bytes)
{
    char some[65536];
    for (size_t step; bytes > 0; bytes -= step) {
        step = bytes < sizeof some ? bytes : sizeof some;
        wire_take(wire, some, step);
    }
}

static void check_growth(size_t i, const char *when, long before)
{
    wait_until_stalled();
    long grown = resident_kb() - before;
    print_message("%d readers of %s stalled %s: %ld kB more\n", gigabytes[i].readers,
                  gigabytes[i].name, when, grown);
    if (!SANITIZED)
        assert_in_range(grown < 0 ? 0 : grown, 0, gigabytes[i].growth_kb_max);
}

static void stall(size_t i)
{
    static test_wire reader[READERS];
    test_wire first = wire_open(&server);
    wire_send_text(&first, gigabytes[i].request);
    take_some(&first, 1048576); /* the tables are there, and the threads have computed */
    wire_close(&first);
    wait_until_stalled();
    long before = resident_kb();
    for (int r = 0; r < gigabytes[i].readers; r++) {
        reader[r] = wire_open(&server);
        wire_send_text(&reader[r], gigabytes[i].request);
        take_some(&reader[r], 64);
    }
    check_growth(i, "at once", before);
    for (int r = 0; r < gigabytes[i].readers; r++)
        take_some(&reader[r], 262144);
    check_growth(i, "after a while", before);
    for (int r = 0; r < gigabytes[i].readers; r++)
        wire_close(&reader[r]);
    while (metric("posenc_connections") > 1)
        ;
}

static void stalled_readers_of_a_gigabyte_cost_little_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof gigabytes / sizeof gigabytes[0]; i++)
        stall(i);
}

/* ---- work ---- */

/* What has been made for a client is at most what stood between it and us when it left. */
static void a_client_that_leaves_ends_the_work(void **state)
{
    (void)state;
    static const char *const formats[] = {"raw", "json", "npy", "csv"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char request[256];
        long before = metric("posenc_stream_bytes_total");
        snprintf(request, sizeof request,
                 "GET /v1/sinusoidal?d_model=1024&positions=0:262144&format=%s HTTP/1.1\r\n"
                 "Host: a\r\n\r\n",
                 formats[i]);
        test_wire wire = wire_open(&server);
        wire_send_text(&wire, request);
        take_some(&wire, 1000);
        wire_close(&wire);
        while (metric("posenc_connections") > 1)
            ;
        long made = metric("posenc_stream_bytes_total") - before;
        print_message("%s: %ld bytes made\n", formats[i], made);
        assert_in_range(made, 1000, 32 << 20);
        assert_int_equal(metric("posenc_stream_bytes_total") - before, made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stalled_readers_of_a_gigabyte_cost_little_memory),
        cmocka_unit_test(a_client_that_leaves_ends_the_work),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
