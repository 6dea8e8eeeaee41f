/* SPDX-License-Identifier: MIT */
/* test_models.c - the catalogue, model=NAME, and what is refused of configurations. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "support/problem.h"

static test_server server;
static json_t *catalogue; /* GET /v1/models */

static json_t *get_json(const char *target)
{
    reply answer = get(&server, target);
    if (answer.status != 200)
        fail_msg("%s: %ld %s", target, answer.status, answer.body);
    json_t *tree = reply_json(&answer);
    reply_free(&answer);
    return tree;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    if (text == NULL)
        fail_msg("%s is no string", name);
    return text;
}

/* ---- the catalogue ------------------------------------------------------------------------------
 */

static void every_model_resolves_and_is_understood(void **state)
{
    (void)state;
    const json_t *models = json_object_get(catalogue, "models");
    assert_true(json_array_size(models) > 50);
    for (size_t m = 0; m < json_array_size(models); m++) {
        char target[128];
        const char *name = text_of(json_array_get(models, m), "name");
        snprintf(target, sizeof target, "/v1/models/%s", name);
        json_t *model = get_json(target);
        const json_t *resolved = json_object_get(model, "resolved");
        const json_t *warnings = json_object_get(resolved, "warnings");
        assert_string_equal(text_of(model, "name"), name);
        assert_true(json_array_size(json_object_get(model, "sources")) > 0);
        assert_true(json_is_object(json_object_get(model, "config")));
        assert_true(json_equal(json_object_get(resolved, "parameters"),
                               json_object_get(json_array_get(models, m), "parameters")));
        for (size_t w = 0; w < json_array_size(warnings); w++)
            if (strstr(json_string_value(json_array_get(warnings, w)), "not known") != NULL)
                fail_msg("%s: %s", name, json_string_value(json_array_get(warnings, w)));
        json_decref(model);
    }
}

static void models_are_listed_in_order(void **state)
{
    (void)state;
    const json_t *models = json_object_get(catalogue, "models");
    for (size_t m = 1; m < json_array_size(models); m++)
        assert_true(strcmp(text_of(json_array_get(models, m - 1), "name"),
                           text_of(json_array_get(models, m), "name")) < 0);
}

static void a_model_that_is_not_there_is_404_with_the_nearest(void **state)
{
    (void)state;
    reply answer = get(&server, "/v1/models/lama-3.1-8b");
    assert_problem("nearest", &answer, 404, "not-found");
    assert_non_null(strstr(answer.body, "did you mean llama-3.1-8b?"));
    reply_free(&answer);
}

/* ---- model=NAME ---------------------------------------------------------------------------------
 */

static const struct {
    const char *encoding, *path, *more;
} followed[] = {
    {"rope", "/v1/rope/frequencies", ""},
    {"rope", "/v1/rope/table", "&positions=0:4"},
    {"rope", "/v1/rope/decay", "&offsets=0:4"},
    {"alibi", "/v1/alibi/slopes", ""},
    {"alibi", "/v1/alibi/bias", "&query_length=3"},
    {"t5", "/v1/t5/buckets", "&query_length=3"},
    {"sinusoidal", "/v1/sinusoidal", "&positions=0:4"},
};

/* Parameters as a query. */
static void add_query(const json_t *parameters, pe_buffer *out)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)parameters, name, value)
    {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
        const size_t bytes = strlen(text);
        const bool plain = text[0] != '[' && text[0] != '"';
        pe_buffer_format(out, "&%s=%.*s", name, (int)(plain ? bytes : bytes - 2),
                         plain ? text : text + 1);
        free(text);
    }
}

static void same_tag(const char *model, const char *by_name, const char *by_parameters)
{
    char one[128] = "", other[128] = "";
    reply first = get(&server, by_name), second = get(&server, by_parameters);
    if (first.status != 200 || second.status != 200)
        fail_msg("%s: %s: %ld %.300s; %s: %ld %.300s", model, by_name, first.status, first.body,
                 by_parameters, second.status, second.body);
    reply_header(&first, "ETag", one, sizeof one);
    reply_header(&second, "ETag", other, sizeof other);
    assert_true(one[0] != '\0');
    assert_string_equal(one, other);
    assert_string_equal(first.body, second.body);
    reply_free(&first);
    reply_free(&second);
}

