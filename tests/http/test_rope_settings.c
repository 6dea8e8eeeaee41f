/* SPDX-License-Identifier: MIT */
/*
 * test_rope_settings.c - what engines are told for each rope type.
 *
 * Dictionaries are compared with what POST /v1/models/resolve reads from them, llama.cpp's flags
 * with its formula in float64.
 */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/compare_request.h"
#include "support/golden.h"
#include "support/problem.h"

static test_server server;

/* ---- settings -------------------------------------------------------------------------------- */

static const json_t *setting(const json_t *compared, const char *type, const char *program)
{
    const json_t *of = json_object_get(json_object_get(compared, "settings"), type);
    const json_t *found = json_object_get(of, program);
    if (found == NULL)
        fail_msg("no setting of %s for %s", type, program);
    return found;
}

static json_t *value_of(const json_t *compared, const char *type, const char *program)
{
    return json_object_get(setting(compared, type, program), "value");
}

/* inv_freq and attention_factor of parameters that a configuration was resolved into. */
static json_t *resolved(const json_t *model, const json_t *settings, double target)
{
    json_t *config = json_deep_copy(model);
    json_object_update(config, (json_t *)(uintptr_t)settings);
    json_t *answer = compare_answer(&server, "/v1/models/resolve", config);
    json_t *body = json_deep_copy(json_object_get(answer, "parameters"));
    const char *type = json_string_value(json_object_get(body, "rope_type"));
    if (strcmp(type, "dynamic") == 0 || strcmp(type, "longrope") == 0)
        json_object_set_new(body, "seq_len", json_real(target));
    json_object_set_new(body, "dtype", json_string("float64"));
    json_t *frequencies = compare_answer(&server, FREQUENCIES, body);
    json_decref(body);
    json_decref(answer);
    json_decref(config);
    return frequencies;
}

/* exact: bit for bit; else the base was rounded to float64, which each pair takes a power of: half
 * an ulp of the base, times less than 1, and half an ulp for each rounding. */
static void same_resolved(const json_t *compared, size_t t, const json_t *single, bool exact,
                          const char *program)
{
    const json_t *wanted = json_array_get(compare_data(compared, "inv_freq"), t);
    const json_t *got = compare_data(single, "inv_freq");
    const char *type = compare_type(compared, t);
    assert_int_equal(json_array_size(got), json_array_size(wanted));
    for (size_t i = 0; i < json_array_size(wanted); i++) {
        const double bound = exact ? 0 : 3 * 0x1p-53 * golden_item(wanted, i);
        if (!(fabs(golden_item(got, i) - golden_item(wanted, i)) <= bound))
            fail_msg("%s for %s, pair %zu: got %a, wanted %a", type, program, i,
                     golden_item(got, i), golden_item(wanted, i));
    }
    if (compare_member(single, "attention_factor") !=
        compare_number(compared, "attention_factor", t))
        fail_msg("%s for %s: attention_factor %.17g, wanted %.17g", type, program,
                 compare_member(single, "attention_factor"),
                 compare_number(compared, "attention_factor", t));
}

/* vLLM's overrides of the configuration, from its flags. */
static json_t *overrides(const char *flags)
{
    const char *open = strchr(flags, '\''), *close = strrchr(flags, '\'');
    json_t *tree = open == NULL || close == open
                       ? NULL
                       : json_loadb(open + 1, (size_t)(close - open - 1), 0, NULL);
    if (tree == NULL)
        fail_msg("no JSON between quotes: %s", flags);
    return tree;
}

static void check_resolved(const json_t *compared, size_t t, const json_t *model, double target)
{
    static const char *const programs[] = {"transformers_v5", "transformers_v4", "vllm"};
    const char *type = compare_type(compared, t);
    for (size_t p = 0; p < PE_LEN(programs); p++) {
        const json_t *value = value_of(compared, type, programs[p]);
        const bool flags = json_is_string(value);
        /* vLLM's ntk is not ours, and its longrope has keys of its own for the attention factor */
        if (json_is_null(value) ||
            (flags && (strncmp(type, "ntk_", 4) == 0 && strcmp(type, "ntk_alpha") != 0)))
            continue;
        json_t *config = flags ? overrides(json_string_value(value)) : json_deep_copy(value);
        json_t *single = resolved(model, config, target);
        const bool grown = strcmp(type, "ntk") == 0 || (strcmp(type, "ntk_alpha") == 0 && !flags);
        same_resolved(compared, t, single, !grown, programs[p]);
        json_decref(single);
        json_decref(config);
    }
}

