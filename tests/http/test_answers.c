/* SPDX-License-Identifier: MIT */
/* test_answers.c - tags, streams and counts of tables over HTTP; the rest is cases/representations.json. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"
#include "support/wire.h"

static test_server server;

static void a_tag_that_matches_is_304_before_and_after_computing(void **state)
{
    static const char target[] = "/v1/sinusoidal?d_model=6&positions=0:3";
    char etag[64], lines[4][256];
    reply answer = get(&server, target);
    assert_non_null(reply_header(&answer, "ETag", etag, sizeof etag));
    snprintf(lines[0], sizeof lines[0], "If-None-Match: %s", etag);
    snprintf(lines[1], sizeof lines[1], "If-None-Match: W/%s", etag);
    snprintf(lines[2], sizeof lines[2], "If-None-Match: \"a,b\" ,W/\"c\", %s", etag);
    snprintf(lines[3], sizeof lines[3], "If-None-Match: *");
    for (size_t i = 0; i < 4; i++) {
        static const char *const methods[] = {"GET", "HEAD"};
        for (size_t m = 0; m < 2; m++) {
            const char *const headers[] = {lines[i], NULL};
            /* The same table, seen before, and spelled as nobody has before. */
            char fresh[128];
            snprintf(fresh, sizeof fresh, "%s&scale=1.%0*d", target, (int)(2 * i + m + 1), 0);
            const char *const targets[] = {target, fresh};
            for (size_t t = 0; t < 2; t++) {
                reply again = fetch(&server, methods[m], targets[t], headers, NULL, 0);
                assert_status(lines[i], &again, 304);
                assert_int_equal(again.bytes, 0);
                assert_header(lines[i], &again, "ETag", etag);
                assert_header(lines[i], &again, "Vary", "Accept, Accept-Encoding");
                assert_header(lines[i], &again, "Cache-Control",
                              "public, max-age=31536000, immutable");
                reply_free(&again);
            }
        }
    }
    static const char *const others[] = {"If-None-Match: \"x\"", "If-None-Match: nonsense",
                                         "If-None-Match: \"x\", *", "If-None-Match:"};
    for (size_t i = 0; i < 4; i++) {
        const char *const headers[] = {others[i], NULL};
        reply again = fetch(&server, "GET", target, headers, NULL, 0);
        assert_status(others[i], &again, 200);
        reply_free(&again);
    }
    reply_free(&answer);
}

/* Asked before and after the answer was made, whichever coding its content decides. */
static void any_tag_is_304_with_the_tag_of_the_coding_that_get_has(void **state)
{
    static const char *const targets[] = {"/v1/sinusoidal?d_model=6&positions=7:9",
                                          "/v1/sinusoidal?d_model=64&positions=7:99",
                                          "/v1/sinusoidal?d_model=64&positions=7:20000",
                                          "/v1/sinusoidal?d_model=64&positions=7:99&format=raw"};
    static const char *const codings[] = {"Accept-Encoding: identity", "Accept-Encoding: gzip",
                                          "Accept-Encoding: gzip, zstd"};
    for (size_t t = 0; t < PE_LEN(targets); t++)
        for (size_t c = 0; c < PE_LEN(codings); c++) {
            char etag[64];
            const char *const any[] = {codings[c], "If-None-Match: *", NULL};
            reply before = fetch(&server, "GET", targets[t], any, NULL, 0);
            const char *const plain[] = {codings[c], NULL};
            reply answer = fetch(&server, "GET", targets[t], plain, NULL, 0);
            reply after = fetch(&server, "GET", targets[t], any, NULL, 0);
            assert_status(codings[c], &answer, 200);
            assert_non_null(reply_header(&answer, "ETag", etag, sizeof etag));
            assert_status(codings[c], &before, 304);
            assert_status(codings[c], &after, 304);
            assert_header(targets[t], &before, "ETag", etag);
            assert_header(targets[t], &after, "ETag", etag);
            assert_int_equal(before.bytes + after.bytes, 0);
            reply_free(&before);
            reply_free(&answer);
            reply_free(&after);
        }
}

