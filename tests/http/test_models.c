/* SPDX-License-Identifier: MIT */
/* test_models.c - the catalogue, and model=NAME. */
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

/* ---- the catalogue --------------------------------------------------------------------------- */

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

/* ---- spellings ------------------------------------------------------------------------------- */

static const struct {
    const char *spelling, *name;
} spellings[] = {
    {"llama-3.1-8b", "llama-3.1-8b"},
    {"LLAMA-3.1-8B", "llama-3.1-8b"},
    {"llama3.1:8b", "llama-3.1-8b"},
    {"Llama_3.1_8B_Instruct", "llama-3.1-8b"},
    {"meta-llama/Llama-3.1-8B", "llama-3.1-8b"},
    {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"},
    {"meta-llama%2FLlama-3.1-8B-Instruct", "llama-3.1-8b"},
    {"meta%2dllama%2fmeta-llama-3.1-8b-instruct", "llama-3.1-8b"},
    {"Llama-3.1-8B-Instruct-Q4_K_M.gguf", "llama-3.1-8b"},
    {"bartowski/Meta-Llama-3.1-8B-Instruct-GGUF/Meta-Llama-3.1-8B-Instruct-IQ3_XS.gguf",
     "llama-3.1-8b"},
    {"unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "llama-3.1-8b"},
    {"meta-llama/Llama-2-7b-chat-hf", "llama-2-7b"},
    {"llama-2-7b-chat.Q5_0.gguf", "llama-2-7b"},
    {"google/gemma-2-9b-it", "gemma-2-9b"},
    {"mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3"},
    {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
    {"TinyLlama/TinyLlama-1.1B-Chat-v1.0", "tinyllama-1.1b"},
    {"stabilityai/stablelm-2-zephyr-1_6b", "stablelm-2-1.6b"},
    {"Qwen/Qwen2.5-VL-7B-Instruct", "qwen2.5-vl-7b"},
    {"EleutherAI/gpt-neox-20b", "gpt-neox-20b"},
    {"google_gemma-3-27b-it-Q4_K_M.gguf", "gemma-3-27b"},
    {"microsoft_Phi-4-mini-instruct-Q4_K_M.gguf", "phi-4-mini"},
    {"bartowski/Qwen_Qwen3-8B-GGUF/Qwen_Qwen3-8B-Q4_K_M.gguf", "qwen3-8b"},
    {"Qwen_3-8B", "qwen3-8b"},
    {"gpt-oss-20b-mxfp4", "gpt-oss-20b"},
    {"Llama-3.3-70B-Instruct-UD-Q4_K_XL.gguf", "llama-3.3-70b"},
    {"allenai/OLMo-2-1124-7B-Instruct", "olmo-2-7b"},
    {"allenai/OLMo-2-1124-13B", "olmo-2-13b"},
    {"openbmb/MiniCPM-2B-sft-bf16", "minicpm-2b"},
    {"mistralai/Devstral-Small-2-24B-Instruct-2512", "devstral-small-2-24b"},
};

static void a_model_is_found_by_the_spellings_of_its_name(void **state)
{
    (void)state;
    for (size_t s = 0; s < PE_LEN(spellings); s++) {
        char target[256], wanted[128], location[128] = "";
        snprintf(target, sizeof target, "/v1/models/%s", spellings[s].spelling);
        snprintf(wanted, sizeof wanted, "/v1/models/%s", spellings[s].name);
        reply answer = get(&server, target);
        assert_status(target, &answer, 200);
        reply_header(&answer, "Content-Location", location, sizeof location);
        if (strcmp(location, wanted) != 0)
            fail_msg("%s is at %s, not %s", target, location, wanted);
        reply_free(&answer);
    }
}

/* Two models never share a spelling: each is found by its own name and by its title. */
static void every_name_and_title_finds_its_own_model(void **state)
{
    (void)state;
    const json_t *models = json_object_get(catalogue, "models");
    for (size_t m = 0; m < json_array_size(models); m++) {
        const char *names[] = {text_of(json_array_get(models, m), "name"),
                               text_of(json_array_get(models, m), "title")};
        for (size_t n = 0; n < PE_LEN(names); n++) {
            char target[256] = "/v1/models/any/";
            size_t used = strlen(target);
            for (const char *c = names[n]; *c != '\0'; c++) /* the mark that they use instead */
                target[used++] = *c == ' ' ? '-' : *c;
            target[used] = '\0';
            json_t *model = get_json(target);
            assert_string_equal(text_of(model, "name"), names[0]);
            json_decref(model);
        }
    }
}

static void a_spelling_leaves_no_trace_in_an_answer(void **state)
{
    (void)state;
    same_tag("llama", "/v1/rope/frequencies?model=meta-llama%2FLlama-3.1-8B-Instruct",
             "/v1/rope/frequencies?model=llama-3.1-8b");
    reply answer = get(&server, "/v1/rope/frequencies?model=meta-llama/Llama-3.1-8B-Instruct");
    assert_status("a slash", &answer, 200);
    assert_null(strcasestr(answer.body, "llama-3"));
    assert_null(strcasestr(answer.headers, "llama-3"));
    reply_free(&answer);
}

static void a_search_lists_the_models_that_have_its_words(void **state)
{
    static const struct {
        const char *query, *first;
        size_t n;
    } searches[] = {
        {"llama-3.1", "llama-3.1-405b", 4}, {"LLAMA+3.1", "llama-3.1-405b", 4},
        {"alibaba%20vl", "qwen2-vl-2b", 7}, {"phi+4", "phi-3-mini-4k", 5},
        {"llama3", "llama-3-70b", 13},      {"llama", "llama-2-13b", 29},
        {"mistral", "mistral-7b-v0.1", 16}, {"llama+8b", "llama-3-8b", 3},
        {"phi3", "phi-3-mini-4k", 3},       {"Qwen2.5-VL", "qwen2.5-vl-7b", 1},
        {"nothing-of-this-name", NULL, 0},
    };
    (void)state;
    for (size_t s = 0; s < PE_LEN(searches); s++) {
        char target[128];
        snprintf(target, sizeof target, "/v1/models?q=%s", searches[s].query);
        json_t *found = get_json(target);
        const json_t *models = json_object_get(found, "models");
        if (json_array_size(models) != searches[s].n)
            fail_msg("%s finds %zu", target, json_array_size(models));
        if (searches[s].n > 0)
            assert_string_equal(text_of(json_array_get(models, 0), "name"), searches[s].first);
        json_decref(found);
    }
}

/* ---- model=NAME ------------------------------------------------------------------------------ */

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
    {"sinusoidal", "/v1/sinusoidal/grid", "&width=1"},
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

/* Is the model's table one of rows and columns? */
static bool has_rows(const json_t *model)
{
    return json_object_get(json_object_get(model, "parameters"), "height") != NULL;
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
            if (strcmp(followed[f].encoding, text_of(model, "encoding")) != 0 ||
                json_object_get(json_object_get(model, "parameters"), "convention") != NULL ||
                (strstr(followed[f].path, "/grid") != NULL) != has_rows(model))
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
    {"/v1/rope/table?model=qwen2-vl-7b&positions=0&axes_dims=64,64", "mrope_section", NULL},
    {"/v1/rope/table?model=qwen2-vl-7b&positions=0&axes_dims=64,64", "pairing", "\"half\""},
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
    {"/v1/rope/frequencies?model=eva02-base-patch14-224", 422, "see /v1/rope/grid"},
    {"/v1/rope/table?model=phi3&positions=0", 422, "did you mean phi-3-mini-4k, phi-3.5-mini, "},
    {"/v1/rope/table?model=llama-3.1&positions=0", 422,
     "did you mean llama-3.1-405b, llama-3.1-70b, llama-3.1-8b, llama-3.1-nemotron-70b?"},
    {"/v1/rope/table?model=Qwen/Qwen3-4B-Reasoning-2507&positions=0", 422,
     "did you mean qwen3-4b, qwen3-4b-instruct-2507, qwen3-4b-thinking-2507?"},
    {"/v1/rope/table?model=llama&positions=0", 422, "more that GET /v1/models lists?"},
    {"/v1/models/llama3", 404, "llama-3.1-8b or one of 5 more that"}, /* llama-30b is none */
    {"/v1/models/llama-31-8b", 404, "did you mean llama-3.1-8b?"},
    {"/v1/models/qwen25-vl", 404, "did you mean qwen2.5-vl-7b?"},
    {"/v1/models/t5", 404, "did you mean t5-small?"},
    {"/v1/models/r1", 404, "did you mean deepseek-r1, deepseek-r1-distill"},
    {"/v1/models/llama-3.1", 404,
     "did you mean llama-3.1-405b, llama-3.1-70b, llama-3.1-8b, llama-3.1-nemotron-70b?"},
    {"/v1/models/gpt2%00", 404, "%00"},
    {"/v1/models/", 404, "there is no model"},
    {"/v1/models?name=gpt2", 400, "/v1/models?q=llama, got name=gpt2"},
    {"/v1/models?q=a%2", 400, "two hexadecimal digits"},
    {"/v1/models?q=%00", 422, "q must be words, got %00"},
    {"/v1/rope/table?model=&positions=0", 400, "model must not be empty"},
    {"/v1/rope/table?model=a&model=b", 400, "more than once"},
    {"/v1/rope/table?positions=0", 400, "head_dim is required, or a model"},
    {"/v1/rope/table?head_dim=64&layer_type=full_attention", 422, "layer_type needs model"},
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
     "no model of the catalogue sets parameters of /v1/shaw/indices"},
    {"/v1/rope/attention-scale?layer_type=0", 422, "layer_type changes no parameter of"},
    {"/v1/rope/attention-scale?model=llama-3.1-8b", 422, "scales no queries by their position"},
    {"/v1/rope/attention-scale?model=bloom-560m", 422, "scales no queries by their position"},
    {"/v1/rope/grid?model=llama-3.1-8b&height=2", 422, "vision tower"},
    {"/v1/rope/grid?height=2", 400, "head_dim is required, or a model"},
    {"/v1/sinusoidal?model=stable-diffusion-3-medium", 422, "see /v1/sinusoidal/grid"},
    {"/v1/sinusoidal/grid?model=whisper-tiny&height=2", 422, "no sinusoidal table of a grid"},
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
        cmocka_unit_test(a_model_is_found_by_the_spellings_of_its_name),
        cmocka_unit_test(every_name_and_title_finds_its_own_model),
        cmocka_unit_test(a_spelling_leaves_no_trace_in_an_answer),
        cmocka_unit_test(a_search_lists_the_models_that_have_its_words),
        cmocka_unit_test(a_model_stands_for_its_parameters),
        cmocka_unit_test(what_is_given_counts_more_than_the_model),
        cmocka_unit_test(positions_beyond_the_original_context_are_warned_of),
        cmocka_unit_test(bodies_take_a_model_too),
        cmocka_unit_test(a_sum_takes_the_layout_of_a_model),
        cmocka_unit_test(what_no_model_can_mean_is_refused),
    };
    return cmocka_run_group_tests_name("models through HTTP", tests, start, stop);
}
