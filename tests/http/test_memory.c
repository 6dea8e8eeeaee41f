/* SPDX-License-Identifier: MIT */
/*
 * test_memory.c - one budget holds for all memory: whatever clients ask for and do not read, no
 * more is resident than memory_max and its slack, and everybody is answered.
 */
#include "support/check.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/budget.h"
#include "base/buffer.h"
#include "support/problem.h"
#include "support/wire.h"

/* Sanitizers have allocators of their own: no budget refuses, so that few readers are as good as
 * many. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

enum { MIB = 1 << 20, READERS_MAX = SANITIZED ? 8 : 160, LISTS = SANITIZED ? 1 : 3 };

/* ---- readers who stall ---- */

/* Each reader's request is another one: # is its number. */
static const struct attack {
    const char *name, *target;
    const char *memory_max;
    int readers;
} attacks[] = {
    {"xpos",
     "/v1/rope/xpos/table?head_dim=16384&positions=#:9000:3&scale_base=5#&format=safetensors",
     "67108864", 40},
    {"frequencies", "/v1/rope/table?head_dim=65536&positions=0:4096&rope_theta=1#", "67108864", 60},
    {"streams", "/v1/sinusoidal?d_model=512&positions=#:200000&format=raw", "33554432",
     READERS_MAX},
    {"coded streams", "/v1/sinusoidal?d_model=512&positions=#:200000", "33554432", READERS_MAX},
};

static void ask(test_wire *wire, const struct attack *attack, int number)
{
    char request[400], target[300];
    size_t at = 0;
    for (const char *from = attack->target; *from != '\0'; from++)
        if (*from == '#')
            at += (size_t)snprintf(target + at, sizeof target - at, "%d", number);
        else
            at += (size_t)snprintf(target + at, sizeof target - at, "%c", *from);
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: a\r\nAccept-Encoding: zstd\r\n\r\n",
             target);
    wire_send_text(wire, request);
}

/* What a reader got that takes the first line of its answer only. */
static int status_of(test_wire *wire)
{
    char line[13] = "";
    wire_take(wire, line, 12);
    return (int)strtol(line + 9, NULL, 10);
}

static void hold(const struct attack *attack)
{
    static test_wire readers[READERS_MAX];
    const char *const flags[] = {"--memory-max",  attack->memory_max,
                                 "--threads",     "1",
                                 "--workers",     "1",
                                 "--code-binary", NULL};
    const long most = strtol(attack->memory_max, NULL, 10);
    const int n = attack->readers < READERS_MAX ? attack->readers : READERS_MAX;
    test_server server;
    int statuses[600] = {0};
    server_start(&server, flags);
    for (int r = 0; r < n; r++) {
        readers[r] = wire_open_narrow(&server);
        ask(&readers[r], attack, 100 + r);
        const int status = status_of(&readers[r]);
        assert_true(status == 200 || status == 503);
        statuses[status]++;
    }
    const long allocated = metric_now(&server, "posenc_memory_allocated_bytes");
    const long peak = server_status_kb(&server, "VmHWM:");
    print_message("%s: %d answered, %d refused; %ld MiB of %ld allocated, %ld MiB resident\n",
                  attack->name, statuses[200], statuses[503], allocated / MIB, most / MIB,
                  peak / 1024);
    assert_true(statuses[200] > 0);
    if (!SANITIZED) {
        assert_in_range(allocated, 1, most + (long)PE_BUDGET_SPARE);
        assert_in_range(peak, 1, (most + (long)PE_BUDGET_SLACK) / 1024);
    }
    for (int r = 0; r < n; r++)
        wire_close(&readers[r]);
    metric_wait(&server, "posenc_connections", 1, 1); /* they have been dealt with */
    reply after = get(&server, "/v1/sinusoidal?d_model=1024&positions=0:1024&format=raw");
    assert_status("afterwards", &after, 200);
    reply_free(&after);
    server_end(&server);
}

static void readers_who_stall_hold_no_more_than_the_budget(void **state)
{
    for (size_t i = 0; i < sizeof attacks / sizeof attacks[0]; i++)
        hold(&attacks[i]);
}

/* ---- connections ---- */