/* Requests whose settings the resolver reads as the engines do. */
static json_t *settings_request(random_source *random)
{
    json_t *r = compare_random(random);
    const double share = (double)random_int(random, 1, 4) / 4;
    json_object_del(r, "rotary_dim");
    json_object_set_new(r, "head_dim", json_integer(8 * random_int(random, 4, 16)));
    json_object_set_new(r, "partial_rotary_factor", json_real(share));
    const size_t pairs = (size_t)(compare_member(r, "head_dim") * share / 2);
    json_object_set_new(r, "short_factor", compare_random_list(random, pairs));
    json_object_set_new(r, "long_factor", compare_random_list(random, pairs));
    json_object_del(r, "mscale"); /* vLLM and llama.cpp compute the factor themselves */
    json_object_del(r, "mscale_all_dim");
    json_object_del(r, "factor");
    json_object_del(r, "extrapolation_factor");
    json_object_set_new(r, "target_length",
                        json_real(compare_member(r, "max_position_embeddings") *
                                  (double)random_int(random, 2, 16)));
    json_object_set_new(r, "dtype", json_string("float64"));
    return r;
}

static void settings_resolve_into_the_same_frequencies(void **state)
{
    random_source random = random_make("settings");
    for (size_t round = 0; round < 6; round++) {
        json_t *request = settings_request(&random);
        json_t *compared = compare_answer(&server, COMPARE, request);
        const int head_dim = (int)compare_member(request, "head_dim");
        json_t *model = json_pack("{s:s, s:i, s:i, s:i, s:i}", "model_type", "internlm3",
                                  "head_dim", head_dim, "hidden_size", 4 * head_dim,
                                  "num_attention_heads", 4, "num_hidden_layers", 2);
        for (size_t t = 0; t < COMPARE_TYPES; t++)
            check_resolved(compared, t, model, compare_member(request, "target_length"));
        json_decref(model);
        json_decref(compared);
        json_decref(request);
    }
}

static void settings_name_the_path_that_answers_a_type_alone(void **state)
{
    random_source random = random_make("paths");
    json_t *request = compare_random(&random);
    json_t *compared = compare_answer(&server, COMPARE, request);
    for (size_t t = 0; t < COMPARE_TYPES; t++) {
        const char *path =
            json_string_value(value_of(compared, compare_type(compared, t), "posenc"));
        assert_non_null(path);
        reply answer = get(&server, path);
        assert_status(path, &answer, 200);
        json_t *single = reply_json(&answer);
        compare_same_as_alone(compared, single, t, compare_type(compared, t));
        json_decref(single);
        reply_free(&answer);
    }
    json_decref(compared);
    json_decref(request);
}

/* The number after a flag, or otherwise. */
static double flag(const char *flags, const char *name, double otherwise)
{
    const char *at = strstr(flags, name);
    return at == NULL ? otherwise : strtod(at + strlen(name), NULL);
}

/* The pair that turns so often over the original context, as ggml_rope_yarn_corr_dim has it. */
static double corr_dim(double dim, double original, double turns, double base)
{
    return dim * log(original / (turns * 6.283185307179586)) / (2 * log(base));
}

/*
 * Source  rope_yarn in ggml/src/ggml-cpu/ops.cpp of ggml-org/llama.cpp at
 *         a81a569577cc38b32558958b048228150be63eae, here in float64.
 */