/* By name or by the parameters that the catalogue lists: one answer, one tag. */
static void a_model_stands_for_its_parameters(void **state)
{
    (void)state;
    const json_t *models = json_object_get(catalogue, "models");
    for (size_t m = 0; m < json_array_size(models); m++) {
        const json_t *model = json_array_get(models, m);
        for (size_t f = 0; f < PE_LEN(followed); f++) {
            pe_buffer by_name = {0}, by_parameters = {0};
            if (strcmp(followed[f].encoding, text_of(model, "encoding")) != 0)
                continue;
            pe_buffer_format(&by_name, "%s?model=%s%s", followed[f].path, text_of(model, "name"),
                             followed[f].more);
            pe_buffer_format(&by_parameters, "%s?%s", followed[f].path, followed[f].more);
            add_query(json_object_get(model, "parameters"), &by_parameters);
            same_tag(text_of(model, "name"), pe_buffer_text(&by_name),
                     pe_buffer_text(&by_parameters));
            pe_buffer_free(&by_name);
            pe_buffer_free(&by_parameters);
        }
    }
}

/* What a request's canonical parameters must say. */
static const struct {
    const char *target, *parameter, *value;
} overrides[] = {
    {"/v1/rope/frequencies?model=llama-3.1-8b&rope_theta=1000", "rope_theta", "1000"},
    {"/v1/rope/frequencies?model=llama-3.1-8b&rope_theta=1000", "factor", "8"},
    {"/v1/rope/frequencies?model=llama-3.1-8b&factor=2", "factor", "2"},
    {"/v1/rope/frequencies?model=llama-3.1-8b&rope_type=default", "factor", NULL},
    {"/v1/rope/frequencies?model=llama-3.1-8b&rope_type=default", "rope_theta", "500000"},
    {"/v1/rope/frequencies?model=llama-3.1-8b&rope_type=yarn&factor=4", "low_freq_factor", NULL},
    {"/v1/rope/frequencies?model=llama-3.1-8b&rope_type=llama3", "low_freq_factor", "1"},
    {"/v1/rope/frequencies?model=phi-3.5-mini&rope_type=linear&factor=2", "short_factor", NULL},
    {"/v1/rope/frequencies?model=phi-3.5-mini&seq_len=8192", "seq_len", "8192"},
    {"/v1/rope/frequencies?model=pythia-1.4b&head_dim=64", "rotary_dim", "16"},
    {"/v1/rope/frequencies?model=pythia-1.4b&rotary_dim=64", "partial_rotary_factor", "0.5"},
    {"/v1/rope/frequencies?model=pythia-1.4b&partial_rotary_factor=0.5", "rotary_dim", "64"},
    {"/v1/rope/table?model=gpt-j-6b&positions=0", "pairing", "\"interleaved\""},
    {"/v1/rope/table?model=gemma-3-27b&positions=0", "rope_theta", "1000000"},
    {"/v1/rope/table?model=gemma-3-27b&positions=0&layer_type=sliding_attention", "rope_theta",
     "10000"},
    {"/v1/rope/table?model=gemma-3-27b&positions=0&layer_type=0", "rope_theta", "10000"},
    {"/v1/rope/table?model=gemma-3-27b&positions=0&layer_type=5", "rope_theta", "1000000"},
    {"/v1/rope/table?model=gemma-3-27b&positions=0&layer_type=5", "model", NULL},
    {"/v1/rope/table?model=gemma-3-27b&positions=0&layer_type=5", "layer_type", NULL},
    {"/v1/rope/scaled-base?model=pythia-1.4b&factor=8", "head_dim", "32"},
    {"/v1/rope/scaled-base?model=llama-3.1-8b&factor=2", "factor", "2"},
    {"/v1/rope/scaled-base?model=llama-3.1-8b&factor=2&method=dynamic&seq_len=262144",
     "max_position_embeddings", "131072"},
    {"/v1/alibi/slopes?model=bloom-560m&num_heads=8", "num_heads", "8"},
    {"/v1/t5/buckets?model=t5-small&query_length=2&layer_type=decoder", "bidirectional", "false"},
    {"/v1/rope/attention-scale?model=devstral-small-2-24b&positions=0", "beta", "0.1"},
    {"/v1/rope/attention-scale?model=devstral-small-2-24b&positions=0",
     "original_max_position_embeddings", "8192"},
    {"/v1/rope/attention-scale?model=devstral-small-2-24b&positions=0", "position_offset", "0"},
    {"/v1/rope/attention-scale?model=devstral-small-2-24b&positions=0&beta=0.5", "beta", "0.5"},
    {"/v1/rope/attention-scale?model=llama-4-scout-17b-16e&positions=0", "position_offset", "1"},
    {"/v1/rope/mrope-positions?model=qwen2.5-vl-7b&token_runs=text:4", "spatial_merge_size", "2"},
    {"/v1/rope/mrope-positions?model=qwen2.5-vl-7b&token_runs=text:4", "tokens_per_second", "2"},
    {"/v1/rope/grid?model=qwen2.5-vl-7b&height=2", "head_dim", "80"},
    {"/v1/rope/grid?model=qwen3.5-9b&height=2", "spatial_merge_size", "2"},
    {"/v1/rope/grid?model=qwen3.5-9b&height=2&spatial_merge_size=1", "head_dim", "72"},
    {"/v1/rope/mrope-positions?model=qwen2-vl-7b&token_runs=text:4", "tokens_per_second", NULL},
};

