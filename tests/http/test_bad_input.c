/* SPDX-License-Identifier: MIT */
/* test_bad_input.c - what a client can get wrong: one problem each, and the connection lives. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/problem.h"
#include "support/wire.h"

static test_server server;
static test_wire wire; /* one connection for all cases: each leaves it usable for the next */

static int start(void **state)
{
    static const char *const flags[] = {
        "--max-elements", "1000000", "--max-body-bytes", "200000", "--max-json-depth", "16", NULL};
    server_start(&server, flags);
    wire = wire_open(&server);
    return 0;
}

static int stop(void **state)
{
    wire_close(&wire);
    server_end(&server);
    return 0;
}

typedef struct query_case {
    const char *target;
    long status;
    const char *code;
    const char *says; /* part of the body */
} query_case;

#define SIN   "/v1/sinusoidal?"
#define TABLE "/v1/rope/table?"

static const query_case queries[] = {
    {SIN "d_modle=4", 400, "unknown-parameter", "d_model"},
    {SIN "d_model=4&x=1", 400, "unknown-parameter", "\"parameter\":\"x\""},
    {SIN "d_model=4&=1", 400, NULL, NULL},
    {SIN "d_model=4&d_model=4", 400, "malformed-request", "d_model"},
    {SIN "d_model=4&%64_model=4", 400, "malformed-request", "d_model"},
    {SIN "", 400, "missing-parameter", "d_model"},
    {"/v1/sinusoidal", 400, "missing-parameter", "d_model"},
    {SIN "d_model=", 400, "malformed-request", "d_model"},
    {SIN "d_model", 400, NULL, NULL},
    {SIN "d_model=x", 400, "malformed-request", "d_model"},
    {SIN "d_model=+4", 400, "malformed-request", "d_model"},
    {SIN "d_model=0x10", 400, "malformed-request", "d_model"},
    {SIN "d_model=4e", 400, "malformed-request", "d_model"},
    {SIN "d_model=%204", 400, "malformed-request", "d_model"},
    {SIN "d_model=nan", 400, "malformed-request", "d_model"},
    {SIN "d_model=inf", 400, "malformed-request", "d_model"},
    {SIN "d_model=1e999", 400, "malformed-request", "d_model"},
    {SIN "d_model=4&base=1e999", 400, "malformed-request", "base"},
    {SIN "d_model=4&base=nan", 400, "malformed-request", "base"},
    {SIN "d_model=0", 422, "invalid-parameter", "d_model"},
    {SIN "d_model=-4", 422, "invalid-parameter", "d_model"},
    {SIN "d_model=4.5", 422, "invalid-parameter", "d_model"},
    {SIN "d_model=65537", 422, "invalid-parameter", "d_model"},
    {SIN "d_model=99999999999999999999", 422, "invalid-parameter", "d_model"},
    {SIN "d_model=4&base=0.5", 422, "invalid-parameter", "base"},
    {SIN "d_model=4&base=2e12", 422, "invalid-parameter", "base"},
    {SIN "d_model=4&layout=sideways", 422, "invalid-parameter", "layout"},
    {SIN "d_model=4&dtype=float8", 422, "invalid-parameter", "dtype"},
    {SIN "d_model=4&dtype=int32", 422, "invalid-parameter", "dtype"},
    {SIN "d_model=4&numerics=fast", 422, "invalid-parameter", "numerics"},
    {SIN "d_model=4&positions=", 400, "malformed-request", "positions"},
    {SIN "d_model=4&positions=a:b", 400, "malformed-request", "positions"},
    {SIN "d_model=4&positions=0:4:1:1", 400, "malformed-request", "positions"},
    {SIN "d_model=4&positions=1,,2", 400, "malformed-request", "positions"},
    {SIN "d_model=4&positions=1,nan", 400, "malformed-request", "positions"},
    {SIN "d_model=4&positions=3:3", 422, "invalid-parameter", "positions"},
    {SIN "d_model=4&positions=5:3", 422, "invalid-parameter", "positions"},
    {SIN "d_model=4&positions=0:3:0", 422, "invalid-parameter", "positions"},
    {SIN "d_model=4&positions=0:3:-1", 422, "invalid-parameter", "positions"},
    {SIN "d_model=4&positions=0:1:1e-16", 422, "invalid-parameter", "positions"},
    {SIN "d_model=4&positions=9007199254740992", 422, "invalid-parameter", "positions"},
    {SIN "d_model=4&positions=-9007199254740992", 422, "invalid-parameter", "positions"},
    {SIN "d_model=4&positions=0:9007199254740994:9007199254740993", 422, NULL, "positions"},
    {SIN "d_model=4&positions=0:250001", 422, "too-many-elements", "\"max_elements\":1000000"},
    {SIN "d_model=65536&positions=0:250000", 422, "too-many-elements",
     "\"requested_elements\":16384000000"},
    {SIN "d_model=65536&positions=0:9007199254740991", 422, "too-many-elements", NULL},
    {SIN "d_model=%00", 400, "malformed-request", NULL},
    {SIN "d_model=4%00", 400, "malformed-request", NULL},
    {SIN "d_model=4&base=%ff", 400, "malformed-request", NULL},
    {SIN "d_model=4&base=%c0%80", 400, "malformed-request", NULL},
    {SIN "d_model=4&base=\xff", 400, "malformed-request", NULL},
    {SIN "d_model=%4", 400, "malformed-request", NULL},
    {SIN "d_model=%zz", 400, "malformed-request", NULL},
    {SIN "d_model=4&format=tiff", 422, "invalid-parameter", "format"},
    {SIN "d_model=4&encoding_format=hex", 422, "invalid-parameter", "encoding_format"},
    {SIN "d_model=4&format=npy&dtype=bfloat16", 406, "not-acceptable", "bfloat16"},
    {TABLE "head_dim=64&format=npy", 406, "not-acceptable", "cos"},
    {TABLE "head_dim=64&format=npy&tensor=tan", 422, "invalid-parameter", "cos"},
    {TABLE "head_dim=64&rotary_dim=7", 422, "invalid-parameter", "rotary_dim"},
    {TABLE "head_dim=64&rotary_dim=66", 422, "invalid-parameter", "rotary_dim"},
    {TABLE "head_dim=64&rotary_dim=0", 422, "invalid-parameter", "rotary_dim"},
    {TABLE "head_dim=64&rope_type=linear", 400, "missing-parameter", "factor"},
    {TABLE "head_dim=64&rope_type=default&factor=2", 422, "invalid-parameter", "factor"},
    {TABLE "head_dim=64&rope_type=spiral", 422, "invalid-parameter", "rope_type"},
    {"/v1/alibi/slopes?num_heads=0", 422, "invalid-parameter", "num_heads"},
    {"/v1/alibi/bias?num_heads=8&query_length=5&key_length=4", 422, "invalid-parameter", NULL},
};