static double llama_theta(const char *flags, double dim, double theta, size_t i)
{
    const bool none = strstr(flags, "--rope-scaling none") != NULL;
    const bool yarn = strstr(flags, "--rope-scaling yarn") != NULL;
    const double base = flag(flags, "--rope-freq-base ", theta);
    const double extrapolated = pow(base, -2 * (double)i / dim);
    const double scale = none ? 1 : 1 / flag(flags, "--rope-scale ", 1);
    const double original = flag(flags, "--yarn-orig-ctx ", 0);
    if (!yarn)
        return scale * extrapolated;
    const double low =
        fmax(0, floor(corr_dim(dim, original, flag(flags, "--yarn-beta-fast ", 32), base)));
    const double high =
        fmin(dim - 1, ceil(corr_dim(dim, original, flag(flags, "--yarn-beta-slow ", 1), base)));
    const double y = ((double)i - low) / fmax(0.001, high - low);
    const double mix = (1 - fmin(1, fmax(0, y))) * flag(flags, "--yarn-ext-factor ", 1);
    return scale * extrapolated * (1 - mix) + extrapolated * mix;
}

static double llama_attention(const char *flags)
{
    const double factor = flag(flags, "--yarn-attn-factor ", 1);
    if (strstr(flags, "--rope-scaling yarn") == NULL || flag(flags, "--yarn-ext-factor ", 1) == 0)
        return factor;
    return factor * (1 + 0.1 * log(flag(flags, "--rope-scale ", 1)));
}

/* float64 and libm: a dozen roundings, the worst of which a power multiplies by its exponent. */
static void near(double got, double wanted, const char *flags, const char *what)
{
    if (!(fabs(got - wanted) <= 1e-13 * fabs(wanted)))
        fail_msg("%s: %s is %.17g, wanted %.17g", flags, what, got, wanted);
}

static void check_llama(const json_t *compared, size_t t, const json_t *request)
{
    const json_t *value = value_of(compared, compare_type(compared, t), "llama_cpp");
    const json_t *wanted = json_array_get(compare_data(compared, "inv_freq"), t);
    if (json_is_null(value)) {
        assert_non_null(
            json_object_get(setting(compared, compare_type(compared, t), "llama_cpp"), "note"));
        return;
    }
    const char *flags = json_string_value(value);
    assert_true(flag(flags, "--ctx-size ", 0) == compare_member(request, "target_length"));
    for (size_t i = 0; i < json_array_size(wanted); i++)
        near(llama_theta(flags, compare_member(request, "rotary_dim"),
                         compare_member(request, "rope_theta"), i),
             golden_item(wanted, i), flags, "a frequency");
    near(llama_attention(flags), compare_number(compared, "attention_factor", t), flags,
         "attention");
}

/* Not without truncation, nor where the ramp ends before it begins. */
static bool llama_has_yarn(const json_t *request)
{
    const double dim = compare_member(request, "rotary_dim");
    const double original = compare_member(request, "max_position_embeddings");
    const double theta = compare_member(request, "rope_theta");
    const double low = floor(corr_dim(dim, original, compare_member(request, "beta_fast"), theta));
    const double high = ceil(corr_dim(dim, original, compare_member(request, "beta_slow"), theta));
    return json_is_true(json_object_get(request, "truncate")) &&
           fmax(low, 0) <= fmin(high, dim - 1);
}

static void llama_flags_give_the_same_frequencies(void **state)
{
    random_source random = random_make("llama");
    for (size_t round = 0; round < 12; round++) {
        json_t *request = compare_random(&random);
        json_object_set_new(request, "truncate", json_boolean(round % 4 != 3));
        if (round % 3 == 0)
            json_object_set_new(request, "extrapolation_factor", json_real(0));
        json_object_set_new(request, "dtype", json_string("float64"));
        json_t *compared = compare_answer(&server, COMPARE, request);
        size_t n = 0;
        for (size_t t = 0; t < COMPARE_TYPES; t++) {
            check_llama(compared, t, request);
            n += !json_is_null(value_of(compared, compare_type(compared, t), "llama_cpp"));
        }
        assert_int_equal(n, llama_has_yarn(request) ? 7 : 6);
        json_decref(compared);
        json_decref(request);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_resolve_into_the_same_frequencies),
        cmocka_unit_test(settings_name_the_path_that_answers_a_type_alone),
        cmocka_unit_test(llama_flags_give_the_same_frequencies),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