static void what_is_given_counts_more_than_the_model(void **state)
{
    (void)state;
    for (size_t o = 0; o < PE_LEN(overrides); o++) {
        json_t *answer = get_json(overrides[o].target);
        const json_t *got =
            json_object_get(json_object_get(answer, "parameters"), overrides[o].parameter);
        json_t *wanted = overrides[o].value != NULL
                             ? json_loads(overrides[o].value, JSON_DECODE_ANY, NULL)
                             : NULL;
        if (wanted == NULL ? got != NULL : !json_equal(got, wanted))
            fail_msg("%s: %s is not %s", overrides[o].target, overrides[o].parameter,
                     overrides[o].value != NULL ? overrides[o].value : "absent");
        json_decref(wanted);
        json_decref(answer);
    }
}

/* A longrope model is as it is loaded, with its short factors; who goes beyond is told. */
static void positions_beyond_the_original_context_are_warned_of(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        bool warned;
    } cases[] = {
        {"/v1/rope/table?model=phi-3.5-mini&positions=0:4096", false},
        {"/v1/rope/table?model=phi-3.5-mini&positions=0:4097", true},
        {"/v1/rope/table?model=phi-3.5-mini&positions=4096:0:-1", true},
        {"/v1/rope/table?model=phi-3.5-mini&positions=0,9999,1", true},
        {"/v1/rope/table?model=phi-3.5-mini&positions=0,9999,1&seq_len=10000", false},
        {"/v1/rope/table?model=llama-3.1-8b&positions=0,9999,1", false},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        json_t *answer = get_json(cases[c].target);
        assert_int_equal(json_object_get(answer, "warnings") != NULL, cases[c].warned);
        json_decref(answer);
    }
}

static void bodies_take_a_model_too(void **state)
{
    (void)state;
    static const char body[] = "{\"model\":\"gpt-j-6b\",\"q\":[[1,0,0.5,0.25]],\"head_dim\":4,"
                               "\"partial_rotary_factor\":1,\"positions\":[3]}";
    reply answer = post_json(&server, "/v1/rope/rotate", body);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"pairing\":\"interleaved\""));
    reply_free(&answer);
}

static void a_sum_takes_the_layout_of_a_model(void **state)
{
    static const char body[] = "{\"model\":\"whisper-tiny\",\"d_model\":2,\"embeddings\":[[0,0]]}";
    (void)state;
    reply answer = post_json(&server, "/v1/sinusoidal/add", body);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"layout\":\"sin_cos\""));
    reply_free(&answer);
}

static const struct {
    const char *target;
    long status;
    const char *says;
} refused[] = {
    {"/v1/rope/table?model=llama-3.1-8&positions=0", 422, "did you mean llama-3.1-8b?"},
    {"/v1/rope/table?model=zzz&positions=0", 422, "GET /v1/models"},
    {"/v1/rope/table?model=&positions=0", 400, "model is empty"},
    {"/v1/rope/table?model=a&model=b", 400, "more than once"},
    {"/v1/rope/table?positions=0", 400, "head_dim is required, or a model"},
    {"/v1/rope/table?head_dim=64&layer_type=full_attention", 422, "no model is given"},
    {"/v1/rope/table?model=bloom-560m", 422, "see /v1/alibi/slopes"},
    {"/v1/rope/table?model=gpt2", 422, "learned"},
    {"/v1/alibi/slopes?model=llama-3.1-8b", 422, "see /v1/rope/table"},
    {"/v1/rope/table?model=gemma-3-27b&layer_type=62", 422, "a layer from 0 to 61"},
    {"/v1/rope/table?model=gemma-3-27b&layer_type=-1", 422, "one of full_attention"},
    {"/v1/rope/table?model=gemma-3-27b&layer_type=1e1", 422, "one of full_attention"},
    {"/v1/rope/table?model=gemma-3-27b&layer_type=99999999999999999999999", 422, "from 0 to 61"},
    {"/v1/rope/table?model=smollm3-3b&layer_type=no_rope", 422, "do not rotate"},
    {"/v1/rope/table?model=llama-3.1-8b&beta_fast=2", 422, "not read by rope_type llama3"},
    {"/v1/rope/table?model=llama-3.1-8b&rotary_dim=256", 422, "at most head_dim"},
    {"/v1/sinusoidal?d_model=4&modle=a", 400, "did you mean model?"},
    {"/v1/shaw/indices?query_length=2&max_relative_position=1&model=x", 422,
     "no model of the catalogue says anything of /v1/shaw/indices"},
    {"/v1/rope/attention-scale?layer_type=0", 422, "do not differ"},
    {"/v1/rope/attention-scale?model=llama-3.1-8b", 422, "scales no queries by their position"},
    {"/v1/rope/attention-scale?model=bloom-560m", 422, "scales no queries by their position"},
    {"/v1/rope/grid?model=llama-3.1-8b&height=2", 422, "vision tower"},
    {"/v1/rope/grid?height=2", 400, "head_dim is required, or a model"},
    {"/v1/rope/mrope-positions?model=llama-3.1-8b&token_runs=text:4", 422, "on several axes"},
};

