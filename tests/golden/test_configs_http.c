/* SPDX-License-Identifier: MIT */
/*
 * test_configs_http.c - configurations, resolved through HTTP, and what their parameters give.
 *
 * Each file holds a configuration and what the model's own classes in transformers make of it. The
 * parameters that POST /v1/models/resolve answers are handed on to the resources as they are:
 *
 *     inv_freq_exact, slopes_exact  bit for bit
 *     inv_freq                      numerics=float32, within 8 float32 ulps: upstream's powers
 *     slopes                        within heads/2 float32 ulps: upstream takes that many powers
 *                                   of a rounded base, 2^-24 each
 *     attention_factor,
 *     softmax_scale                 within 1 float64 ulp: upstream's libm
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"

static test_server server;

static const char *const rope_files[] = {
    "glm-4-9b.partial_interleaved",
    "gpt-oss_shaped.no_truncate",
    "kimi-k2.mla_yarn",
    "llama-2.linear_legacy",
    "llama-3.2-1b.rope_parameters",
    "llama-3.2-3b.rope_scaling",
    "llama.dynamic",
    "mistral-nemo.head_dim",
    "phi-3-mini-4k",
    "phi-3_shaped.su",
    "pythia-1.4b.rotary_pct",
    "qwen2-vl-2b.mrope",
    "qwen2.5-0.5b.yarn_legacy_type",
    "stablelm-2-1.6b.partial",
    "yarn_original_missing",
};
static const char *const layered_files[] = {
    "gemma-3-27b.nested_text_config", "gemma-3.per_layer_rope_parameters", "modernbert_shaped"};
static const char *const alibi_files[] = {"bloom-560m.alibi", "mpt-7b.alibi"};

static json_t *load(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "configs/%s", name);
    return golden_load(path);
}

static json_t *post(const char *target, const json_t *body)
{
    char *text = json_dumps(body, JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
    reply answer = post_json(&server, target, text);
    if (answer.status != 200)
        fail_msg("%s with %s: %ld %s", target, text, answer.status, answer.body);
    json_t *tree = reply_json(&answer);
    reply_free(&answer);
    free(text);
    return tree;
}

static json_t *resolve(const json_t *golden)
{
    return post("/v1/models/resolve", json_object_get(golden, "config"));
}

/* A resource's answer to the parameters and one more. */
static json_t *follow(const char *target, const json_t *parameters, const char *dtype,
                      const char *name, json_t *value)
{
    json_t *body = json_deep_copy(parameters);
    json_object_set_new(body, "dtype", json_string(dtype));
    json_object_set_new(body, name, value);
    json_t *answer = post(target, body);
    json_decref(body);
    return answer;
}

static const json_t *flat(const json_t *expected, const char *name)
{
    return json_object_get(json_object_get(expected, name), "data");
}

/* Both as the shortest digits of a float64: equal numbers are equal bits. */
static void same_numbers(const json_t *got, const json_t *wanted, const char *what)
{
    assert_int_equal(json_array_size(got), json_array_size(wanted));
    for (size_t i = 0; i < json_array_size(wanted); i++)
        if (golden_item(got, i) != golden_item(wanted, i))
            fail_msg("%s, %zu: got %.17g, wanted %.17g", what, i, golden_item(got, i),
                     golden_item(wanted, i));
}

static void near_numbers(const json_t *got, const json_t *wanted, double ulps, const char *what)
{
    assert_int_equal(json_array_size(got), json_array_size(wanted));
    for (size_t i = 0; i < json_array_size(wanted); i++) {
        const double value = golden_item(wanted, i);
        if (!(fabs(golden_item(got, i) - value) <= ulps * 0x1p-23 * fabs(value)))
            fail_msg("%s, %zu: got %.9g, upstream %.9g", what, i, golden_item(got, i), value);
    }
}

static void near_scalar(double got, double wanted, const char *what)
{
    if (!(fabs(got - wanted) <= 0x1p-52 * fabs(wanted)))
        fail_msg("%s: got %.17g, upstream %.17g", what, got, wanted);
}

