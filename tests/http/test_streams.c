/* SPDX-License-Identifier: MIT */
/* test_streams.c - answers that are made while they are sent, and clients that do not wait for
 * them. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "support/problem.h"
#include "support/wire.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined __OPTIMIZE__
enum { SLOW = 1 }; /* every block is */
#else
enum { SLOW = 0 };
#endif

enum { ROWS = 4096, CHANNELS = 256 };

static test_server server;

static int start(void **state)
{
    static const char *const flags[] = {"--response-cache-entry-bytes", "65536", NULL};
    server_start(&server, flags);
    return 0;
}

static int stop(void **state)
{
    server_end(&server);
    return 0;
}

/* Until the end of every other connection has been dealt with. */
static void wait_until_alone(void)
{
    metric_wait(&server, "posenc_connections", 1, 1);
    metric_wait(&server, "posenc_body_bytes", 0, 0);
    metric_wait(&server, "posenc_stream_large_blocks_bytes", 0, 0);
}

static const char *const binary[] = {"Content-Type: application/octet-stream",
                                     "X-Tensor-Shape: 4096,256", "X-Tensor-Dtype: float32",
                                     "Accept: application/octet-stream", NULL};

static void a_large_transform_of_zeros_is_the_table(void **state)
{
    float *zeros = calloc((size_t)ROWS * CHANNELS, sizeof *zeros);
    assert_non_null(zeros);
    reply table = get(&server, "/v1/sinusoidal?d_model=256&positions=0:4096&format=raw");
    reply sum = fetch(&server, "POST", "/v1/sinusoidal/add", binary, zeros,
                      (size_t)ROWS * CHANNELS * sizeof *zeros);
    assert_status("add", &sum, 200);
    assert_int_equal(sum.bytes, (size_t)ROWS * CHANNELS * sizeof *zeros);
    assert_int_equal(table.bytes, sum.bytes);
    assert_memory_equal(table.body, sum.body, sum.bytes);
    reply_free(&table);
    reply_free(&sum);
    free(zeros);
}

/* The same as text: chunks whose blocks workers make. */
static void a_large_transform_in_json_reads_back(void **state)
{
    float *zeros = calloc((size_t)ROWS * CHANNELS, sizeof *zeros);
    assert_non_null(zeros);
    const char *json[5];
    memcpy(json, binary, sizeof json);
    json[3] = "Accept: application/json";
    reply table = get(&server, "/v1/sinusoidal?d_model=256&positions=0:4096");
    reply sum = fetch(&server, "POST", "/v1/sinusoidal/add", json, zeros,
                      (size_t)ROWS * CHANNELS * sizeof *zeros);
    assert_status("add", &sum, 200);
    assert_header("add", &sum, "Transfer-Encoding", "chunked");
    const char *numbers = strstr(sum.body, "\"shape\""), *wanted = strstr(table.body, "\"shape\"");
    assert_non_null(numbers);
    assert_non_null(wanted);
    assert_string_equal(numbers, wanted);
    reply_free(&table);
    reply_free(&sum);
    free(zeros);
}

static void clients_that_go_away_leave_nothing_behind(void **state)
{
    static const char *const requests[] = {
        "GET /v1/sinusoidal?d_model=512&positions=0:65536&format=raw HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/sinusoidal?d_model=512&positions=0:65536 HTTP/1.1\r\nHost: a\r\n\r\n",
        ("POST /v1/sinusoidal/add HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\n"
         "X-Tensor-Shape: 2,2\r\nX-Tensor-Dtype: float32\r\nContent-Length: 16\r\n\r\n12345678"),
        "POST /v1/sinusoidal HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "GET /v1 HTTP/1.1\r\nHo",
    };
    enum { N = 60 };
    for (int i = 0; i < N; i++) {
        test_wire wire = wire_open(&server);
        const size_t which = (size_t)i % (sizeof requests / sizeof requests[0]);
        wire_send_text(&wire, requests[which]);
        if (which < 2) { /* it is under way */
            char some[64];
            wire_take(&wire, some, sizeof some);
        }
        wire_close(&wire);
    }
    wait_until_alone();
    reply answer = get(&server, "/v1/sinusoidal?d_model=4&positions=0");
    assert_status("after all have gone", &answer, 200);
    reply_free(&answer);
}

