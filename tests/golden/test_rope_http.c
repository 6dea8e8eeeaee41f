/* SPDX-License-Identifier: MIT */
/*
 * test_rope_http.c - the golden RoPE frequencies and tables through HTTP, every type.
 *
 * Each file's `truth` (exact arithmetic) must come back bit for bit after rounding to the dtype
 * asked for; its `expected` (upstream's own float32 arithmetic) within |difference| <= A * (8 *
 * 2^-24 * position * inv_freq + 2^-22), A the attention factor. The same parameters at ten other
 * positions, and other parameters of every type, are held against MPFR, so that nothing is tuned to
 * a file.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"
#include "support/rope_model.h"
#include "support/rope_request.h"
#include "support/slow.h"

static test_server server;

/* Other parameters than any file's, of every type and every way to give its keys. */
static const char *const others[] = {
    "{\"head_dim\":22,\"rope_theta\":12345.678}",
    "{\"head_dim\":40,\"partial_rotary_factor\":0.4,\"rope_theta\":5000000}",
    "{\"head_dim\":20,\"freq_factors\":[1,3,0.3,7,1.1,19,0.001,2,1000,31]}",
    "{\"head_dim\":10,\"rope_type\":\"linear\",\"factor\":3.7}",
    "{\"head_dim\":14,\"rope_type\":\"ntk\",\"factor\":6.1,\"rope_theta\":500}",
    "{\"head_dim\":14,\"rope_type\":\"ntk_alpha\",\"alpha\":1000}",
    "{\"head_dim\":12,\"rope_type\":\"dynamic\",\"factor\":1.3,\"max_position_embeddings\":1000,"
    "\"seq_len\":77777}",
    "{\"head_dim\":18,\"rope_type\":\"ntk_fixed\",\"factor\":9.9,\"rope_theta\":250000}",
    "{\"head_dim\":2,\"rope_type\":\"ntk_fixed\",\"factor\":3}",
    "{\"head_dim\":18,\"rope_type\":\"ntk_mixed\",\"factor\":12,\"mixed_b\":0.3}",
    "{\"head_dim\":16,\"rope_type\":\"ntk_mixed\",\"factor\":12,\"mixed_b\":0}",
    "{\"head_dim\":32,\"rope_type\":\"ntk_by_parts\",\"factor\":8,"
    "\"original_max_position_embeddings\":4096}",
    "{\"head_dim\":32,\"rope_type\":\"ntk_by_parts\",\"factor\":8,\"beta_fast\":9,\"beta_slow\":9,"
    "\"max_position_embeddings\":4096}",
    "{\"head_dim\":64,\"rope_type\":\"part_ntk\",\"factor\":8,"
    "\"original_max_position_embeddings\":2048}",
    "{\"head_dim\":48,\"rope_type\":\"part_ntk\",\"factor\":2.5,\"rope_theta\":150000,"
    "\"original_max_position_embeddings\":512,\"ntk_factor\":0.25,\"extrapolation_factor\":1.5}",
    "{\"head_dim\":28,\"rope_type\":\"yarn\",\"factor\":40,\"beta_fast\":1,\"beta_slow\":1,"
    "\"original_max_position_embeddings\":4096,\"rope_theta\":50000}",
    "{\"head_dim\":28,\"rope_type\":\"yarn\",\"factor\":3,\"beta_fast\":8,\"beta_slow\":8,"
    "\"truncate\":false,\"original_max_position_embeddings\":4096,\"attn_factor\":0.3}",
    "{\"head_dim\":24,\"rope_type\":\"yarn\",\"factor\":16,\"mscale\":0.707,\"mscale_all_dim\":0.3,"
    "\"max_position_embeddings\":4096,\"extrapolation_factor\":1.25,\"attn_factor\":2}",
    "{\"head_dim\":8,\"rope_type\":\"longrope\",\"short_factor\":[1,1.1,1.2,1.3],"
    "\"long_factor\":[1,3,9,27],\"factor\":3,\"original_max_position_embeddings\":512,"
    "\"seq_len\":513}",
    "{\"head_dim\":8,\"rope_type\":\"longrope\",\"short_factor\":[1,1.1,1.2,1.3],"
    "\"long_factor\":[1,3,9,27],\"attention_factor\":1.7,\"original_max_position_embeddings\":512,"
    "\"seq_len\":512}",
    "{\"head_dim\":36,\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,"
    "\"high_freq_factor\":1.5,\"original_max_position_embeddings\":1024,\"rope_theta\":500000}",
    "{\"head_dim\":36,\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":4,"
    "\"high_freq_factor\":4,\"original_max_position_embeddings\":8192,\"rope_theta\":500000}",
    "{\"head_dim\":20,\"rope_type\":\"proportional\",\"partial_rotary_factor\":0.6,\"factor\":5}",
};