static void assert_case(const char *name, const reply *answer, long status, const char *code,
                        const char *says)
{
    char any[64] = "";
    if (code == NULL && answer->status == status) { /* which code is not the point here */
        json_t *problem = reply_json(answer);
        snprintf(any, sizeof any, "%s",
                 json_string_value(json_object_get(problem, "code")) != NULL
                     ? json_string_value(json_object_get(problem, "code"))
                     : "");
        json_decref(problem);
        code = any;
    }
    assert_problem(name, answer, status, code != NULL ? code : "");
    if (says != NULL && strstr(answer->body, says) == NULL)
        fail_msg("%s: %s is not in %s", name, says, answer->body);
}

static void bad_queries(void **state)
{
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        const query_case *c = &queries[i];
        /* problem+json whatever Accept says; the path decides instance */
        static const char *const headers[] = {"Accept: application/octet-stream", NULL};
        reply answer = wire_request(&wire, "GET", c->target,
                                    strstr(c->target, "tensor") != NULL ? NULL : headers, NULL, 0);
        assert_case(c->target, &answer, c->status, c->code, c->says);
        reply_free(&answer);
    }
}

#define ADD "/v1/sinusoidal/add"
#define POS "/v1/sinusoidal"

/* The library would keep each argument in the connection's memory, which they exhaust. */
static void hundreds_of_parameters_are_answered(void **state)
{
    static const char *const none[] = {NULL};
    static const int counts[] = {200, 230, 300, 1000};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        char target[8192];
        size_t used = (size_t)snprintf(target, sizeof target, SIN "a=0");
        for (int i = 1; i < counts[c]; i++)
            used += (size_t)snprintf(target + used, sizeof target - used, "&a%d=0", i);
        reply answer = wire_request(&wire, "GET", target, none, NULL, 0);
        assert_case("many parameters", &answer, 400, "unknown-parameter", "unknown parameter a");
        reply_free(&answer);
    }
}

