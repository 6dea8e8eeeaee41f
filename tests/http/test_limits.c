/* SPDX-License-Identifier: MIT */
/* test_limits.c - deadlines, slow clients, full queues, system limits, the warm list, logs. */
#include "support/check.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/size.h"
#include "support/problem.h"
#include "support/wire.h"

static void assert_times_out(test_wire *wire, const char *part)
{
    reply answer = wire_answer(wire, false);
    assert_status(part, &answer, 408);
    assert_header(part, &answer, "Content-Type", "application/problem+json");
    assert_header(part, &answer, "Connection", "close");
    assert_header(part, &answer, "Access-Control-Allow-Origin", "*");
    json_t *problem = reply_json(&answer);
    assert_string_equal(json_string_value(json_object_get(problem, "code")), "timeout");
    assert_true(wire_ended(wire));
    json_decref(problem);
    reply_free(&answer);
    wire_close(wire);
}

static void a_request_that_does_not_arrive_is_408(void **state)
{
    static const char *const flags[] = {"--request-deadline-ms", "1000", "--idle-timeout-ms",
                                        "1000", NULL};
    static const char *const parts[] = {
        "",
        "GET /v1",
        "GET /v1 HTTP/1.1\r\nHost: a\r\nX-A",
        "POST /v1/sinusoidal HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        "Content-Length: 13\r\n\r\n{\"d_mo",
        "POST /v1/sinusoidal HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n4\r\n{\"d_\r\n",
    };
    enum { N = sizeof parts / sizeof parts[0] };
    test_server server;
    test_wire wires[N];
    server_start(&server, flags);
    for (size_t i = 0; i < N; i++) {
        wires[i] = wire_open(&server);
        wire_send_text(&wires[i], parts[i]);
    }
    for (size_t i = 0; i < N; i++)
        assert_times_out(&wires[i], parts[i]);
    server_wait(&server); /* others are answered, unless this process slept before it asked */
    server_end(&server);
}

static bool answered(const test_wire *wire, int milliseconds)
{
    struct pollfd wait = {.fd = wire->fd, .events = POLLIN};
    return poll(&wait, 1, milliseconds) == 1;
}

static void a_trickle_of_bytes_does_not_outlast_the_deadline(void **state)
{
    static const char *const flags[] = {"--request-deadline-ms", "300", NULL};
    static const char *const heads[] = {
        "GET /v1 HTTP/1.1\r\nHost: a\r\nX-A: ",
        "POST /v1/sinusoidal HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n",
        "GET /",
    };
    test_server server;
    server_start(&server, flags);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        test_wire wire = wire_open(&server);
        wire_send_text(&wire, heads[i]);
        int sent = 0;
        while (!answered(&wire, 10) && sent < 5000 && wire_send_text(&wire, "a"))
            sent++;
        assert_true(sent < 5000);
        reply answer = wire_answer(&wire, false);
        assert_status(heads[i], &answer, 408);
        char end;
        assert_true(wire_send_text(&wire, "more"));     /* is read and dropped: */
        assert_int_equal(recv(wire.fd, &end, 1, 0), 0); /* an end, not a reset */
        reply_free(&answer);
        wire_close(&wire);
    }
    server_end(&server);
}

static void a_second_request_on_a_connection_has_its_own_deadline(void **state)
{
    static const char *const flags[] = {"--request-deadline-ms", "1500", NULL};
    test_server server;
    server_start(&server, flags);
    test_wire wire = wire_open(&server);
    for (int i = 0; i < 6; i++) { /* together longer than one deadline */
        if (i > 0)
            assert_false(answered(&wire, 400));
        reply answer = wire_request(&wire, "GET", "/livez", NULL, NULL, 0);
        assert_status("keep-alive", &answer, 200);
        reply_free(&answer);
    }
    wire_send_text(&wire, "GET /v1 HTTP/1.1\r\nHost: a\r\nX-A");
    reply answer = wire_answer(&wire, false);
    assert_status("second request", &answer, 408);
    reply_free(&answer);
    wire_close(&wire);
    server_end(&server);
}

static void expect_given_up(const char *const *flags)
{
    test_server server;
    server_start(&server, flags);
    test_wire wire = wire_open(&server);
    wire_send_text(&wire,
                   "GET /v1/sinusoidal?d_model=512&positions=0:500000&format=raw HTTP/1.1\r\n"
                   "Host: a\r\n\r\n");
    assert_true(answered(&wire, TEST_PATIENCE * 1000));
    metric_wait(&server, "posenc_connections", 1, 1);
    wire_close(&wire);
    server_end(&server);
}

