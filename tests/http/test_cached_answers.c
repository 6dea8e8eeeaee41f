/* SPDX-License-Identifier: MIT */
/* test_cached_answers.c - answers that are kept: what their readers may hold, and what counts as
 * one seen before; what a body takes. */
#include "support/check.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/folder.h"
#include "support/problem.h"
#include "support/wire.h"

/* Sanitizers keep what is freed: how much memory there is then tells nothing. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* ---- readers that stall ---- */

/* A reader who takes the first bytes of an answer, and no more. */
static test_wire stall(const test_server *server, const char *target)
{
    char request[240], some[64];
    test_wire wire = wire_open(server);
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", target);
    wire_send_text(&wire, request);
    wire_take(&wire, some, sizeof some);
    assert_memory_equal(some, "HTTP/1.1 200", 12);
    return wire;
}

/* Each reader stalls on an answer of its own, of 12 MB, which would all be kept if there were room:
 * together they are more than four times the budget. */
static void stalled_readers_of_kept_answers_stay_within_the_budget(void **state)
{
    enum { BUDGET_MB = 64, READERS = 24 };
    static const char *const flags[] = {"--response-cache-bytes", "67108864", NULL};
    static const char small[] = "/v1/sinusoidal?d_model=8&positions=0:5";
    test_server server;
    test_wire wires[READERS];
    server_start(&server, flags);
    const long before = server_status_kb(&server, "VmRSS:");
    for (int r = 0; r < READERS; r++) {
        char target[120];
        snprintf(target, sizeof target, "/v1/sinusoidal?d_model=1024&positions=%d:%d&format=raw",
                 r * 3000, r * 3000 + 2930);
        wires[r] = stall(&server, target);
        const long kept = metric_now(&server, "posenc_cache_bytes{cache=\"responses\"}");
        assert_in_range(kept, 0,
                        metric_now(&server, "posenc_cache_max_bytes{cache=\"responses\"}"));
    }
    const long held = metric_now(&server, "posenc_cache_held_bytes{cache=\"responses\"}");
    const long streams = metric_now(&server, "posenc_streams_total");
    const long grown = server_status_kb(&server, "VmRSS:") - before;
    print_message("%ld bytes held, %ld of %d streamed, %ld kB more\n", held, streams, READERS,
                  grown);
    assert_in_range(held, 12000000, BUDGET_MB << 20);
    assert_in_range(streams, 1, READERS - 1);
    assert_true(metric_now(&server, "posenc_cache_rejected_total{cache=\"responses\"}") >= streams);
    assert_int_equal(metric_now(&server, "posenc_cache_loose_bytes{cache=\"responses\"}"), 0);
    if (!SANITIZED)
        assert_in_range(grown < 0 ? 0 : grown, 0, (BUDGET_MB + 8) * 1024);

    for (int repeat = 0; repeat < 2; repeat++) { /* small ones are kept all the same */
        reply answer = get(&server, small);
        assert_status(small, &answer, 200);
        if (repeat == 1)
            assert_header(small, &answer, "Server-Timing", "cache;desc=hit");
        reply_free(&answer);
    }
    for (int r = 0; r < READERS; r++)
        wire_close(&wires[r]);
    metric_wait(&server, "posenc_connections", 1, 1); /* they have been dealt with */
    assert_int_equal(metric_now(&server, "posenc_cache_held_bytes{cache=\"responses\"}"), 0);
    server_end(&server);
}

/* Ranges on several axes are held as ranges: a table of a gigabyte whose reader stalls costs a
 * buffer, not its six million positions, 48 MB for each reader. */
static void stalled_readers_of_positions_on_several_axes_hold_little(void **state)
{
    enum { READERS = 16 };
    test_server server;
    test_wire wires[READERS];
    server_start(&server, NULL);
    reply warm =
        get(&server, "/v1/rope/table?head_dim=128&mrope_section=16,24,24&positions=0:3;0:3;"
                     "0:3&format=safetensors");
    assert_status("warm", &warm, 200);
    reply_free(&warm);
    const long before = server_status_kb(&server, "VmHWM:");
    for (int r = 0; r < READERS; r++) {
        char target[200];
        snprintf(target, sizeof target,
                 "/v1/rope/table?head_dim=128&mrope_section=16,24,24&positions=0:2097152;"
                 "0:2097152;%d:%d&format=safetensors",
                 r, r + 2097152);
        wires[r] = stall(&server, target);
    }
    const long grown = server_status_kb(&server, "VmHWM:") - before;
    print_message("%d readers, %ld kB more\n", READERS, grown);
    if (!SANITIZED)
        assert_in_range(grown, 0, 48 * 1024);
    for (int r = 0; r < READERS; r++)
        wire_close(&wires[r]);
    server_end(&server);
}