static void a_body_with_a_nul_is_no_json(void **state)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    static const char body[] = "{\"d_model\":4}\0";
    reply answer = wire_request(&wire, "POST", POS, headers, body, sizeof body);
    assert_problem("NUL after the object", &answer, 400, "malformed-request");
    reply_free(&answer);
}

static void deep_and_long_json(void **state)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    static char body[150000];
    static const char *const heads[] = {"{\"d_model\":4,\"positions\":", "{\"x\":", ""};
    for (size_t h = 0; h < 3; h++) {
        size_t used = (size_t)snprintf(body, sizeof body, "%s", heads[h]);
        memset(body + used, '[', 100000);
        reply answer = wire_request(&wire, "POST", POS, headers, body, used + 100000);
        assert_case(heads[h], &answer, 400, NULL, NULL);
        reply_free(&answer);
    }
    size_t used = 0;
    for (int i = 0; i < 20000; i++) { /* {"a":{"a":... */
        memcpy(body + used, "{\"a\":", 5);
        used += 5;
    }
    reply answer = wire_request(&wire, "POST", POS, headers, body, used);
    assert_case("nested objects", &answer, 400, NULL, NULL);
    reply_free(&answer);
}

static void wrong_media_types_are_415_with_accept_post(void **state)
{
    static const struct {
        const char *target, *type, *accepts;
    } cases[] = {
        {POS, "Content-Type: text/html", "application/json"},
        {POS, "Content-Type: application/jsonx", "application/json"},
        {POS, "Content-Type: application/octet-stream", "application/json"},
        {ADD, "Content-Type: image/png", "application/x-npy"},
    };
    static const char body[] = "{\"d_model\":4}";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const headers[] = {cases[i].type, NULL};
        const char *name = cases[i].type != NULL ? cases[i].type : "no Content-Type";
        char accepts[256] = "";
        reply answer = wire_request(&wire, "POST", cases[i].target, headers, body, strlen(body));
        assert_problem(name, &answer, 415, "unsupported-media-type");
        reply_header(&answer, "Accept-Post", accepts, sizeof accepts);
        if (strstr(accepts, cases[i].accepts) == NULL)
            fail_msg("%s: Accept-Post is %s", name, accepts);
        reply_free(&answer);
    }
    static const char *const coded[] = {"Content-Type: application/json", "Content-Encoding: gzip",
                                        NULL};
    reply answer = wire_request(&wire, "POST", POS, coded, body, strlen(body));
    assert_problem("coded body", &answer, 415, "unsupported-media-type");
    reply_free(&answer);
}

static void good_media_types_pass(void **state)
{
    static const char *const types[] = {
        "Content-Type: application/json; charset=utf-8", "Content-Type: APPLICATION/JSON",
        "Content-Type: application/json ;charset=\"utf-8\"", "content-type:application/json"};
    static const char body[] = "{\"d_model\":4}";
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const char *const headers[] = {types[i], NULL};
        reply answer = wire_request(&wire, "POST", POS, headers, body, strlen(body));
        assert_status(types[i], &answer, 200);
        reply_free(&answer);
    }
}

static void a_json_body_and_a_query_exclude_one_another(void **state)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    static const char body[] = "{\"d_model\":4}";
    reply answer = wire_request(&wire, "POST", POS "?d_model=4", headers, body, strlen(body));
    assert_problem("both", &answer, 400, "malformed-request");
    reply_free(&answer);
}