static void same_member(const json_t *parameters, const json_t *expected, const char *name,
                        const char *file)
{
    const json_t *got = json_object_get(parameters, name),
                 *wanted = json_object_get(expected, name);
    if (json_is_string(wanted))
        assert_string_equal(json_string_value(got), json_string_value(wanted));
    else if (!json_is_number(got) || json_number_value(got) != json_number_value(wanted))
        fail_msg("%s: %s is %.17g, wanted %.17g", file, name, json_number_value(got),
                 json_number_value(wanted));
}

/* seq_len 0: as resolved. */
static void check_frequencies(const json_t *parameters, const json_t *expected, const char *float32,
                              const char *exact, double seq_len, const char *file)
{
    static const char target[] = "/v1/rope/frequencies";
    json_t *with = json_deep_copy(parameters);
    if (seq_len != 0)
        json_object_set_new(with, "seq_len", json_real(seq_len));
    json_t *wide = follow(target, with, "float64", "numerics", json_string("exact"));
    json_t *narrow = follow(target, with, "float32", "numerics", json_string("float32"));
    same_numbers(flat(wide, "inv_freq"), flat(expected, exact), file);
    near_numbers(flat(narrow, "inv_freq"), flat(expected, float32), 8, file);
    near_scalar(golden_number(wide, "attention_factor"),
                golden_number(expected, "attention_factor"), file);
    json_decref(wide);
    json_decref(narrow);
    json_decref(with);
}

static void check_rope(const json_t *parameters, const json_t *expected, const char *file)
{
    static const char *const members[] = {"rope_type", "rope_theta", "rotary_dim"};
    for (size_t m = 0; m < PE_LEN(members); m++)
        same_member(parameters, expected, members[m], file);
    check_frequencies(parameters, expected, "inv_freq", "inv_freq_exact", 0, file);
}

static void parameters_of_a_configuration_give_its_frequencies(void **state)
{
    for (size_t f = 0; f < PE_LEN(rope_files); f++) {
        json_t *golden = load(rope_files[f]), *resolved = resolve(golden);
        const json_t *expected = json_object_get(golden, "expected");
        const json_t *parameters = json_object_get(resolved, "parameters");
        assert_string_equal(golden_text(resolved, "encoding"), "rope");
        assert_string_equal(golden_text(parameters, "pairing"), golden_text(expected, "layout"));
        check_rope(parameters, expected, rope_files[f]);
        json_decref(golden);
        json_decref(resolved);
    }
}

static void longrope_beyond_the_original_context(void **state)
{
    json_t *golden = load("phi-3_shaped.su"), *resolved = resolve(golden);
    const json_t *expected = json_object_get(golden, "expected");
    const json_t *parameters = json_object_get(resolved, "parameters");
    const double lengths[] = {4097, 65536};
    for (size_t l = 0; l < PE_LEN(lengths); l++)
        check_frequencies(parameters, expected, "inv_freq_when_length_exceeds_original",
                          "inv_freq_when_length_exceeds_original_exact", lengths[l],
                          "phi-3_shaped.su, long");
    json_decref(golden);
    json_decref(resolved);
}

static void latent_attention_scales_its_logits(void **state)
{
    json_t *golden = load("kimi-k2.mla_yarn"), *resolved = resolve(golden);
    near_scalar(golden_number(resolved, "softmax_scale"),
                golden_number(json_object_get(golden, "expected"), "softmax_scale"),
                "softmax_scale");
    json_decref(golden);
    json_decref(resolved);
}

static const json_t *layers_of(const json_t *resolved, const char *type)
{
    const json_t *list = json_object_get(resolved, "layers");
    for (size_t k = 0; k < json_array_size(list); k++)
        if (strcmp(golden_text(json_array_get(list, k), "layer_type"), type) == 0)
            return json_array_get(list, k);
    fail_msg("there are no layers of type %s", type);
}

/* Every layer is where the file says, and nowhere else. */
static void check_indices(const json_t *resolved, const json_t *types)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(types); i++) {
        const json_t *of = layers_of(resolved, json_string_value(json_array_get(types, i)));
        const json_t *indices = json_object_get(of, "indices");
        bool found = false;
        for (size_t k = 0; k < json_array_size(indices); k++)
            found |= golden_item(indices, k) == (double)i;
        assert_true(found);
    }
    const json_t *list = json_object_get(resolved, "layers");
    for (size_t k = 0; k < json_array_size(list); k++)
        n += json_array_size(json_object_get(json_array_get(list, k), "indices"));
    assert_int_equal(n, json_array_size(types));
}

