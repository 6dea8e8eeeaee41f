/* SPDX-License-Identifier: MIT */
/* test_figures.c - figures by address: which one a request gets, what is refused, how it is
 * cached. */
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

/* ---- which format ---- */

static const struct {
    const char *accept, *type;
} accepted[] = {
    {"Accept: image/svg+xml", "image/svg+xml"},
    {"Accept: image/png", "image/png"},
    {"Accept: image/*", "image/svg+xml"},
    {"Accept: image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", "image/svg+xml"},
    {"Accept: image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5", "image/png"},
    {"Accept: text/html,application/xhtml+xml,image/avif,*/*;q=0.8", "application/json"},
};

/* Heatmaps are images within an SVG. */
#define POLICY "default-src 'none'; img-src data:; style-src 'unsafe-inline'; sandbox"

static void accept_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        reply answer = ask("GET", TABLE, accepted[i].accept);
        assert_status(accepted[i].accept, &answer, 200);
        assert_header(accepted[i].accept, &answer, "Content-Type", accepted[i].type);
        assert_header(accepted[i].accept, &answer, "X-Content-Type-Options", "nosniff");
        assert_header(accepted[i].accept, &answer, "Content-Security-Policy",
                      strcmp(accepted[i].type, "image/svg+xml") == 0 ? POLICY : NULL);
        reply_free(&answer);
    }
}

/* ---- what is refused ---- */

static const struct {
    const char *target, *code, *words;
    long status;
} refused[] = {
    {TABLE "&format=svg&width=319", "invalid-parameter", "width must be between 320 and 8192", 422},
    {TABLE "&format=svg&height=239", "invalid-parameter", "height must be between 240", 422},
    {TABLE "&format=png&width=8193", "invalid-parameter", "got 8193", 422},
    {TABLE "&format=png&width=640.5", "invalid-parameter", "must be an integer", 422},
    {TABLE "&format=png&width=wide", "malformed-request", "width", 400},
    {TABLE "&format=png&width=", "malformed-request", "must not be empty", 400},
    {TABLE "&format=png&width=4000&height=4000", "invalid-parameter",
     "at most figure_max_pixels, 4194304, got 4000 x 4000", 422},
    {TABLE "&format=png&width=640&figure_width=640", "malformed-request", "more than once", 400},
    {TABLE "&format=svg&view=pie", "invalid-parameter", "view must be one of", 422},
    {TABLE "&format=svg&theme=sepia", "invalid-parameter", "theme must be one of", 422},
    {TABLE "&theme=dark", "invalid-parameter", "theme is for figures", 422},
    {TABLE "&format=npy&width=640", "invalid-parameter", "the answer would be npy", 422},
    {"/v1/alibi/bias?num_heads=2&query_length=4&format=svg&view=curves", "invalid-parameter",
     "more than two axes, this one has 3", 422},
    {"/v1/rope/table?head_dim=8&format=svg&width=400", "invalid-parameter",
     "2 tensors needs at least 440 x 170 pixels, got 400 x 500", 422},
    {"/v1/sinusoidal/grid?d_model=8&height=4&width=4&figure_width=10&format=svg",
     "invalid-parameter", "figure_width must be between 320", 422},
    {"/v1/sinusoidal/grid?d_model=8&height=4&figure_width=640", "invalid-parameter",
     "figure_width is for figures", 422},
};

/* Where a picture was asked for, the refusal is one, with its sentence in it. */
static void a_wrong_figure_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        reply answer = get(&server, refused[i].target);
        if (strstr(refused[i].target, "format=png") != NULL) {
            assert_status(refused[i].target, &answer, refused[i].status);
            assert_header(refused[i].target, &answer, "Content-Type", "image/png");
            assert_memory_equal(answer.body, "\x89PNG\r\n\x1a\n", 8);
            reply_free(&answer);
            continue;
        }
        assert_status(refused[i].target, &answer, refused[i].status);
        if (strstr(refused[i].target, "format=svg") != NULL)
            assert_header(refused[i].target, &answer, "Content-Type", "image/svg+xml");
        else
            assert_problem(refused[i].target, &answer, refused[i].status, refused[i].code);
        if (strstr(answer.body, refused[i].words) == NULL)
            fail_msg("%s: no \"%s\" in %s", refused[i].target, refused[i].words, answer.body);
        reply_free(&answer);
    }
}