/* As netcat does: the request, the end, and waiting for what comes. */
static void a_client_that_ends_its_side_gets_its_answer_and_the_end(void **state)
{
    static const char *const requests[] = {
        "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/sinusoidal?d_model=64&positions=0:50 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/sinusoidal?d_model=512&positions=0:8192&format=raw HTTP/1.1\r\nHost: a\r\n\r\n",
    };
    for (int i = 0; i < 12; i++) {
        test_wire wire = wire_open(&server);
        wire_send_text(&wire, requests[i % 3]);
        shutdown(wire.fd, SHUT_WR);
        reply answer = wire_answer(&wire, false);
        assert_status(requests[i % 3], &answer, 200);
        assert_true(wire_ended(&wire));
        reply_free(&answer);
        wire_close(&wire);
    }
}

/* A POST of zeros whose client leaves before, or while, its answer is made. */
static void clients_of_transforms_that_go_away_leave_nothing_behind(void **state)
{
    float *zeros = calloc((size_t)ROWS * CHANNELS, sizeof *zeros);
    char head[512];
    assert_non_null(zeros);
    snprintf(head, sizeof head,
             "POST /v1/sinusoidal/add HTTP/1.1\r\nHost: a\r\n%s\r\n%s\r\n%s\r\n%s\r\n"
             "Content-Length: %zu\r\n\r\n",
             binary[0], binary[1], binary[2], binary[3], (size_t)ROWS * CHANNELS * sizeof *zeros);
    for (int i = 0; i < 12; i++) {
        test_wire wire = wire_open(&server);
        wire_send_text(&wire, head);
        wire_send(&wire, zeros, (size_t)ROWS * CHANNELS * sizeof *zeros);
        if (i % 2 == 0) {
            char some[64];
            wire_take(&wire, some, sizeof some);
        }
        wire_close(&wire);
    }
    wait_until_alone();
    free(zeros);
}

static void stalled_readers_do_not_hold_up_others(void **state)
{
    enum { STALLED = 100 };
    test_wire stalled[STALLED];
    for (int i = 0; i < STALLED; i++) {
        char some[64];
        stalled[i] = wire_open_narrow(&server);
        wire_send_text(&stalled[i], "GET /v1/sinusoidal?d_model=512&positions=0:65536&format=raw "
                                    "HTTP/1.1\r\nHost: a\r\n\r\n");
        wire_take(&stalled[i], some, sizeof some);
    }
    assert_true(metric_now(&server, "posenc_connections") > STALLED);
    for (int i = 0; i < 20; i++) {
        char target[128];
        snprintf(target, sizeof target, "/v1/sinusoidal?d_model=64&positions=%d:%d", i, i + 64);
        reply answer = get(&server, target);
        assert_status("while others stall", &answer, 200);
        reply_free(&answer);
    }
    for (int i = 0; i < STALLED; i++)
        wire_close(&stalled[i]);
}

/* What has been made for a client is at most what stood between it and us when it left. */
static void a_client_that_leaves_ends_the_work(void **state)
{
    static const char *const formats[] = {"raw", "json", "npy", "csv"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char request[256];
        wait_until_alone();
        long before = metric_now(&server, "posenc_stream_bytes_total");
        snprintf(request, sizeof request,
                 "GET /v1/sinusoidal?d_model=1024&positions=0:262144&format=%s HTTP/1.1\r\n"
                 "Host: a\r\n\r\n",
                 formats[i]);
        test_wire wire = wire_open(&server);
        wire_send_text(&wire, request);
        char some[1000];
        wire_take(&wire, some, sizeof some);
        wire_close(&wire);
        wait_until_alone();
        long made = metric_now(&server, "posenc_stream_bytes_total") - before;
        print_message("%s: %ld bytes made\n", formats[i], made);
        assert_in_range(made, 1000, 32 << 20);
        assert_int_equal(metric_now(&server, "posenc_stream_bytes_total") - before, made);
    }
}

/* ---- who makes the blocks ---- */

#define BY_IO      "posenc_stream_blocks_total{by=\"io\"}"
#define BY_WORKERS "posenc_stream_blocks_total{by=\"worker\"}"

/* What takes long, or might, is never made by a thread that sends: not even a first block to find
 * that out. */
static void dear_blocks_are_made_by_workers_alone(void **state)
{
    static const struct {
        const char *target, *line;
    } cases[] = {
        {"/v1/rope/decay?head_dim=64&offsets=0:300000&format=raw", NULL},
        {"/v1/rope/decay?head_dim=1024&offsets=0:100000&format=json", NULL},
        {"/v1/rope/decay?head_dim=32768&offsets=0:9000&format=npy", NULL},
        {"/v1/rope/xpos/table?head_dim=256&positions=0:2000&format=safetensors", NULL},
        {"/v1/sinusoidal?d_model=512&positions=0:1000&format=json", "Accept-Encoding: gzip"},
        {"/v1/sinusoidal?d_model=512&positions=0:1000&format=json", "Accept-Encoding: zstd"},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        const char *const headers[] = {cases[i].line, NULL};
        const long streams = metric_now(&server, "posenc_streams_total"),
                   by_io = metric_now(&server, BY_IO), by_workers = metric_now(&server, BY_WORKERS);
        reply answer = fetch(&server, "GET", cases[i].target, headers, NULL, 0);
        assert_status(cases[i].target, &answer, 200);
        assert_int_equal(metric_now(&server, "posenc_streams_total"), streams + 1);
        assert_int_equal(metric_now(&server, BY_IO), by_io);
        assert_true(metric_now(&server, BY_WORKERS) > by_workers + 1);
        reply_free(&answer);
    }
}