static void each_kind_of_layers_has_its_own_parameters(void **state)
{
    for (size_t f = 0; f < PE_LEN(layered_files); f++) {
        json_t *golden = load(layered_files[f]), *resolved = resolve(golden);
        const json_t *expected = json_object_get(golden, "expected");
        const char *type;
        json_t *of;
        json_object_foreach(json_object_get(expected, "per_layer_type"), type, of)
        {
            const json_t *layers = layers_of(resolved, type);
            const json_t *parameters = json_object_get(layers, "parameters");
            assert_string_equal(golden_text(parameters, "pairing"),
                                golden_text(expected, "layout"));
            check_rope(parameters, of, layered_files[f]);
        }
        check_indices(resolved, json_object_get(expected, "layer_types"));
        assert_true(
            json_equal(json_object_get(resolved, "parameters"),
                       json_object_get((json_t *)(uintptr_t)layers_of(resolved, "full_attention"),
                                       "parameters")));
        json_decref(golden);
        json_decref(resolved);
    }
}

static void linear_biases_have_the_models_slopes(void **state)
{
    for (size_t f = 0; f < PE_LEN(alibi_files); f++) {
        json_t *golden = load(alibi_files[f]), *resolved = resolve(golden);
        const json_t *expected = json_object_get(golden, "expected");
        const json_t *parameters = json_object_get(resolved, "parameters");
        json_t *wide =
            follow("/v1/alibi/slopes", parameters, "float64", "numerics", json_string("exact"));
        json_t *narrow =
            follow("/v1/alibi/slopes", parameters, "float32", "numerics", json_string("exact"));
        assert_string_equal(golden_text(resolved, "encoding"), "alibi");
        assert_true(golden_number(parameters, "num_heads") == golden_number(expected, "heads"));
        same_numbers(json_object_get(wide, "data"), flat(expected, "slopes_exact"), alibi_files[f]);
        near_numbers(json_object_get(narrow, "data"), flat(expected, "slopes"),
                     golden_number(expected, "heads") / 2, alibi_files[f]);
        json_decref(wide);
        json_decref(narrow);
        json_decref(golden);
        json_decref(resolved);
    }
}

/* key - query in the first and last row of a square says every distance up to its side. */
static void t5_buckets_are_the_models(void **state)
{
    enum { SIDE = 256 };
    json_t *golden = load("t5-small"), *resolved = resolve(golden);
    const json_t *expected = json_object_get(golden, "expected");
    const json_t *parameters = json_object_get(resolved, "parameters");
    json_t *body = json_deep_copy(parameters);
    json_object_set_new(body, "query_length", json_integer(SIDE));
    json_t *answer = post("/v1/t5/buckets", body);
    const json_t *rows = json_object_get(answer, "data");
    const json_t *distances = flat(expected, "sample_relative_positions");
    assert_string_equal(golden_text(resolved, "encoding"), "t5");
    same_member(parameters, expected, "num_buckets", "t5-small");
    same_member(parameters, expected, "max_distance", "t5-small");
    assert_true(json_is_true(json_object_get(parameters, "bidirectional")));
    for (size_t i = 0; i < json_array_size(distances); i++) {
        const int distance = (int)golden_item(distances, i);
        const size_t row = distance < 0 ? SIDE - 1 : 0;
        const size_t column = (size_t)((int)row + distance);
        assert_true(golden_item(json_array_get(rows, row), column) ==
                    golden_item(flat(expected, "sample_buckets"), i));
    }
    json_decref(body);
    json_decref(answer);
    json_decref(golden);
    json_decref(resolved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_of_a_configuration_give_its_frequencies),
        cmocka_unit_test(longrope_beyond_the_original_context),
        cmocka_unit_test(latent_attention_scales_its_logits),
        cmocka_unit_test(each_kind_of_layers_has_its_own_parameters),
        cmocka_unit_test(linear_biases_have_the_models_slopes),
        cmocka_unit_test(t5_buckets_are_the_models),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
