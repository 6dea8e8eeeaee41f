/* SPDX-License-Identifier: MIT */
/*
 * test_rope_compare.c - rope types side by side, through HTTP.
 *
 * Numbers are compared with those of /v1/rope/frequencies and of golden files bit for bit, and
 * with an independent model in MPFR.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/compare_request.h"
#include "support/golden.h"
#include "support/problem.h"
#include "support/rope_model.h"
#include "support/rope_request.h"
#include "support/slow.h"

static test_server server;

/* ---- numbers --------------------------------------------------------------------------------- */

/* Shortest digits of the same dtype: equal text is equal bits. */
static void each_type_is_what_it_is_alone(void **state)
{
    random_source random = random_make("alone");
    for (size_t round = 0; round < 8; round++) {
        json_t *request = compare_random(&random);
        json_object_set_new(request, "dtype", json_string(golden_types[round % GOLDEN_TYPES]));
        if (golden_dtypes[round % GOLDEN_TYPES] == PE_FLOAT16) { /* holds no long wavelength */
            json_object_set_new(request, "rope_theta", json_real(2));
            json_object_set_new(request, "target_length",
                                json_real(2 * compare_member(request, "max_position_embeddings")));
            json_object_del(request, "factor");
        }
        json_t *compared = compare_answer(&server, COMPARE, request);
        assert_int_equal(json_array_size(compare_types(compared)), COMPARE_TYPES);
        for (size_t t = 0; t < COMPARE_TYPES; t++) {
            json_t *body = compare_single(request, compare_type(compared, t));
            compare_copy(body, request, "dtype");
            json_t *single = compare_answer(&server, FREQUENCIES, body);
            compare_same_as_alone(compared, single, t, compare_type(compared, t));
            json_decref(single);
            json_decref(body);
        }
        json_decref(compared);
        json_decref(request);
    }
}

/* What the model says of one type. */
typedef struct facts {
    double slow, unseen, largest;
} facts;

static void turns_of(const json_t *request, size_t i, double length, mpfr_ptr out)
{
    mpfr_t turn;
    mpfr_init2(turn, SLOW_BITS);
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_ui(turn, turn, 2, MPFR_RNDN);
    rope_model_theta(request, i, out);
    mpfr_mul_d(out, out, length, MPFR_RNDN);
    mpfr_div(out, out, turn, MPFR_RNDN);
    mpfr_clear(turn);
}

static facts facts_of(const json_t *scaled, const json_t *plain, double trained, double target)
{
    facts out = {0, 0, 0};
    mpfr_t turns, before, reach;
    mpfr_inits2(SLOW_BITS, turns, before, reach, (mpfr_ptr)NULL);
    for (size_t i = 0; i < rope_model_pairs(scaled); i++) {
        turns_of(scaled, i, trained, turns);
        turns_of(plain, i, trained, before);
        out.slow += mpfr_cmp_ui(turns, 1) < 0;
        if (mpfr_cmp_ui(before, 1) >= 0)
            continue;
        turns_of(scaled, i, target, turns);
        mpfr_div(reach, turns, before, MPFR_RNDN);
        out.largest = fmax(out.largest, slow_round(PE_FLOAT64, reach));
        turns_of(plain, i, trained + 1, before);
        out.unseen += mpfr_cmp(turns, before) >= 0;
    }
    mpfr_clears(turns, before, reach, (mpfr_ptr)NULL);
    return out;
}

static void same_turns(const json_t *compared, size_t t, const json_t *single, double trained)
{
    const json_t *row = json_array_get(compare_data(compared, "turns"), t);
    mpfr_t turns;
    mpfr_init2(turns, SLOW_BITS);
    for (size_t i = 0; i < rope_model_pairs(single); i++) {
        turns_of(single, i, trained, turns);
        const double wanted = slow_round(PE_FLOAT64, turns);
        const double got = json_number_value(json_array_get(row, i));
        if (got != wanted)
            fail_msg("turns of pair %zu of %s: got %a, wanted %a", i, compare_type(compared, t),
                     got, wanted);
    }
    mpfr_clear(turns);
}