static json_t *text_of(const char *text)
{
    json_error_t error;
    json_t *request = json_loads(text, 0, &error);
    if (request == NULL)
        fail_msg("%s: %s", text, error.text);
    return request;
}

/* Tables take no pairing that matters to them; positions NULL: none. */
static reply ask(const char *resource, const json_t *request, const char *positions,
                 const char *dtype)
{
    char more[512];
    if (positions == NULL)
        snprintf(more, sizeof more, "\"dtype\":\"%s\"", dtype);
    else
        snprintf(more, sizeof more, "\"positions\":\"%s\",\"dtype\":\"%s\"", positions, dtype);
    return rope_request_post(&server, resource, request, more);
}

/* ---- truth ----------------------------------------------------------------------------------- */

/* The frequencies' answer holds the wavelengths too, and float16 ends at 65504. */
static bool too_long_for(pe_dtype dtype, const json_t *truth, const char *resource)
{
    double slowest = (double)INFINITY;
    for (size_t i = 0; i < json_array_size(truth); i++)
        if (golden_item(truth, i) > 0)
            slowest = fmin(slowest, golden_item(truth, i));
    return strcmp(resource, "frequencies") == 0 && 6.2831853 / slowest > pe_dtype_max(dtype);
}

/* One tensor of the table or the frequencies against truth in every dtype, if the file has it. */
static size_t check_truth(const json_t *golden, const char *file, const char *resource,
                          const char *tensor, const json_t *request, const char *positions)
{
    const json_t *truth = golden_flat(golden, "truth", tensor);
    for (size_t t = 0; truth != NULL && t < PE_LEN(golden_types); t++) {
        size_t n;
        reply answer = ask(resource, request, positions, golden_types[t]);
        if (too_long_for(golden_dtypes[t], truth, resource)) {
            assert_int_equal(answer.status, 422);
            reply_free(&answer);
            continue;
        }
        double *got = golden_numbers(&answer, tensor, golden_dtypes[t], file, &n);
        golden_same(got, n, truth, golden_dtypes[t], file);
        free(got);
        reply_free(&answer);
    }
    return truth != NULL;
}

static void check_attention_factor(const json_t *golden, const char *file, const json_t *request)
{
    const json_t *truth = json_object_get(json_object_get(golden, "truth"), "attention_factor");
    const json_t *upstream =
        json_object_get(json_object_get(golden, "expected"), "attention_factor");
    reply answer = ask("frequencies", request, NULL, "float64");
    json_t *json = reply_json(&answer);
    const double got = json_number_value(json_object_get(json, "attention_factor"));
    if (truth != NULL && got != json_number_value(truth))
        fail_msg("%s: attention_factor: got %.17g, wanted %.17g", file, got,
                 json_number_value(truth));
    /* a float64 of two or three roundings */
    if (upstream != NULL && fabs(got - json_number_value(upstream)) > 0x1p-51 * got)
        fail_msg("%s: attention_factor: got %.17g, upstream %.17g", file, got,
                 json_number_value(upstream));
    json_decref(json);
    reply_free(&answer);
}

