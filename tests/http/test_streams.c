/* SPDX-License-Identifier: MIT */
/* test_streams.c - answers that are made while they are sent, and clients that do not wait for
 * them. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "support/problem.h"
#include "support/wire.h"

enum { ROWS = 4096, CHANNELS = 256 };

static test_server server;

static int start(void **state)
{
    (void)state;
    static const char *const flags[] = {"--response-cache-entry-bytes", "65536", NULL};
    server_start(&server, flags);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    server_end(&server);
    return 0;
}

static long metric(const char *name)
{
    reply answer = get(&server, "/metrics");
    char line[128];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(answer.body, line);
    if (at == NULL)
        fail_msg("/metrics has no %s", name);
    long value = strtol(at + strlen(line), NULL, 10);
    reply_free(&answer);
    return value;
}

static const char *const binary[] = {"Content-Type: application/octet-stream",
                                     "X-Tensor-Shape: 4096,256", "X-Tensor-Dtype: float32",
                                     "Accept: application/octet-stream", NULL};

static void a_large_transform_of_zeros_is_the_table(void **state)
{
    (void)state;
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
    (void)state;
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
    (void)state;
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
    for (int i = 0; metric("posenc_connections") > 1 || metric("posenc_body_bytes") > 0; i++)
        assert_true(i < 100000);
    reply answer = get(&server, "/v1/sinusoidal?d_model=4&positions=0");
    assert_status("after all have gone", &answer, 200);
    reply_free(&answer);
}

/* As netcat does: the request, the end, and waiting for what comes. */
static void a_client_that_ends_its_side_gets_its_answer_and_the_end(void **state)
{
    (void)state;
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
    (void)state;
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
    for (int i = 0; metric("posenc_connections") > 1 || metric("posenc_body_bytes") > 0; i++)
        assert_true(i < 100000);
    free(zeros);
}

static void stalled_readers_do_not_hold_up_others(void **state)
{
    (void)state;
    enum { STALLED = 100 };
    test_wire stalled[STALLED];
    for (int i = 0; i < STALLED; i++) {
        char some[64];
        stalled[i] = wire_open(&server);
        wire_send_text(&stalled[i], "GET /v1/sinusoidal?d_model=512&positions=0:65536&format=raw "
                                    "HTTP/1.1\r\nHost: a\r\n\r\n");
        wire_take(&stalled[i], some, sizeof some);
    }
    assert_true(metric("posenc_connections") > STALLED);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_transform_of_zeros_is_the_table),
        cmocka_unit_test(a_large_transform_in_json_reads_back),
        cmocka_unit_test(clients_that_go_away_leave_nothing_behind),
        cmocka_unit_test(a_client_that_ends_its_side_gets_its_answer_and_the_end),
        cmocka_unit_test(clients_of_transforms_that_go_away_leave_nothing_behind),
        cmocka_unit_test(stalled_readers_do_not_hold_up_others),
    };
    return cmocka_run_group_tests_name("http streams", tests, start, stop);
}
