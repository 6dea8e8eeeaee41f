/* SPDX-License-Identifier: MIT */
/* test_answers.c - tables and transforms over HTTP: representations, headers, caching. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"
#include "support/wire.h"

#define CANONICAL                                                                                  \
    "/v1/"                                                                                         \
    "sinusoidal?amplitude=1&base=10000&d_model=4&dtype=float32&freq_shift=0&layout=interleaved&"   \
    "numerics=exact&positions=0:3&scale=1"
#define ROWS                                                                                       \
    "\"data\":[[0,1,0,1],[0.84147096,0.5403023,0.009999833,0.99995],"                              \
    "[0.9092974,-0.41614684,0.019998666,0.9998]]}"

static test_server server;

static void the_table_of_the_paper_is_exact_and_well_dressed(void **state)
{
    char timing[128], etag[64];
    reply answer = get(&server, "/v1/sinusoidal?positions=0:3&d_model=4");
    assert_status("paper", &answer, 200);
    if (strstr(answer.body, ROWS) == NULL)
        fail_msg("wanted %s, got %s", ROWS, answer.body);
    assert_header("paper", &answer, "Content-Type", "application/json");
    assert_header("paper", &answer, "Content-Location", CANONICAL);
    assert_header("paper", &answer, "Vary", "Accept, Accept-Encoding");
    assert_header("paper", &answer, "Cache-Control", "public, max-age=31536000, immutable");
    assert_non_null(reply_header(&answer, "Server-Timing", timing, sizeof timing));
    assert_true(strncmp(timing, "cache;desc=", 11) == 0);
    assert_non_null(reply_header(&answer, "ETag", etag, sizeof etag));
    assert_true(etag[0] == '"' && etag[strlen(etag) - 1] == '"' && strlen(etag) >= 18);
    json_decref(reply_json(&answer));
    reply_free(&answer);
}

static void every_spelling_of_a_request_gets_the_same_bytes_and_tag(void **state)
{
    static const char *const targets[] = {
        (CANONICAL),
        "/v1/sinusoidal?d_model=4&positions=0:3",
        "/v1/sinusoidal?d_model=4.0&positions=0:3:1",
        "/v1/sinusoidal?positions=0,1,2&d_model=4",
        "/v1/sinusoidal?%64_model=%34&positions=0%3A3",
        "/v1/sinusoidal?d_model=4&positions=0:3&base=1e4",
        "/v1/sinusoidal?d_model=4&positions=0:3&format=json&encoding_format=float",
        "/%76%31/sinusoidal?d_model=4&positions=0:3",
    };
    static const char *const bodies[] = {
        "{\"d_model\":4,\"positions\":\"0:3\"}",
        "{\"positions\":[0,1,2],\"d_model\":4.0}",
        " {\"positions\" : \"0,1,2\" , \"d_model\":4,\"base\":10000.0,\"layout\":\"interleaved\"}",
    };
    reply first = get(&server, targets[0]);
    char etag[64];
    assert_status(targets[0], &first, 200);
    assert_non_null(reply_header(&first, "ETag", etag, sizeof etag));
    const size_t n_targets = sizeof targets / sizeof targets[0];
    const size_t n_bodies = sizeof bodies / sizeof bodies[0];
    for (size_t i = 0; i < n_targets + n_bodies; i++) {
        for (int repeat = 0; repeat < 2; repeat++) {
            const char *name = i < n_targets ? targets[i] : bodies[i - n_targets];
            reply answer =
                i < n_targets ? get(&server, name) : post_json(&server, "/v1/sinusoidal", name);
            assert_status(name, &answer, 200);
            assert_header(name, &answer, "ETag", etag);
            assert_header(name, &answer, "Content-Location", CANONICAL);
            if (answer.bytes != first.bytes || memcmp(answer.body, first.body, first.bytes) != 0)
                fail_msg("%s: other bytes than %s: %s", name, targets[0], answer.body);
            reply_free(&answer);
        }
    }
    reply_free(&first);
}

/* Content-Location leads to what was sent, whatever Accept says beside format. */
static void the_location_names_the_format_that_was_sent(void **state)
{
    static const char *const csv[] = {"Accept: text/csv", NULL};
    char location[512], etag[64];
    reply answer =
        fetch(&server, "GET", "/v1/sinusoidal?d_model=4&positions=0:3&format=json", csv, NULL, 0);
    assert_header("format", &answer, "Content-Type", "application/json");
    assert_non_null(reply_header(&answer, "Content-Location", location, sizeof location));
    assert_non_null(reply_header(&answer, "ETag", etag, sizeof etag));
    reply again = fetch(&server, "GET", location, csv, NULL, 0);
    assert_header("its location", &again, "ETag", etag);
    assert_int_equal(again.bytes, answer.bytes);
    assert_memory_equal(again.body, answer.body, answer.bytes);
    reply_free(&again);
    reply_free(&answer);
}

