/* SPDX-License-Identifier: MIT */
/* test_partial.c - ranges, content codings and digests of answers; what is chosen by header fields
 * alone is cases/codings.json. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <zlib.h>
#include <zstd.h>

#include "base/array.h"
#include "support/problem.h"
#include "support/wire.h"

/* Kept in the cache; rendered for each request; streamed. */
#define KEPT   "/v1/sinusoidal?d_model=8&positions=0:64&format=raw"
#define WHOLE  "/v1/sinusoidal?d_model=64&positions=0:512&format=npy"
#define STREAM "/v1/sinusoidal?d_model=512&positions=0:2048&format=raw"
#define NESTED "/v1/sinusoidal?d_model=64&positions=0:64"

static test_server server;

static reply get_with(const char *method, const char *target, const char *first, const char *second)
{
    const char *const headers[] = {first, first != NULL ? second : NULL, NULL};
    return fetch(&server, method, target, headers, NULL, 0);
}

/* ---- ranges ---- */

static void assert_part(const char *target, const char *range, const reply *whole, size_t first,
                        size_t last)
{
    char content_range[96], etag[64];
    reply part = get_with("GET", target, range, NULL);
    assert_status(range, &part, 206);
    snprintf(content_range, sizeof content_range, "bytes %zu-%zu/%zu", first, last, whole->bytes);
    assert_header(range, &part, "Content-Range", content_range);
    assert_header(range, &part, "Accept-Ranges", "bytes");
    assert_header(range, &part, "ETag", reply_header(whole, "ETag", etag, sizeof etag));
    if (part.bytes != last - first + 1 || memcmp(part.body, whole->body + first, part.bytes) != 0)
        fail_msg("%s of %s: got %zu bytes, or others than asked for", range, target, part.bytes);
    reply_free(&part);
}

static void a_range_is_that_part_of_the_whole(void **state)
{
    static const char *const targets[] = {KEPT, WHOLE, STREAM};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        for (int repeat = 0; repeat < 2; repeat++) { /* first with nothing kept */
            reply whole = {0};
            if (repeat == 0) {
                test_server other;
                server_start(&other, NULL);
                whole = get(&other, targets[i]);
                server_end(&other);
            } else {
                whole = get(&server, targets[i]);
            }
            size_t n = whole.bytes;
            char line[96];
            assert_status(targets[i], &whole, 200);
            assert_header(targets[i], &whole, "Accept-Ranges", "bytes");
            assert_part(targets[i], "Range: bytes=0-0", &whole, 0, 0);
            assert_part(targets[i], "Range: bytes=1-130", &whole, 1, 130);
            assert_part(targets[i], "Range: bytes=1000-", &whole, 1000, n - 1);
            assert_part(targets[i], "Range: bytes=-7", &whole, n - 7, n - 1);
            assert_part(targets[i], "Range: bytes=-99999999999999999999999", &whole, 0, n - 1);
            assert_part(targets[i], "Range: bytes=5-99999999999999999999999", &whole, 5, n - 1);
            assert_part(targets[i], "Range: BYTES=5-6", &whole, 5, 6);
            snprintf(line, sizeof line, "Range: bytes=%zu-%zu", n - 1, n - 1);
            assert_part(targets[i], line, &whole, n - 1, n - 1);
            snprintf(line, sizeof line, "Range: bytes=%zu-%zu", n / 2 - 1, n / 2 + 333);
            assert_part(targets[i], line, &whole, n / 2 - 1, n / 2 + 333);
            reply_free(&whole);
        }
    }
}

static void if_range_holds_for_the_strong_tag_only(void **state)
{
    char etag[64], right[96], weak[96];
    reply whole = get(&server, KEPT);
    assert_non_null(reply_header(&whole, "ETag", etag, sizeof etag));
    snprintf(right, sizeof right, "If-Range: %s", etag);
    snprintf(weak, sizeof weak, "If-Range: W/%s", etag);
    const struct {
        const char *condition;
        long status;
    } cases[] = {
        {right, 206},
        {weak, 200},
        {"If-Range: \"other\"", 200},
        {"If-Range: Wed, 21 Oct 2015 07:28:00 GMT", 200},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reply answer = get_with("GET", KEPT, "Range: bytes=0-3", cases[i].condition);
        assert_status(cases[i].condition, &answer, cases[i].status);
        assert_int_equal(answer.bytes, cases[i].status == 206 ? 4 : whole.bytes);
        reply_free(&answer);
    }
    reply_free(&whole);
}

