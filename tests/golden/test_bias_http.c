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

/* ---- T5's buckets, listed by relative position ---- */

static const struct buckets_case {
    const char *file, *query;
} buckets_cases[] = {
    {"t5_bucket_bidirectional", "query_length=301&bidirectional=true"},
    {"t5_bucket_causal", "query_length=301&bidirectional=false&num_buckets=32&max_distance=128"},
};

/* The table is square, so that relative position r stands in row 0 (r >= 0) or column 0. */
static void check_buckets(const double *got, size_t n, const json_t *golden, const char *file)
{
    const size_t side = 301;
    const json_t *relative = golden_flat(golden, "inputs", "relative_positions");
    const json_t *truth = golden_flat(golden, "truth", "buckets");
    if (truth == NULL)
        truth = golden_flat(golden, "expected", "buckets");
    assert_int_equal(n, side * side);
    assert_int_equal(json_array_size(relative), json_array_size(truth));
    assert_true(json_array_size(truth) > 100);
    for (size_t i = 0; i < json_array_size(relative); i++) {
        const double r = golden_item(relative, i);
        assert_true(fabs(r) < (double)side);
        const size_t at = r >= 0 ? (size_t)r : (size_t)-r * side;
        if (got[at] != golden_item(truth, i))
            fail_msg("%s, relative position %.0f: got %.0f, wanted %.0f", file, r, got[at],
                     golden_item(truth, i));
    }
}

static void t5_buckets_are_the_truth(void **state)
{
    (void)state;
    for (size_t c = 0; c < PE_LEN(buckets_cases); c++) {
        json_t *golden = golden_load(buckets_cases[c].file);
        encoded e = encode(&pe_t5_buckets, "%s", buckets_cases[c].query);
        double *direct = encoded_all(&e, 0);
        check_buckets(direct, e.plan.tensors[0].elements, golden, buckets_cases[c].file);
        char target[256];
        size_t n;
        snprintf(target, sizeof target, "/v1/t5/buckets?%s", buckets_cases[c].query);
        reply answer = get(&server, target);
        double *got = golden_numbers(&answer, "data", PE_FLOAT64, target, &n);
        check_buckets(got, n, golden, buckets_cases[c].file);
        free(got);
        free(direct);
        reply_free(&answer);
        encoded_free(&e);
        json_decref(golden);
    }
}

/* ---- whole tables of indices ---- */

static const struct table_case {
    const pe_resource *resource;
    const char *file, *array, *query;
} table_cases[] = {
    {&pe_t5_buckets, "deberta_bucket", "buckets",
     "query_length=12&num_buckets=8&max_distance=16&variant=deberta"},
    {&pe_shaw_indices, "shaw_clip", "index", "query_length=5&key_length=7&max_relative_position=3"},
    {&pe_shaw_indices, "shaw_clip", "index", "query_length=5&key_length=7&left_max=3&right_max=3"},
    {&pe_shaw_indices, "shaw_attention_probabilities", "index",
     "query_length=7&left_max=3&right_max=2"},
    {&pe_swin_index, "swin_index", "index", "window_height=3&window_width=3"},
};

static void index_tables_are_those_of_the_reference(void **state)
{
    (void)state;
    for (size_t c = 0; c < PE_LEN(table_cases); c++) {
        const struct table_case *t = &table_cases[c];
        json_t *golden = golden_load(t->file);
        const json_t *expected = golden_flat(golden, "expected", t->array);
        encoded e = encode(t->resource, "%s", t->query);
        double *direct = encoded_all(&e, 0);
        golden_same(direct, e.plan.tensors[0].elements, expected, PE_FLOAT64, t->file);
        char target[256];
        size_t n;
        snprintf(target, sizeof target, "%s?%s", t->resource->path, t->query);
        reply answer = get(&server, target);
        double *got = golden_numbers(&answer, "data", PE_FLOAT64, target, &n);
        golden_same(got, n, expected, PE_FLOAT64, target);
        free(got);
        free(direct);
        reply_free(&answer);
        encoded_free(&e);
        json_decref(golden);
    }
}

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