static void another_representation_has_another_tag(void **state)
{
    static const char *const targets[] = {
        CANONICAL,
        CANONICAL "&format=raw",
        CANONICAL "&format=npy",
        CANONICAL "&format=csv",
        CANONICAL "&format=safetensors",
        CANONICAL "&encoding_format=base64",
        "/v1/sinusoidal?d_model=4&positions=0:4",
        "/v1/sinusoidal?d_model=4&positions=0:3&dtype=float64",
    };
    enum { N = sizeof targets / sizeof targets[0] };
    char tags[N][64];
    for (size_t i = 0; i < N; i++) {
        reply answer = get(&server, targets[i]);
        assert_status(targets[i], &answer, 200);
        assert_non_null(reply_header(&answer, "ETag", tags[i], sizeof tags[i]));
        for (size_t j = 0; j < i; j++)
            if (strcmp(tags[i], tags[j]) == 0)
                fail_msg("%s and %s share the tag %s", targets[i], targets[j], tags[i]);
        reply_free(&answer);
    }
}

static void raw_answers_tell_shape_and_dtype(void **state)
{
    static const float row[] = {0.84147096F, 0.5403023F, 0.009999833F, 0.99995F};
    for (int repeat = 0; repeat < 2; repeat++) {
        reply answer = get(&server, "/v1/sinusoidal?d_model=4&positions=1:2&format=raw");
        assert_status("raw", &answer, 200);
        assert_header("raw", &answer, "X-Tensor-Shape", "1,4");
        assert_header("raw", &answer, "X-Tensor-Dtype", "float32");
        assert_int_equal(answer.bytes, sizeof row);
        assert_memory_equal(answer.body, row, sizeof row);
        reply_free(&answer);
    }
    reply json = get(&server, "/v1/sinusoidal?d_model=4&positions=1:2");
    assert_header("json", &json, "X-Tensor-Shape", NULL);
    reply_free(&json);
}

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

/* Headers that GET and HEAD must share; Date and ids differ, timings too. */
static const char *const shared[] = {
    "Content-Type",     "ETag",           "Vary",          "Cache-Control",
    "Content-Location", "X-Tensor-Shape", "X-Tensor-Dtype"};