/* Nothing is held for positions that cannot be: 100 million would take 800 MB. */
static void positions_on_several_axes_are_refused_before_any_is_held(void **state)
{
    static const struct refused {
        const char *target, *body, *detail;
    } refused[] = {
        {"/v1/sinusoidal?d_model=2&positions=0:100000000;5&format=raw", NULL, "one axis, got 2"},
        {"/v1/sinusoidal?d_model=2&positions=0:100000000;0:100000000", NULL, "one axis, got 2"},
        {"/v1/rope/table?head_dim=8&mrope_section=1,1,2&positions=0:80000000;0:80000000;5", NULL,
         "the same number of positions on every axis"},
        {"/v1/rope/table?head_dim=8&mrope_section=1,1,2&positions=0:100000000;0:100000000", NULL,
         "a row for each of the 3 axes, got 2"},
        {"/v1/rope/table?head_dim=8&positions=0:100000000;0:100000000", NULL, "positions"},
        {"/v1/rope/grid?head_dim=8&positions=0:60000000;0:60000000;0:60000000", NULL, "[2, n]"},
        {"/v1/rope/rotate", "{\"q\":[[1,2]],\"positions\":\"0:100000000;5\"}",
         "the same number of positions on every axis"},
        {"/v1/rope/rotate", "{\"q\":[[1,2]],\"positions\":\"0:100000000;0:100000000\"}",
         "[batch, "},
        {"/v1/sinusoidal/add", "{\"embeddings\":[[1,2]],\"positions\":\"0:90000000;0:90000000\"}",
         "90000000 positions, 1 tokens"},
        {"/v1/learned/two/lookup", "{\"positions\":\"0:100000000\"}", "between 0 and 1"},
        {"/v1/learned/two/add", "{\"embeddings\":[[1,2]],\"positions\":\"0:90000000;0:90000000\"}",
         "between 0 and 1"},
    };
    test_server server;
    const test_folder tables = folder_make();
    folder_put_npy(&tables, "two.npy", PE_FLOAT32, 2, 2, (const double[]){0, 1, 2, 3});
    server_start(&server, (const char *const[]){"--learned-dir", tables.path, NULL});
    reply small = post_json(&server, "/v1/sinusoidal/add", "{\"embeddings\":[[1,2]]}");
    assert_status("small", &small, 200);
    reply_free(&small);
    const long before = server_status_kb(&server, "VmHWM:");
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const struct refused *row = &refused[i];
        reply answer = row->body != NULL ? post_json(&server, row->target, row->body)
                                         : get(&server, row->target);
        assert_status(row->target, &answer, 422);
        if (strstr(answer.body, row->detail) == NULL)
            fail_msg("%s: %s, wanted \"%s\"", row->target, answer.body, row->detail);
        reply_free(&answer);
    }
    const long grown = server_status_kb(&server, "VmHWM:") - before;
    print_message("%ld kB more\n", grown);
    if (!SANITIZED)
        assert_in_range(grown, 0, 16 * 1024);
    server_end(&server);
    folder_remove(&tables);
}