typedef struct made_blocks {
    long by_io, by_workers;
} made_blocks;

static made_blocks blocks_of(const char *target)
{
    const long by_io = metric_now(&server, BY_IO), by_workers = metric_now(&server, BY_WORKERS);
    reply answer = get(&server, target);
    assert_status(target, &answer, 200);
    reply_free(&answer);
    const made_blocks made = {metric_now(&server, BY_IO) - by_io,
                              metric_now(&server, BY_WORKERS) - by_workers};
    print_message("%s: %ld and %ld blocks\n", target, made.by_io, made.by_workers);
    return made;
}

/* The first block of a stream is a worker's, as is the next one if sending was held up; all others
 * of a plain table are made by the thread that sends, without handing over. */
static void quick_blocks_are_made_where_they_are_sent(void **state)
{
    static const char *const targets[] = {
        "/v1/sinusoidal?d_model=256&positions=0:65536&format=raw",
        "/v1/sinusoidal?d_model=65536&positions=0:200&format=npy",
        "/v1/sinusoidal?d_model=256&positions=0:8192&format=json",
    };
    for (size_t i = 0; i < PE_LEN(targets); i++) {
        const made_blocks made = blocks_of(targets[i]);
        assert_true(made.by_workers >= 1);
        assert_true(made.by_io > made.by_workers || SLOW);
    }
}

/* Blocks of 32 MiB, whoever makes them. */
static long blocks_of_a_large_answer(void)
{
    const made_blocks made = blocks_of("/v1/sinusoidal?d_model=256&positions=0:32768&format=raw");
    return made.by_io + made.by_workers;
}

/* 32 MiB are 128 large blocks, with some that are smaller, or 1024 small ones. */
static void as_many_streams_have_large_blocks_as_there_is_room(void **state)
{
    enum { ROOM = 8, LARGE = 128, SMALL = 1024 };
    const long most = SLOW ? SMALL : 2 * LARGE;
    test_wire held[ROOM];
    wait_until_alone();
    assert_in_range(blocks_of_a_large_answer(), LARGE, most);
    wait_until_alone();
    for (int i = 0; i < ROOM; i++) {
        char some[64];
        held[i] = wire_open(&server);
        wire_send_text(&held[i], "GET /v1/sinusoidal?d_model=512&positions=0:65536&format=raw "
                                 "HTTP/1.1\r\nHost: a\r\n\r\n");
        wire_take(&held[i], some, sizeof some);
    }
    assert_int_equal(metric_now(&server, "posenc_stream_large_blocks_bytes"), ROOM << 18);
    assert_true(blocks_of_a_large_answer() >= SMALL); /* those who stall may still have some made */
    assert_int_equal(metric_now(&server, "posenc_stream_large_blocks_bytes"), ROOM << 18);
    for (int i = 0; i < ROOM; i++)
        wire_close(&held[i]);
    wait_until_alone();
    assert_in_range(blocks_of_a_large_answer(), LARGE, most);
}

/* Neither short answers nor text have any use for them, nor have blocks that workers make. */
static void large_blocks_are_for_plain_bytes(void **state)
{
    static const char *const requests[] = {
        "GET /v1/sinusoidal?d_model=512&positions=0:65536 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/rope/decay?head_dim=64&offsets=0:3000000&format=raw HTTP/1.1\r\nHost: a\r\n\r\n",
        ("GET /v1/sinusoidal?d_model=512&positions=0:65536&format=raw HTTP/1.1\r\nHost: a\r\n"
         "Range: bytes=0-999999\r\n\r\n"),
        "HEAD /v1/sinusoidal?d_model=512&positions=0:65536&format=raw HTTP/1.1\r\nHost: a\r\n\r\n",
    };
    wait_until_alone();
    for (size_t i = 0; i < PE_LEN(requests); i++) {
        char some[64];
        test_wire wire = wire_open(&server);
        const long streams = metric_now(&server, "posenc_streams_total");
        wire_send_text(&wire, requests[i]);
        wire_take(&wire, some, sizeof some);
        assert_int_equal(metric_now(&server, "posenc_streams_total"), streams + 1);
        assert_int_equal(metric_now(&server, "posenc_stream_large_blocks_bytes"), 0);
        wire_close(&wire);
    }
}