static const struct lookup_case {
    const pe_resource *resource;
    const char *file, *input, *body_name, *array, *members;
} lookup_cases[] = {
    {&pe_t5_bias, "t5_bias_with_past", "table", "weights", "bias",
     "\"query_length\":2,\"key_length\":9,\"num_buckets\":16,\"max_distance\":32,"
     "\"bidirectional\":false"},
    {&pe_shaw_lookup, "shaw_clip", "table", "relative_embeddings", "embeddings",
     "\"query_length\":5,\"key_length\":7,\"max_relative_position\":3"},
};

static void lookups_copy_the_values_of_the_reference(void **state)
{
    (void)state;
    for (size_t c = 0; c < PE_LEN(lookup_cases); c++)
        for (size_t t = 0; t < GOLDEN_TYPES; t++) {
            const struct lookup_case *l = &lookup_cases[c];
            json_t *golden = golden_load(l->file);
            const json_t *expected = golden_flat(golden, "expected", l->array);
            pe_buffer body = {0};
            size_t n;
            pe_buffer_format(&body, "{%s,\"dtype\":\"%s\",\"%s\":", l->members, golden_types[t],
                             l->body_name);
            add_rows(golden, l->input, 0, golden_dimension(golden, "inputs", l->input, 1), &body);
            pe_buffer_str(&body, "}");
            encoded e = encode_json(l->resource, "%s", pe_buffer_text(&body));
            double *direct = encoded_all(&e, 0);
            golden_same(direct, e.plan.tensors[0].elements, expected, golden_dtypes[t], l->file);
            reply answer = post_json(&server, l->resource->path, pe_buffer_text(&body));
            double *got = golden_numbers(&answer, "data", golden_dtypes[t], l->file, &n);
            golden_same(got, n, expected, golden_dtypes[t], l->file);
            free(got);
            free(direct);
            reply_free(&answer);
            encoded_free(&e);
            pe_buffer_free(&body);
            json_decref(golden);
        }
}

/* ---- skewed logits ---- */

/* Upstream zeroed the numbers above the diagonal by a product, so that some are -0; ours are 0. */
static void skewed_logits_are_those_of_the_reference(void **state)
{
    (void)state;
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

/* Vectors [position, head*dim] as nested JSON text [head, position, dim]. */
static void add_heads(const json_t *golden, const char *name, pe_buffer *out)
{
    for (size_t head = 0; head < HEADS; head++) {
        pe_buffer_str(out, head == 0 ? "[" : ",");
        add_rows(golden, name, head * HEAD_DIM, HEAD_DIM, out);
    }
    pe_buffer_str(out, "]");
}

/* Upstream rounds a dozen sums of magnitude 1 to float32. */
static void probabilities_are_near_those_of_the_reference(void **state)
{
    (void)state;
    json_t *golden = golden_load("shaw_attention_probabilities");
    const json_t *expected = golden_flat(golden, "expected", "probabilities");
    pe_buffer body = {0};
    size_t n;
    pe_buffer_str(&body, "{\"left_max\":3,\"right_max\":2,\"q\":");
    add_heads(golden, "x", &body);
    pe_buffer_str(&body, ",\"k\":");
    add_heads(golden, "x", &body);
    pe_buffer_str(&body, ",\"relative_embeddings\":");
    golden_add_nested(golden, "inputs", "table", &body);
    pe_buffer_str(&body, "}");
    reply answer = post_json(&server, "/v1/shaw/probabilities", pe_buffer_text(&body));
    double *got = golden_numbers(&answer, "data", PE_FLOAT32, "shaw probabilities", &n);
    assert_int_equal(n, HEADS * LENGTH * LENGTH);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - golden_item(expected, i)) <= 0x1p-21))
            fail_msg("element %zu: got %.9g, wanted %.9g", i, got[i], golden_item(expected, i));
    free(got);
    reply_free(&answer);
    pe_buffer_free(&body);
    json_decref(golden);
}

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
    (void)state;
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
        cmocka_unit_test(t5_buckets_are_the_truth),
        cmocka_unit_test(index_tables_are_those_of_the_reference),
        cmocka_unit_test(lookups_copy_the_values_of_the_reference),
        cmocka_unit_test(skewed_logits_are_those_of_the_reference),
        cmocka_unit_test(probabilities_are_near_those_of_the_reference),
        cmocka_unit_test(scores_give_the_attention_of_the_reference),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