static void impossible_accepts_are_406(void **state)
{
    static const char *const accepts[] = {"Accept: image/tiff", "Accept: text/html",
                                          "Accept: application/json;q=0", "Accept: */*;q=0"};
    for (size_t i = 0; i < sizeof accepts / sizeof accepts[0]; i++) {
        const char *const headers[] = {accepts[i], NULL};
        reply answer = wire_request(&wire, "GET", SIN "d_model=4", headers, NULL, 0);
        assert_problem(accepts[i], &answer, 406, "not-acceptable");
        assert_non_null(strstr(answer.body, "application/x-npy"));
        reply_free(&answer);
    }
}

static void broken_binary_bodies(void **state)
{
    static const struct {
        const char *name, *headers[4];
        size_t bytes;
        long status;
    } cases[] = {
        {"no shape",
         {"Content-Type: application/octet-stream", "X-Tensor-Dtype: float32"},
         32,
         400},
        {"too short",
         {"Content-Type: application/octet-stream", "X-Tensor-Dtype: float32",
          "X-Tensor-Shape: 2,4"},
         31,
         400},
        {"too long",
         {"Content-Type: application/octet-stream", "X-Tensor-Dtype: float32",
          "X-Tensor-Shape: 2,4"},
         33,
         400},
        {"empty",
         {"Content-Type: application/octet-stream", "X-Tensor-Dtype: float32",
          "X-Tensor-Shape: 2,4"},
         0,
         400},
        {"enormous shape",
         {"Content-Type: application/octet-stream", "X-Tensor-Dtype: float32",
          "X-Tensor-Shape: 4294967296,100"},
         32,
         0},
        {"no npy", {"Content-Type: application/x-npy"}, 64, 400},
        {"empty npy", {"Content-Type: application/x-npy"}, 0, 400},
    };
    static const char zeros[64];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reply answer = wire_request(&wire, "POST", ADD, cases[i].headers, zeros, cases[i].bytes);
        long status = cases[i].status != 0 ? cases[i].status : answer.status;
        if (status != 400 && status != 422)
            fail_msg("%s: got %ld", cases[i].name, answer.status);
        assert_case(cases[i].name, &answer, status, NULL, NULL);
        assert_non_null(strstr(answer.body, "\"instance\":\"" ADD "\""));
        reply_free(&answer);
    }
}

static void targets_up_to_8_kib_are_read_and_longer_ones_refused(void **state)
{
    static char target[9000];
    int used = snprintf(target, sizeof target, SIN "d_model=2&positions=1");
    while (used < 8190)
        used += snprintf(target + used, sizeof target - (size_t)used, ",1");
    reply fits = wire_request(&wire, "GET", target, NULL, NULL, 0);
    assert_true(strlen(target) <= 8192 && strlen(target) >= 8190);
    assert_status("8 KiB", &fits, 200);
    snprintf(target + used, sizeof target - (size_t)used, ",1,1");
    reply longer = wire_request(&wire, "GET", target, NULL, NULL, 0);
    assert_problem("more than 8 KiB", &longer, 400, "malformed-request");
    reply_free(&fits);
    reply_free(&longer);
}

static void the_connection_still_serves(void **state)
{
    reply answer = wire_request(&wire, "GET", SIN "d_model=4&positions=0", NULL, NULL, 0);
    assert_status("after all that", &answer, 200);
    assert_non_null(strstr(answer.body, "\"data\":[[0,1,0,1]]"));
    reply_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_queries),
        cmocka_unit_test(hundreds_of_parameters_are_answered),
        cmocka_unit_test(a_body_with_a_nul_is_no_json),
        cmocka_unit_test(deep_and_long_json),
        cmocka_unit_test(wrong_media_types_are_415_with_accept_post),
        cmocka_unit_test(good_media_types_pass),
        cmocka_unit_test(a_json_body_and_a_query_exclude_one_another),
        cmocka_unit_test(impossible_accepts_are_406),
        cmocka_unit_test(broken_binary_bodies),
        cmocka_unit_test(targets_up_to_8_kib_are_read_and_longer_ones_refused),
        cmocka_unit_test(the_connection_still_serves),
    };
    return cmocka_run_group_tests_name("http bad input", tests, start, stop);
}