/* ---- codings ---- */

/* The content of a coded answer, to be freed; fails the test when it does not decode. */
static char *decoded(const reply *answer, const char *coding, size_t *bytes)
{
    const size_t room = (size_t)64 << 20;
    char *out = malloc(room);
    assert_non_null(out);
    if (strcmp(coding, "zstd") == 0) {
        *bytes = ZSTD_decompress(out, room, answer->body, answer->bytes);
        assert_false(ZSTD_isError(*bytes));
        return out;
    }
    z_stream stream = {.next_in = (unsigned char *)answer->body,
                       .avail_in = (unsigned)answer->bytes,
                       .next_out = (unsigned char *)out,
                       .avail_out = (unsigned)room};
    assert_int_equal(inflateInit2(&stream, 31), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    *bytes = stream.total_out;
    inflateEnd(&stream);
    return out;
}

static void coded_answers_decode_to_the_plain_bytes(void **state)
{
    static const char *const targets[] = {
        NESTED,                                                  /* kept */
        "/v1/sinusoidal?d_model=64&positions=0:600",             /* rendered each time */
        "/v1/sinusoidal?d_model=64&positions=0:64&format=csv",   /* text of another kind */
        "/v1/alibi/bias?num_heads=4&query_length=50&format=raw", /* binary, compressible */
        "/v1/sinusoidal?d_model=512&positions=0:1000",           /* coded while it is made */
        "/v1/alibi/bias?num_heads=4&query_length=900&format=raw",
    };
    static const char *const codings[] = {"gzip", "zstd"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        reply plain = get(&server, targets[i]);
        char tags[3][64];
        assert_header(targets[i], &plain, "Content-Encoding", NULL);
        assert_non_null(reply_header(&plain, "ETag", tags[2], sizeof tags[2]));
        for (size_t c = 0; c < 2; c++) {
            for (int repeat = 0; repeat < 2; repeat++) {
                char line[64];
                size_t bytes;
                snprintf(line, sizeof line, "Accept-Encoding: %s", codings[c]);
                reply coded = get_with("GET", targets[i], line, NULL);
                assert_status(targets[i], &coded, 200);
                assert_header(targets[i], &coded, "Content-Encoding", codings[c]);
                assert_header(targets[i], &coded, "Vary", "Accept, Accept-Encoding");
                assert_header(targets[i], &coded, "Accept-Ranges", NULL);
                assert_non_null(reply_header(&coded, "ETag", tags[c], sizeof tags[c]));
                assert_true(coded.bytes <= plain.bytes - plain.bytes / 5);
                char *content = decoded(&coded, codings[c], &bytes);
                assert_int_equal(bytes, plain.bytes);
                assert_memory_equal(content, plain.body, bytes);
                free(content);
                reply_free(&coded);
            }
        }
        assert_string_not_equal(tags[0], tags[1]);
        assert_string_not_equal(tags[0], tags[2]);
        assert_string_not_equal(tags[1], tags[2]);
        reply_free(&plain);
    }
}

static void documents_are_coded_and_have_a_tag_of_each_coding(void **state)
{
    static const char *const targets[] = {"/openapi.json", "/openapi.yaml", "/v1", "/v1/models"};
    static const char *const vary[] = {"Accept-Encoding", "Accept-Encoding",
                                       "Accept, Accept-Encoding", "Accept-Encoding"};
    static const char *const codings[] = {"gzip", "zstd"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        reply plain = get(&server, targets[i]);
        assert_header(targets[i], &plain, "Content-Encoding", NULL);
        assert_header(targets[i], &plain, "Vary", vary[i]);
        for (size_t c = 0; c < 2; c++) {
            char line[64], condition[96], tag[64], plain_tag[64];
            size_t bytes;
            snprintf(line, sizeof line, "Accept-Encoding: %s", codings[c]);
            reply coded = get_with("GET", targets[i], line, NULL);
            assert_status(targets[i], &coded, 200);
            assert_header(targets[i], &coded, "Content-Encoding", codings[c]);
            assert_header(targets[i], &coded, "Vary", vary[i]);
            assert_true(coded.bytes < plain.bytes / 4);
            char *content = decoded(&coded, codings[c], &bytes);
            assert_int_equal(bytes, plain.bytes);
            assert_memory_equal(content, plain.body, bytes);
            assert_non_null(reply_header(&coded, "ETag", tag, sizeof tag));
            assert_non_null(reply_header(&plain, "ETag", plain_tag, sizeof plain_tag));
            assert_string_not_equal(tag, plain_tag);
            snprintf(condition, sizeof condition, "If-None-Match: %s", tag);
            reply same = get_with("GET", targets[i], line, condition);
            assert_status(targets[i], &same, 304);
            assert_header(targets[i], &same, "ETag", tag);
            reply other = get_with("GET", targets[i], condition, NULL);
            assert_status(targets[i], &other, 200);
            free(content);
            reply_free(&coded);
            reply_free(&same);
            reply_free(&other);
        }
        reply_free(&plain);
    }
}

static void what_hardly_shrinks_goes_out_as_it_is(void **state)
{
    static const char *const targets[] = {
        "/v1/sinusoidal?d_model=4&positions=0",                                   /* tiny */
        "/v1/sinusoidal?d_model=64&positions=1000:1064&dtype=float64&format=raw", /* noise */
        STREAM,                                                                   /* at length */
    };
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        for (int repeat = 0; repeat < 2; repeat++) {
            char etag[64];
            reply plain = get(&server, targets[i]);
            reply answer = get_with("GET", targets[i], "Accept-Encoding: gzip", NULL);
            assert_header(targets[i], &answer, "Content-Encoding", NULL);
            assert_header(targets[i], &answer, "ETag",
                          reply_header(&plain, "ETag", etag, sizeof etag));
            assert_int_equal(answer.bytes, plain.bytes);
            reply_free(&answer);
            reply_free(&plain);
        }
    }
}

