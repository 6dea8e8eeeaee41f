/* SPDX-License-Identifier: MIT */
/* test_relative.c - relative positions over HTTP: formats of int32, and bodies. */
#include "support/check.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"

static test_server server;

#define BUCKETS "/v1/t5/buckets?query_length=2&key_length=4"
#define DEBERTA BUCKETS "&variant=deberta"

static void json_and_csv_print_whole_numbers(void **state)
{
    reply json = get(&server, DEBERTA);
    assert_status("json", &json, 200);
    assert_non_null(
        strstr(json.body, "\"dtype\":\"int32\",\"shape\":[2,4],\"data\":[[2,1,0,-1],[3,2,1,0]]}"));
    reply csv = get(&server, DEBERTA "&format=csv");
    assert_string_equal(csv.body, "0,1,2,3\n2,1,0,-1\n3,2,1,0\n");
    reply base64 =
        get(&server, "/v1/t5/buckets?query_length=1&key_length=2&encoding_format=base64");
    assert_non_null(strstr(base64.body, "\"data\":\"AQAAAAAAAAA=\",\"byte_order\":\"little\""));
    reply_free(&json);
    reply_free(&csv);
    reply_free(&base64);
}

static void binary_formats_hold_int32(void **state)
{
    static const int32_t wanted[] = {2, 1, 0, -1, 3, 2, 1, 0};
    static const struct {
        const char *format, *says;
    } formats[] = {{"raw", NULL}, {"npy", "'descr': '<i4'"}, {"safetensors", "\"dtype\":\"I32\""}};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        char target[128];
        snprintf(target, sizeof target, DEBERTA "&format=%s", formats[f].format);
        reply answer = get(&server, target);
        assert_status(target, &answer, 200);
        assert_true(answer.bytes >= sizeof wanted);
        assert_memory_equal(answer.body + answer.bytes - sizeof wanted, wanted, sizeof wanted);
        if (formats[f].says != NULL)
            assert_non_null(
                memmem(answer.body, answer.bytes, formats[f].says, strlen(formats[f].says)));
        else
            assert_header(target, &answer, "X-Tensor-Dtype", "int32");
        reply_free(&answer);
    }
}

static void a_body_gives_the_bytes_of_the_query(void **state)
{
    reply by_query = get(&server, "/v1/shaw/indices?query_length=3&max_relative_position=1");
    reply by_body = post_json(&server, "/v1/shaw/indices",
                              "{\"left_max\":1,\"right_max\":1,\"query_length\":3}");
    assert_status("query", &by_query, 200);
    assert_status("body", &by_body, 200);
    assert_string_equal(by_query.body, by_body.body);
    assert_header("body", &by_body, "Content-Location",
                  "/v1/shaw/indices?distance=key_less_query&dtype=int32&key_length=3&"
                  "left_max=1&numerics=exact&query_length=3&right_max=1");
    reply_free(&by_query);
    reply_free(&by_body);
}

/* Three bfloat16 rows of one channel: 1, 2, 3. The body's dtype is the answer's. */
static void a_binary_body_brings_its_dtype(void **state)
{
    static const uint16_t rows[] = {0x3f80, 0x4000, 0x4040};
    static const uint16_t wanted[] = {0x4000, 0x4040, 0x3f80, 0x4000};
    static const char *const headers[] = {"Content-Type: application/octet-stream",
                                          "X-Tensor-Shape: 3,1", "X-Tensor-Dtype: bfloat16", NULL};
    reply answer = fetch(&server, "POST", "/v1/shaw/lookup?query_length=2&format=raw", headers,
                         rows, sizeof rows);
    assert_status("lookup", &answer, 200);
    assert_header("lookup", &answer, "X-Tensor-Shape", "2,2,1");
    assert_int_equal(answer.bytes, sizeof wanted);
    assert_memory_equal(answer.body, wanted, sizeof wanted);
    reply_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_and_csv_print_whole_numbers),
        cmocka_unit_test(binary_formats_hold_int32),
        cmocka_unit_test(a_body_gives_the_bytes_of_the_query),
        cmocka_unit_test(a_binary_body_brings_its_dtype),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