static void what_no_model_can_mean_is_refused(void **state)
{
    (void)state;
    for (size_t r = 0; r < PE_LEN(refused); r++) {
        reply answer = get(&server, refused[r].target);
        assert_status(refused[r].target, &answer, refused[r].status);
        if (strstr(answer.body, refused[r].says) == NULL)
            fail_msg("%s does not say \"%s\": %s", refused[r].target, refused[r].says, answer.body);
        reply_free(&answer);
    }
}

/* ---- configurations -----------------------------------------------------------------------------
 */

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
    {"{}", 400, "missing-parameter", "#/head_dim"},
    {"{\"hidden_size\":64}", 400, "missing-parameter", "#/head_dim"},
    {"{\"hidden_size\":null,\"num_attention_heads\":null,\"rope_theta\":null,\"model_type\":null}",
     400, "missing-parameter", "#/head_dim"},
    {"{\"hidden_size\":\"64\",\"num_attention_heads\":4}", 422, "invalid-parameter",
     "#/hidden_size"},
    {"{\"hidden_size\":[64],\"num_attention_heads\":4}", 422, "invalid-parameter", "an array"},
    {"{\"hidden_size\":true,\"num_attention_heads\":4}", 422, "invalid-parameter", "got true"},
    {"{\"hidden_size\":64.5,\"num_attention_heads\":4}", 422, "invalid-parameter", "an integer"},
    {"{\"hidden_size\":-64,\"num_attention_heads\":4}", 422, "invalid-parameter", "at least 1"},
    {"{\"hidden_size\":1e300,\"num_attention_heads\":4}", 422, "invalid-parameter", "at most"},
    {"{\"hidden_size\":64,\"num_attention_heads\":0}", 422, "invalid-parameter",
     "#/num_attention_heads"},
    {"{\"hidden_size\":12,\"num_attention_heads\":4}", 422, "invalid-parameter", "even"},
    {"{\"model_type\":7," HEADS "}", 400, "malformed-request", "duplicate"},
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
    assert_problem("1 MiB of nothing", &full, 400, "missing-parameter");
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
    reply raw = resolve("{}", 2, "text/plain");
    assert_problem("text/plain", &raw, 415, "unsupported-media-type");
    assert_header("text/plain", &raw, "Accept-Post", "application/json");
    reply_free(&raw);
    reply asked = get(&server, "/v1/models/resolve");
    assert_problem("GET", &asked, 405, "method-not-allowed");
    reply_free(&asked);
    reply query = post_json(&server, "/v1/models/resolve?a=1", "{}");
    assert_problem("query", &query, 400, "malformed-request");
    reply_free(&query);
}

static int start(void **state)
{
    (void)state;
    server_start(&server, NULL);
    catalogue = get_json("/v1/models");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    json_decref(catalogue);
    server_end(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_resolves_and_is_understood),
        cmocka_unit_test(models_are_listed_in_order),
        cmocka_unit_test(a_model_that_is_not_there_is_404_with_the_nearest),
        cmocka_unit_test(a_model_stands_for_its_parameters),
        cmocka_unit_test(what_is_given_counts_more_than_the_model),
        cmocka_unit_test(positions_beyond_the_original_context_are_warned_of),
        cmocka_unit_test(bodies_take_a_model_too),
        cmocka_unit_test(a_sum_takes_the_layout_of_a_model),
        cmocka_unit_test(what_no_model_can_mean_is_refused),
        cmocka_unit_test(configurations_that_cannot_be_are_refused),
        cmocka_unit_test(configurations_are_bounded),
        cmocka_unit_test(a_configuration_is_json_alone),
    };
    return cmocka_run_group_tests_name("models through HTTP", tests, start, stop);
}
