/* SPDX-License-Identifier: MIT */
/* test_shutdown.c - SIGTERM: no new connections, answers under way finish, then the end; and work
 * that nobody waits for ends. */
#include "support/check.h"

#include <arpa/inet.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/size.h"
#include "support/problem.h"
#include "support/wire.h"

/* 64 MB: far more than the kernel's buffers between the two take. */
#define LARGE                                                                                      \
    "GET /v1/sinusoidal?d_model=512&positions=0:32768&format=raw HTTP/1.1\r\nHost: a\r\n\r\n"
#define LARGE_BYTES ((size_t)512 * 32768 * 4)

static int connect_to(const test_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((in_port_t)server->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static bool can_connect(const test_server *server)
{
    const int fd = connect_to(server);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void sigterm_lets_answers_finish_and_ends_idle_connections(void **state)
{
    static const char *const flags[] = {"--drain-timeout-ms", "3600000", NULL};
    test_server server;
    server_start(&server, flags);
    test_wire idle = wire_open(&server), fresh = wire_open(&server), busy = wire_open(&server);
    reply before = wire_request(&idle, "GET", "/livez", NULL, NULL, 0);
    assert_status("before", &before, 200);
    char begun[16];
    wire_send_text(&busy, LARGE);
    wire_take(&busy, begun, sizeof begun - 1); /* the answer is under way */
    begun[sizeof begun - 1] = '\0';
    assert_string_equal(begun, "HTTP/1.1 200 OK");
    server_ask_to_stop(&server);
    assert_true(wire_ended(&idle));
    assert_true(wire_ended(&fresh));
    assert_false(can_connect(&server));
    assert_int_equal(waitpid(server.pid, NULL, WNOHANG), 0); /* still sending */
    size_t bytes = wire_drain(&busy);
    assert_true(bytes > LARGE_BYTES && bytes < LARGE_BYTES + 2000); /* header and all of the body */
    reply_free(&before);
    wire_close(&idle);
    wire_close(&fresh);
    wire_close(&busy);
    server_end(&server);
}

/* `make test` ends a server that waits. */
static void half_a_header_does_not_hold_up_the_end(void **state)
{
    static const char *const flags[] = {"--drain-timeout-ms",
                                        "3600000",
                                        "--header-deadline-ms",
                                        "3600000",
                                        "--request-deadline-ms",
                                        "3600000",
                                        NULL};
    test_server server;
    server_start(&server, flags);
    test_wire half = wire_open(&server), second = wire_open(&server), busy = wire_open(&server);
    wire_send_text(&half, "GET /livez HTTP/1.1\r\nX: a");
    reply before = wire_request(&second, "GET", "/livez", NULL, NULL, 0);
    assert_status("before", &before, 200);
    wire_send_text(&second, "GET /livez HTTP/1.1\r\n");
    char begun[16];
    wire_send_text(&busy, LARGE);
    wire_take(&busy, begun, sizeof begun - 1);
    server_ask_to_stop(&server);
    assert_true(wire_ended(&half));
    assert_true(wire_ended(&second));
    assert_true(wire_drain(&busy) > LARGE_BYTES);
    reply_free(&before);
    wire_close(&half);
    wire_close(&second);
    wire_close(&busy);
    server_end(&server);
}

static void readyz_is_503_while_draining(void **state)
{
    static const char *const flags[] = {"--drain-timeout-ms", "3600000", NULL};
    test_server server;
    char interim[26] = "";
    server_start(&server, flags);
    test_wire idle = wire_open(&server), asking = wire_open(&server);
    reply before = wire_request(&idle, "GET", "/readyz", NULL, NULL, 0);
    assert_status("before", &before, 200);
    wire_send_text(&asking, "GET /readyz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
                            "Expect: 100-continue\r\n\r\n");
    wire_take(&asking, interim, sizeof interim - 1); /* the request is being received */
    assert_string_equal(interim, "HTTP/1.1 100 Continue\r\n\r\n");
    server_ask_to_stop(&server);
    assert_true(wire_ended(&idle)); /* the end has begun */
    wire_send_text(&asking, "x");
    reply answer = wire_answer(&asking, false);
    assert_problem("draining", &answer, 503, "overloaded");
    assert_header("draining", &answer, "Connection", "close");
    assert_true(wire_ended(&asking));
    reply_free(&before);
    reply_free(&answer);
    wire_close(&idle);
    wire_close(&asking);
    server_end(&server);
}

static void readyz_is_503_for_new_connections_in_the_grace_period(void **state)
{
    static const char *const flags[] = {"--drain-grace-ms", "3600000", NULL};
    test_server server;
    server_start(&server, flags);
    test_wire idle = wire_open(&server);
    server_ask_to_stop(&server);
    long status = 200;
    for (int attempt = 0; status == 200 && attempt < 100000; attempt++) { /* until it has arrived */
        reply answer = get(&server, "/readyz");
        status = answer.status;
        reply_free(&answer);
    }
    assert_int_equal(status, 503);
    reply table = get(&server, "/v1/sinusoidal?d_model=4");
    assert_status("still served", &table, 200);
    reply_free(&table);
    wire_close(&idle);
    kill(server.pid, SIGKILL); /* the period is longer than any machine takes for the requests */
    assert_int_equal(server_stop(&server), 128 + SIGKILL);
    server_free(&server);
}

static void a_client_that_stalls_is_not_waited_for_beyond_the_timeout(void **state)
{
    static const char *const flags[] = {"--drain-timeout-ms", "200", NULL};
    test_server server;
    server_start(&server, flags);
    test_wire stalled = wire_open(&server);
    char begun[16];
    wire_send_text(&stalled, LARGE);
    wire_take(&stalled, begun, sizeof begun - 1);
    server_ask_to_stop(&server);
    server_end(&server);
    wire_close(&stalled);
}

/* Answers whose blocks are made by workers, while these end. */
static void stalled_transforms_do_not_hold_up_the_end(void **state)
{
    enum { N = 20, BYTES = 4096 * 256 * 4 };
    static const char *const flags[] = {"--drain-timeout-ms", "50", NULL};
    static const char head[] = "POST /v1/sinusoidal/add HTTP/1.1\r\nHost: a\r\n"
                               "Content-Type: application/octet-stream\r\n"
                               "X-Tensor-Shape: 4096,256\r\nX-Tensor-Dtype: float32\r\n"
                               "Content-Length: 4194304\r\n\r\n";
    test_server server;
    test_wire wires[N];
    char *zeros = calloc(1, BYTES);
    if (zeros == NULL)
        fail_msg("no memory");
    server_start(&server, flags);
    for (int i = 0; i < N; i++) {
        wires[i] = wire_open(&server);
        wire_send_text(&wires[i], head);
        wire_send(&wires[i], zeros, BYTES);
    }
    server_ask_to_stop(&server);
    server_end(&server);
    for (int i = 0; i < N; i++)
        wire_close(&wires[i]);
    free(zeros);
}

/* ---- clients that come all the time ---- */

#define CLIENTS 8

/* One that connects, asks, and reads to the end, until nobody listens any more. */
typedef struct visitor {
    pthread_t thread;
    const test_server *server;
    atomic_int answered;
    int lost; /* connections that were no whole answer */
} visitor;

static bool ask(int fd)
{
    static const char request[] = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    char answer[4096] = "";
    size_t bytes = 0;
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != sizeof request - 1)
        return false;
    for (ssize_t got; (got = recv(fd, answer + bytes, sizeof answer - 1 - bytes, 0)) != 0;) {
        if (got < 0)
            return false;
        bytes += (size_t)got;
    }
    return strncmp(answer, "HTTP/1.1 200", 12) == 0 && strstr(answer, "\"ok\"") != NULL;
}

static void *visit(void *context)
{
    visitor *one = context;
    for (int fd; (fd = connect_to(one->server)) >= 0; close(fd)) {
        if (ask(fd))
            one->answered++;
        else
            one->lost++;
    }
    return NULL;
}

static void whoever_has_connected_is_answered(void **state)
{
    static const char *const flags[] = {"--drain-grace-ms", "50", "--drain-timeout-ms", "3600000",
                                        NULL};
    visitor visitors[CLIENTS] = {0};
    test_server server;
    server_start(&server, flags);
    for (int v = 0; v < CLIENTS; v++) {
        visitors[v].server = &server;
        assert_int_equal(pthread_create(&visitors[v].thread, NULL, visit, &visitors[v]), 0);
    }
    while (visitors[0].answered < 10)
        poll(NULL, 0, 1);
    server_ask_to_stop(&server);
    int lost = 0;
    for (int v = 0; v < CLIENTS; v++) {
        pthread_join(visitors[v].thread, NULL);
        lost += visitors[v].lost;
    }
    assert_int_equal(lost, 0);
    server_end(&server);
}

static void requests_that_wait_for_a_worker_are_answered(void **state)
{
    enum { N = 8 };
    static const char *const flags[] = {"--workers", "1", "--drain-timeout-ms", "3600000", NULL};
    test_server server;
    test_wire wires[N];
    server_start(&server, flags);
    for (int i = 0; i < N; i++) {
        char line[256];
        snprintf(
            line, sizeof line,
            "GET /v1/sinusoidal?d_model=1024&positions=%d:%d&dtype=float64&format=npy HTTP/1.1\r\n"
            "Host: a\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n",
            i * 1000, i * 1000 + 500);
        wires[i] = wire_open(&server);
        wire_send_text(&wires[i], line);
    }
    reply first = wire_answer(&wires[0], false); /* so that the others have arrived, most likely */
    assert_status("first", &first, 200);
    reply_free(&first);
    server_ask_to_stop(&server);
    for (int i = 1; i < N; i++) {
        reply answer = wire_answer(&wires[i], false);
        if (answer.status != 0) /* 0: it had not been read when the end began */
            assert_status("waiting", &answer, 200);
        reply_free(&answer);
    }
    for (int i = 0; i < N; i++)
        wire_close(&wires[i]);
    server_end(&server);
}

/* The second request to stop cuts the drain: 128 + SIGTERM. One that comes when all is answered
 * changes nothing. */
static void who_asks_again_and_again_ends_the_server_once(void **state)
{
    for (size_t round = 0; round < 4; round++) {
        test_server server;
        server_start(&server, NULL);
        for (size_t k = 0; k < 2000; k++)
            kill(server.pid, SIGTERM); /* nobody waits for it yet: its number stays its own */
        const int status = server_stop(&server);
        if (status != 0 && status != 128 + SIGTERM)
            fail_msg("round %zu: status %d; the log: %s", round, status, server.log);
        server_free(&server);
    }
}

/* ---- work that is far from its end ---- */

/* Each takes a core for a quarter of an hour and more. */
#define ENDLESS "/v1/rope/decay?head_dim=65536&offsets=0:12000000&format="
static const char *const endless[] = {ENDLESS "svg", ENDLESS "png", ENDLESS "json", ENDLESS "npy",
                                      ENDLESS "csv"};

/* A server that works on a target, and the client that waits for it. */
static test_wire begin_endless(test_server *server, const char *target)
{
    static const char *const flags[] = {"--max-work",         "1000000000000", "--workers", "1",
                                        "--drain-timeout-ms", "200",           NULL};
    char request[200];
    server_start(server, flags);
    test_wire wire = wire_open(server);
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target);
    wire_send_text(&wire, request);
    metric_wait(server, "posenc_work_units_total", 1, LONG_MAX);
    return wire;
}

static void work_ends_when_its_client_leaves(void **state)
{
    for (size_t i = 0; i < PE_LEN(endless); i++) {
        test_server server;
        test_wire wire = begin_endless(&server, endless[i]);
        wire_close(&wire);
        metric_wait(&server, "http_server_active_requests", 1, 1); /* the one that asks */
        server_end(&server);
    }
}

static void work_ends_with_the_server(void **state)
{
    for (size_t i = 0; i < PE_LEN(endless); i++) {
        test_server server;
        test_wire wire = begin_endless(&server, endless[i]);
        server_ask_to_stop(&server);
        assert_int_equal(server_stop(&server), 0);
        server_free(&server);
        wire_close(&wire);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_ends_when_its_client_leaves),
        cmocka_unit_test(work_ends_with_the_server),
        cmocka_unit_test(sigterm_lets_answers_finish_and_ends_idle_connections),
        cmocka_unit_test(half_a_header_does_not_hold_up_the_end),
        cmocka_unit_test(readyz_is_503_while_draining),
        cmocka_unit_test(readyz_is_503_for_new_connections_in_the_grace_period),
        cmocka_unit_test(a_client_that_stalls_is_not_waited_for_beyond_the_timeout),
        cmocka_unit_test(stalled_transforms_do_not_hold_up_the_end),
        cmocka_unit_test(whoever_has_connected_is_answered),
        cmocka_unit_test(requests_that_wait_for_a_worker_are_answered),
        cmocka_unit_test(who_asks_again_and_again_ends_the_server_once),
    };
    return cmocka_run_group_tests_name("http shutdown", tests, NULL, NULL);
}