static void a_tag_matches_in_the_coding_that_it_was_given_for(void **state)
{
    static const char *const lines[] = {"Accept-Encoding: gzip", "Accept-Encoding: zstd",
                                        "Accept-Encoding: identity"};
    for (size_t i = 0; i < 3; i++) {
        char etag[64], condition[96];
        reply answer = get_with("GET", NESTED, lines[i], NULL);
        assert_non_null(reply_header(&answer, "ETag", etag, sizeof etag));
        snprintf(condition, sizeof condition, "If-None-Match: %s", etag);
        for (size_t j = 0; j < 3; j++) {
            reply again = get_with("GET", NESTED, lines[j], condition);
            /* The plain tag names the same content whatever coding is liked. */
            assert_status(condition, &again, i == j || i == 2 ? 304 : 200);
            if (again.status == 304)
                assert_header(condition, &again, "ETag", etag);
            reply_free(&again);
        }
        reply_free(&answer);
    }
}

/* One server keeps the answer and codes it whole, another codes it while it is made. */
static void a_coded_tag_is_of_bytes_and_named_by_every_server(void **state)
{
    static const char target[] = "/v1/sinusoidal?d_model=512&positions=0:1000";
    static const char *const lines[] = {"Accept-Encoding: gzip", "Accept-Encoding: zstd"};
    test_server keeps;
    server_start(&keeps, NULL);
    for (size_t i = 0; i < 2; i++) {
        const char *const headers[] = {lines[i], NULL};
        reply answer[2] = {fetch(&server, "GET", target, headers, NULL, 0),
                           fetch(&keeps, "GET", target, headers, NULL, 0)};
        char tag[2][64], condition[96];
        for (size_t s = 0; s < 2; s++) {
            assert_header(target, &answer[s], "Content-Encoding", strchr(lines[i], ' ') + 1);
            assert_non_null(reply_header(&answer[s], "ETag", tag[s], sizeof tag[s]));
        }
        const bool same = answer[0].bytes == answer[1].bytes &&
                          memcmp(answer[0].body, answer[1].body, answer[0].bytes) == 0;
        assert_int_equal(strcmp(tag[0], tag[1]) == 0, same);
        for (size_t s = 0; s < 4; s++) {
            snprintf(condition, sizeof condition, "If-None-Match: %s", tag[s / 2]);
            const char *const conditional[] = {lines[i], condition, NULL};
            reply again = fetch(s % 2 == 0 ? &server : &keeps, "GET", target, conditional, NULL, 0);
            assert_status(condition, &again, 304);
            assert_header(condition, &again, "ETag", tag[s / 2]);
            reply_free(&again);
        }
        reply_free(&answer[0]);
        reply_free(&answer[1]);
    }
    server_end(&keeps);
}