/* The bytes are the same, kept or not, coded or not: two servers of other settings have one tag. */
static void what_finds_no_room_is_the_same_answer(void **state)
{
    static const char *const codings[] = {"identity", "gzip", "zstd", "gzip, zstd"};
    static const char *const targets[] = {
        "/v1/sinusoidal?d_model=64&positions=0:64&format=raw",
        "/v1/sinusoidal?d_model=64&positions=0:512&format=npy",
        "/v1/sinusoidal?d_model=256&positions=0:512",
        "/v1/rope/table?head_dim=128&positions=0:1500&format=csv", /* a few megabytes */
        "/v1/alibi/bias?num_heads=8&query_length=400",             /* rows that repeat each other */
        "/v1/sinusoidal?d_model=64&positions=0:64&format=svg",
    };
    static const char *const off[] = {"--response-cache-bytes", "0", NULL};
    test_server server, other;
    server_start(&server, NULL);
    server_start(&other, off);
    for (size_t i = 0; i < PE_LEN(targets) * PE_LEN(codings); i++) {
        char tag[64], coding[64], field[64];
        const char *target = targets[i / PE_LEN(codings)];
        snprintf(field, sizeof field, "Accept-Encoding: %s", codings[i % PE_LEN(codings)]);
        const char *const fields[] = {field, NULL};
        reply kept = fetch(&server, "GET", target, fields, NULL, 0);
        reply not_kept = fetch(&other, "GET", target, fields, NULL, 0);
        assert_status(target, &kept, 200);
        assert_status(target, &not_kept, 200);
        assert_int_equal(kept.bytes, not_kept.bytes);
        assert_memory_equal(kept.body, not_kept.body, kept.bytes);
        assert_header(target, &not_kept, "ETag", reply_header(&kept, "ETag", tag, sizeof tag));
        const char *named = reply_header(&kept, "Content-Encoding", coding, sizeof coding);
        if (named != NULL)
            assert_header(target, &not_kept, "Content-Encoding", named);
        reply_free(&kept);
        reply_free(&not_kept);
    }
    server_end(&server);
    server_end(&other);
}

/* ---- seen before ---- */

/* As long as targets may be by default. */
static void the_longest_target_is_known_when_it_comes_again(void **state)
{
    enum { LONGEST = 8192 };
    static char target[LONGEST + 1] = "/v1/sinusoidal?d_model=2&format=raw&positions=";
    test_server server;
    server_start(&server, NULL);
    size_t bytes = strlen(target);
    for (unsigned i = 0; bytes + 10 <= LONGEST; i++)
        bytes += (size_t)snprintf(target + bytes, sizeof target - bytes, "%u,", i * i % 99991);
    memset(target + bytes, '1', LONGEST - bytes);
    for (int repeat = 0; repeat < 3; repeat++) {
        reply answer = get(&server, target);
        assert_status("the longest target", &answer, 200);
        reply_free(&answer);
        assert_int_equal(metric_now(&server, "posenc_warm_hits_total"), repeat);
    }
    server_end(&server);
}

/* The cache has hardly room for the bytes of an answer, coded or not: it is sent all the same. */
static void what_hardly_finds_room_is_answered(void **state)
{
    static const char *const flags[] = {
        "--response-cache-bytes", "4194304", "--response-cache-entry-bytes", "4194304",
        "--code-binary",          NULL};
    static const char *const gzip[] = {"Accept-Encoding: gzip", NULL};
    test_server server;
    server_start(&server, flags);
    for (int rows = 3550; rows < 3860; rows += 10) { /* of 256 bytes: about a quarter of the room */
        char target[120];
        snprintf(target, sizeof target, "/v1/sinusoidal?d_model=64&positions=0:%d&format=raw",
                 rows);
        reply answer = fetch(&server, "GET", target, gzip, NULL, 0);
        assert_status(target, &answer, 200);
        reply_free(&answer);
    }
    server_end(&server);
}

/* A coded answer is coded once; the next request in that coding is a hit that nobody reads. */
static void a_coded_answer_is_kept_and_hit(void **state)
{
    static const char target[] = "/v1/sinusoidal?d_model=64&positions=0:64";
    static const char *const gzip[] = {"Accept-Encoding: gzip", NULL};
    static const char *const again[] = {"Accept-Encoding: gzip;q=1", NULL};
    test_server server;
    reply answers[3];
    server_start(&server, NULL);
    for (int i = 0; i < 3; i++) { /* the third is written otherwise, so that it is read */
        answers[i] = fetch(&server, "GET", target, i < 2 ? gzip : again, NULL, 0);
        assert_status(target, &answers[i], 200);
        assert_header(target, &answers[i], "Content-Encoding", "gzip");
        if (i > 0)
            assert_header(target, &answers[i], "Server-Timing", "cache;desc=hit");
        assert_int_equal(answers[i].bytes, answers[0].bytes);
        assert_memory_equal(answers[i].body, answers[0].body, answers[0].bytes);
        assert_int_equal(metric_now(&server, "posenc_warm_hits_total"), i == 0 ? 0 : 1);
        assert_int_equal(metric_now(&server, "posenc_cache_misses_total{cache=\"responses\"}"), 1);
        assert_int_equal(metric_now(&server, "posenc_cache_entries{cache=\"responses\"}"), 1);
    }
    for (int i = 0; i < 3; i++)
        reply_free(&answers[i]);
    server_end(&server);
}

