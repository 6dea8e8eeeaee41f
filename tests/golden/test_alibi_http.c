/* SPDX-License-Identifier: MIT */
/*
 * test_alibi_http.c - the golden ALiBi slopes and biases through HTTP.
 *
 * Each `truth` must come back bit for bit after rounding to the dtype asked for.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"
#include "support/slow.h"

static test_server server;

static void alibi_slopes_are_the_truth(void **state)
{
    (void)state;
    json_t *golden = golden_load("alibi_slopes");
    json_t *truth = json_object_get(golden, "truth");
    const char *heads;
    json_t *slopes;
    json_object_foreach(truth, heads, slopes)
    {
        for (size_t t = 0; t < PE_LEN(golden_types); t++) {
            char target[256];
            size_t n;
            snprintf(target, sizeof target, "/v1/alibi/slopes?num_heads=%s&dtype=%s", heads,
                     golden_types[t]);
            reply answer = get(&server, target);
            double *got = golden_numbers(&answer, "data", golden_dtypes[t], target, &n);
            golden_same(got, n, json_object_get(slopes, "data"), golden_dtypes[t], target);
            free(got);
            reply_free(&answer);
        }
    }
    json_decref(golden);
}

static const struct alibi_case {
    const char *file, *query;
} alibi_cases[] = {
    {"alibi_symmetric", "num_heads=6&query_length=5&form=symmetric"},
    {"alibi_causal_matrix", "num_heads=4&query_length=6&form=causal&mask_value=0"},
    {"alibi_bias_max_16", "num_heads=10&alibi_bias_max=16&query_length=1&key_length=9&form=causal"},
};

static void alibi_biases_are_the_truth(void **state)
{
    (void)state;
    for (size_t c = 0; c < PE_LEN(alibi_cases); c++) {
        json_t *golden = golden_load(alibi_cases[c].file);
        for (size_t t = 0; t < PE_LEN(golden_types); t++) {
            char target[256];
            size_t n;
            snprintf(target, sizeof target, "/v1/alibi/bias?%s&dtype=%s", alibi_cases[c].query,
                     golden_types[t]);
            reply answer = get(&server, target);
            double *got = golden_numbers(&answer, "data", golden_dtypes[t], target, &n);
            golden_same(got, n, golden_flat(golden, "truth", "bias"), golden_dtypes[t], target);
            free(got);
            reply_free(&answer);
        }
        json_decref(golden);
    }
}

/* Upstream counts unmasked keys from 0; the first five of the first row are the plain key form. */
static void alibi_key_form_is_the_truth_where_nothing_is_padded(void **state)
{
    (void)state;
    json_t *golden = golden_load("alibi_key_form_padding");
    const json_t *truth = golden_flat(golden, "truth", "bias");
    size_t n;
    reply answer = get(&server, "/v1/alibi/bias?num_heads=6&key_length=5&form=key&dtype=float64");
    double *got = golden_numbers(&answer, "data", PE_FLOAT64, "alibi_key_form_padding", &n);
    assert_int_equal(n, 6 * 5);
    for (size_t head = 0; head < 6; head++)
        for (size_t key = 0; key < 5; key++)
            assert_true(got[head * 5 + key] == golden_item(truth, head * 7 + key));
    free(got);
    reply_free(&answer);
    json_decref(golden);
}

static void padded_biases_are_the_truth(void **state)
{
    (void)state;
    json_t *golden = golden_load("alibi_key_form_padding");
    for (size_t t = 0; t < GOLDEN_TYPES; t++) {
        pe_buffer body = {0};
        size_t n;
        pe_buffer_format(&body,
                         "{\"num_heads\":6,\"dtype\":\"%s\",\"attention_mask\":", golden_types[t]);
        golden_add_nested(golden, "inputs", "attention_mask", &body);
        pe_buffer_str(&body, "}");
        reply answer = post_json(&server, "/v1/alibi/padded-bias", pe_buffer_text(&body));
        double *got = golden_numbers(&answer, "data", golden_dtypes[t], "padded bias", &n);
        golden_same(got, n, golden_flat(golden, "truth", "bias"), golden_dtypes[t], "padded bias");
        assert_non_null(strstr(answer.body, "\"shape\":[2,6,1,7]"));
        free(got);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
    json_decref(golden);
}

/* Upstream sums float32 exponentials of float32 scores. */
static void check_upstream(const json_t *golden, const double *got, size_t n)
{
    const json_t *expected = golden_flat(golden, "expected", "probabilities");
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - golden_item(expected, i)) <= 0x1p-21))
            fail_msg("element %zu: got %.9g, upstream has %.9g", i, got[i],
                     golden_item(expected, i));
}

static void probabilities_are_the_truth(void **state)
{
    (void)state;
    json_t *golden = golden_load("alibi_attention_probabilities");
    for (size_t t = 0; t < GOLDEN_TYPES; t++) {
        pe_buffer body = {0};
        size_t n;
        pe_buffer_format(
            &body, "{\"dtype\":\"%s\",\"scale\":0.25,\"causal\":true,\"logits\":", golden_types[t]);
        golden_add_nested(golden, "inputs", "logits", &body);
        pe_buffer_str(&body, "}");
        reply answer = post_json(&server, "/v1/alibi/probabilities", pe_buffer_text(&body));
        double *got = golden_numbers(&answer, "data", golden_dtypes[t], "probabilities", &n);
        golden_same(got, n, golden_flat(golden, "truth", "probabilities"), golden_dtypes[t],
                    "probabilities");
        if (golden_dtypes[t] == PE_FLOAT32)
            check_upstream(golden, got, n);
        free(got);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
    json_decref(golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alibi_slopes_are_the_truth),
        cmocka_unit_test(alibi_biases_are_the_truth),
        cmocka_unit_test(alibi_key_form_is_the_truth_where_nothing_is_padded),
        cmocka_unit_test(padded_biases_are_the_truth),
        cmocka_unit_test(probabilities_are_the_truth),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