/* ---- HTTP/1.0 ---- */

/* The answer to an old client, which knows no chunks: the request's lines after the first. */
static reply get_as_old_client(const char *target, const char *lines, bool *stays)
{
    char request[256];
    test_wire wire = wire_open(&server);
    snprintf(request, sizeof request, "GET %s HTTP/1.0\r\n%s\r\n", target, lines);
    wire_send_text(&wire, request);
    reply answer = wire_answer(&wire, false);
    assert_status(target, &answer, 200);
    assert_header(target, &answer, "Transfer-Encoding", NULL);
    *stays = false;
    if (strstr(lines, "keep-alive") != NULL) {
        wire_send_text(&wire, "GET /livez HTTP/1.0\r\n\r\n");
        reply next = wire_answer(&wire, false);
        *stays = next.status == 200;
        reply_free(&next);
    }
    assert_true(wire_ended(&wire));
    wire_close(&wire);
    return answer;
}

static void a_known_length_is_told_to_old_clients(void **state)
{
    static const char *const targets[] = {
        "/v1/sinusoidal?d_model=256&positions=0:4096&format=raw",
        "/v1/sinusoidal?d_model=256&positions=0:4096&format=npy",
        "/v1/sinusoidal?d_model=256&positions=0:4096&format=safetensors",
        "/v1/sinusoidal?d_model=256&positions=0:4096&encoding_format=base64",
    };
    for (size_t i = 0; i < PE_LEN(targets); i++) {
        char length[32];
        bool stays;
        const long streams = metric_now(&server, "posenc_streams_total");
        reply wanted = get(&server, targets[i]);
        reply closed = get_as_old_client(targets[i], "", &stays);
        reply kept = get_as_old_client(targets[i], "Connection: keep-alive\r\n", &stays);
        assert_int_equal(metric_now(&server, "posenc_streams_total"), streams + 3);
        assert_true(stays);
        snprintf(length, sizeof length, "%zu", wanted.bytes);
        assert_header(targets[i], &closed, "Content-Length", length);
        assert_header(targets[i], &kept, "Content-Length", length);
        assert_int_equal(closed.bytes, wanted.bytes);
        assert_memory_equal(closed.body, wanted.body, wanted.bytes);
        assert_memory_equal(kept.body, wanted.body, wanted.bytes);
        reply_free(&wanted);
        reply_free(&closed);
        reply_free(&kept);
    }
}

static void an_unknown_length_ends_with_the_connection_of_an_old_client(void **state)
{
    static const char *const targets[] = {"/v1/sinusoidal?d_model=256&positions=0:2048",
                                          "/v1/sinusoidal?d_model=256&positions=0:2048&format=csv"};
    for (size_t i = 0; i < PE_LEN(targets); i++) {
        bool stays;
        reply wanted = get(&server, targets[i]);
        reply got = get_as_old_client(targets[i], "Connection: keep-alive\r\n", &stays);
        assert_false(stays);
        assert_header(targets[i], &got, "Content-Length", NULL);
        assert_int_equal(got.bytes, wanted.bytes);
        assert_memory_equal(got.body, wanted.body, wanted.bytes);
        reply_free(&wanted);
        reply_free(&got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_transform_of_zeros_is_the_table),
        cmocka_unit_test(a_large_transform_in_json_reads_back),
        cmocka_unit_test(clients_that_go_away_leave_nothing_behind),
        cmocka_unit_test(a_client_that_ends_its_side_gets_its_answer_and_the_end),
        cmocka_unit_test(clients_of_transforms_that_go_away_leave_nothing_behind),
        cmocka_unit_test(stalled_readers_do_not_hold_up_others),
        cmocka_unit_test(a_client_that_leaves_ends_the_work),
        cmocka_unit_test(dear_blocks_are_made_by_workers_alone),
        cmocka_unit_test(quick_blocks_are_made_where_they_are_sent),
        cmocka_unit_test(as_many_streams_have_large_blocks_as_there_is_room),
        cmocka_unit_test(large_blocks_are_for_plain_bytes),
        cmocka_unit_test(a_known_length_is_told_to_old_clients),
        cmocka_unit_test(an_unknown_length_ends_with_the_connection_of_an_old_client),
    };
    return cmocka_run_group_tests_name("http streams", tests, start, stop);
}
