/* SPDX-License-Identifier: MIT */
/* test_figures.c - figures by address: their panels and sizes, and how they are cached. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "support/problem.h"

#define TABLE "/v1/sinusoidal?d_model=64&positions=0:200"
/* 2^25 elements, more than is rendered at once. */
#define LARGE "/v1/sinusoidal?d_model=512&positions=0:65536&numerics=exact&format=png"

static test_server server;

static reply ask(const char *method, const char *target, const char *header)
{
    const char *const headers[] = {header, NULL};
    return fetch(&server, method, target, header != NULL ? headers : NULL, NULL, 0);
}

/* ---- several tensors ---- */

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        n++;
    return n;
}

/* Each has a panel with its name; tensor= chooses one, which has the whole picture. */
static void several_tensors_are_panels(void **state)
{
    static const struct {
        const char *target;
        size_t panels;
    } cases[] = {
        {"/v1/rope/table?head_dim=8&positions=0:16&format=svg", 2},
        {"/v1/rope/frequencies?head_dim=8&format=svg", 3},
        {"/v1/rope/scaled-base?head_dim=8&factor=8&format=svg", 5},
        {"/v1/rope/table?head_dim=8&positions=0:16&format=svg&tensor=cos", 0},
        {"/v1/sinusoidal?d_model=8&positions=0:16&format=svg", 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        reply answer = get(&server, cases[c].target);
        assert_status(cases[c].target, &answer, 200);
        assert_int_equal(count(answer.body, "<g transform=\"translate("), cases[c].panels);
        reply_free(&answer);
    }
    reply both = get(&server, cases[0].target);
    assert_non_null(strstr(both.body, ">cos</text>"));
    assert_non_null(strstr(both.body, ">sin</text>"));
    reply_free(&both);
}

/* ---- sizes ---- */

static void assert_png_size(const reply *png, unsigned width, unsigned height)
{
    const unsigned char *at = (const unsigned char *)png->body + 16;
    assert_true(png->bytes > 24 && memcmp(png->body, "\x89PNG\r\n\x1a\n", 8) == 0);
    assert_int_equal((unsigned)at[0] << 24 | (unsigned)at[1] << 16 | (unsigned)at[2] << 8 | at[3],
                     width);
    assert_int_equal((unsigned)at[4] << 24 | (unsigned)at[5] << 16 | (unsigned)at[6] << 8 | at[7],
                     height);
}

static const struct {
    const char *target, *location; /* "" as asked */
    unsigned width, height;
} sized[] = {
    {"/v1/rope/decay?head_dim=8&offsets=0:9&format=png", "format=png&head_dim=8&", 800, 500},
    {TABLE "&format=png&width=640&height=400", "format=png&freq_shift=0&height=400&", 640, 400},
    {TABLE "&format=png&figure_width=120&figure_height=90", "&width=120", 120, 90},
    {TABLE "&format=png&width=800", "scale=1", 800, 500},
    {"/v1/sinusoidal/grid?d_model=8&height=3&width=5&format=png", "width=5", 800, 500},
    {"/v1/sinusoidal/grid?d_model=8&height=3&width=5&figure_width=400&format=png",
     "figure_width=400&format=png", 400, 500},
};

static void a_figure_has_the_size_that_was_asked_for(void **state)
{
    for (size_t i = 0; i < sizeof sized / sizeof sized[0]; i++) {
        char location[512];
        reply answer = get(&server, sized[i].target);
        assert_status(sized[i].target, &answer, 200);
        assert_png_size(&answer, sized[i].width, sized[i].height);
        reply_header(&answer, "Content-Location", location, sizeof location);
        if (strstr(location, sized[i].location) == NULL)
            fail_msg("%s: %s", sized[i].target, location);
        reply again = get(&server, location);
        assert_int_equal(again.bytes, answer.bytes);
        assert_memory_equal(again.body, answer.body, answer.bytes);
        reply_free(&again);
        reply_free(&answer);
    }
}

/* ---- caching ---- */

static void a_figure_is_kept_and_has_a_tag(void **state)
{
    static const char *const spelled[] = {TABLE "&format=svg&theme=dark&width=640", TABLE
                                          "&figure_width=640.0&theme=dark&format=svg&view=auto"};
    char tag[64], other[64], condition[96];
    reply first = get(&server, spelled[0]), second = get(&server, spelled[1]);
    assert_status("first", &first, 200);
    assert_non_null(reply_header(&first, "ETag", tag, sizeof tag));
    assert_header("second", &second, "ETag", tag);
    assert_header("second", &second, "Server-Timing", "cache;desc=hit");
    assert_header("first", &first, "Cache-Control", "public, max-age=31536000, immutable");
    assert_int_equal(first.bytes, second.bytes);
    assert_memory_equal(first.body, second.body, first.bytes);

    snprintf(condition, sizeof condition, "If-None-Match: %s", tag);
    reply same = ask("GET", spelled[0], condition);
    assert_status("the same", &same, 304);
    reply light = get(&server, TABLE "&format=svg&width=640");
    reply_header(&light, "ETag", other, sizeof other);
    assert_string_not_equal(tag, other);
    reply_free(&first);
    reply_free(&second);
    reply_free(&same);
    reply_free(&light);
}

/* Its length is not known before it is drawn, as of JSON and CSV: a Range gets the whole. */
static void a_range_of_a_figure_is_the_whole(void **state)
{
    for (int i = 0; i < 2; i++) {
        reply answer = ask("GET", TABLE "&format=png&theme=dark", "Range: bytes=0-9");
        assert_status("a range", &answer, 200);
        assert_header("a range", &answer, "Accept-Ranges", NULL);
        assert_png_size(&answer, 800, 500);
        reply_free(&answer);
    }
}

static void a_head_tells_what_a_get_would(void **state)
{
    char tag[64];
    reply body = get(&server, TABLE "&format=svg"), head = ask("HEAD", TABLE "&format=svg", NULL);
    assert_status("HEAD", &head, 200);
    assert_header("HEAD", &head, "ETag", reply_header(&body, "ETag", tag, sizeof tag));
    assert_header("HEAD", &head, "Content-Type", "image/svg+xml");
    assert_int_equal(head.bytes, 0);
    reply_free(&head);
    reply_free(&body);
}

/* ---- large ones ---- */

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
    assert_png_size(&answer, 800, 500);
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
        cmocka_unit_test(several_tensors_are_panels),
        cmocka_unit_test(a_figure_has_the_size_that_was_asked_for),
        cmocka_unit_test(a_figure_is_kept_and_has_a_tag),
        cmocka_unit_test(a_range_of_a_figure_is_the_whole),
        cmocka_unit_test(a_head_tells_what_a_get_would),
        cmocka_unit_test(a_large_figure_streams_in_bounded_memory),
    };
    return server_run_tests(tests, sizeof tests / sizeof tests[0], &server, NULL);
}