/* An image of a page asks for pictures by Accept alone; a program does not. */
static void a_problem_is_a_picture_where_one_is_asked_for(void **state)
{
    static const char wrong[] = "/v1/rope/table?head_dim=7";
    static const char *const page[] = {
        "Accept: image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", NULL};
    (void)state;
    reply picture = fetch(&server, "GET", wrong, page, NULL, 0);
    assert_status("an image of a page", &picture, 422);
    assert_header("an image of a page", &picture, "Content-Type", "image/svg+xml");
    assert_non_null(strstr(picture.body, "head_dim must be even where all of it rotates, got 7"));
    reply plain = get(&server, wrong);
    assert_problem("a program", &plain, 422, "invalid-parameter");
    reply_free(&picture);
    reply_free(&plain);
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
    (void)state;
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
    {TABLE "&format=png&figure_width=320&figure_height=240", "&width=320", 320, 240},
    {TABLE "&format=png&width=800", "scale=1", 800, 500},
    {"/v1/sinusoidal/grid?d_model=8&height=3&width=5&format=png", "width=5", 800, 500},
    {"/v1/sinusoidal/grid?d_model=8&height=3&width=5&figure_width=400&format=png",
     "figure_width=400&format=png", 400, 500},
};

static void a_figure_has_the_size_that_was_asked_for(void **state)
{
    (void)state;
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
    (void)state;
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
    (void)state;
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
    (void)state;
    char tag[64];
    reply body = get(&server, TABLE "&format=svg"), head = ask("HEAD", TABLE "&format=svg", NULL);
    assert_status("HEAD", &head, 200);
    assert_header("HEAD", &head, "ETag", reply_header(&body, "ETag", tag, sizeof tag));
    assert_header("HEAD", &head, "Content-Type", "image/svg+xml");
    assert_int_equal(head.bytes, 0);
    reply_free(&head);
    reply_free(&body);
}

/* ---- what is drawn ---- */

#define LEGEND(value) "text-anchor=\"start\" fill=\"#16191c\">" value "</text>"

/* Both arms of the scale beyond 1 are for values of both signs. */
static void a_legend_has_no_sign_that_values_never_have(void **state)
{
    (void)state;
    reply biases = get(&server, "/v1/alibi/bias?num_heads=8&query_length=8&format=svg");
    assert_non_null(strstr(biases.body, LEGEND("-5")));
    assert_non_null(strstr(biases.body, LEGEND("0")));
    assert_null(strstr(biases.body, LEGEND("5")));
    reply both = post_json(&server, "/v1/rope/scores",
                           "{\"q\":[[1,2],[1,2]],\"k\":[[1,0],[-2,-1]],\"format\":\"svg\"}");
    assert_non_null(strstr(both.body, LEGEND("-4")));
    assert_non_null(strstr(both.body, LEGEND("4")));
    reply_free(&biases);
    reply_free(&both);
}

/* ---- bodies ---- */

static void a_body_asks_for_a_figure_too(void **state)
{
    (void)state;
    reply posted = post_json(&server, "/v1/sinusoidal",
                             "{\"d_model\":64,\"positions\":\"0:200\",\"format\":\"png\","
                             "\"width\":640,\"height\":400,\"theme\":\"dark\"}");
    reply got = get(&server, TABLE "&format=png&width=640&height=400&theme=dark");
    assert_status("POST", &posted, 200);
    assert_int_equal(posted.bytes, got.bytes);
    assert_memory_equal(posted.body, got.body, got.bytes);
    reply text = post_json(&server, "/v1/sinusoidal",
                           "{\"d_model\":4,\"format\":\"png\",\"width\":\"640\"}");
    assert_problem("a size as text", &text, 422, "invalid-parameter");
    reply transform = post_json(&server, "/v1/rope/scores",
                                "{\"q\":[[1,2],[3,4]],\"k\":[[1,0],[0,1]],\"format\":\"svg\"}");
    assert_status("a transform", &transform, 200);
    assert_header("a transform", &transform, "Cache-Control", "no-store");
    assert_non_null(strstr(transform.body, ">query</text>"));
    reply_free(&posted);
    reply_free(&got);
    reply_free(&text);
    reply_free(&transform);
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
    (void)state;
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
        cmocka_unit_test(accept_decides),
        cmocka_unit_test(a_wrong_figure_is_refused),
        cmocka_unit_test(a_problem_is_a_picture_where_one_is_asked_for),
        cmocka_unit_test(several_tensors_are_panels),
        cmocka_unit_test(a_figure_has_the_size_that_was_asked_for),
        cmocka_unit_test(a_figure_is_kept_and_has_a_tag),
        cmocka_unit_test(a_range_of_a_figure_is_the_whole),
        cmocka_unit_test(a_head_tells_what_a_get_would),
        cmocka_unit_test(a_legend_has_no_sign_that_values_never_have),
        cmocka_unit_test(a_body_asks_for_a_figure_too),
        cmocka_unit_test(a_large_figure_streams_in_bounded_memory),
    };
    return server_run_tests(tests, sizeof tests / sizeof tests[0], &server, NULL);
}
