/* SPDX-License-Identifier: MIT */
/* test_resolve.c - what POST /v1/models/resolve refuses. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"

static test_server server;

#define HEADS "\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":4"

static const struct {
    const char *body;
    long status;
    const char *code, *says; /* NULL: a 200 */
} configurations[] = {
    {"", 400, "malformed-request", "empty"},
    {"{", 400, "malformed-request", ""},
    {"[]", 400, "malformed-request", "does not begin with {"},
    {"null", 400, "malformed-request", ""},
    {"{\"a\":1,\"a\":2}", 400, "malformed-request", "duplicate"},
    {"{\"rope_scaling\":{\"a\":1,\"a\":2}}", 400, "malformed-request", "duplicate"},
    {"{\"a\":tru}", 400, "malformed-request", ""},
    {"{\"a\":\"\xff\"}", 400, "malformed-request", ""},
    {"{} {}", 400, "malformed-request", ""},
    {"{\"hidden_size\":1e400}", 400, "malformed-request", "overflow"},
    {"{}", 200, NULL, NULL},
    {"{\"a\":Infinity,\"b\":[-Infinity,NaN],\"c\":\"NaN \\\" Infinity\"}", 200, NULL, NULL},
    {"{" HEADS ",\"rope_theta\":Infinity}", 422, "invalid-parameter", "#/rope_theta"},
    {"{" HEADS ",\"rope_theta\":NaN}", 422, "invalid-parameter", "a number, got NaN"},
    {"{\"config\":{" HEADS "}}", 422, "invalid-parameter", "post that object itself"},
    {"{" HEADS ",\"text_config\":\"a\"}", 422, "invalid-parameter", "an object, got a string"},
    {"{\"a\":Infinite}", 400, "malformed-request", ""},
    {"{\"rope_theta\":1e4}", 400, "missing-parameter", "#/head_dim"},
    {"{\"rope_theta\":1e4,\"hidden_size\":64}", 400, "missing-parameter", "#/head_dim"},
    {"{\"hidden_size\":null,\"num_attention_heads\":null,\"rope_theta\":null,\"model_type\":null}",
     200, NULL, NULL},
    {"{\"rope_theta\":1e4,\"hidden_size\":\"64\",\"num_attention_heads\":4}", 422,
     "invalid-parameter", "#/hidden_size"},
    {"{\"rope_theta\":1e4,\"hidden_size\":[64],\"num_attention_heads\":4}", 422,
     "invalid-parameter", "an array"},
    {"{\"rope_theta\":1e4,\"hidden_size\":true,\"num_attention_heads\":4}", 422,
     "invalid-parameter", "got true"},
    {"{\"rope_theta\":1e4,\"hidden_size\":64.5,\"num_attention_heads\":4}", 422,
     "invalid-parameter", "an integer"},
    {"{\"rope_theta\":1e4,\"hidden_size\":-64,\"num_attention_heads\":4}", 422, "invalid-parameter",
     "at least 1"},
    {"{\"rope_theta\":1e4,\"hidden_size\":1e300,\"num_attention_heads\":4}", 422,
     "invalid-parameter", "at most"},
    {"{\"rope_theta\":1e4,\"hidden_size\":64,\"num_attention_heads\":0}", 422, "invalid-parameter",
     "#/num_attention_heads"},
    {"{\"rope_theta\":1e4,\"hidden_size\":12,\"num_attention_heads\":4}", 422, "invalid-parameter",
     "even"},
    {"{\"model_type\":7," HEADS "}", 400, "malformed-request", "duplicate"},
    {"{\"model_type\":\"glm4_moe\",\"head_dim\":100,\"rope_parameters\":{\"rope_type\":\"llama3\","
     "\"partial_rotary_factor\":0.25,\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4,"
     "\"original_max_position_embeddings\":8192}}",
     422, "invalid-parameter", "odd number of channels"},
    {"{\"model_type\":7}", 422, "invalid-parameter", "#/model_type"},
    {"{\"text_config\":[]}", 422, "invalid-parameter", "#/text_config"},
    {"{\"text_config\":{\"rope_scaling\":{\"type\":3}},\"a\":0}", 422, "invalid-parameter",
     "#/text_config/rope_scaling/type"},
    {"{" HEADS ",\"rope_theta\":\"1e4\"}", 422, "invalid-parameter", "#/rope_theta"},
    {"{" HEADS ",\"rope_theta\":0}", 422, "invalid-parameter", "#/rope_theta"},
    {"{" HEADS ",\"rope_scaling\":[]}", 422, "invalid-parameter", "#/rope_scaling"},
    {"{" HEADS ",\"rope_scaling\":\"yarn\"}", 422, "invalid-parameter", "#/rope_scaling"},
    {"{" HEADS ",\"rope_scaling\":{\"rope_type\":{\"a\":1}}}", 422, "invalid-parameter",
     "#/rope_scaling/rope_type"},
    {"{" HEADS ",\"layers_block_type\":[1]}", 422, "invalid-parameter", "#/layers_block_type/0"},
    {"{\"model_type\":\"mllama_text_model\",\"head_dim\":64,\"cross_attention_layers\":3}", 422,
     "invalid-parameter", "#/cross_attention_layers"},
    {"{\"model_type\":\"llama4_text\",\"attn_scale\":\"0.1\"}", 422, "invalid-parameter",
     "#/attn_scale"},
    {"{" HEADS ",\"rope_parameters\":{\"llama_4_scaling_beta\":-1,"
     "\"original_max_position_embeddings\":8}}",
     422, "invalid-parameter", "#/rope_parameters/llama_4_scaling_beta"},
    {"{" HEADS ",\"rope_scaling\":{\"mrope_section\":[1,2,5]},\"vision_config\":{"
     "\"spatial_merge_size\":0.5}}",
     422, "invalid-parameter", "#/vision_config/spatial_merge_size"},
    {"{" HEADS ",\"rope_scaling\":{\"type\":\"yarm\"}}", 422, "invalid-parameter",
     "llama3, proportional"},
    {"{" HEADS ",\"rope_scaling\":{\"type\":\"linear\"}}", 400, "missing-parameter",
     "#/rope_scaling/factor"},
    {"{" HEADS ",\"rope_scaling\":{\"type\":\"linear\",\"facter\":2}}", 400, "missing-parameter",
     "facter is not known"},
    {"{" HEADS ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":\"2\"}}", 422,
     "invalid-parameter", "#/rope_scaling/factor"},
    {"{" HEADS ",\"rope_scaling\":{\"type\":\"linear\",\"factor\":0.5}}", 422, "invalid-parameter",
     "at least 1"},
    {"{" HEADS ",\"rope_scaling\":{\"type\":\"longrope\",\"short_factor\":{},\"long_factor\":[1]}}",
     422, "invalid-parameter", "#/rope_scaling/short_factor"},
    {"{" HEADS ",\"max_position_embeddings\":64,\"rope_scaling\":{\"type\":\"longrope\","
     "\"short_factor\":[1,1],\"long_factor\":[1,1]}}",
     422, "invalid-parameter", "rotary_dim/2 = 8"},
    {"{" HEADS ",\"max_position_embeddings\":64,\"rope_scaling\":{\"type\":\"longrope\","
     "\"short_factor\":[1,\"x\",1,1,1,1,1,1],\"long_factor\":[1,1,1,1,1,1,1,1]}}",
     422, "invalid-parameter", "#/rope_scaling/short_factor/1"},
    {"{" HEADS ",\"rope_scaling\":{\"mrope_section\":\"1,2,5\"}}", 422, "invalid-parameter",
     "#/rope_scaling/mrope_section"},
    {"{" HEADS ",\"rope_parameters\":{\"full_attention\":{}},\"layer_types\":[\"a\"]}", 400,
     "missing-parameter", "#/rope_parameters/a"},
    {"{" HEADS ",\"layer_types\":{}}", 422, "invalid-parameter", "#/layer_types"},
    {"{" HEADS ",\"layer_types\":[]}", 422, "invalid-parameter", "#/layer_types"},
    {"{" HEADS ",\"layer_types\":[\"a/b\"]}", 422, "invalid-parameter", "#/layer_types/0"},
    {"{" HEADS ",\"layer_types\":[1]}", 422, "invalid-parameter", "#/layer_types/0"},
    {"{" HEADS ",\"layer_types\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\"]}", 422,
     "invalid-parameter", "at most 8"},
    {"{" HEADS ",\"num_hidden_layers\":1e9}", 422, "invalid-parameter", "#/num_hidden_layers"},
    {"{" HEADS ",\"num_hidden_layers\":2,\"no_rope_layers\":[2,1]}", 422, "invalid-parameter",
     "#/no_rope_layers/0"},
    {"{" HEADS ",\"num_hidden_layers\":2,\"no_rope_layers\":[1]}", 422, "invalid-parameter",
     "#/no_rope_layers"},
    {"{" HEADS ",\"num_hidden_layers\":2,\"layer_rope_theta\":[1e4]}", 422, "invalid-parameter",
     "#/layer_rope_theta"},
    {"{" HEADS ",\"num_hidden_layers\":2,\"layer_rope_theta\":[1e4,\"0\"]}", 422,
     "invalid-parameter", "#/layer_rope_theta/1"},
    {"{" HEADS ",\"num_hidden_layers\":2,\"layer_rope_theta\":[1e4,0.5]}", 422, "invalid-parameter",
     "#/layer_rope_theta/1"},
    {"{" HEADS ",\"num_hidden_layers\":2,\"no_rope_layers\":{}}", 422, "invalid-parameter",
     "#/no_rope_layers"},
    {"{\"model_type\":\"mpt\",\"n_heads\":4,\"attn_config\":[]}", 422, "invalid-parameter",
     "#/attn_config"},
    {"{\"model_type\":\"bloom\"}", 400, "missing-parameter", "#/num_attention_heads"},
    {"{\"model_type\":\"bloom\",\"n_head\":\"8\"}", 422, "invalid-parameter", "#/n_head"},
    {"{\"model_type\":\"deberta-v2\"}", 400, "missing-parameter", "#/position_buckets"},
    {"{" HEADS ",\"vocab_size\":{\"a\":[{}]},\"rope_scaling\":{\"x\":[[1]]}}", 200, NULL, NULL},
    {"{" HEADS ",\"num_hidden_layers\":2,\"no_rope_layers\":[0,0]}", 200, NULL, NULL},
};