/* The library maps the memory of these itself. Those that ask for metrics may be there, too. */
static void large_connections_are_counted(void **state)
{
    static const char *const flags[] = {"--connection-memory-bytes", "1048576", NULL};
    enum { WIRES = 8 };
    test_wire wires[WIRES];
    test_server server;
    server_start(&server, flags);
    metric_wait(&server, "posenc_connections", 1, 1);
    const long before = metric_now(&server, "posenc_memory_allocated_bytes");
    for (int w = 0; w < WIRES; w++)
        wires[w] = wire_open(&server);
    metric_wait(&server, "posenc_memory_allocated_bytes", before + (WIRES - 2) * MIB,
                before + (WIRES + 2) * MIB);
    for (int w = 0; w < WIRES; w++)
        wire_close(&wires[w]);
    metric_wait(&server, "posenc_memory_allocated_bytes", 1, before + MIB / 2);
    server_end(&server);
}

/* ---- what was begun ---- */

/* Blocks of these take more than is left when others have filled the memory. */
static const char *const begun_targets[] = {
    "/v1/rope/xpos/table?head_dim=4096&positions=0:60:2&scale_base=511&dtype=float64",
    "/v1/rope/table?head_dim=128&axes_dims=16,56,56&positions=0:2000;0:2000;0:2000",
    "/v1/rope/table?head_dim=4096&positions=0:100:3&rope_theta=777",
    "/v1/sinusoidal?d_model=2048&positions=0.5:500:3",
};

static test_wire begin(const test_server *server, const char *target, const char *coding)
{
    char request[400];
    test_wire wire = wire_open_narrow(server);
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: a\r\nAccept-Encoding: %s\r\n\r\n",
             target, coding);
    wire_send_text(&wire, request);
    struct pollfd some = {.fd = wire.fd, .events = POLLIN};
    assert_int_equal(poll(&some, 1, TEST_PATIENCE * 1000), 1);
    wire.may_end = true;
    return wire;
}

/* Others take all memory that there is, until they are refused: never with a sanitizer. */
static int fill_memory(const test_server *server, test_wire *readers)
{
    int n = 0, refused = 0;
    while (refused == 0 && n < READERS_MAX) {
        readers[n] = wire_open_narrow(server);
        ask(&readers[n], &attacks[0], 100 + n);
        refused += status_of(&readers[n++]) == 503;
    }
    assert_true(refused > 0 || SANITIZED);
    return n;
}

static void what_was_begun_is_finished(void **state)
{
    static const char *const codings[] = {"identity", "gzip", "zstd"};
    /* nobody reads on before the memory is full, however long that takes */
    static const char *const flags[] = {
        "--memory-max", "33554432",         "--workers", "1", "--idle-timeout-ms",
        "86400000",     "--min-rate-bytes", "0",         NULL};
    static test_wire readers[READERS_MAX];
    enum { TARGETS = sizeof begun_targets / sizeof begun_targets[0] };
    test_server server;
    test_wire begun[TARGETS];
    for (size_t c = 0; c < sizeof codings / sizeof codings[0]; c++) {
        server_start(&server, flags);
        for (size_t t = 0; t < TARGETS; t++)
            begun[t] = begin(&server, begun_targets[t], codings[c]);
        const int n = fill_memory(&server, readers);
        for (size_t t = 0; t < TARGETS; t++) {
            reply answer = wire_answer(&begun[t], false);
            print_message("%s, %s: %zu bytes\n", begun_targets[t], codings[c], answer.bytes);
            assert_status(begun_targets[t], &answer, 200);
            reply_free(&answer);
            wire_close(&begun[t]);
        }
        for (int r = 0; r < n; r++)
            wire_close(&readers[r]);
        server_end(&server);
    }
}

/* ---- long lists ---- */

static char *list_body(size_t bytes, size_t *used)
{
    static const char head[] = "{\"d_model\":2,\"format\":\"raw\",\"positions\":[1";
    char *body = malloc(bytes + sizeof head + 8);
    assert_non_null(body);
    memcpy(body, head, sizeof head - 1);
    *used = sizeof head - 1;
    for (const char *step = ",3,4,8"; *used < bytes; *used += 6)
        memcpy(body + *used, step, 6);
    memcpy(body + *used, "]}", 2);
    *used += 2;
    return body;
}