static void an_answer_that_nobody_reads_is_given_up(void **state)
{
    static const char *const flags[] = {"--response-deadline-ms", "1000", NULL};
    expect_given_up(flags);
}

static void a_reader_who_is_silent_is_given_up(void **state)
{
    static const char *const flags[] = {"--idle-timeout-ms", "1000", NULL};
    expect_given_up(flags);
}

#define IDLE_MS 2000

static int64_t milliseconds(void)
{
    return pe_clock() / PE_NANOSECONDS_PER_MS;
}

/* Read 16 kB/s for three times as long as nobody may be silent. False: this machine kept the reader
 * itself from it, and nothing is shown. */
static bool read_steadily(test_wire *wire)
{
    char some[800];
    for (int64_t began = milliseconds(), last = began; last - began < 3 * IDLE_MS;) {
        wire_take(wire, some, sizeof some); /* fails the test where the server has ended it */
        poll(NULL, 0, 50);
        const int64_t now = milliseconds();
        if (now - last > IDLE_MS / 4)
            return false;
        last = now;
    }
    return true;
}

static bool is_read_steadily(const test_server *server)
{
    test_wire wire = wire_open_narrow(server);
    wire_send_text(&wire,
                   "GET /v1/sinusoidal?d_model=512&positions=0:500000&format=raw HTTP/1.1\r\n"
                   "Host: a\r\n\r\n");
    const bool kept = read_steadily(&wire);
    wire_close(&wire);
    return kept;
}

/* Silence is no byte that is acknowledged, not none that is written. */
static void a_steady_reader_is_not_silent(void **state)
{
    static const char *const flags[] = {"--idle-timeout-ms", "2000", NULL};
    test_server server;
    server_start(&server, flags);
    for (int i = 0; i < 8 && !is_read_steadily(&server); i++)
        print_message("this machine is too busy to read steadily\n");
    server_end(&server);
}

/* Who sends so little that the rest would take for ever is not waited for. */
static void a_sender_below_the_least_rate_is_408(void **state)
{
    static const char *const flags[] = {"--request-deadline-ms",
                                        "86400000",
                                        "--min-rate-bytes",
                                        "1000",
                                        "--min-rate-window-ms",
                                        "1000",
                                        NULL};
    test_server server;
    server_start(&server, flags);
    test_wire wire = wire_open(&server);
    wire_send_text(&wire,
                   "POST /v1/sinusoidal HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n{");
    assert_times_out(&wire, "a byte of nine thousand");
    server_end(&server);
}

/* ---- full queues ---- */

typedef struct load_task {
    const test_server *server;
    int number;
    reply answer;
} load_task;

static void *ask_much(void *context)
{
    load_task *task = context;
    char target[128];
    snprintf(target, sizeof target,
             "/v1/sinusoidal?d_model=1024&positions=%d:%d&dtype=float64&format=csv",
             task->number * 10000, task->number * 10000 + 300);
    task->answer = get(task->server, target);
    return NULL;
}

/* Planned and not computed: some hundred milliseconds. */
static void *ask_wide(void *context)
{
    static const char *const headers[] = {"If-None-Match: *", NULL};
    load_task *task = context;
    char target[192];
    snprintf(target, sizeof target,
             "/v1/rope/table?head_dim=16384&positions=0&rope_theta=%d&rope_type=llama3&factor=8&"
             "original_max_position_embeddings=8192&low_freq_factor=1&high_freq_factor=4",
             500000 + task->number);
    task->answer = fetch(task->server, "GET", target, headers, NULL, 0);
    return NULL;
}

