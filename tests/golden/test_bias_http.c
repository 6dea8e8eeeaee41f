/* SPDX-License-Identifier: MIT */
/*
 * test_bias_http.c - the golden relative positions of T5, DeBERTa, Shaw, Swin and the Music
 * Transformer, directly and through HTTP.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "support/encode.h"
#include "support/golden.h"

static test_server server;

/* ---- lookups --------------------------------------------------------------------------------- */

/* A golden array of two axes as nested JSON text. */
static void add_rows(const json_t *golden, const char *name, size_t from, size_t columns,
                     pe_buffer *out)
{
    const json_t *flat = golden_flat(golden, "inputs", name);
    const size_t rows = golden_dimension(golden, "inputs", name, 0);
    const size_t width = golden_dimension(golden, "inputs", name, 1);
    for (size_t r = 0; r < rows; r++) {
        pe_buffer_str(out, r == 0 ? "[[" : "],[");
        for (size_t j = from; j < from + columns; j++)
            pe_buffer_format(out, j == from ? "%.17g" : ",%.17g", golden_item(flat, r * width + j));
    }
    pe_buffer_str(out, "]]");
}

/* ---- skewed logits ---- */

/* Upstream zeroed the numbers above the diagonal by a product, so that some are -0; ours are 0. */
static void skewed_logits_are_those_of_the_reference(void **state)
{
    json_t *golden = golden_load("relative_skew");
    const json_t *expected = golden_flat(golden, "expected", "out");
    for (size_t t = 0; t < GOLDEN_TYPES; t++) {
        pe_buffer body = {0};
        size_t n;
        pe_buffer_format(&body, "{\"dtype\":\"%s\",\"logits\":", golden_types[t]);
        golden_add_nested(golden, "inputs", "x", &body);
        pe_buffer_str(&body, "}");
        reply answer = post_json(&server, "/v1/relative/skew", pe_buffer_text(&body));
        double *got = golden_numbers(&answer, "data", golden_dtypes[t], "relative_skew", &n);
        assert_int_equal(n, json_array_size(expected));
        for (size_t i = 0; i < n; i++)
            if (got[i] != golden_round(golden_dtypes[t], golden_item(expected, i)) ||
                (got[i] == 0 && signbit(got[i])))
                fail_msg("relative_skew, %s, element %zu: got %.17g, wanted %.17g", golden_types[t],
                         i, got[i], golden_item(expected, i));
        assert_non_null(strstr(answer.body, "\"warnings\":[\"logits of keys after the query"));
        free(got);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
    json_decref(golden);
}

/* ---- attention with Shaw's embeddings ---- */

enum { LENGTH = 7, HEADS = 2, HEAD_DIM = 4 };

/* softmax((q.k + score)/sqrt(d)) of one head, q = k = x. */
static void check_head(const json_t *golden, size_t head, const double *scores)
{
    const json_t *x = golden_flat(golden, "inputs", "x");
    const json_t *expected = golden_flat(golden, "expected", "probabilities");
    for (size_t i = 0; i < LENGTH; i++) {
        double weight[LENGTH], sum = 0;
        for (size_t j = 0; j < LENGTH; j++) {
            double logit = scores[i * LENGTH + j];
            for (size_t c = 0; c < HEAD_DIM; c++)
                logit += golden_item(x, (i * HEADS + head) * HEAD_DIM + c) *
                         golden_item(x, (j * HEADS + head) * HEAD_DIM + c);
            weight[j] = exp(logit / sqrt(HEAD_DIM));
            sum += weight[j];
        }
        for (size_t j = 0; j < LENGTH; j++) {
            const double want = golden_item(expected, (head * LENGTH + i) * LENGTH + j);
            /* Upstream rounds a dozen sums of magnitude 1 to float32. */
            if (!(fabs(weight[j] / sum - want) <= 0x1p-21))
                fail_msg("head %zu, query %zu, key %zu: got %.9g, wanted %.9g", head, i, j,
                         weight[j] / sum, want);
        }
    }
}

static void scores_give_the_attention_of_the_reference(void **state)
{
    json_t *golden = golden_load("shaw_attention_probabilities");
    for (size_t head = 0; head < HEADS; head++) {
        pe_buffer body = {0};
        size_t n;
        pe_buffer_str(&body, "{\"dtype\":\"float64\",\"left_max\":3,\"right_max\":2,\"queries\":");
        add_rows(golden, "x", head * HEAD_DIM, HEAD_DIM, &body);
        pe_buffer_str(&body, ",\"relative_embeddings\":");
        add_rows(golden, "table", 0, HEAD_DIM, &body);
        pe_buffer_str(&body, "}");
        reply answer = post_json(&server, "/v1/shaw/scores", pe_buffer_text(&body));
        double *got = golden_numbers(&answer, "data", PE_FLOAT64, "shaw scores", &n);
        assert_int_equal(n, LENGTH * LENGTH);
        check_head(golden, head, got);
        free(got);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
    json_decref(golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skewed_logits_are_those_of_the_reference),
        cmocka_unit_test(scores_give_the_attention_of_the_reference),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
