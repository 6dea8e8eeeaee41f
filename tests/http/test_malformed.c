/* SPDX-License-Identifier: MIT */
/* test_malformed.c - requests that two readers could read differently, and what comes after
 * them. */
#include "support/check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/certificate.h"
#include "support/problem.h"
#include "support/wire.h"

/*
 * A case is a text between two others, which all cases of its group share. After each comes a
 * canary, a request whose answer is known by its id. What is refused gets one whole answer and the
 * end of the connection; what is sound gets one answer, and the canary another.
 */
typedef struct text {
    const char *data;
    size_t bytes; /* NULs count */
} text;

#define T(string)                                                                                  \
    {                                                                                              \
        string, sizeof(string) - 1                                                                 \
    }

#define CASES_MAX 64

typedef struct group {
    const char *name;
    text before, after;
    long status;  /* of each */
    bool goes_on; /* the canary is answered */
    text of[CASES_MAX];
} group;

#define HOST    "\r\nHost: a\r\n"
#define GET     "GET /v1 HTTP/1.1" HOST
#define JSON    "POST /v1/sinusoidal HTTP/1.1" HOST "Content-Type: application/json\r\n"
#define BODY    "{\"d_model\":2}" /* thirteen bytes */
#define CHUNKED JSON "Transfer-Encoding: chunked\r\n\r\n"
#define LAST    "\r\n0\r\n\r\n"

static const char canary[] = "GET /livez HTTP/1.1" HOST "X-Request-Id: canary\r\n\r\n";

