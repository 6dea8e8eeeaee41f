/* SPDX-License-Identifier: MIT */
/* test_framing.c - requests whose end, host or text two readers could read differently. */
#include "support/check.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"
#include "support/wire.h"

#define LENGTH(text) (sizeof(text) - 1)

static test_server server;

typedef struct raw_case {
    const char *name, *request;
    size_t bytes; /* the request may hold NULs */
} raw_case;

#define RAW(title, text)                                                                           \
    {                                                                                              \
        title, text, LENGTH(text)                                                                  \
    }
#define GET_V1 "GET /v1 HTTP/1.1\r\nHost: a\r\n"

static void refuses_and_closes(void **state)
{
    static const raw_case cases[] = {
        RAW("NUL in a value", GET_V1 "X-A: b\0c\r\n\r\n"),
        RAW("NUL in a value before another field", GET_V1 "X-A: b\0c\r\nX-B: d\r\n\r\n"),
        RAW("NUL in an empty value", GET_V1 "X-A: \0c\r\n\r\n"),
        RAW("NUL hiding a second length",
            "POST /v1/sinusoidal HTTP/1.1\r\nHost: a\r\nContent-Length: 0\0001\r\n\r\n"),
        RAW("NUL in the target", "GET /v1\0x HTTP/1.1\r\nHost: a\r\n\r\n"),
        RAW("NUL in the query", "GET /v1?a\0b HTTP/1.1\r\nHost: a\r\n\r\n"),
        RAW("space before the colon", GET_V1 "X-A : b\r\n\r\n"),
        RAW("space after Content-Length", GET_V1 "Content-Length : 3\r\n\r\nabc"),
        RAW("folded field", GET_V1 "X-A: b\r\n c\r\n\r\n"),
        RAW("folded first field", "GET /v1 HTTP/1.1\r\nHost: a\r\n X-A: b\r\n\r\n"),
        RAW("length and coding",
            GET_V1 "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        RAW("two equal lengths", GET_V1 "Content-Length: 0\r\nContent-Length: 0\r\n\r\n"),
        RAW("two lengths", GET_V1 "Content-Length: 0\r\nContent-Length: 3\r\n\r\nabc"),
        RAW("coding other than chunked",
            GET_V1 "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        RAW("coding identity", GET_V1 "Transfer-Encoding: identity\r\n\r\n"),
        RAW("coding twice",
            GET_V1 "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        RAW("coding on HTTP/1.0",
            "GET /v1 HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        RAW("two hosts", GET_V1 "Host: b\r\n\r\n"),
        RAW("no host", "GET /v1 HTTP/1.1\r\nX-A: b\r\n\r\n"),
        RAW("no field at all", "GET /v1 HTTP/1.1\r\n\r\n"),
        RAW("space in the target", "GET /v1 x HTTP/1.1\r\nHost: a\r\n\r\n"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_wire wire = wire_open(&server);
        wire_send(&wire, cases[i].request, cases[i].bytes);
        reply answer = wire_answer(&wire, false);
        assert_problem(cases[i].name, &answer, 400, "malformed-request");
        assert_header(cases[i].name, &answer, "Connection", "close");
        if (!wire_ended(&wire))
            fail_msg("%s: something was answered after the refusal", cases[i].name);
        reply_free(&answer);
        wire_close(&wire);
    }
}

/* Answered by the library before our handler: no problem document, but no request either. */
static void refuses_what_is_no_http(void **state)
{
    static const raw_case cases[] = {
        RAW("NUL in a name", GET_V1 "X\0Y: b\r\n\r\n"),
        RAW("line without colon", GET_V1 "X-A\r\n\r\n"),
        RAW("negative length", GET_V1 "Content-Length: -1\r\n\r\n"),
        RAW("list of lengths", GET_V1 "Content-Length: 3, 3\r\n\r\nabc"),
        RAW("request line without version", "GET /v1\r\n\r\n"),
        RAW("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        RAW("chunk size that is no number",
            GET_V1 "Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_wire wire = wire_open(&server);
        wire_send(&wire, cases[i].request, cases[i].bytes);
        reply answer = wire_answer(&wire, true);
        if (answer.status != 400 && answer.status != 505)
            fail_msg("%s: wanted 400 or 505, got %ld", cases[i].name, answer.status);
        wire_ended(&wire);
        reply_free(&answer);
        wire_close(&wire);
    }
}

static void lets_pass(void **state)
{
    static const raw_case cases[] = {
        RAW("no space after the colon", "GET /v1 HTTP/1.1\r\nHost:a\r\nX-A:b\r\n\r\n"),
        RAW("spaces around a value", GET_V1 "X-A:  \t b \r\n\r\n"),
        RAW("empty value", GET_V1 "X-A:\r\nX-B: \r\n\r\n"),
        RAW("bare line feeds", "GET /v1 HTTP/1.1\nHost: a\nX-A: b\n\n"),
        RAW("empty line before the request", "\r\nGET /v1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        RAW("HTTP/1.0 without host", "GET /v1 HTTP/1.0\r\n\r\n"),
        RAW("absolute target", "GET http://example.org/v1 HTTP/1.1\r\nHost: example.org\r\n\r\n"),
        RAW("encoded letters in the path", "GET /%76%31 HTTP/1.1\r\nHost: a\r\n\r\n"),
        RAW("body on GET", GET_V1 "Content-Length: 3\r\n\r\nabc"),
        RAW("chunked body on GET",
            GET_V1 "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_wire wire = wire_open(&server);
        wire_send(&wire, cases[i].request, cases[i].bytes);
        reply answer = wire_answer(&wire, false);
        if (answer.status != 200)
            fail_msg("%s: got %ld: %.400s", cases[i].name, answer.status, answer.body);
        reply_free(&answer);
        wire_close(&wire);
    }
}

static void a_body_on_get_is_not_the_next_request(void **state)
{
    test_wire wire = wire_open(&server);
    wire_send_text(&wire, GET_V1 "Content-Length: 19\r\n\r\nGET /nope HTTP/1.1\n"
                                 "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
    reply first = wire_answer(&wire, false), second = wire_answer(&wire, false);
    assert_int_equal(first.status, 200);
    assert_int_equal(second.status, 200);
    assert_string_equal(second.body, "{\"status\":\"ok\"}\n");
    reply_free(&first);
    reply_free(&second);
    wire_close(&wire);
}

static void answers_pipelined_requests_in_order(void **state)
{
    test_wire wire = wire_open(&server);
    for (int i = 0; i < 50; i++)
        wire_send_text(&wire, i % 2 == 0 ? "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
                                         : "GET /v1/sinusoidal?d_model=2&positions=1 HTTP/1.1\r\n"
                                           "Host: a\r\n\r\n");
    for (int i = 0; i < 50; i++) {
        reply answer = wire_answer(&wire, false);
        assert_int_equal(answer.status, 200);
        assert_true((strstr(answer.body, "\"status\"") != NULL) == (i % 2 == 0));
        reply_free(&answer);
    }
    wire_close(&wire);
}

static void a_length_beyond_the_limit_is_refused_before_the_body(void **state)
{
    test_wire wire = wire_open(&server);
    wire_send_text(&wire, "POST /v1/sinusoidal HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n"
                          "Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n");
    reply answer = wire_answer(&wire, false);
    assert_problem("too long", &answer, 413, "body-too-large");
    assert_null(strstr(answer.headers, "100 Continue"));
    assert_true(wire_ended(&wire));
    reply_free(&answer);
    wire_close(&wire);
}

static void a_target_beyond_the_limit_is_refused_before_the_body(void **state)
{
    static char request[10000];
    memset(request, 'a', sizeof request - 1);
    memcpy(request, "POST /", 6);
    test_wire wire = wire_open(&server);
    wire_send_text(&wire, request);
    wire_send_text(&wire, " HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    reply answer = wire_answer(&wire, false);
    assert_problem("too long", &answer, 400, "malformed-request");
    assert_true(wire_ended(&wire));
    reply_free(&answer);
    wire_close(&wire);
}

/* It would be reset, and lose the answer, were the connection closed while it sends. */
static void a_refused_client_that_still_sends_reads_why(void **state)
{
    static const char body[4000000];
    test_wire wire = wire_open(&server);
    wire_send_text(&wire, "POST /v1/sinusoidal HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n"
                          "Content-Type: application/json\r\n\r\n");
    assert_true(wire_send(&wire, body, sizeof body));
    reply answer = wire_answer(&wire, false);
    assert_problem("too long", &answer, 413, "body-too-large");
    assert_true(wire_ended(&wire));
    reply_free(&answer);
    wire_close(&wire);
}

static void a_bad_id_gets_a_made_one_on_a_warm_hit_too(void **state)
{
    static const char *const headers[] = {"X-Request-Id: not one", NULL};
    char id[64];
    for (int i = 0; i < 3; i++) {
        reply answer = fetch(&server, "GET", "/v1/sinusoidal?d_model=6", headers, NULL, 0);
        assert_status("a bad id", &answer, 200);
        assert_non_null(reply_header(&answer, "X-Request-Id", id, sizeof id));
        assert_int_equal(strspn(id, "0123456789abcdef"), 32);
        reply_free(&answer);
    }
}

static void no_coding_that_there_is_is_406(void **state)
{
    static const struct {
        const char *line;
        long status;
    } rows[] = {
        {"Accept-Encoding: identity;q=0", 406},
        {"Accept-Encoding: *;q=0", 406},
        {"Accept-Encoding: br, identity;q=0", 406},
        {"Accept-Encoding: gzip;q=0, *;q=0", 406},
        {"Accept-Encoding: gzip, identity;q=0", 200},
        {"Accept-Encoding: *;q=0, identity", 200},
        {"Accept-Encoding: br", 200},
        {"Accept-Encoding: zstd, *;q=0", 200},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++) {
        const char *const headers[] = {rows[i].line, NULL};
        reply answer = fetch(&server, "GET", "/v1/sinusoidal?d_model=8", headers, NULL, 0);
        assert_status(rows[i].line, &answer, rows[i].status);
        reply_free(&answer);
    }
}

static void a_body_that_is_awaited_gets_100_continue(void **state)
{
    test_wire wire = wire_open(&server);
    char interim[26] = "";
    wire_send_text(&wire, "POST /v1/sinusoidal HTTP/1.1\r\nHost: a\r\nContent-Length: 13\r\n"
                          "Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n");
    wire_take(&wire, interim, sizeof interim - 1);
    assert_string_equal(interim, "HTTP/1.1 100 Continue\r\n\r\n");
    wire_send_text(&wire, "{\"d_model\":2}");
    reply answer = wire_answer(&wire, false);
    assert_int_equal(answer.status, 200);
    reply_free(&answer);
    wire_close(&wire);
}

/* `chunks` chunks of 100 bytes of white space. */
static void send_chunked(test_wire *wire, int chunks)
{
    char chunk[128];
    snprintf(chunk, sizeof chunk, "64\r\n%100s\r\n", "");
    wire_send_text(wire, "POST /v1/sinusoidal HTTP/1.1\r\nHost: a\r\n"
                         "Content-Type: application/json\r\nX-Request-Id: chunks-1\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < chunks; i++)
        wire_send_text(wire, chunk);
    wire_send_text(wire, "0\r\n\r\n");
}

static void a_chunked_body_beyond_the_limit_is_413_and_the_connection_lives(void **state)
{
    test_wire wire = wire_open(&server);
    send_chunked(&wire, 11);
    reply answer = wire_answer(&wire, false);
    assert_problem("1100 bytes", &answer, 413, "body-too-large");
    reply_free(&answer);
    reply next = wire_request(&wire, "GET", "/livez", NULL, NULL, 0);
    assert_int_equal(next.status, 200);
    reply_free(&next);
    wire_close(&wire);
}

static void a_chunked_body_far_beyond_the_limit_is_cut_off(void **state)
{
    static const char counted[] = "posenc_responses_total{class=\"4xx\"}";
    const long before = metric_wait(&server, counted, 0, LONG_MAX);
    test_wire wire = wire_open(&server);
    send_chunked(&wire, 30);
    reply answer = wire_answer(&wire, false);
    assert_problem("3000 bytes", &answer, 413, "body-too-large");
    assert_header("3000 bytes", &answer, "X-Request-Id", "chunks-1");
    assert_true(wire_ended(&wire));
    metric_wait(&server, counted, before + 1, before + 1); /* counted once it has been sent */
    reply_free(&answer);
    wire_close(&wire);
}

/* Whatever the header leaves of the connection's memory: near its end the library has no room for
 * an answer's. */
static void a_header_of_any_length_is_answered(void **state)
{
    static char request[17000];
    int answered[600] = {0};
    for (size_t bytes = 13000; bytes < sizeof request - 1; bytes += 97) {
        test_wire wire = wire_open(&server);
        memset(request, 'x', bytes);
        memcpy(request, GET_V1 "X-A: ", LENGTH(GET_V1 "X-A: "));
        memcpy(request + bytes - 4, "\r\n\r\n", 5);
        wire_send_text(&wire, request);
        reply answer = wire_answer(&wire, false);
        assert_in_range(answer.status, 200, 599); /* 0: the connection has ended */
        answered[answer.status]++;
        reply_free(&answer);
        wire_close(&wire);
    }
    assert_true(answered[200] > 0 && answered[431] > 0);
    assert_int_equal(answered[200] + answered[431], (sizeof request - 1 - 13000 + 96) / 97);
}

/* An answer of a long canonical URL to a request that leaves no room for it, cold and kept. */
static void an_address_without_room_is_left_out(void **state)
{
    static char target[4000], fill[8000], address[4096];
    const char *const headers[] = {fill, NULL};
    size_t used = (size_t)snprintf(target, sizeof target, "/v1/sinusoidal?d_model=2&positions=0");
    for (int i = 1; used + 16 < sizeof target; i++)
        used += (size_t)snprintf(target + used, sizeof target - used, ",%d.5", i);
    snprintf(fill, sizeof fill, "X-A: %07980d", 0);
    for (int round = 0; round < 2; round++) {
        reply answer = fetch(&server, "GET", target, headers, NULL, 0);
        assert_status("a long header", &answer, 200);
        assert_header("a long header", &answer, "Content-Location", NULL);
        reply_free(&answer);
    }
    reply answer = get(&server, target);
    assert_status("a short one", &answer, 200);
    assert_non_null(reply_header(&answer, "Content-Location", address, sizeof address));
    reply_free(&answer);
}

int main(void)
{
    static const char *const flags[] = {"--max-body-bytes", "1000", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_and_closes),
        cmocka_unit_test(refuses_what_is_no_http),
        cmocka_unit_test(lets_pass),
        cmocka_unit_test(a_body_on_get_is_not_the_next_request),
        cmocka_unit_test(answers_pipelined_requests_in_order),
        cmocka_unit_test(a_length_beyond_the_limit_is_refused_before_the_body),
        cmocka_unit_test(a_target_beyond_the_limit_is_refused_before_the_body),
        cmocka_unit_test(a_refused_client_that_still_sends_reads_why),
        cmocka_unit_test(a_bad_id_gets_a_made_one_on_a_warm_hit_too),
        cmocka_unit_test(no_coding_that_there_is_is_406),
        cmocka_unit_test(a_body_that_is_awaited_gets_100_continue),
        cmocka_unit_test(a_chunked_body_beyond_the_limit_is_413_and_the_connection_lives),
        cmocka_unit_test(a_chunked_body_far_beyond_the_limit_is_cut_off),
        cmocka_unit_test(a_header_of_any_length_is_answered),
        cmocka_unit_test(an_address_without_room_is_left_out),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, flags);
}