static void configurations_that_cannot_be_are_refused(void **state)
{
    (void)state;
    for (size_t c = 0; c < PE_LEN(configurations); c++) {
        reply answer = post_json(&server, "/v1/models/resolve", configurations[c].body);
        if (configurations[c].code == NULL) {
            assert_status(configurations[c].body, &answer, 200);
        } else {
            assert_problem(configurations[c].body, &answer, configurations[c].status,
                           configurations[c].code);
            if (strstr(answer.body, configurations[c].says) == NULL)
                fail_msg("%s does not say \"%s\": %s", configurations[c].body,
                         configurations[c].says, answer.body);
        }
        reply_free(&answer);
    }
}

static reply resolve(const void *body, size_t bytes, const char *type)
{
    char header[128];
    snprintf(header, sizeof header, "Content-Type: %s", type);
    const char *const headers[] = {header, NULL};
    return fetch(&server, "POST", "/v1/models/resolve", headers, body, bytes);
}

static void configurations_are_bounded(void **state)
{
    (void)state;
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

static void a_configuration_is_json_alone(void **state)
{
    (void)state;
    reply raw = resolve("{}", 2, "text/html");
    assert_problem("text/html", &raw, 415, "unsupported-media-type");
    assert_header("text/html", &raw, "Accept-Post", "application/json, application/octet-stream");
    reply_free(&raw);
    reply asked = get(&server, "/v1/models/resolve");
    assert_problem("GET", &asked, 405, "method-not-allowed");
    reply_free(&asked);
    reply query = post_json(&server, "/v1/models/resolve?a=1", "{}");
    assert_problem("query", &query, 400, "malformed-request");
    reply_free(&query);
}

/* "GGUF", version 3, no tensors, two keys: general.architecture and, cut off, another one. */
static void a_gguf_file_is_known_by_its_first_bytes(void **state)
{
    (void)state;
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
        cmocka_unit_test(configurations_that_cannot_be_are_refused),
        cmocka_unit_test(configurations_are_bounded),
        cmocka_unit_test(a_configuration_is_json_alone),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