/* Eight bytes each, once, whatever is asked for. */
static void a_list_of_positions_is_held_once(void **state)
{
    static const char *const json[] = {"Content-Type: application/json", NULL};
    enum { BYTES = 12 * MIB };
    test_server server;
    size_t bytes;
    char *body = list_body(BYTES, &bytes);
    const long numbers = BYTES / 2 * 8;
    server_start(&server, NULL);
    const long before = server_status_kb(&server, "VmHWM:");
    reply answer = fetch(&server, "POST", "/v1/sinusoidal", json, body, bytes);
    assert_status("a list", &answer, 200);
    const long grown = (server_status_kb(&server, "VmHWM:") - before) * 1024;
    print_message("%zu bytes of body: %ld MiB, of which %ld are numbers\n", bytes, grown / MIB,
                  numbers / MIB);
    if (!SANITIZED)
        assert_in_range(grown, 1, numbers + 4 * (long)bytes);
    reply_free(&answer);
    free(body);
    server_end(&server);
}

static void long_lists_hold_no_more_than_the_budget(void **state)
{
    static const char *const json[] = {"Content-Type: application/json", NULL};
    static const char *const flags[] = {"--memory-max", "100000000", NULL};
    test_server server;
    size_t bytes;
    char *body = list_body((size_t)20 * MIB, &bytes);
    server_start(&server, flags);
    for (int i = 0; i < LISTS; i++) {
        reply answer = fetch(&server, "POST", "/v1/sinusoidal", json, body, bytes);
        if (!SANITIZED) {
            assert_problem("20 MiB", &answer, 503, "overloaded");
            assert_header("20 MiB", &answer, "Retry-After", "1");
        }
        reply_free(&answer);
    }
    const long peak = server_status_kb(&server, "VmHWM:");
    print_message("%ld MiB resident\n", peak / 1024);
    if (!SANITIZED)
        assert_in_range(peak, 1, (100000000 + (long)PE_BUDGET_SLACK) / 1024);
    free(body);
    server_end(&server);
}

/* ---- what is refused ---- */

#define NPY_HEADER  "{'descr': '<i4', 'fortran_order': False, 'shape': (200000000,)}\n"
#define NPY         "\x93NUMPY\x01\x00\x40\x00" NPY_HEADER "12345678"
#define ST_HEADER   "{\"x\":{\"dtype\":\"I32\",\"shape\":[200000000],\"data_offsets\":[0,8]}}"
#define SAFETENSORS "\x3e\x00\x00\x00\x00\x00\x00\x00" ST_HEADER "12345678"
#define FORM                                                                                       \
    "--b\r\nContent-Disposition: form-data; name=\"x\"; filename=\"x.npy\"\r\n\r\n" NPY            \
    "\r\n--b\r\nContent-Disposition: form-data; name=\"y\"; filename=\"y.npy\"\r\n\r\n" NPY        \
    "\r\n--b--\r\n"

/* Bodies of some bytes that say they hold some hundred megabytes. */
static void what_a_body_does_not_hold_takes_no_memory(void **state)
{
    static const char verify[] = "/v1/verify?encoding=rope&head_dim=64";
    static const char rotate[] = "/v1/rope/rotate?head_dim=64";
    static const struct {
        const char *target, *type, *shape, *body;
        size_t bytes;
        long status;
    } rows[] = {
        {verify, "application/octet-stream", "X-Tensor-Shape: 268500000", "12345678", 8, 422},
        {verify, "application/octet-stream", "X-Tensor-Shape: 200000000", "12345678", 8, 400},
        {rotate, "application/octet-stream", "X-Tensor-Shape: 200000000", "12345678", 8, 400},
        {verify, "application/x-npy", NULL, NPY, sizeof NPY - 1, 400},
        {rotate, "application/x-npy", NULL, NPY, sizeof NPY - 1, 400},
        {verify, "application/vnd.safetensors", NULL, SAFETENSORS, sizeof SAFETENSORS - 1, 400},
        {rotate, "application/vnd.safetensors", NULL, SAFETENSORS, sizeof SAFETENSORS - 1, 400},
        {verify, "multipart/form-data; boundary=b", NULL, FORM, sizeof FORM - 1, 400},
    };
    test_server server;
    server_start(&server, (const char *const[]){"--memory-max", "134217728", NULL});
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        char type[80];
        snprintf(type, sizeof type, "Content-Type: %s", rows[r].type);
        const char *const lines[] = {type, "X-Tensor-Dtype: int32", rows[r].shape, NULL};
        reply answer = fetch(&server, "POST", rows[r].target, lines, rows[r].body, rows[r].bytes);
        assert_problem(rows[r].type, &answer, rows[r].status,
                       rows[r].status == 400 ? "malformed-request" : "too-many-elements");
        reply_free(&answer);
    }
    assert_int_equal(metric_now(&server, "posenc_memory_refused_total"), 0);
    assert_int_equal(metric_now(&server, "posenc_memory_evicted_bytes_total"), 0);
    server_end(&server);
}