/* clang-format off */
static const group groups[] = {
    {"request line", T(""), T(HOST "\r\n"), 400, false,
     {T("GET\0FOO /v1 HTTP/1.1"), T("G\tT /v1 HTTP/1.1"), T(" GET /v1 HTTP/1.1"), T("\tGET /v1 HTTP/1.1"),
      T("GET  /v1 HTTP/1.1"), T("GET /v1  HTTP/1.1"), T("GET\t/v1 HTTP/1.1"), T("GET /v1\tHTTP/1.1"), T("GET /v1"),
      T("GET /v1 "), T("GET /v1 HTTP"), T("GET /v1 HTTP/"), T("GET /v1 HTTP/1"), T("GET /v1 HTTP/1."),
      T("GET /v1 HTTP/1.2"), T("GET /v1 HTTP/2"), T("GET /v1 HTTP/2.0"), T("GET /v1 HTTP/0.9"), T("GET /v1 HTTP/1.10"),
      T("GET /v1 http/1.1"), T("GET /v1 HTTP/1.1 "), T("GET /v1 HTTP/1.1\t"), T("GET /v1 HTTP /1.1"), T("GET /v1 HTTP/ 1.1"),
      T("GET /v1 HTTP/1.1x"), T("GET /v1 HTTP/11"), T("GET /v1 FTP/1.1"), T("GET"), T("GET "), T("GET  HTTP/1.1"),
      T("GET /v1 x HTTP/1.1"), T("GET /v1\0x HTTP/1.1"), T("GET /v1?a\0b HTTP/1.1"), T("GET /v1\001 HTTP/1.1"),
      T("GET /v1\177 HTTP/1.1"), T("GET /v1\rX HTTP/1.1"), T("GET /v1 HTTP/1.1\rX: y"), T("GET /v1 HTTP/1.1\0"),
      T("GET /v1 HTTP/1.1\r"), T("G(T /v1 HTTP/1.1"), T("G:T /v1 HTTP/1.1"), T("G/T /v1 HTTP/1.1"), T("\"GET\" /v1 HTTP/1.1"),
      T("G\200T /v1 HTTP/1.1"), T("GET\v/v1 HTTP/1.1"), T("{\"a\":1}"), T("\026\003\001\002"), T("<html>"), T("\0"),
      T("PRI * HTTP/2.0"), T("HTTP/1.1 200 OK")}},
    {"field", T(GET), T("\r\n\r\n"), 400, false,
     {T("X-A : b"), T("X A: b"), T("X-A\t: b"), T(": b"), T("X-A"), T("X-A b"), T(" X-A: b"), T("\tX-A: b"), T("X-A: b\r\n c"),
      T("X-A: b\r\n\tc"), T("X\0Y: b"), T("X-A: b\0c"), T("X-A: \0"), T("X-A:\0"), T("X-A: b\rX-B: c"), T("X-A: b\r"), T("X-A: \r"),
      T("X-A: \rb"), T("X-A\r: b"), T("\rX-A: b"), T("X-A: b\001"), T("X-A: b\010"), T("X-A: b\013"), T("X-A: b\014"), T("X-A: b\037"),
      T("X-A: b\177"), T("X(A: b"), T("X)A: b"), T("X@A: b"), T("X[A: b"), T("X{A: b"), T("X\"A: b"), T("X,A: b"), T("X;A: b"),
      T("X=A: b"), T("X?A: b"), T("X/A: b"), T("X\\A: b"), T("X<A: b"), T("X\200A: b"), T("X\177: b"), T("X\001: b"),
      T("\357\273\277X: b"), T("X-A: b\0\r\nX-B: c"), T("GET /v1 HTTP/1.1"), T("X-A: b\r\n : c"), T("X-A: b\n c"), T("\0")}},
    {"host", T("GET /v1 HTTP/1.1\r\n"), T("\r\n\r\n"), 400, false,
     {T("X-A: b"), T("Host: a\r\nHost: a"), T("Host: a\r\nHost: b"), T("Host: a\r\nhost: b"), T("HOST: a\r\nX: y\r\nHost: a"),
      T("Host: a b"), T("Host: a/b"), T("Host: a?b"), T("Host: a#b"), T("Host: a@b"), T("Host: a\\b"), T("Host: <a>"),
      T("Host: a\"b"), T("Host: a^b"), T("Host: a{b"), T("Host: a\200"), T("Host: a\tb"), T("Host : a"), T(" Host: a"),
      T("Hos\0t: a"), T("Host: a\r\nHost:")}},
    {"two fields", T("POST /v1/sinusoidal HTTP/1.1" HOST "Content-Length: 13\r\n"), T("\r\n\r\n" BODY), 400, false,
     {T("Content-Type: application/json\r\nContent-Type: application/json"),
      T("Content-Type: application/json\r\ncontent-type: text/plain"), T("Content-Type:\r\nX: y\r\nContent-Type: application/json"),
      T("Authorization: Bearer a\r\nAuthorization: Bearer b"), T("authorization:\r\nAuthorization: Bearer a"),
      T("X-Tensor-Shape: 2,2\r\nX-Tensor-Shape: 4"), T("X-Tensor-Dtype: float32\r\nX-Tensor-Dtype: float32")}},
    {"two fields without a body", T(GET), T("\r\n\r\n"), 400, false,
     {T("Authorization: Bearer a\r\nAuthorization: Bearer a"), T("Content-Type: a/b\r\nContent-Type: c/d")}},
    {"two fields of a list, or ignored", T(GET), T("\r\n\r\n"), 200, true,
     {T("Accept: text/plain\r\nAccept: */*"), T("X-Request-Id: a\r\nX-Request-Id: b"), T("Range: bytes=0-1\r\nRange: bytes=2-3"),
      T("If-None-Match: \"a\"\r\nIf-None-Match: \"b\""), T("X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 5.6.7.8")}},
    {"length", T(JSON "Content-Length:"), T("\r\n\r\n" BODY), 400, false,
     {T(""), T(" "), T("\t"), T(" -1"), T(" +13"), T(" 13,13"), T(" 13, 13"), T(" 0x0d"), T(" 1 3"), T(" 13 0"), T(" 13a"), T(" a13"),
      T(" \"13\""), T(" 13;"), T(" 13.0"), T(" 1e1"), T(" 13\v"), T(" 13\f"), T(" \v13"), T(" -0"), T(" +0"), T(" 00x"), T(" ,13"),
      T(" 13,"), T(" 13\0"), T(" 1\0003"), T(" 13\r"), T(" \r13"), T(" 0\0001"), T(" ١٣"), T(" 13\177"), T(" 1_3"), T(" 0b1101"),
      T(" 0o15"), T(" (13)"), T(" 13-"), T(" NaN"), T(" \24013")}},
    {"lengths and codings", T(JSON), T("\r\n\r\n" BODY), 400, false,
     {T("Content-Length: 13\r\nContent-Length: 13"), T("Content-Length: 13\r\nContent-Length: 0"), T("Content-Length: 0\r\nContent-Length: 13"),
      T("Content-Length: 13\r\ncontent-length: 13"), T("Content-Length: 13\r\nX: y\r\nCONTENT-LENGTH: 14"), T("Content-Length : 13"),
      T("Content-Length\t: 13"), T(" Content-Length: 13"), T("Content-Length: 13\r\n ,13"), T("Content-Length: 1\r\n 3"),
      T("Content-Length: 13\r\nTransfer-Encoding: chunked"), T("Transfer-Encoding: chunked\r\nContent-Length: 13"),
      T("Content-Length: 0\r\nTransfer-Encoding: chunked"), T("Transfer-Encoding: chunked\r\ncontent-length: 0"),
      T("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), T("Transfer-Encoding: chunked\r\ntransfer-encoding: identity"),
      T("Transfer-Encoding : chunked"), T("Transfer-Encoding\t: chunked"), T(" Transfer-Encoding: chunked"),
      T("X: y\r\n Transfer-Encoding: chunked"), T("X: y\rTransfer-Encoding: chunked"), T("X: y\rContent-Length: 13"),
      T("X: \0\r\nContent-Length: 13"), T("Transfer\0-Encoding: chunked"), T("Transfer-Encoding:\r\n chunked")}},
    {"coding", T(JSON "Transfer-Encoding:"), T("\r\n\r\n0\r\n\r\n"), 400, false,
     {T(""), T(" "), T(" identity"), T(" gzip"), T(" gzip, chunked"), T(" chunked, gzip"), T(" chunked, chunked"), T(" chunked,"),
      T(" ,chunked"), T(" chunked;q=1"), T(" chunked;"), T(" \"chunked\""), T(" xchunked"), T(" chunkedx"), T(" chunk"), T(" chunked\v"),
      T(" chunked\f"), T(" \vchunked"), T(" chunked\0"), T(" chun\0ked"), T(" chunked\r"), T(" \rchunked"), T(" chunked chunked"),
      T(" chunked identity"), T(" 'chunked'"), T(" chunked\177"), T(" chunKed_"), T(" trailers"), T(" c h u n k e d"), T(" chunked\r\n x")}},
    {"coding on HTTP/1.0", T("POST /v1/sinusoidal HTTP/1.0" HOST), T("\r\n\r\n0\r\n\r\n"), 400, false,
     {T("Transfer-Encoding: chunked"), T("Transfer-Encoding: chunked\r\nConnection: keep-alive")}},
    {"chunk", T(CHUNKED), T(LAST), 400, false,
     {T("xyz\r\n" BODY), T("-d\r\n" BODY), T("+d\r\n" BODY), T("0xd\r\n" BODY), T(" d\r\n" BODY), T("d \r\n" BODY), T("d\t\r\n" BODY), T("\r\n" BODY),
      T("d\n" BODY), T("d\r" BODY), T("d;a\rb\r\n" BODY), T("d;a\0b\r\n" BODY), T("d;\001\r\n" BODY), T("d;a\n" BODY), T("d\0\r\n" BODY), T("\0d\r\n" BODY),
      T("d\r\r\n" BODY), T("d" BODY), T("c\r\n" BODY), T("d\r\n" BODY "x"), T("d\r\n" BODY "\r"), T("ffffffffffffffff\r\n" BODY),
      T("10000000000000000\r\n" BODY), T("1000000000000000d\r\n" BODY), T("fffffffffffffffffffffff\r\n" BODY), T("g\r\n" BODY), T("d,\r\n" BODY),
      T("d d\r\n" BODY), T("d x\r\n" BODY), T("dx;a\r\n" BODY), T("\"d\"\r\n" BODY), T(";a\r\n" BODY), T(" ;a\r\n" BODY), T("d:\r\n" BODY), T("d=1\r\n" BODY),
      T("d\v\r\n" BODY), T("d;\177\r\n" BODY), T("1\r\n{\r\nx\r\n"), T("1\r\n{\n1\r\nx"), T("1\r\n{1\r\nx"), T("d.0\r\n" BODY), T("\r\nd\r\n" BODY),
      T("GET / HTTP/1.1\r\n"), T("d\r\n" BODY "\r\n" "x"), T("d\r\n" BODY "\r\n" "-1"), T("d\r\n" BODY "\r\n\r\n")}},
    {"trailer", T(CHUNKED "d\r\n" BODY "\r\n0\r\n"), T("\r\n\r\n"), 400, false,
     {T("X"), T("X : y"), T(" X: y"), T("X: y\r\n z"), T("X: y\rZ: a"), T("X: \0"), T("X\0: y"), T(": y"), T("X: y\r"), T("X: \001"), T("X\200: y"),
      T("GET /livez HTTP/1.1"), T("0"), T("X: y\r\n\tz"), T("\rX: y")}},
    {"length beyond all", T(JSON "Content-Length: "), T("\r\n\r\n" BODY), 413, false,
     {T("1001"), T("2000000"), T("4294967309"), T("9223372036854775807"), T("9223372036854775808"), T("18446744073709551615"),
      T("18446744073709551616"), T("18446744073709551629"), T("99999999999999999999999999999999999999"), T("0000000000000000000001001"),
      T("1001 "), T("18446744073709551629 ")}},
    {"sound length", T(JSON "Content-Length:"), T("\r\n\r\n" BODY), 200, true,
     {T("13"), T(" 13"), T(" 13 "), T(" 13\t"), T("\t13 \t "), T("      13      "), T(" 013"), T(" 0000000000000000000000000000000000000013"),
      T(" 13\r\nX-A:"), T(" 13\r\nX-A: \t "), T(" 13\r\nX-A: b "), T(" 13\r\nContent-Lengths: 14"), T(" 13\r\nX-Content-Length: 14"),
      T(" 13\r\nTransfer-Encodings: chunked"), T(" 13\r\nCookie: a=b; c=d"), T(" 13\r\nExpect: nothing"), T(" 13\r\nTE: trailers"),
      T(" 13\r\nConnection: keep-alive"), T(" 13\r\nX-A: \200\377"), T("13\nX: y")}},
    {"sound coding", T(JSON "Transfer-Encoding:"), T("\r\n\r\n" "d\r\n" BODY LAST), 200, true,
     {T("chunked"), T(" chunked"), T(" Chunked"), T(" CHUNKED"), T(" chunked "), T(" chunked\t"), T("\t chunked \t"), T(" chunked\r\nTrailer: X-A")}},
    {"sound chunk", T(CHUNKED), T("\r\n" BODY LAST), 200, true,
     {T("d"), T("D"), T("0d"), T("000000000000000000000000d"), T("d;a"), T("d;a=b"), T("d;a=\"x y\""), T("d ;a"), T("d\t; a"), T("d;;"), T("d;"),
      T("d;a\200"), T("0000D;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")}},
    {"sound trailer", T(CHUNKED "d\r\n" BODY "\r\n0\r\n"), T("\r\n"), 200, true,
     {T(""), T("X: y\r\n"), T("X:\r\n"), T("X: y\r\nZ: a\r\n"), T("Content-Length: 99\r\n"), T("Transfer-Encoding: chunked\r\n"), T("Host: b\r\n")}},
    {"sound request", T(""), T(HOST "\r\n"), 200, true,
     {T("GET /v1 HTTP/1.1"), T("\r\nGET /v1 HTTP/1.1"), T("\r\n\r\n\r\nGET /v1 HTTP/1.1"), T("\nGET /v1 HTTP/1.1"), T("GET http://a/v1 HTTP/1.1"),
      T("GET http://a:80/v1 HTTP/1.1"), T("GET /%76%31 HTTP/1.1"), T("GET /v1 HTTP/1.1\r\nUpgrade: h2c\r\nConnection: upgrade"),
      T("GET /v1 HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade"), T("GET /v1 HTTP/1.1\nX: y"), T("GET /v1 HTTP/1.0\r\nConnection: keep-alive"),
      T("GET /v1 HTTP/1.1\r\nContent-Length: 0"), T("GET /v1 HTTP/1.1\r\nExpect: 100-continue"), T("GET /v1 HTTP/1.1\r\nX-Request-Id: a b")}},
    {"what nothing answers", T(""), T(" HTTP/1.1" HOST "\r\n"), 404, true, {T("GET nowhere"), T("GET /v1%00"), T("GET //v1"), T("GET http:///v2")}},
    {"method not allowed", T(""), T(" /v1 HTTP/1.1" HOST "\r\n"), 405, true,
     {T("TRACE"), T("CONNECT"), T("PUT"), T("DELETE"), T("PATCH"), T("get"), T("GETX"), T("!#$%&'*+-.^_`|~"), T("A")}},
};
/* clang-format on */

static test_server server, coded; /* with TLS */

/* What a case is in words: its group and a part of its text. */
static const char *name_of(const group *g, const text *t)
{
    static char name[128];
    size_t used = (size_t)snprintf(name, sizeof name, "%s: ", g->name);
    for (size_t i = 0; i < t->bytes && used + 5 < sizeof name; i++) {
        const unsigned char c = (unsigned char)t->data[i];
        used += (size_t)snprintf(name + used, sizeof name - used,
                                 c >= ' ' && c < 0x7f ? "%c" : "\\x%02x", c);
    }
    return name;
}

/* Everything in pieces of so many bytes. The server may end the connection before the last. */
static void send_pieces(test_wire *wire, const char *data, size_t bytes, size_t piece)
{
    for (size_t at = 0; at < bytes; at += piece)
        if (!wire_send(wire, data + at, bytes - at < piece ? bytes - at : piece))
            return;
}

static void assert_canary(const char *name, test_wire *wire)
{
    reply answer = wire_answer(wire, false);
    assert_status(name, &answer, 200);
    assert_header(name, &answer, "X-Request-Id", "canary");
    reply_free(&answer);
}

static void assert_refused(const char *name, const group *g, const reply *answer, test_wire *wire)
{
    assert_header(name, answer, "Content-Type", "application/problem+json");
    assert_header(name, answer, "Connection", "close");
    json_t *problem = reply_json(answer);
    if (json_integer_value(json_object_get(problem, "status")) != g->status)
        fail_msg("%s: the problem tells another status", name);
    json_decref(problem);
    if (!wire_ended(wire))
        fail_msg("%s: something was answered after the refusal", name);
}

/* A case, after `first` (an ordinary request, or nothing), in pieces. */
static void try_case(test_wire wire, const group *g, const text *t, const char *first, size_t piece)
{
    char all[2048];
    size_t bytes = 0;
    const char *name = name_of(g, t);
    const text parts[] = {{first, strlen(first)}, g->before, *t, g->after, T(canary)};
    for (size_t i = 0; i < PE_LEN(parts); i++) {
        assert_true(bytes + parts[i].bytes < sizeof all);
        memcpy(all + bytes, parts[i].data, parts[i].bytes);
        bytes += parts[i].bytes;
    }
    send_pieces(&wire, all, bytes, piece);
    if (*first != '\0')
        assert_canary(name, &wire);
    reply answer = wire_answer(&wire, false);
    assert_status(name, &answer, g->status);
    if (g->goes_on)
        assert_canary(name, &wire);
    else
        assert_refused(name, g, &answer, &wire);
    reply_free(&answer);
    wire_close(&wire);
}

static void try_all(bool tls, const char *first, size_t piece)
{
    size_t cases = 0;
    for (size_t i = 0; i < PE_LEN(groups); i++)
        for (const text *t = groups[i].of; t < groups[i].of + CASES_MAX && t->data != NULL; t++) {
            try_case(tls ? wire_open_tls(&coded) : wire_open(&server), &groups[i], t, first, piece);
            cases++;
        }
    print_message("%zu cases\n", cases);
    assert_true(cases >= 250);
}

static void each_gets_one_answer(void **state)
{
    try_all(false, "", SIZE_MAX);
}

static void each_gets_one_answer_after_another_request(void **state)
{
    try_all(false, canary, SIZE_MAX);
}

static void each_gets_one_answer_when_it_comes_in_pieces(void **state)
{
    try_all(false, "", 7);
}

static void each_gets_one_answer_over_tls(void **state)
{
    try_all(true, "", SIZE_MAX);
    try_all(true, canary, 64);
}

/* A request that stays without its end is told so over TLS, too. */
static void the_late_are_told_over_tls(void **state)
{
    static const char *const parts[] = {"", "GET /v1", JSON "Content-Length: 13\r\n\r\n{"};
    test_wire wires[PE_LEN(parts)];
    for (size_t i = 0; i < PE_LEN(parts); i++) {
        wires[i] = wire_open_tls(&coded);
        wire_send_text(&wires[i], parts[i]);
    }
    for (size_t i = 0; i < PE_LEN(parts); i++) {
        reply answer = wire_answer(&wires[i], false);
        assert_status(parts[i], &answer, 408);
        assert_true(wire_ended(&wires[i]));
        reply_free(&answer);
        wire_close(&wires[i]);
    }
}

/* ---- many and much ---- */

static void a_pipeline_of_a_thousand_is_answered(void **state)
{
    enum { N = 1000 };
    static char all[N * sizeof canary];
    size_t bytes = 0;
    for (int i = 0; i < N; i++)
        bytes += (size_t)snprintf(all + bytes, sizeof all - bytes, "%s", canary);
    test_wire wire = wire_open(&server);
    assert_true(wire_send(&wire, all, bytes));
    for (int i = 0; i < N; i++)
        assert_canary("pipelined", &wire);
    wire_close(&wire);
}

/* `n` times a text with its number, between a beginning and an end. */
static reply ask_with_many(const char *before, const char *each, int n, const char *after)
{
    pe_buffer request = {0};
    pe_buffer_str(&request, before);
    for (int i = 0; i < n; i++) {
        char one[64];
        snprintf(one, sizeof one, "%s%d", each, i);
        pe_buffer_str(&request, one);
    }
    pe_buffer_str(&request, after);
    test_wire wire = wire_open(&server);
    wire_send(&wire, request.data, request.bytes);
    wire_send(&wire, canary, sizeof canary - 1);
    reply answer = wire_answer(&wire, false);
    char connection[16];
    if (reply_header(&answer, "Connection", connection, sizeof connection) == NULL)
        assert_canary(each, &wire);
    else if (!wire_ended(&wire))
        fail_msg("%s, %d times: something was answered after the refusal", each, n);
    pe_buffer_free(&request);
    wire_close(&wire);
    return answer;
}

/* However many there are: all of it, or a refusal that can be read. */
static void many_are_answered_or_refused(void **state)
{
    static const struct {
        const char *name, *before, *each, *after;
        bool sound; /* however many */
    } rows[] = {
        {"fields", GET "X: y", "\r\nX: ", "\r\n\r\n", false},
        {"cookies in one field", GET "Cookie: z=1", "; a=", "\r\n\r\n", true},
        {"cookie fields", GET "X: y", "\r\nCookie: a=", "\r\n\r\n", false},
        {"trailers", CHUNKED "d\r\n" BODY "\r\n0\r\nX: y", "\r\nX: ", "\r\n\r\n", true},
        {"arguments", "GET /livez?a", "&b", " HTTP/1.1" HOST "\r\n", true},
    };
    for (size_t i = 0; i < PE_LEN(rows); i++)
        for (int n = 1; n < 1000; n += 1 + n / 12) {
            reply answer = ask_with_many(rows[i].before, rows[i].each, n, rows[i].after);
            if (answer.status != 200 && (rows[i].sound || answer.status != 431) &&
                answer.status != 400)
                fail_msg("%s, %d times: got %ld", rows[i].name, n, answer.status);
            reply_free(&answer);
        }
}

static void a_target_of_any_length_is_answered(void **state)
{
    static char target[70001];
    for (size_t bytes = 1000; bytes < sizeof target - 1; bytes += 997) {
        memset(target, 'x', bytes);
        target[0] = '/';
        target[bytes] = '\0';
        test_wire wire = wire_open(&server);
        wire_send_text(&wire, "GET ");
        wire_send_text(&wire, target);
        wire_send_text(&wire, " HTTP/1.1" HOST "\r\n");
        reply answer = wire_answer(&wire, false);
        if (answer.status != 400 && answer.status != 404 && answer.status != 431)
            fail_msg("%zu bytes: got %ld", bytes, answer.status);
        assert_header("long target", &answer, "Content-Type", "application/problem+json");
        reply_free(&answer);
        wire_close(&wire);
    }
}

static void start_coded(void)
{
    char certificate[128], key[128];
    const test_folder folder = folder_make();
    certificate_put(&folder);
    snprintf(certificate, sizeof certificate, "%s/certificate.pem", folder.path);
    snprintf(key, sizeof key, "%s/key.pem", folder.path);
    server_listen(&coded, (const char *const[]){"--tls-certificate", certificate, "--tls-key", key,
                                                "--max-body-bytes", "1000", "--request-deadline-ms",
                                                "2000", NULL});
    folder_remove(&folder);
}

int main(void)
{
    static const char *const flags[] = {"--max-body-bytes", "1000", NULL};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gets_one_answer),
        cmocka_unit_test(each_gets_one_answer_after_another_request),
        cmocka_unit_test(each_gets_one_answer_when_it_comes_in_pieces),
        cmocka_unit_test(each_gets_one_answer_over_tls),
        cmocka_unit_test(the_late_are_told_over_tls),
        cmocka_unit_test(a_pipeline_of_a_thousand_is_answered),
        cmocka_unit_test(many_are_answered_or_refused),
        cmocka_unit_test(a_target_of_any_length_is_answered),
    };
    start_coded();
    const int failed = server_run_tests(tests, PE_LEN(tests), &server, flags);
    server_end(&coded);
    return failed;
}