static void rope_frequencies_and_tables_are_the_truth(void **state)
{
    size_t checked = 0;
    for (size_t f = 0; f < ROPE_REQUEST_FILES; f++) {
        const char *file = rope_request_files[f];
        json_t *golden = golden_load(file), *request = rope_request_of(golden);
        pe_buffer positions = {0};
        golden_add_positions(golden, &positions);
        const char *at = pe_buffer_text(&positions);
        checked += check_truth(golden, file, "frequencies", "inv_freq", request, NULL);
        checked += check_truth(golden, file, "table", "cos", request, at);
        checked += check_truth(golden, file, "table", "sin", request, at);
        check_attention_factor(golden, file, request);
        pe_buffer_free(&positions);
        json_decref(request);
        json_decref(golden);
    }
    /* two files have no truth of the table, one of those none of the frequencies */
    assert_int_equal(checked, 3 * ROPE_REQUEST_FILES - 5);
}

/* cos or sin of the table at ten positions against the model, in every dtype. */
static void check_model(const json_t *request, const char *what, const char *tensor)
{
    const size_t pairs = rope_model_pairs(request);
    const bool cosine = strcmp(tensor, "cos") == 0;
    double *got[GOLDEN_TYPES];
    size_t n;
    mpfr_t wanted;
    mpfr_init2(wanted, SLOW_BITS);
    for (size_t t = 0; t < GOLDEN_TYPES; t++) {
        reply answer = ask("table", request, golden_elsewhere_text, golden_types[t]);
        got[t] = golden_numbers(&answer, tensor, golden_dtypes[t], what, &n);
        assert_int_equal(n, pairs * PE_LEN(golden_elsewhere));
        reply_free(&answer);
    }
    for (size_t e = 0; e < n; e++) {
        rope_model_wave(request, e % pairs, golden_elsewhere[e / pairs], cosine, wanted);
        for (size_t t = 0; t < GOLDEN_TYPES; t++)
            if (got[t][e] != slow_round(golden_dtypes[t], wanted))
                fail_msg("%s, %s, %s, position %.0f, pair %zu: got %.17g, MPFR says %.17g", what,
                         tensor, golden_types[t], golden_elsewhere[e / pairs], e % pairs, got[t][e],
                         slow_round(golden_dtypes[t], wanted));
    }
    for (size_t t = 0; t < GOLDEN_TYPES; t++)
        free(got[t]);
    mpfr_clear(wanted);
}

static void rope_tables_at_ten_other_positions(void **state)
{
    for (size_t f = 0; f < ROPE_REQUEST_FILES; f++) {
        json_t *golden = golden_load(rope_request_files[f]), *request = rope_request_of(golden);
        check_model(request, rope_request_files[f], "cos");
        check_model(request, rope_request_files[f], "sin");
        json_decref(request);
        json_decref(golden);
    }
}

static void rope_tables_of_other_parameters(void **state)
{
    for (size_t o = 0; o < PE_LEN(others); o++) {
        json_t *request = text_of(others[o]);
        check_model(request, others[o], "cos");
        check_model(request, others[o], "sin");
        json_decref(request);
    }
}

/* The bound of golden/README.md on upstream's cosines and sines. */
static void rope_tables_are_near_upstream(void **state)
{
    static const char *const tensors[] = {"cos", "sin"};
    mpfr_t theta;
    mpfr_init2(theta, SLOW_BITS);
    for (size_t f = 0; f < ROPE_REQUEST_FILES; f++) {
        json_t *golden = golden_load(rope_request_files[f]), *request = rope_request_of(golden);
        const json_t *positions = golden_positions(golden);
        const size_t pairs = rope_model_pairs(request);
        const bool bfloat16 = strcmp(rope_request_files[f], "rope_bfloat16") == 0;
        pe_buffer at = {0};
        golden_add_positions(golden, &at);
        reply answer = ask("table", request, pe_buffer_text(&at), "float64");
        rope_model_attention(request, theta);
        const double attention = mpfr_get_d(theta, MPFR_RNDN);
        for (size_t t = 0; t < PE_LEN(tensors); t++) {
            const json_t *expected = golden_flat(golden, "expected", tensors[t]);
            size_t n;
            double *got =
                golden_numbers(&answer, tensors[t], PE_FLOAT64, rope_request_files[f], &n);
            for (size_t e = 0; expected != NULL && e < n; e++) {
                rope_model_theta(request, e % pairs, theta);
                const double angle =
                    golden_item(positions, e / pairs) * mpfr_get_d(theta, MPFR_RNDN);
                const double bound = attention * (8 * 0x1p-24 * angle + 0x1p-22) +
                                     (bfloat16 ? 0x1p-9 : 0); /* its own last rounding */
                if (!(fabs(got[e] - golden_item(expected, e)) <= bound))
                    fail_msg("%s, %s, element %zu: got %.9g, upstream %.9g", rope_request_files[f],
                             tensors[t], e, got[e], golden_item(expected, e));
            }
            free(got);
        }
        reply_free(&answer);
        pe_buffer_free(&at);
        json_decref(request);
        json_decref(golden);
    }
    mpfr_clear(theta);
}