/* Where length and tag come from the plan. */
static void a_head_of_a_known_length_computes_nothing(void **state)
{
    static const char *const targets[] = {"/v1/sinusoidal?d_model=64&positions=0:64&format=raw",
                                          "/v1/sinusoidal?d_model=64&positions=0:64&format=npy"};
    static const char misses[] = "posenc_cache_misses_total{cache=\"responses\"}";
    test_server server;
    server_start(&server, NULL);
    for (size_t t = 0; t < PE_LEN(targets); t++) {
        char length[32], tag[96];
        reply head = fetch(&server, "HEAD", targets[t], NULL, NULL, 0);
        assert_status(targets[t], &head, 200);
        assert_int_equal(metric_now(&server, misses), t);
        assert_int_equal(metric_now(&server, "posenc_cache_entries{cache=\"responses\"}"), t);
        reply answer = get(&server, targets[t]);
        assert_int_equal(metric_now(&server, misses), t + 1);
        assert_header(targets[t], &head, "Content-Length",
                      reply_header(&answer, "Content-Length", length, sizeof length));
        assert_header(targets[t], &head, "ETag", reply_header(&answer, "ETag", tag, sizeof tag));
        reply_free(&head);
        reply_free(&answer);
    }
    server_end(&server);
}

/* The whole is hashed when a digest is first wanted; who wants it again is not even read. */
static void a_kept_answer_is_hashed_once(void **state)
{
    static const char target[] = "/v1/sinusoidal?d_model=64&positions=0:64";
    static const struct {
        const char *method, *headers[3];
        long digests, warm_hits;
    } asked[] = {
        {"GET", {NULL}, 0, 0},
        {"HEAD", {"Want-Repr-Digest: sha-256=1"}, 1, 0},
        {"HEAD", {"Want-Repr-Digest: sha-256=1"}, 1, 1},
        {"GET", {"Want-Repr-Digest: sha-256=1"}, 1, 2},
        {"GET", {"Want-Repr-Digest: sha-256=1", "Range: bytes=1-3"}, 1, 2},
        {"GET", {"Want-Repr-Digest: sha-256=1", "Accept-Encoding: gzip"}, 2, 2},
        {"HEAD", {"Want-Repr-Digest: sha-256=1", "Accept-Encoding: gzip"}, 2, 3},
        {"GET", {NULL}, 2, 4},
    };
    char digest[2][96];
    test_server server;
    server_start(&server, NULL);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        reply answer = fetch(&server, asked[i].method, target, asked[i].headers, NULL, 0);
        const bool coded = asked[i].digests == 2;
        const bool first = i == 1 || i == 5;
        char got[96];
        if (asked[i].headers[0] == NULL) {
            assert_header(target, &answer, "Repr-Digest", NULL);
        } else {
            assert_non_null(reply_header(&answer, "Repr-Digest", got, sizeof got));
            if (first)
                memcpy(digest[coded], got, sizeof got);
            assert_string_equal(got, digest[coded]);
        }
        assert_int_equal(metric_now(&server, "posenc_digests_total"), asked[i].digests);
        assert_int_equal(metric_now(&server, "posenc_warm_hits_total"), asked[i].warm_hits);
        reply_free(&answer);
    }
    assert_string_not_equal(digest[0], digest[1]);
    server_end(&server);
}

/* ---- memory of bodies ---- */