/* Rows that come again are found where they begin within what a coding remembers: 64 KiB
 * of gzip's piece, 2 KiB of zstd's window. */
static void rows_of_streamed_biases_are_found_again(void **state)
{
    static const struct {
        const char *line;
        size_t queries, shrinks_to; /* one in so many */
    } cases[] = {{"Accept-Encoding: gzip", 1500, 6},
                 {"Accept-Encoding: gzip", 400, 20},
                 {"Accept-Encoding: zstd", 400, 2},
                 {"Accept-Encoding: gzip, zstd", 1500, 6}}; /* gzip's is much smaller */
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        char target[128];
        const size_t heads = 9000000 / (cases[i].queries * cases[i].queries);
        snprintf(target, sizeof target, "/v1/alibi/bias?num_heads=%zu&query_length=%zu&format=raw",
                 heads, cases[i].queries);
        reply answer = get_with("GET", target, cases[i].line, NULL);
        assert_status(target, &answer, 200);
        print_message("%s, %s: %zu bytes\n", target, cases[i].line, answer.bytes);
        assert_in_range(answer.bytes, 1,
                        heads * cases[i].queries * cases[i].queries * sizeof(float) /
                            cases[i].shrinks_to);
        reply_free(&answer);
    }
}

static void a_range_is_of_the_uncoded_bytes(void **state)
{
    static const char target[] = "/v1/alibi/bias?num_heads=4&query_length=50&format=raw";
    reply whole = get(&server, target);
    reply part = get_with("GET", target, "Range: bytes=8-15", "Accept-Encoding: gzip");
    assert_status("range", &part, 206);
    assert_header("range", &part, "Content-Encoding", NULL);
    assert_int_equal(part.bytes, 8);
    assert_memory_equal(part.body, whole.body + 8, 8);
    reply_free(&whole);
    reply_free(&part);
}

static void a_transform_is_coded_too(void **state)
{
    static char body[20000];
    size_t used = (size_t)snprintf(body, sizeof body, "{\"embeddings\":[[0,0]");
    for (int i = 1; i < 1000; i++)
        used += (size_t)snprintf(body + used, sizeof body - used, ",[0,0]");
    snprintf(body + used, sizeof body - used, "]}");
    static const char *const headers[] = {"Content-Type: application/json", "Accept-Encoding: gzip",
                                          NULL};
    reply plain = post_json(&server, "/v1/sinusoidal/add", body);
    reply coded = fetch(&server, "POST", "/v1/sinusoidal/add", headers, body, strlen(body));
    size_t bytes;
    assert_header("coded", &coded, "Content-Encoding", "gzip");
    assert_header("coded", &coded, "ETag", NULL);
    char *content = decoded(&coded, "gzip", &bytes);
    assert_int_equal(bytes, plain.bytes);
    assert_memory_equal(content, plain.body, bytes);
    free(content);
    reply_free(&plain);
    reply_free(&coded);
}

