/* SPDX-License-Identifier: MIT */
/* test_resolve.c - what POST /v1/models/resolve refuses. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/problem.h"

static test_server server;

static reply resolve(const void *body, size_t bytes, const char *type)
{
    char header[128];
    snprintf(header, sizeof header, "Content-Type: %s", type);
    const char *const headers[] = {header, NULL};
    return fetch(&server, "POST", "/v1/models/resolve", headers, body, bytes);
}

static void configurations_are_bounded(void **state)
{
    enum { LARGE = 10000000, DEEP = 10000 };
    char *text = malloc(LARGE);
    assert_non_null(text);
    memset(text, ' ', LARGE);
    reply large = resolve(text, LARGE, "application/json");
    assert_problem("10 MB", &large, 413, "body-too-large");
    text[0] = '{';
    text[(1 << 20) - 1] = '}';
    reply full = resolve(text, 1 << 20, "application/json");
    assert_status("1 MiB of nothing", &full, 200);
    assert_non_null(strstr(full.body, "\"encoding\":\"unknown\""));
    for (size_t i = 0; i < DEEP; i++)
        memcpy(text + 5 * i, "{\"a\":", 5);
    text[(size_t)5 * DEEP] = '1';
    memset(text + (size_t)5 * DEEP + 1, '}', DEEP);
    reply deep = resolve(text, (size_t)6 * DEEP + 1, "application/json");
    assert_problem("10 000 levels", &deep, 400, "malformed-request");
    assert_non_null(strstr(deep.body, "nested deeper than 32 levels"));
    reply_free(&large);
    reply_free(&full);
    reply_free(&deep);
    free(text);
}

/* Repeated keys of several spellings must not make the report long. */
static void a_large_configuration_has_a_short_report(void **state)
{
    pe_buffer text = {0};
    pe_buffer_str(&text, "{\"model_type\":\"llama\",\"head_dim\":64");
    for (int i = 0; i < 30000; i++)
        pe_buffer_format(&text, ",\"my_rope_%d\":%d", i, i);
    pe_buffer_str(&text, "}");
    reply answer = resolve(text.data, text.bytes, "application/json");
    assert_status("30 000 keys", &answer, 200);
    json_t *model = reply_json(&answer);
    assert_in_range(json_array_size(json_object_get(model, "keys")), 1, 512);
    assert_in_range(json_array_size(json_object_get(model, "warnings")), 1, 64);
    json_decref(model);
    reply_free(&answer);
    pe_buffer_free(&text);
}

static void a_configuration_is_json_alone(void **state)
{
    reply raw = resolve("{}", 2, "text/html");
    assert_problem("text/html", &raw, 415, "unsupported-media-type");
    assert_header("text/html", &raw, "Accept-Post", "application/json, application/octet-stream");
    reply_free(&raw);
    reply asked = get(&server, "/v1/models/resolve");
    assert_problem("GET", &asked, 405, "method-not-allowed");
    reply_free(&asked);
    reply bytes = resolve("{\"a\":\"\xff\"}", 9, "application/json");
    assert_problem("no UTF-8", &bytes, 400, "malformed-request");
    reply_free(&bytes);
    reply query = post_json(&server, "/v1/models/resolve?a=1", "{}");
    assert_problem("query", &query, 400, "malformed-request");
    reply_free(&query);
}

/* "GGUF", version 3, no tensors, two keys: general.architecture and, cut off, another one. */
static void a_gguf_file_is_known_by_its_first_bytes(void **state)
{
    static const char head[] = "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\x14\0\0\0\0\0\0\0"
                               "general.architecture\x8\0\0\0\5\0\0\0\0\0\0\0bloomxyz";
    static const char *const types[] = {"application/octet-stream", "application/json"};
    for (size_t t = 0; t < PE_LEN(types); t++) {
        reply answer = resolve(head, sizeof head - 1, types[t]);
        assert_problem(types[t], &answer, 400, "missing-parameter");
        assert_non_null(strstr(answer.body, "#/bloom.attention.head_count"));
        reply_free(&answer);
    }
    reply other = resolve("{}", 2, "application/octet-stream");
    assert_problem("{}", &other, 400, "malformed-request");
    reply_free(&other);
    reply cut = resolve(head, 40, types[0]);
    assert_problem("40 bytes", &cut, 400, "malformed-request");
    reply_free(&cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gguf_file_is_known_by_its_first_bytes),
        cmocka_unit_test(configurations_are_bounded),
        cmocka_unit_test(a_large_configuration_has_a_short_report),
        cmocka_unit_test(a_configuration_is_json_alone),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
