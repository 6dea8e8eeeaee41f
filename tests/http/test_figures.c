/* SPDX-License-Identifier: MIT */
/* test_figures.c - a large figure; the rest is cases/figures.json. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "support/problem.h"

/* 2^25 elements, more than is rendered at once. */
#define LARGE "/v1/sinusoidal?d_model=512&positions=0:65536&numerics=exact&format=png"

static test_server server;

/* Sanitizers keep what is freed: how much memory there is then tells nothing. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* A large figure takes little memory: its cells, its pixels, and a block of numbers. */
static void a_large_figure_streams_in_bounded_memory(void **state)
{
    const long before = server_status_kb(&server, "VmHWM:");
    reply answer = get(&server, LARGE);
    assert_status(LARGE, &answer, 200);
    assert_in_range(answer.bytes, 24, 1000000);
    assert_memory_equal(answer.body, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\3\x20\0\0\1\xf4", 24);
    const long grown = server_status_kb(&server, "VmHWM:") - before;
    if (!SANITIZED && grown > 40000)
        fail_msg("the figure of 128 MiB of numbers took %ld kB", grown);
    reply again = get(&server, LARGE);
    assert_int_equal(again.bytes, answer.bytes);
    assert_memory_equal(again.body, answer.body, answer.bytes);
    reply_free(&answer);
    reply_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_figure_streams_in_bounded_memory),
    };
    return server_run_tests(tests, sizeof tests / sizeof tests[0], &server, NULL);
}