static void turns_and_unseen_pairs_are_those_of_the_model(void **state)
{
    random_source random = random_make("turns");
    for (size_t round = 0; round < 8; round++) {
        json_t *request = compare_random(&random);
        json_object_set_new(request, "dtype", json_string("float64"));
        json_t *compared = compare_answer(&server, COMPARE, request),
               *plain = compare_single(request, "default");
        const double trained = compare_member(request, "max_position_embeddings");
        for (size_t t = 0; t < COMPARE_TYPES; t++) {
            json_t *single = compare_single(request, compare_type(compared, t));
            const facts wanted =
                facts_of(single, plain, trained, compare_member(request, "target_length"));
            same_turns(compared, t, single, trained);
            if (compare_number(compared, "slow_pairs", t) != wanted.slow ||
                compare_number(compared, "unseen_pairs", t) != wanted.unseen ||
                compare_number(compared, "largest_angle", t) != wanted.largest)
                fail_msg("seed %llu, %s: got %g slow, %g unseen, largest %a; wanted %g, %g, %a",
                         (unsigned long long)random.seed, compare_type(compared, t),
                         compare_number(compared, "slow_pairs", t),
                         compare_number(compared, "unseen_pairs", t),
                         compare_number(compared, "largest_angle", t), wanted.slow, wanted.unseen,
                         wanted.largest);
            json_decref(single);
        }
        json_decref(plain);
        json_decref(compared);
        json_decref(request);
    }
}

/* A golden file's request as one for a comparison of its type alone. */
static json_t *compare_request(const json_t *golden, const char *type)
{
    json_t *r = rope_request_of(golden);
    const double original = compare_member(r, "original_max_position_embeddings");
    const double most = compare_member(r, "max_position_embeddings"),
                 seq_len = compare_member(r, "seq_len");
    const double trained = original != 0 ? original : most != 0 ? most : 4096;
    json_object_del(r, "rope_type");
    json_object_del(r, "seq_len");
    json_object_del(r, "original_max_position_embeddings");
    json_object_set_new(r, "max_position_embeddings", json_real(trained));
    if (seq_len > trained || json_object_get(r, "factor") == NULL)
        json_object_set_new(r, "target_length", json_real(fmax(seq_len, trained)));
    json_object_set_new(r, "rope_types", json_pack("[s]", type));
    json_object_set_new(r, "dtype", json_string("float64"));
    return r;
}

static void frequencies_are_those_of_the_golden_files(void **state)
{
    static const struct {
        const char *file, *type;
    } files[] = {
        {"rope_linear", "linear"},
        {"rope_yarn", "yarn"},
        {"rope_yarn_mscale_deepseek", "yarn"},
        {"rope_yarn_no_truncate", "yarn"},
        {"rope_llama3", "llama3"},
        {"rope_dynamic_ntk_long", "dynamic"},
        {"rope_longrope_long", "longrope"},
        {"rope_ntk_alpha", "ntk_alpha"},
        {"rope_ntk_fixed", "ntk_fixed"},
        {"rope_ntk_mixed", "ntk_mixed"},
    };
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f].file);
        json_t *request = compare_request(golden, files[f].type);
        json_t *compared = compare_answer(&server, COMPARE, request);
        const json_t *got = json_array_get(compare_data(compared, "inv_freq"), 0);
        const json_t *truth = golden_flat(golden, "truth", "inv_freq");
        assert_int_equal(json_array_size(got), json_array_size(truth));
        for (size_t i = 0; i < json_array_size(truth); i++)
            if (golden_item(got, i) != golden_item(truth, i))
                fail_msg("%s, pair %zu: got %a, truth %a", files[f].file, i, golden_item(got, i),
                         golden_item(truth, i));
        json_decref(compared);
        json_decref(request);
        json_decref(golden);
    }
}

static void bases_are_those_of_scaled_base(void **state)
{
    json_t *request = json_pack("{s:i, s:i, s:i}", "head_dim", 128, "max_position_embeddings", 4096,
                                "target_length", 32768);
    json_t *compared = compare_answer(&server, COMPARE, request);
    assert_true(compare_number(compared, "base", compare_index(compared, "default")) == 10000);
    assert_true(compare_number(compared, "base", compare_index(compared, "yarn")) == 10000);
    assert_true(compare_number(compared, "base", compare_index(compared, "ntk")) ==
                82684.62264056221);
    assert_true(compare_number(compared, "base", compare_index(compared, "ntk_fixed")) == 80000);
    reply alone = get(&server, "/v1/rope/scaled-base?head_dim=128&factor=8&method=dynamic"
                               "&max_position_embeddings=4096&seq_len=32768");
    json_t *dynamic = reply_json(&alone);
    assert_true(compare_number(compared, "base", compare_index(compared, "dynamic")) ==
                compare_member(dynamic, "scaled_base"));
    json_decref(dynamic);
    reply_free(&alone);
    json_decref(compared);
    json_decref(request);
}