/* JSON numbers become elements as they are read: beside the body and the result there is little. */
static void a_large_json_body_takes_little_beside_itself_and_the_result(void **state)
{
    enum { CHANNELS = 128, ROWS = 8800, DIGITS = 11 };
    static const char head[] = "{\"format\":\"raw\",\"embeddings\":[";
    if (SANITIZED)
        skip();
    test_server server;
    server_start(&server, NULL);
    const size_t room = sizeof head + (size_t)ROWS * (CHANNELS * DIGITS + 2) + 2;
    char *body = malloc(room);
    assert_non_null(body);
    size_t bytes = strlen(head);
    memcpy(body, head, bytes);
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < CHANNELS; c++)
            bytes += (size_t)snprintf(body + bytes, room - bytes, "%c0.%08d", c == 0 ? '[' : ',',
                                      (r * 7919 + c * 104729) % 99999999);
        body[bytes++] = ']';
        body[bytes++] = r + 1 < ROWS ? ',' : ']';
    }
    body[bytes++] = '}';
    reply small = post_json(&server, "/v1/sinusoidal/add", "{\"embeddings\":[[1,2]]}");
    assert_status("small", &small, 200);
    reply_free(&small);
    const long before = server_status_kb(&server, "VmHWM:");
    const char *const json[] = {"Content-Type: application/json", NULL};
    reply answer = fetch(&server, "POST", "/v1/sinusoidal/add", json, body, bytes);
    assert_status("12.5 MB", &answer, 200);
    assert_int_equal(answer.bytes, (size_t)ROWS * CHANNELS * sizeof(float));
    const long grown = server_status_kb(&server, "VmHWM:") - before;
    const double beside = ((double)grown * 1024 - (double)answer.bytes) / (double)bytes - 1;
    print_message("a body of %zu bytes: the result, the body and %.2f of it\n", bytes, beside);
    assert_true(beside < 0.5);
    reply_free(&answer);
    free(body);
    server_end(&server);
}

/* Bodies that grow side by side lie in the allocator's heaps; once their clients have left, these
 * are given back to the system within seconds. */
static void what_a_burst_of_bodies_took_is_given_back(void **state)
{
    enum { CLIENTS = 200, BYTES = 900000 };
    static const char *const flags[] = {"--request-deadline-ms", "300000", NULL};
    static const char head[] = "POST /v1/sinusoidal/add HTTP/1.1\r\nHost: a\r\n"
                               "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    static char part[BYTES];
    if (SANITIZED)
        skip();
    test_server server;
    test_wire wires[CLIENTS];
    server_start(&server, flags);
    memset(part, ' ', sizeof part);
    const long before = server_status_kb(&server, "VmRSS:");
    for (int round = 0; round < 3; round++) {
        for (int c = 0; c < CLIENTS; c++) {
            wires[c] = wire_open(&server);
            wire_send_text(&wires[c], head);
        }
        for (int c = 0; c < CLIENTS; c++)
            assert_true(wire_send(&wires[c], part, sizeof part));
        metric_wait(&server, "posenc_body_bytes", (long)CLIENTS * BYTES, LONG_MAX);
        assert_true(server_status_kb(&server, "VmRSS:") - before > 100 * 1024);
        for (int c = 0; c < CLIENTS; c++)
            wire_close(&wires[c]);
        metric_wait(&server, "posenc_connections", 1, 1); /* they have been dealt with */
    }
    long grown = LONG_MAX;
    for (int tenths = 0; tenths < 10 * TEST_PATIENCE && grown > 40 * 1024; tenths++) {
        poll(NULL, 0, 100);
        grown = server_status_kb(&server, "VmRSS:") - before;
    }
    print_message("%ld kB more than before\n", grown);
    assert_true(grown <= 40 * 1024);
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stalled_readers_of_kept_answers_stay_within_the_budget),
        cmocka_unit_test(stalled_readers_of_positions_on_several_axes_hold_little),
        cmocka_unit_test(positions_on_several_axes_are_refused_before_any_is_held),
        cmocka_unit_test(what_finds_no_room_is_the_same_answer),
        cmocka_unit_test(what_hardly_finds_room_is_answered),
        cmocka_unit_test(a_coded_answer_is_kept_and_hit),
        cmocka_unit_test(a_head_of_a_known_length_computes_nothing),
        cmocka_unit_test(a_kept_answer_is_hashed_once),
        cmocka_unit_test(a_large_json_body_takes_little_beside_itself_and_the_result),
        cmocka_unit_test(what_a_burst_of_bodies_took_is_given_back),
        cmocka_unit_test(the_longest_target_is_known_when_it_comes_again),
    };
    return cmocka_run_group_tests_name("http kept", tests, NULL, NULL);
}