static void a_streamed_answer_holds_the_bytes_of_a_kept_one(void **state)
{
    test_server keeps;
    server_start(&keeps, NULL);
    static const char *const targets[] = {
        "/v1/sinusoidal?d_model=256&positions=0:2048",
        "/v1/sinusoidal?d_model=256&positions=0:2048&format=raw",
        "/v1/sinusoidal?d_model=256&positions=0:2048&format=npy",
        "/v1/sinusoidal?d_model=256&positions=0:2048&format=csv",
        "/v1/sinusoidal?d_model=256&positions=0:2048&format=safetensors",
        "/v1/sinusoidal?d_model=256&positions=0:2048&encoding_format=base64",
        "/v1/sinusoidal?d_model=512&positions=-600:600&format=raw",
    };
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        reply streamed = get(&server, targets[i]), kept = get(&keeps, targets[i]);
        char etag[64];
        assert_status(targets[i], &streamed, 200);
        assert_status(targets[i], &kept, 200);
        assert_true(kept.bytes > 4096);
        if (kept.bytes != streamed.bytes || memcmp(kept.body, streamed.body, kept.bytes) != 0)
            fail_msg("%s: %zu bytes streamed, %zu kept, or they differ", targets[i], streamed.bytes,
                     kept.bytes);
        assert_header(targets[i], &streamed, "ETag",
                      reply_header(&kept, "ETag", etag, sizeof etag));
        reply_free(&streamed);
        reply_free(&kept);
    }
    server_end(&keeps);
}

static void http_1_0_gets_an_answer_without_chunks(void **state)
{
    reply modern = get(&server, "/v1/sinusoidal?d_model=256&positions=0:2048");
    test_wire wire = wire_open(&server);
    wire_send_text(&wire, "GET /v1/sinusoidal?d_model=256&positions=0:2048 HTTP/1.0\r\n\r\n");
    reply old = wire_answer(&wire, false);
    assert_header("HTTP/1.1", &modern, "Transfer-Encoding", "chunked");
    assert_header("HTTP/1.0", &old, "Transfer-Encoding", NULL);
    assert_int_equal(old.bytes, modern.bytes);
    assert_memory_equal(old.body, modern.body, old.bytes);
    reply_free(&modern);
    reply_free(&old);
    wire_close(&wire);
}

static void hits_misses_and_bytes_are_counted(void **state)
{
    static const char target[] = "/v1/sinusoidal?d_model=10&positions=3:9";
    long hits = metric_now(&server, "posenc_cache_hits_total{cache=\"responses\"}");
    long misses = metric_now(&server, "posenc_cache_misses_total{cache=\"responses\"}");
    long bytes = metric_now(&server, "posenc_cache_bytes{cache=\"responses\"}");
    for (int i = 0; i < 3; i++) {
        reply answer = get(&server, target);
        reply_free(&answer);
    }
    assert_true(metric_now(&server, "posenc_cache_hits_total{cache=\"responses\"}") >= hits + 2);
    assert_true(metric_now(&server, "posenc_cache_misses_total{cache=\"responses\"}") >=
                misses + 1);
    assert_true(metric_now(&server, "posenc_cache_bytes{cache=\"responses\"}") > bytes);
}

int main(void)
{
    /* Answers up to 4 KiB are kept, those above 1 MiB stream. */
    static const char *const flags[] = {"--response-cache-entry-bytes", "4096", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tag_that_matches_is_304_before_and_after_computing),
        cmocka_unit_test(any_tag_is_304_with_the_tag_of_the_coding_that_get_has),
        cmocka_unit_test(a_streamed_answer_holds_the_bytes_of_a_kept_one),
        cmocka_unit_test(http_1_0_gets_an_answer_without_chunks),
        cmocka_unit_test(hits_misses_and_bytes_are_counted),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, flags);
}
