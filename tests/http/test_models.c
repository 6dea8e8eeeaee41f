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
    const json_t *models = json_object_get(catalogue, "models");
    for (size_t m = 1; m < json_array_size(models); m++)
        assert_true(strcmp(text_of(json_array_get(models, m - 1), "name"),
                           text_of(json_array_get(models, m), "name")) < 0);
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

/* Two models never share a spelling: each is found by its own name and by its title. */
static void every_name_and_title_finds_its_own_model(void **state)
{
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
    same_tag("llama", "/v1/rope/frequencies?model=meta-llama%2FLlama-3.1-8B-Instruct",
             "/v1/rope/frequencies?model=llama-3.1-8b");
    reply answer = get(&server, "/v1/rope/frequencies?model=meta-llama/Llama-3.1-8B-Instruct");
    assert_status("a slash", &answer, 200);
    assert_null(strcasestr(answer.body, "llama-3"));
    assert_null(strcasestr(answer.headers, "llama-3"));
    reply_free(&answer);
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

static int start(void **state)
{
    server_start(&server, NULL);
    catalogue = get_json("/v1/models");
    return 0;
}

static int stop(void **state)
{
    json_decref(catalogue);
    server_end(&server);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_resolves_and_is_understood),
        cmocka_unit_test(models_are_listed_in_order),
        cmocka_unit_test(every_name_and_title_finds_its_own_model),
        cmocka_unit_test(a_spelling_leaves_no_trace_in_an_answer),
        cmocka_unit_test(a_model_stands_for_its_parameters),
    };
    return cmocka_run_group_tests_name("models through HTTP", tests, start, stop);
}