/* The answer to a GET, which must be a 200. */
static json_t *compared(const char *query)
{
    char target[192];
    snprintf(target, sizeof target, COMPARE "?%s", query);
    reply answer = get(&server, target);
    assert_status(query, &answer, 200);
    json_t *tree = reply_json(&answer);
    reply_free(&answer);
    return tree;
}

static const json_t *row(const json_t *answer, const char *type)
{
    return json_array_get(compare_data(answer, "inv_freq"), compare_index(answer, type));
}

static void a_model_of_the_catalogue_says_what_was_trained(void **state)
{
    json_t *model = compared("model=qwen2.5-7b&target_length=131072");
    json_t *plain = compared("head_dim=128&rope_theta=1000000&max_position_embeddings=32768"
                             "&target_length=131072&pairing=half");
    assert_string_equal(compare_type(model, 0), "published");
    assert_int_equal(json_array_size(compare_types(model)),
                     json_array_size(compare_types(plain)) + 1);
    for (size_t t = 0; t < json_array_size(compare_types(plain)); t++)
        assert_true(json_equal((json_t *)(uintptr_t)row(model, compare_type(plain, t)),
                               json_array_get(compare_data(plain, "inv_freq"), t)));
    json_decref(plain);
    json_decref(model);
}

/* Llama 3.1 has factor 8 for 131072 tokens, and is scaled once more beyond. */
static void what_a_model_reaches_is_not_scaled_again(void **state)
{
    reply alone = get(&server, FREQUENCIES "?model=llama-3.1-8b");
    json_t *own = reply_json(&alone), *near = compared("model=llama-3.1-8b&target_length=131072"),
           *far = compared("model=llama-3.1-8b&target_length=262144"),
           *twice = compared("model=llama-3.1-8b&max_position_embeddings=8192&factor=16"
                             "&target_length=262144&rope_types=llama3");
    json_t *published = compare_data(own, "inv_freq");
    assert_true(json_equal((json_t *)(uintptr_t)row(near, "published"), published));
    assert_true(json_equal((json_t *)(uintptr_t)row(near, "llama3"), published));
    assert_true(json_equal((json_t *)(uintptr_t)row(far, "published"), published));
    assert_true(json_equal((json_t *)(uintptr_t)row(far, "llama3"),
                           (json_t *)(uintptr_t)row(twice, "llama3")));
    json_t *setting = json_object_get(
        json_object_get(json_object_get(near, "settings"), "published"), "transformers_v5");
    assert_int_equal(json_object_size(json_object_get(setting, "value")), 0);
    json_decref(twice);
    json_decref(far);
    json_decref(near);
    json_decref(own);
    reply_free(&alone);
}

#define SMALL                                                                                      \
    COMPARE "?head_dim=8&max_position_embeddings=4096&target_length=8192&rope_types=linear,yarn"

static void safetensors_hold_the_settings_as_text(void **state)
{
    reply stored = get(&server, SMALL "&format=safetensors"), plain = get(&server, SMALL);
    json_t *json = reply_json(&plain);
    uint64_t bytes = 0;
    for (size_t b = 0; b < 8; b++)
        bytes |= (uint64_t)(unsigned char)stored.body[b] << (8 * b);
    json_t *header = json_loadb(stored.body + 8, bytes, 0, NULL);
    const json_t *metadata = json_object_get(header, "__metadata__");
    json_t *settings =
        json_loads(json_string_value(json_object_get(metadata, "settings")), 0, NULL);
    assert_true(json_equal(settings, json_object_get(json, "settings")));
    json_decref(settings);
    json_decref(header);
    json_decref(json);
    reply_free(&plain);
    reply_free(&stored);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_is_what_it_is_alone),
        cmocka_unit_test(turns_and_unseen_pairs_are_those_of_the_model),
        cmocka_unit_test(frequencies_are_those_of_the_golden_files),
        cmocka_unit_test(bases_are_those_of_scaled_base),
        cmocka_unit_test(a_model_of_the_catalogue_says_what_was_trained),
        cmocka_unit_test(what_a_model_reaches_is_not_scaled_again),
        cmocka_unit_test(safetensors_hold_the_settings_as_text),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