/* ---- float32 --------------------------------------------------------------------------------- */

/* Tensor `name` with numerics=float32 against upstream's: how many of how many are equal, none more
 * than an ulp off. */
static void count_equal(const json_t *golden, const char *file, const reply *answer,
                        const char *name, size_t *equal, size_t *all)
{
    size_t n;
    const json_t *expected = golden_flat(golden, "expected", name);
    double *got = golden_numbers(answer, name, PE_FLOAT32, file, &n);
    for (size_t i = 0; expected != NULL && i < n; i++) {
        const float upstream = (float)golden_item(expected, i), ours = (float)got[i];
        *equal += ours == upstream;
        ++*all;
        if (ours != upstream && nextafterf(ours, upstream) != upstream)
            fail_msg("%s, %s, element %zu: got %.9g, upstream %.9g", file, name, i, (double)ours,
                     (double)upstream);
    }
    free(got);
}

static void float32_numerics_reproduce_upstream_frequencies(void **state)
{
    size_t equal = 0, all = 0;
    for (size_t f = 0; f < ROPE_REQUEST_FILES; f++) {
        json_t *golden = golden_load(rope_request_files[f]), *request = rope_request_of(golden);
        reply answer =
            rope_request_post(&server, "frequencies", request, "\"numerics\":\"float32\"");
        count_equal(golden, rope_request_files[f], &answer, "inv_freq", &equal, &all);
        reply_free(&answer);
        json_decref(request);
        json_decref(golden);
    }
    print_message("upstream float32 frequencies: %zu of %zu equal, the rest 1 ulp off\n", equal,
                  all);
    assert_true(all > 350 && (double)equal > 0.98 * (double)all);
}

/* Where upstream shows no frequencies its table does: angles an ulp off change small sines by more
 * ulps, so these are only counted where the positions are near. */
static void float32_numerics_reproduce_upstream_tables_of_ntk(void **state)
{
    static const char *const files[] = {"rope_ntk_alpha", "rope_ntk_fixed", "rope_ntk_mixed"};
    size_t equal = 0, all = 0;
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f]), *request = rope_request_of(golden);
        pe_buffer at = {0}, more = {0};
        golden_add_positions(golden, &at);
        pe_buffer_format(&more, "\"numerics\":\"float32\",\"positions\":\"%s\"",
                         pe_buffer_text(&at));
        reply answer = rope_request_post(&server, "table", request, pe_buffer_text(&more));
        for (int t = 0; t < 2; t++) {
            size_t n;
            const json_t *expected = golden_flat(golden, "expected", t == 0 ? "cos" : "sin");
            double *got = golden_numbers(&answer, t == 0 ? "cos" : "sin", PE_FLOAT32, files[f], &n);
            for (size_t e = 0; e < n; e++)
                equal += (float)got[e] == (float)golden_item(expected, e);
            all += n;
            free(got);
        }
        reply_free(&answer);
        pe_buffer_free(&at);
        pe_buffer_free(&more);
        json_decref(request);
        json_decref(golden);
    }
    print_message("upstream float32 tables of ntk: %zu of %zu equal\n", equal, all);
    assert_true(all > 300 && (double)equal > 0.9 * (double)all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rope_frequencies_and_tables_are_the_truth),
        cmocka_unit_test(rope_tables_at_ten_other_positions),
        cmocka_unit_test(rope_tables_of_other_parameters),
        cmocka_unit_test(rope_tables_are_near_upstream),
        cmocka_unit_test(float32_numerics_reproduce_upstream_frequencies),
        cmocka_unit_test(float32_numerics_reproduce_upstream_tables_of_ntk),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
