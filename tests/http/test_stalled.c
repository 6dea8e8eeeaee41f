/* SPDX-License-Identifier: MIT */
/* test_stalled.c - what hundreds of readers who stall cost in resident memory. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/size.h"
#include "support/wire.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1, READERS = 10, STEP = 5 }; /* they keep what is freed: little to be learned */
#elif defined PE_COVERAGE
enum { SANITIZED = 0, READERS = 50, STEP = 1 };
#else
enum { SANITIZED = 0, READERS = 200, STEP = 1 };
#endif

#define GROWTH_KB_MAX 16384L

/* Answers of a gigabyte or more: 2^28 elements, or 2^27 of eight bytes. */
static const struct {
    const char *target, *line; /* a header line, or NULL */
} gigabytes[] = {
    {"/v1/sinusoidal?d_model=512&positions=0:524288&format=raw", NULL},
    {"/v1/sinusoidal?d_model=512&positions=0:524288&format=npy", NULL},
    {"/v1/sinusoidal?d_model=512&positions=0:524288&format=safetensors", NULL},
    {"/v1/sinusoidal?d_model=512&positions=0:524288&format=json", NULL},
    {"/v1/sinusoidal?d_model=512&positions=0:524288&format=csv", NULL},
    {"/v1/sinusoidal?d_model=512&positions=0:524288&encoding_format=base64", NULL},
    {"/v1/sinusoidal?d_model=8192&positions=0:32768&format=raw", NULL},
    {"/v1/sinusoidal?d_model=8192&positions=0:32768&format=npy", NULL},
    {"/v1/sinusoidal?d_model=8192&positions=0:32768&format=safetensors", NULL},
    {"/v1/sinusoidal?d_model=8192&positions=0:32768&format=json", NULL},
    {"/v1/sinusoidal?d_model=8192&positions=0:32768&format=csv", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:4096&format=raw", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:4096&format=npy", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:4096&format=safetensors", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:4096&format=json", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:4096&format=csv", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:4096&encoding_format=base64", NULL},
    {"/v1/sinusoidal?d_model=512&positions=0:262144&dtype=float64&format=raw", NULL},
    {"/v1/sinusoidal?d_model=512&positions=0:262144&dtype=float64&format=json", NULL},
    {"/v1/sinusoidal?d_model=8192&positions=0:16384&dtype=float64&format=raw", NULL},
    {"/v1/sinusoidal?d_model=8192&positions=0:16384&dtype=float64&format=json", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:2048&dtype=float64&format=raw", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:2048&dtype=float64&format=npy", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:2048&dtype=float64&format=safetensors", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:2048&dtype=float64&format=json", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:2048&dtype=float64&format=csv", NULL},
    {"/v1/sinusoidal?d_model=65536&positions=0:4096&dtype=float16&format=json", NULL},
    {"/v1/rope/table?head_dim=65536&positions=0:4096&cache_layout=vllm&format=json", NULL},
    {"/v1/rope/xpos/table?head_dim=65536&positions=0:2730&format=safetensors", NULL},
    {"/v1/rope/xpos/table?head_dim=65536&positions=0:2730&format=json", NULL},
    {"/v1/alibi/bias?num_heads=4096&query_length=256&format=raw", NULL},
    {"/v1/alibi/bias?num_heads=4096&query_length=256&format=json", NULL},
    {"/v1/t5/buckets?query_length=16384&format=raw", NULL},
    {"/v1/t5/buckets?query_length=16384&format=json", NULL},
    {"/v1/shaw/indices?query_length=16384&max_relative_position=64&format=raw", NULL},
    {"/v1/shaw/indices?query_length=16384&max_relative_position=64&format=json", NULL},
    {"/v1/sinusoidal?d_model=512&positions=0:524288&format=json", "Accept-Encoding: gzip"},
    {"/v1/sinusoidal?d_model=512&positions=0:524288&format=json", "Accept-Encoding: zstd"},
    {"/v1/sinusoidal?d_model=512&positions=0:524288&format=csv", "Accept-Encoding: gzip"},
    {"/v1/sinusoidal?d_model=512&positions=0:524288&format=csv", "Accept-Encoding: zstd"},
    {"/v1/sinusoidal?d_model=65536&positions=0:2048&dtype=float64", "Accept-Encoding: gzip"},
    {"/v1/sinusoidal?d_model=65536&positions=0:2048&dtype=float64", "Accept-Encoding: zstd"},
    {"/v1/sinusoidal?d_model=65536&positions=0:4096&dtype=bfloat16&format=raw",
     "Accept-Encoding: zstd"},
};

/* On a connection that stays. */
static long metric(test_wire *wire, const char *name)
{
    wire_send_text(wire, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    reply answer = wire_answer(wire, false);
    return (long)reply_metric(&answer, name);
}

/* Wait until no more of the streams is made: all sockets are full. */
static void wait_until_stalled(const test_server *server)
{
    test_wire wire = wire_open(server);
    for (long made = -1, now; (now = metric(&wire, "posenc_stream_bytes_total")) != made;
         made = now)
        for (int i = 0; i < 50; i++)
            (void)metric(&wire, "posenc_connections");
    wire_close(&wire);
}

static void take_some(test_wire *wire, size_t bytes)
{
    char some[65536];
    for (size_t step; bytes > 0; bytes -= step) {
        step = bytes < sizeof some ? bytes : sizeof some;
        wire_take(wire, some, step);
    }
}

/* Resident memory, but for what each thread keeps that has ever coded a piece: spare ones join in on a
 * busy machine, however many readers there are. */
static long held_kb(const test_server *server)
{
    test_wire wire = wire_open(server);
    const long kept = metric(&wire, "posenc_memory_bytes{kind=\"coders\"}");
    wire_close(&wire);
    return server_status_kb(server, "VmRSS:") - kept / 1024;
}

/* One server for each, so that no memory freed by others hides what is taken. */
static void stall(const char *target, const char *line)
{
    static const char *const flags[] = {"--threads",     "1", "--workers", "1", "--max-work",
                                        "1000000000000", NULL};
    static test_wire reader[READERS];
    test_server server;
    char request[256];
    server_start(&server, flags);
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: a\r\n%s%s\r\n", target,
             line != NULL ? line : "", line != NULL ? "\r\n" : "");
    test_wire first = wire_open(&server);
    wire_send_text(&first, request);
    take_some(&first, 1048576); /* the tables are there, and the threads have computed */
    wire_close(&first);
    wait_until_stalled(&server);
    const long before = held_kb(&server);
    for (int r = 0; r < READERS; r++) {
        reader[r] = wire_open_narrow(&server);
        wire_send_text(&reader[r], request);
        take_some(&reader[r], 64);
    }
    wait_until_stalled(&server);
    const long grown = held_kb(&server) - before;
    print_message("%6ld kB: %s %s\n", grown, target, line != NULL ? line : "");
    if (!SANITIZED)
        assert_in_range(grown < 0 ? 0 : grown, 0, GROWTH_KB_MAX);
    for (int r = 0; r < READERS; r++)
        wire_close(&reader[r]);
    server_end(&server);
}

static void stalled_readers_of_a_gigabyte_cost_little_memory(void **state)
{
    print_message("%d readers\n", READERS);
    for (size_t i = 0; i < PE_LEN(gigabytes); i += STEP)
        stall(gigabytes[i].target, gigabytes[i].line);
}

/* What was made is held by the connection, the system, or the reader's own system. */
static void the_system_takes_little_that_it_cannot_send(void **state)
{
    static const char *const flags[] = {"--stream-blocks-bytes", "0", "--send-buffer-bytes",
                                        "65536", NULL};
    enum { FEW = 10, BLOCK = 32768, NARROW = 65536, SEGMENT = 65536 };
    test_wire reader[FEW];
    test_server server;
    server_start(&server, flags);
    for (int r = 0; r < FEW; r++) {
        reader[r] = wire_open_narrow(&server);
        wire_send_text(&reader[r], "GET /v1/sinusoidal?d_model=512&positions=0:524288&format=raw "
                                   "HTTP/1.1\r\nHost: a\r\n\r\n");
        take_some(&reader[r], 64);
    }
    wait_until_stalled(&server);
    test_wire wire = wire_open(&server);
    const long made = metric(&wire, "posenc_stream_bytes_total");
    print_message("%ld bytes for each of %d readers\n", made / FEW, FEW);
    assert_in_range(made / FEW, 65536, 65536 + BLOCK + NARROW + SEGMENT);
    wire_close(&wire);
    for (int r = 0; r < FEW; r++)
        wire_close(&reader[r]);
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_system_takes_little_that_it_cannot_send),
        cmocka_unit_test(stalled_readers_of_a_gigabyte_cost_little_memory),
    };
    return cmocka_run_group_tests_name("http stalled", tests, NULL, NULL);
}