static void assert_refused_beyond_the_queue(void *(*ask)(void *task), long served_status)
{
    enum { N = 64 };
    static const char *const flags[] = {"--workers", "1", "--queue-max", "1", NULL};
    test_server server;
    pthread_t threads[N];
    static load_task tasks[N];
    int served = 0, refused = 0;
    server_start(&server, flags);
    for (int i = 0; i < N; i++) {
        tasks[i] = (load_task){.server = &server, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &tasks[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
        reply *answer = &tasks[i].answer;
        if (answer->status == served_status) {
            served++;
        } else {
            char after[16];
            json_t *problem = reply_json(answer);
            const char *detail = json_string_value(json_object_get(problem, "detail"));
            refused += detail != NULL && strstr(detail, "the queue is full") != NULL;
            json_decref(problem);
            assert_problem("refused", answer, 503, "overloaded");
            assert_non_null(reply_header(answer, "Retry-After", after, sizeof after));
            assert_true(strtol(after, NULL, 10) >= 1);
        }
        reply_free(answer);
    }
    assert_true(served >= 1);
    assert_true(refused >= 1);
    reply answer = get(&server, "/readyz");
    assert_status("after the rush", &answer, 200);
    reply_free(&answer);
    server_end(&server);
}

static void a_full_queue_is_503_with_retry_after(void **state)
{
    assert_refused_beyond_the_queue(ask_much, 200);
}

static void wide_requests_are_not_even_planned_beyond_the_queue(void **state)
{
    assert_refused_beyond_the_queue(ask_wide, 304);
}

/* Keeps the one worker at work and the queue of one full, as well as a client can. */
typedef struct crowd {
    const test_server *server;
    atomic_bool ending;
    atomic_int asked, refused;
} crowd;

static void *crowd_queue(void *context)
{
    crowd *all = context;
    while (!atomic_load(&all->ending)) {
        char target[128];
        const int first = 10000 * atomic_fetch_add(&all->asked, 1);
        snprintf(target, sizeof target, "/v1/rope/decay?head_dim=8192&offsets=%d:%d", first,
                 first + 3000);
        reply answer = get(all->server, target);
        atomic_fetch_add(&all->refused, answer.status == 503);
        reply_free(&answer);
    }
    return NULL;
}

/* The first keep one worker, and the thread for light jobs, busy; half of the others are gone
 * before their turn comes. Positions differ, so that each is work of its own. */
typedef struct left_behind {
    const char *before, *after; /* targets, up to the range of positions */
    int n_before, rows_before, rows_after;
} left_behind;

enum { LEFT_N = 20, LEFT_MAX = 64 };

static test_wire ask_at(const test_server *server, const char *target, int first, int rows)
{
    char request[200];
    test_wire wire = wire_open(server);
    snprintf(request, sizeof request, "GET %s%d:%d HTTP/1.1\r\nHost: a\r\n\r\n", target, first,
             first + rows);
    wire_send_text(&wire, request);
    return wire;
}

/* How many of those who left were not worked for. */
static long abandoned_beside_waiting(const left_behind *of)
{
    static const char *const flags[] = {"--workers", "1", "--threads", "1", NULL};
    const int n = of->n_before + LEFT_N;
    test_server server;
    test_wire wires[LEFT_MAX];
    assert_true(n <= LEFT_MAX);
    server_start(&server, flags);
    for (int i = 0; i < n; i++)
        wires[i] = i < of->n_before ? ask_at(&server, of->before, i * 10000, of->rows_before)
                                    : ask_at(&server, of->after, i * 10000, of->rows_after);
    for (int i = of->n_before; i < n; i += 2)
        wire_close(&wires[i]);
    for (int i = 0; i < n; i++) {
        if (i >= of->n_before && (i - of->n_before) % 2 == 0)
            continue;
        reply answer = wire_answer(&wires[i], false);
        if (answer.status != 503) /* its turn did not come in time, on a machine that is busy */
            assert_status("one that waits", &answer, 200);
        reply_free(&answer);
        wire_close(&wires[i]);
    }
    metric_wait(&server, "posenc_connections", 1, 1); /* those who left have been dealt with */
    const long abandoned = metric_now(&server, "posenc_abandoned_total");
    server_end(&server);
    return abandoned;
}

/* All who left, unless this process slept while the server came to them: then it is done again. */
static void assert_only_waiting_are_served(const left_behind *of)
{
    long abandoned = 0;
    for (int attempt = 0; attempt < 10 && abandoned == 0; attempt++)
        abandoned = abandoned_beside_waiting(of);
    assert_in_range(abandoned, 1, LEFT_N / 2);
}

static void heavy_work_that_nobody_waits_for_is_not_begun(void **state)
{
    assert_only_waiting_are_served(&(left_behind){
        .before = "/v1/rope/decay?head_dim=8192&offsets=",
        .n_before = 4,
        .rows_before = 1500,
        .after = "/v1/sinusoidal?d_model=1024&dtype=float64&positions=",
        .rows_after = 80,
    });
}

/* Either thread begins what is little work; it waits for many that are as much as allowed. */
static void light_work_that_nobody_waits_for_is_not_begun(void **state)
{
    assert_only_waiting_are_served(&(left_behind){
        .before = "/v1/sinusoidal?d_model=1024&dtype=float64&positions=",
        .n_before = 40,
        .rows_before = 64,
        .after = "/v1/sinusoidal?d_model=64&positions=",
        .rows_after = 2,
    });
}

/* What is asked for counts, not what it is a part or a repetition of. */
static void little_work_is_done_though_the_queue_is_full(void **state)
{
    enum { N = 6, ROUNDS = 10 };
    static const char kept[] = "/v1/sinusoidal?d_model=256&positions=0:1000&format=raw";
    static const char large[] = "/v1/sinusoidal?d_model=1024&positions=0:262144&format=raw";
    static const struct {
        const char *target, *header;
        long status;
    } asked[] = {
        {kept, NULL, 200},
        {kept, "Range: bytes=0-9", 206},
        {kept, "Accept: */*;q=0.9", 200},
        {kept, "If-None-Match: \"other\"", 200},
        {kept, "Want-Repr-Digest: sha-256=1", 200},
        {large, "Range: bytes=1000000000-1000000099", 206},
    };
    static const char *const flags[] = {"--workers", "1", "--queue-max", "1", "--warm", kept, NULL};
    test_server server;
    pthread_t threads[N];
    crowd all = {.server = &server};
    server_start(&server, flags);
    for (int i = 0; i < N; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_queue, &all), 0);
    for (int ms = 0; atomic_load(&all.refused) == 0; ms++) {
        assert_true(ms < TEST_PATIENCE * 1000);
        poll(NULL, 0, 1);
    }
    for (size_t i = 0; i < ROUNDS * sizeof asked / sizeof asked[0]; i++) {
        const size_t which = i % (sizeof asked / sizeof asked[0]);
        const char *const headers[] = {asked[which].header, NULL};
        reply answer = fetch(&server, "GET", asked[which].target, headers, NULL, 0);
        assert_status(asked[which].target, &answer, asked[which].status);
        reply_free(&answer);
    }
    atomic_store(&all.ending, true);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    print_message("%d others were refused\n", atomic_load(&all.refused));
    assert_true(atomic_load(&all.refused) > ROUNDS);
    server_end(&server);
}

/* Bodies may hold eight times the largest one, all together. */
static void too_many_bodies_at_once_are_503(void **state)
{
    enum { N = 9 };
    static const char *const flags[] = {"--max-body-bytes", "1000", NULL};
    static const char head[] = "POST /v1/sinusoidal HTTP/1.1\r\nHost: a\r\n"
                               "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n";
    test_server server;
    test_wire wires[N];
    char body[1000];
    int refused = 0;
    memset(body, ' ', sizeof body);
    memcpy(body, "{\"d_model\":2}", 13);
    server_start(&server, flags);
    for (int i = 0; i < N; i++) {
        wires[i] = wire_open(&server);
        wire_send_text(&wires[i], head);
        wire_send(&wires[i], body, 999);
    }
    /* They have arrived, and the last one is dropped. */
    metric_wait(&server, "posenc_body_bytes", 8 * 999, LONG_MAX);
    for (int i = 0; i < N; i++) {
        wire_send_text(&wires[i], " ");
        reply answer = wire_answer(&wires[i], false);
        if (answer.status != 200) {
            refused++;
            assert_problem("one too many", &answer, 503, "overloaded");
        }
        reply_free(&answer);
        wire_close(&wires[i]);
    }
    assert_in_range(refused, 0, 1); /* 0: the ninth came after the first had been answered */
    server_end(&server);
}

/* ---- limits of the system ---- */

static void there_are_descriptors_for_all_connections(void **state)
{
    static const char *const flags[] = {"--connections-max", "300", "--user=", NULL};
    struct rlimit before, limit, got;
    test_server server;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    if (before.rlim_max < 600)
        skip(); /* they cannot be had here */
    limit = (struct rlimit){.rlim_cur = 256, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    server_start(&server, flags);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(prlimit(server.pid, RLIMIT_NOFILE, NULL, &got), 0);
    server_end(&server);
    assert_in_range(got.rlim_cur, 301, before.rlim_max);
}

/* ---- warm list and logs ---- */

static void the_warm_list_is_there_from_the_first_request_on(void **state)
{
    static const char *const flags[] = {"--warm", "/v1/sinusoidal?d_model=64&positions=0:100",
                                        NULL};
    test_server server;
    server_start(&server, flags); /* waits for /readyz */
    reply answer = get(&server, "/v1/sinusoidal?d_model=64&positions=0:100");
    assert_status("warm", &answer, 200);
    assert_header("warm", &answer, "Server-Timing", "cache;desc=hit");
    reply_free(&answer);
    server_end(&server);
}

/* A cache takes entries of up to a quarter of itself; what is larger is not even rendered. */
static void what_a_small_cache_does_not_take_is_streamed(void **state)
{
    static const char large[] = "/v1/sinusoidal?d_model=256&positions=0:2000&format=raw";
    static const char fitting[] = "/v1/sinusoidal?d_model=256&positions=0:1500&format=raw";
    static const char *const flags[] = {
        "--response-cache-bytes", "8000000", "--warm", large, "--warm", fitting, NULL};
    test_server server;
    server_start(&server, flags);
    for (int repeat = 0; repeat < 2; repeat++) {
        reply answer = get(&server, large);
        assert_header(large, &answer, "Server-Timing", "cache;desc=miss"); /* with no times */
        reply_free(&answer);
        answer = get(&server, fitting);
        assert_header(fitting, &answer, "Server-Timing", "cache;desc=hit");
        reply_free(&answer);
    }
    assert_int_equal(server_stop(&server), 0);
    const char *line = strstr(server.log, "too large to be kept");
    assert_non_null(line);
    assert_non_null(strstr(line, "with response_cache_bytes 8000000 one may weigh 1875000, "));
    assert_null(strstr(line, "response_cache_entry_bytes"));
    assert_null(strstr(line + 1, "too large to be kept"));
    server_free(&server);
}

static void the_limit_that_keeps_an_answer_out_is_named(void **state)
{
    static const struct {
        const char *target, *says;
    } cases[] = {
        {"/v1/sinusoidal?d_model=256&positions=0:2000&format=raw",
         "of up to 2048000 bytes, is too large to be kept: response_cache_entry_bytes is 2000000"},
        {"/v1/rope/decay?head_dim=65536&offsets=0:9000&format=raw",
         "the answer takes too much work to be kept"},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        const char *const flags[] = {"--response-cache-entry-bytes", "2000000", "--warm",
                                     cases[c].target, NULL};
        test_server server;
        server_start(&server, flags);
        assert_int_equal(server_stop(&server), 0);
        assert_non_null(strstr(server.log, cases[c].says));
        assert_null(strstr(server.log, "response_cache_bytes"));
        server_free(&server);
    }
}

static void readyz_is_503_until_the_warm_list_is_there(void **state)
{
    /* 8 MB in JSON each, twice as many where they were warm before /readyz was asked. */
    enum { MOST = 16 };
    static char targets[MOST][96];
    const char *flags[2 * MOST + 1] = {NULL};
    test_server server;
    reply warming;
    size_t n = 0;
    for (size_t more = 1;; more = 2 * n) {
        for (; n < more && n < MOST; n++) {
            snprintf(targets[n], sizeof targets[n],
                     "/v1/sinusoidal?d_model=512&positions=%zu:%zu&dtype=float64", n * 4096,
                     n * 4096 + 1000);
            flags[2 * n] = "--warm";
            flags[2 * n + 1] = targets[n];
        }
        server_listen(&server, flags);
        warming = get(&server, "/readyz");
        if (warming.status != 200)
            break;
        reply_free(&warming);
        server_end(&server);
    }
    reply alive = get(&server, "/livez");
    char after[16];
    assert_problem("warming", &warming, 503, "overloaded");
    assert_non_null(reply_header(&warming, "Retry-After", after, sizeof after));
    assert_status("alive", &alive, 200);
    reply_free(&warming);
    reply_free(&alive);
    server_wait(&server);
    reply answer = get(&server, targets[n - 1]);
    assert_header("the last", &answer, "Server-Timing", "cache;desc=hit");
    reply_free(&answer);
    server_end(&server);
}

static void the_access_log_has_a_line_per_request(void **state)
{
    static const char *const flags[] = {"--access-log", "true", NULL};
    static const char *const headers[] = {"X-Request-Id: the-id", NULL};
    test_server server;
    server_start(&server, flags);
    reply answer = fetch(&server, "GET", "/v1/sinusoidal?d_model=2&positions=0", headers, NULL, 0);
    reply missing = get(&server, "/nope\x01");
    reply streamed = fetch(&server, "HEAD",
                           "/v1/sinusoidal?d_model=512&positions=0:9000&format=csv", NULL, NULL, 0);
    assert_status("of no known length", &streamed, 200);
    assert_int_equal(server_stop(&server), 0);
    const char *line = strstr(server.log, "\"target\":\"/v1/sinusoidal?d_model=2&positions=0\"");
    assert_non_null(line);
    char end[256];
    snprintf(end, sizeof end, "%.*s", (int)strcspn(line, "\n"), line);
    assert_non_null(strstr(end, "\"status\":200"));
    assert_non_null(strstr(end, "\"request_id\":\"the-id\""));
    assert_non_null(strstr(end, "\"ms\":"));
    char bytes[32];
    snprintf(bytes, sizeof bytes, "\"bytes\":%zu", answer.bytes);
    assert_non_null(strstr(end, bytes));
    line = strstr(server.log, "\"method\":\"HEAD\"");
    assert_non_null(line);
    snprintf(end, sizeof end, "%.*s", (int)strcspn(line, "\n"), line);
    assert_non_null(strstr(end, "\"bytes\":0,")); /* it has no body */
    reply_free(&answer);
    reply_free(&missing);
    reply_free(&streamed);
    server_free(&server);
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

#define UNHEARD                                                                                    \
    "\"event\":\"access\",\"client\":\"127.0.0.1\",\"method\":\"\",\"target\":\"\",\"status\":"

static void who_never_sends_a_header_is_logged_by_address(void **state)
{
    static const char *const formats[] = {"json", "combined"};
    static const char *const lines[] = {UNHEARD "408", "] \"-\" 408 0 \"-\" \"-\"\n"};
    for (size_t f = 0; f < PE_LEN(formats); f++) {
        const char *const flags[] = {
            "--access-log", "--access-log-format", formats[f], "--header-deadline-ms", "500", NULL};
        test_server server;
        server_start(&server, flags);
        test_wire silent = wire_open(&server), half = wire_open(&server);
        wire_send_text(&half, "GET /livez HTTP/1.1\r\nX: a");
        assert_times_out(&silent, "nothing");
        assert_times_out(&half, "half a header");
        assert_int_equal(server_stop(&server), 0);
        assert_int_equal(count_of(server.log, lines[f]), 2);
        server_free(&server);
    }
}

static void who_finds_no_place_is_logged_by_address(void **state)
{
    static const char *const flags[] = {"--access-log", "--connections-per-address", "1", NULL};
    test_server server;
    server_listen(&server, flags); /* nobody has asked it for /readyz */
    test_wire held[3];
    for (size_t w = 0; w < PE_LEN(held); w++) {
        held[w] = wire_open(&server);
        reply answer = wire_request(&held[w], "GET", "/livez", NULL, NULL, 0);
        assert_status("/livez", &answer, w == 0 ? 200 : 503);
        reply_free(&answer);
    }
    for (size_t w = 0; w < PE_LEN(held); w++)
        wire_close(&held[w]);
    assert_int_equal(server_stop(&server), 0);
    assert_int_equal(count_of(server.log, UNHEARD "503"), 2);
    server_free(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_does_not_arrive_is_408),
        cmocka_unit_test(a_trickle_of_bytes_does_not_outlast_the_deadline),
        cmocka_unit_test(a_second_request_on_a_connection_has_its_own_deadline),
        cmocka_unit_test(an_answer_that_nobody_reads_is_given_up),
        cmocka_unit_test(a_sender_below_the_least_rate_is_408),
        cmocka_unit_test(a_reader_who_is_silent_is_given_up),
        cmocka_unit_test(a_steady_reader_is_not_silent),
        cmocka_unit_test(a_full_queue_is_503_with_retry_after),
        cmocka_unit_test(wide_requests_are_not_even_planned_beyond_the_queue),
        cmocka_unit_test(heavy_work_that_nobody_waits_for_is_not_begun),
        cmocka_unit_test(light_work_that_nobody_waits_for_is_not_begun),
        cmocka_unit_test(little_work_is_done_though_the_queue_is_full),
        cmocka_unit_test(too_many_bodies_at_once_are_503),
        cmocka_unit_test(there_are_descriptors_for_all_connections),
        cmocka_unit_test(the_warm_list_is_there_from_the_first_request_on),
        cmocka_unit_test(what_a_small_cache_does_not_take_is_streamed),
        cmocka_unit_test(the_limit_that_keeps_an_answer_out_is_named),
        cmocka_unit_test(readyz_is_503_until_the_warm_list_is_there),
        cmocka_unit_test(the_access_log_has_a_line_per_request),
        cmocka_unit_test(who_never_sends_a_header_is_logged_by_address),
        cmocka_unit_test(who_finds_no_place_is_logged_by_address),
    };
    return cmocka_run_group_tests_name("http limits", tests, NULL, NULL);
}