static void head_has_the_headers_of_get_and_no_body(void **state)
{
    static const char *const targets[] = {
        "/v1/sinusoidal?d_model=4&positions=5",
        "/v1/sinusoidal?d_model=4&positions=5&format=raw",
        "/v1/sinusoidal?d_model=256&positions=0:2048&format=raw",
        "/v1/sinusoidal?d_model=256&positions=0:2048&format=npy",
        "/v1/sinusoidal?d_model=256&positions=0:2048",
        "/v1/sinusoidal?d_model=256&positions=0:2048&format=csv",
    };
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        test_wire wire = wire_open(&server);
        reply head = wire_request(&wire, "HEAD", targets[i], NULL, NULL, 0);
        reply answer = get(&server, targets[i]);
        char length[32], said[32];
        assert_status(targets[i], &head, 200);
        assert_status(targets[i], &answer, 200);
        for (size_t h = 0; h < sizeof shared / sizeof shared[0]; h++) {
            char value[1024];
            assert_header(targets[i], &head, shared[h],
                          reply_header(&answer, shared[h], value, sizeof value));
        }
        snprintf(length, sizeof length, "%zu", answer.bytes);
        const char *known = reply_header(&head, "Content-Length", said, sizeof said);
        if (known != NULL) {
            assert_string_equal(known, length);
            reply next = wire_request(&wire, "GET", "/livez", NULL, NULL, 0);
            assert_status("after HEAD", &next, 200); /* nothing stray came before it */
            reply_free(&next);
        } else {
            assert_true(wire_ended(&wire)); /* not a byte of body, not even a last chunk */
        }
        reply_free(&head);
        reply_free(&answer);
        wire_close(&wire);
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

static void a_repetition_is_a_hit(void **state)
{
    static const char target[] = "/v1/sinusoidal?d_model=8&positions=7:11";
    char timing[128];
    reply first = get(&server, target), second = get(&server, target);
    assert_non_null(reply_header(&first, "Server-Timing", timing, sizeof timing));
    assert_true(strncmp(timing, "cache;desc=miss, compute;dur=", 29) == 0);
    assert_non_null(strstr(timing, ", encode;dur="));
    assert_header("second", &second, "Server-Timing", "cache;desc=hit");
    assert_int_equal(first.bytes, second.bytes);
    assert_memory_equal(first.body, second.body, first.bytes);
    reply_free(&first);
    reply_free(&second);
}

static void a_hit_still_echoes_the_id_that_was_sent(void **state)
{
    static const char target[] = "/v1/sinusoidal?d_model=8&positions=20:24";
    for (int repeat = 0; repeat < 3; repeat++) {
        char line[64];
        snprintf(line, sizeof line, "X-Request-Id: client-%d", repeat);
        reply answer = fetch(&server, "GET", target, (const char *const[]){line, NULL}, NULL, 0);
        assert_status(line, &answer, 200);
        assert_header(line, &answer, "X-Request-Id", strchr(line, ' ') + 1);
        reply_free(&answer);
        reply anonymous = get(&server, target);
        char id[160] = "";
        reply_header(&anonymous, "X-Request-Id", id, sizeof id);
        assert_null(strstr(id, "client"));
        reply_free(&anonymous);
    }
}

static void a_transform_is_not_stored_and_has_no_tag(void **state)
{
    for (int repeat = 0; repeat < 2; repeat++) {
        reply answer =
            post_json(&server, "/v1/sinusoidal/add", "{\"embeddings\":[[1,2,3,4],[0,0,0,0]]}");
        assert_status("add", &answer, 200);
        assert_non_null(
            strstr(answer.body, "\"data\":[[1,3,3,5],[0.84147096,0.5403023,0.009999833,0.99995]]"));
        assert_header("add", &answer, "ETag", NULL);
        assert_header("add", &answer, "Cache-Control", "no-store");
        assert_header("add", &answer, "Content-Location", NULL);
        reply_free(&answer);
    }
}

static void a_transform_takes_binary_bodies(void **state)
{
    static const float embeddings[2][4] = {{1, 2, 3, 4}, {0, 0, 0, 0}};
    static const float wanted[2][4] = {{1, 3, 3, 5},
                                       {0.84147096F, 0.5403023F, 0.009999833F, 0.99995F}};
    static const char *const headers[] = {"Content-Type: application/octet-stream",
                                          "X-Tensor-Shape: 2,4", "X-Tensor-Dtype: float32",
                                          "Accept: application/octet-stream", NULL};
    reply answer = fetch(&server, "POST", "/v1/sinusoidal/add?positions=0:2", headers, embeddings,
                         sizeof embeddings);
    assert_status("binary", &answer, 200);
    assert_header("binary", &answer, "X-Tensor-Shape", "2,4");
    assert_int_equal(answer.bytes, sizeof wanted);
    assert_memory_equal(answer.body, wanted, sizeof wanted);
    reply_free(&answer);
}

static void a_long_request_has_no_location_but_the_same_bytes(void **state)
{
    char body[16384], target[16384];
    size_t used = (size_t)snprintf(body, sizeof body, "{\"d_model\":2,\"positions\":[0");
    size_t query = (size_t)snprintf(target, sizeof target, "/v1/sinusoidal?d_model=2&positions=0");
    for (int i = 1; i < 1200; i++) {
        used += (size_t)snprintf(body + used, sizeof body - used, ",%d", i * i % 997);
        query += (size_t)snprintf(target + query, sizeof target - query, ",%d", i * i % 997);
    }
    snprintf(body + used, sizeof body - used, "]}");
    reply posted = post_json(&server, "/v1/sinusoidal", body), got = get(&server, target);
    char etag[64];
    assert_status("posted", &posted, 200);
    assert_status("got", &got, 200);
    assert_header("posted", &posted, "Content-Location", NULL);
    assert_header("posted", &posted, "ETag", reply_header(&got, "ETag", etag, sizeof etag));
    assert_int_equal(posted.bytes, got.bytes);
    assert_memory_equal(posted.body, got.body, got.bytes);
    reply_free(&posted);
    reply_free(&got);
}

/* The number after `name` in /metrics. */
static double metric(const char *name)
{
    reply answer = get(&server, "/metrics");
    return reply_metric(&answer, name);
}

static void hits_misses_and_bytes_are_counted(void **state)
{
    static const char target[] = "/v1/sinusoidal?d_model=10&positions=3:9";
    double hits = metric("posenc_cache_hits_total{cache=\"responses\"}");
    double misses = metric("posenc_cache_misses_total{cache=\"responses\"}");
    double bytes = metric("posenc_cache_bytes{cache=\"responses\"}");
    for (int i = 0; i < 3; i++) {
        reply answer = get(&server, target);
        reply_free(&answer);
    }
    assert_true(metric("posenc_cache_hits_total{cache=\"responses\"}") >= hits + 2);
    assert_true(metric("posenc_cache_misses_total{cache=\"responses\"}") >= misses + 1);
    assert_true(metric("posenc_cache_bytes{cache=\"responses\"}") > bytes);
}

static void assert_ends(const char *name, reply *answer)
{
    char length[32];
    if (answer->bytes == 0 || answer->body[answer->bytes - 1] != '\n')
        fail_msg("%s: no newline ends %.80s", name, answer->body);
    if (reply_header(answer, "Content-Length", length, sizeof length) != NULL)
        assert_int_equal(strtoull(length, NULL, 10), answer->bytes);
    reply_free(answer);
}

/* Small and stored, streamed, base64, of a transform, of a report, of a problem. */
static void a_newline_ends_every_json(void **state)
{
    static const char *const targets[] = {
        "/v1/sinusoidal?d_model=8",
        "/v1/sinusoidal?d_model=8",
        "/v1/sinusoidal?d_model=512&positions=0:20000",
        "/v1/rope/table?head_dim=64&encoding_format=base64&positions=0:2000",
        "/v1/models/llama-3-8b",
        "/v1/nothing",
        "/v1/sinusoidal"};
    for (size_t t = 0; t < PE_LEN(targets); t++) {
        reply answer = get(&server, targets[t]);
        assert_ends(targets[t], &answer);
    }
    reply added = post_json(&server, "/v1/sinusoidal/add", "{\"embeddings\":[[1,2]]}");
    reply report = post_json(&server, "/v1/verify",
                             "{\"encoding\":\"sinusoidal\",\"parameters\":{\"d_model\":2,"
                             "\"positions\":\"0:1\"},\"table\":[[0,1]]}");
    assert_ends("a transform", &added);
    assert_ends("a report", &report);
}

int main(void)
{
    /* Answers up to 4 KiB are kept, those above 1 MiB stream. */
    static const char *const flags[] = {"--response-cache-entry-bytes", "4096", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_newline_ends_every_json),
        cmocka_unit_test(the_table_of_the_paper_is_exact_and_well_dressed),
        cmocka_unit_test(every_spelling_of_a_request_gets_the_same_bytes_and_tag),
        cmocka_unit_test(the_location_names_the_format_that_was_sent),
        cmocka_unit_test(another_representation_has_another_tag),
        cmocka_unit_test(raw_answers_tell_shape_and_dtype),
        cmocka_unit_test(a_tag_that_matches_is_304_before_and_after_computing),
        cmocka_unit_test(any_tag_is_304_with_the_tag_of_the_coding_that_get_has),
        cmocka_unit_test(head_has_the_headers_of_get_and_no_body),
        cmocka_unit_test(a_streamed_answer_holds_the_bytes_of_a_kept_one),
        cmocka_unit_test(http_1_0_gets_an_answer_without_chunks),
        cmocka_unit_test(a_repetition_is_a_hit),
        cmocka_unit_test(a_hit_still_echoes_the_id_that_was_sent),
        cmocka_unit_test(a_transform_is_not_stored_and_has_no_tag),
        cmocka_unit_test(a_transform_takes_binary_bodies),
        cmocka_unit_test(a_long_request_has_no_location_but_the_same_bytes),
        cmocka_unit_test(hits_misses_and_bytes_are_counted),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, flags);
}