/* ---- digests ---- */

static void assert_digest(const char *name, const reply *answer)
{
    struct sha256_ctx sha;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char text[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1] = "", wanted[80];
    sha256_init(&sha);
    sha256_update(&sha, answer->bytes, (const uint8_t *)answer->body);
    sha256_digest(&sha, sizeof digest, digest);
    base64_encode_raw(text, sizeof digest, digest);
    snprintf(wanted, sizeof wanted, "sha-256=:%s:", text);
    assert_header(name, answer, "Repr-Digest", wanted);
}

static void a_wanted_digest_is_that_of_the_bytes(void **state)
{
    static const char want[] = "Want-Repr-Digest: sha-512=3, sha-256=10";
    static const char *const targets[] = {KEPT, WHOLE, NESTED};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        for (int repeat = 0; repeat < 2; repeat++) {
            reply plain = get_with("GET", targets[i], want, NULL);
            reply coded = get_with("GET", targets[i], want, "Accept-Encoding: gzip");
            assert_digest(targets[i], &plain);
            assert_digest(targets[i], &coded); /* the digest of a coded answer is of coded bytes */
            reply_free(&plain);
            reply_free(&coded);
        }
    }
}

static void a_wanted_digest_comes_whatever_way_the_body_went(void **state)
{
    static const char *const lengths[] = {"Content-Type: application/json",
                                          "Want-Repr-Digest: sha-256=1", NULL};
    static const char *const chunks[] = {"Content-Type: application/json",
                                         "Want-Repr-Digest: sha-256=1",
                                         "Transfer-Encoding: chunked", NULL};
    static const char body[] = "{\"d_model\":4,\"positions\":\"0:3\"}";
    for (int repeat = 0; repeat < 2; repeat++) {
        reply whole = fetch(&server, "POST", "/v1/sinusoidal", lengths, body, strlen(body));
        reply chunked = fetch(&server, "POST", "/v1/sinusoidal", chunks, body, strlen(body));
        assert_status("chunked", &chunked, 200);
        assert_digest("whole", &whole);
        assert_digest("chunked", &chunked);
        reply_free(&whole);
        reply_free(&chunked);
    }
}

static void the_digest_of_a_part_is_that_of_the_whole(void **state)
{
    char digest[96], same[96];
    reply whole = get_with("GET", KEPT, "Want-Repr-Digest: sha-256=1", NULL);
    reply part = get_with("GET", KEPT, "Want-Repr-Digest: sha-256=1", "Range: bytes=1-3");
    assert_non_null(reply_header(&whole, "Repr-Digest", digest, sizeof digest));
    assert_status("part", &part, 206);
    assert_non_null(reply_header(&part, "Repr-Digest", same, sizeof same));
    assert_string_equal(digest, same);
    reply_free(&whole);
    reply_free(&part);
}

int main(void)
{
    static const char *const flags[] = {"--response-cache-entry-bytes", "65536", "--code-binary",
                                        NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_that_part_of_the_whole),
        cmocka_unit_test(if_range_holds_for_the_strong_tag_only),
        cmocka_unit_test(coded_answers_decode_to_the_plain_bytes),
        cmocka_unit_test(documents_are_coded_and_have_a_tag_of_each_coding),
        cmocka_unit_test(what_hardly_shrinks_goes_out_as_it_is),
        cmocka_unit_test(a_tag_matches_in_the_coding_that_it_was_given_for),
        cmocka_unit_test(a_coded_tag_is_of_bytes_and_named_by_every_server),
        cmocka_unit_test(rows_of_streamed_biases_are_found_again),
        cmocka_unit_test(a_range_is_of_the_uncoded_bytes),
        cmocka_unit_test(a_transform_is_coded_too),
        cmocka_unit_test(a_wanted_digest_is_that_of_the_bytes),
        cmocka_unit_test(a_wanted_digest_comes_whatever_way_the_body_went),
        cmocka_unit_test(the_digest_of_a_part_is_that_of_the_whole),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, flags);
}