#define SHORT "/v1/verify?encoding=sinusoidal&d_model=4"

/* d_model is no whole number, or numbers are refused at their end. They would take four or eight bytes
 * each, and have two. */
static void numbers_that_are_refused_take_no_memory(void **state)
{
    static const struct {
        const char *target, *type, *head, *numbers, *tail;
        long status;
    } rows[] = {
        {"/v1/sinusoidal", "json", "{\"d_model\":3.5,\"positions\":[", "1,3,8,4,", "5]}", 422},
        {"/v1/verify", "json",
         "{\"encoding\":\"sinusoidal\",\"parameters\":{\"d_model\":3.5},\"table\":[", "1,3,8,4,",
         "5]}", 422},
        {"/v1/sinusoidal", "json", "{\"d_model\":4,\"positions\":[", "1,3,8,4,", "NaN]}", 400},
        {"/v1/rope/rotate", "json", "{\"vectors\":[", "[1,3,8,4],", "[1,3]]}", 422},
        {SHORT, "csv", "", "1,3,8,4\n", "1,3,8,x\n", 400},
        {SHORT, "csv", "", "1,3,8,4\n", "1,3,8\n", 400},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        test_server server;
        pe_buffer body = {0};
        char type[64];
        const bool is_json = strcmp(rows[r].type, "json") == 0;
        snprintf(type, sizeof type, "Content-Type: %s/%s", is_json ? "application" : "text",
                 rows[r].type);
        pe_buffer_str(&body, rows[r].head);
        while (body.bytes < (size_t)16 * MIB)
            pe_buffer_str(&body, rows[r].numbers);
        pe_buffer_str(&body, rows[r].tail);
        server_start(&server, NULL);
        const long before = server_status_kb(&server, "VmHWM:");
        reply answer = fetch(&server, "POST", rows[r].target, (const char *const[]){type, NULL},
                             body.data, body.bytes);
        assert_problem(rows[r].tail, &answer, rows[r].status,
                       rows[r].status == 422 ? "invalid-parameter" : "malformed-request");
        const long grown = (server_status_kb(&server, "VmHWM:") - before) * 1024;
        print_message("%s: %ld MiB for %zu bytes\n", rows[r].tail, grown / MIB, body.bytes);
        if (!SANITIZED)
            assert_in_range(grown, 1, 2 * (long)body.bytes);
        reply_free(&answer);
        pe_buffer_free(&body);
        server_end(&server);
    }
}

/* ---- what the system does not give ---- */

/* Answers that would be stored, of 4 MB each: more than there is room for. */
static void many_answers_go_out_of_a_small_address_space(void **state)
{
    enum { ANSWERS = 150 };
    struct rlimit old, narrow;
    test_server server;
    if (SANITIZED)
        skip();
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    narrow = (struct rlimit){.rlim_cur = 256 * MIB, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &narrow), 0);
    server_start(&server, (const char *const[]){"--memory-max", "1073741824", NULL});
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    for (int i = 0; i < ANSWERS; i++) {
        char target[120];
        snprintf(target, sizeof target, "/v1/sinusoidal?d_model=1024&positions=%d:%d&format=raw",
                 i * 1024, i * 1024 + 1024);
        reply answer = get(&server, target);
        assert_status(target, &answer, 200);
        reply_free(&answer);
    }
    const long evicted = metric_now(&server, "posenc_memory_evicted_bytes_total");
    print_message("%ld MiB evicted, since the system refused\n", evicted / MIB);
    assert_true(evicted > 0);
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_connections_are_counted),
        cmocka_unit_test(readers_who_stall_hold_no_more_than_the_budget),
        cmocka_unit_test(what_was_begun_is_finished),
        cmocka_unit_test(a_list_of_positions_is_held_once),
        cmocka_unit_test(long_lists_hold_no_more_than_the_budget),
        cmocka_unit_test(what_a_body_does_not_hold_takes_no_memory),
        cmocka_unit_test(numbers_that_are_refused_take_no_memory),
        cmocka_unit_test(many_answers_go_out_of_a_small_address_space),
    };
    return cmocka_run_group_tests_name("http memory", tests, NULL, NULL);
}
