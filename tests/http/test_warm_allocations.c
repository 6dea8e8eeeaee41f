/* SPDX-License-Identifier: MIT */
/*
 * test_warm_allocations.c - a request that was seen before allocates nothing: not in the server and
 * not in the library. The server runs in this process, so that its allocations can be counted.
 */
#include "support/check.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "config/settings.h"
#include "http/server.h"
#include "support/problem.h"
#include "support/wire.h"

/* The sanitizers and other C libraries have allocators of their own. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_COUNT 1
#else
#define CAN_COUNT 0
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef CAN_COUNT
#define CAN_COUNT 0
#endif
#endif

enum { REQUESTS = 100 };

static atomic_long allocations; /* of the server's threads */
static _Thread_local bool is_client;

#if CAN_COUNT
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): glibc's own names */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

static void count(void)
{
    atomic_fetch_add(&allocations, !is_client);
}

void *malloc(size_t bytes)
{
    count();
    return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    count();
    return __libc_calloc(n, bytes);
}

void *realloc(void *at, size_t bytes)
{
    count();
    return __libc_realloc(at, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    count();
    return __libc_memalign(alignment, bytes);
}
#endif

static void ask(test_wire *wire, const char *request, const char *timing)
{
    wire_send_text(wire, request);
    reply answer = wire_answer(wire, false);
    assert_status(request, &answer, 200);
    assert_header(request, &answer, "Server-Timing", timing);
    reply_free(&answer);
}

static void a_warm_request_allocates_nothing(void **state)
{
    if (!CAN_COUNT)
        skip();
    static const char *const requests[] = {
        "GET /v1/sinusoidal?d_model=10&positions=0:5&format=raw HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/sinusoidal?d_model=128&positions=0:128&format=raw HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /v1/sinusoidal?d_model=512&positions=0:512&format=raw HTTP/1.1\r\nHost: a\r\n\r\n",
        ("GET /v1/sinusoidal?d_model=64&positions=0:64 HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n"
         "Accept-Encoding: gzip\r\nUser-Agent: somebody\r\n\r\n"),
    };
    char *arguments[] = {
        (char[]){"--port=0"},          (char[]){"--threads=1"},        (char[]){"--workers=1"},
        (char[]){"--log-level=error"}, (char[]){"--drain-grace-ms=0"}, (char[]){"--sandbox=off"},
        (char[]){"--user="},           (char[]){"--core-dumps"}};
    pe_config *config;
    pe_server *server;
    pe_problem why;
    is_client = true;
    assert_int_equal(pe_config_read(8, arguments, NULL, &config, &why), PE_OK);
    assert_int_equal(pe_server_start(config, NULL, &server, &why), PE_OK);
    const test_server where = {.port = pe_server_port(server)};
    server_wait(&where);
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        test_wire wire = wire_open(&where);
        const long cold = atomic_load(&allocations);
        wire_send_text(&wire, requests[i]);
        reply first = wire_answer(&wire, false);
        reply_free(&first);
        assert_true(atomic_load(&allocations) > cold); /* they are counted */
        ask(&wire, requests[i], "cache;desc=hit");
        const long before = atomic_load(&allocations);
        for (int k = 0; k < REQUESTS; k++)
            ask(&wire, requests[i], "cache;desc=hit");
        assert_int_equal(atomic_load(&allocations) - before, 0);
        wire_close(&wire);
    }
    pe_server_stop(server);
    pe_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_request_allocates_nothing),
    };
    return cmocka_run_group_tests_name("http warm allocations", tests, NULL, NULL);
}
