/* SPDX-License-Identifier: MIT */
/* test_alibi_bodies.c - linear biases of padded batches, and probabilities under linear biases,
 * against slow models of their definitions. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "support/encode.h"
#include "support/random.h"
#include "support/slow.h"

enum { KEYS_MAX = 80, BATCH_MAX = 4 };

/* 2^(-bias_max (h + 1)/heads) * k: the slopes of variant=formula. */
static void set_product(mpfr_ptr x, int64_t heads, int64_t h, double bias_max, int64_t k)
{
    mpfr_set_d(x, -bias_max, MPFR_RNDN);
    mpfr_mul_si(x, x, h + 1, MPFR_RNDN);
    mpfr_div_si(x, x, heads, MPFR_RNDN);
    mpfr_exp2(x, x, MPFR_RNDN);
    mpfr_mul_si(x, x, k, MPFR_RNDN);
}

static double product(int64_t heads, int64_t h, double bias_max, int64_t k, pe_dtype dtype)
{
    mpfr_t x;
    mpfr_init2(x, SLOW_BITS);
    set_product(x, heads, h, bias_max, k);
    const double value = slow_round(dtype, x);
    mpfr_clear(x);
    return value;
}

/* ---- padded batches ---- */

typedef struct batch {
    int64_t rows, keys, heads;
    pe_dtype dtype;
    double bias_max;
    int mask[BATCH_MAX * KEYS_MAX];
} batch;

/* Padding on the left, on the right, everywhere, nowhere, or scattered. */
static void random_mask(random_source *random, batch *b)
{
    for (int64_t r = 0; r < b->rows; r++) {
        const int64_t kind = random_int(random, 0, 4), cut = random_int(random, 0, b->keys);
        for (int64_t j = 0; j < b->keys; j++) {
            const int by_kind[] = {j >= cut, j<cut, 0, 1, random_int(random, 0, 3)> 0};
            b->mask[r * b->keys + j] = by_kind[kind];
        }
    }
}

static encoded encode_batch(random_source *random, batch *b)
{
    static const double bias_max[] = {8, 16, 5.3};
    b->rows = random_int(random, 1, BATCH_MAX);
    b->keys = random_int(random, 1, KEYS_MAX);
    b->heads = random_int(random, 1, 12);
    b->dtype = (pe_dtype)random_int(random, 0, 3);
    b->bias_max = bias_max[random_int(random, 0, 2)];
    random_mask(random, b);
    pe_buffer body = {0};
    pe_buffer_format(&body,
                     "{\"num_heads\":%lld,\"variant\":\"formula\",\"alibi_bias_max\":%.17g,"
                     "\"dtype\":\"%s\",\"attention_mask\":[[",
                     (long long)b->heads, b->bias_max, pe_dtype_name(b->dtype));
    for (int64_t i = 0; i < b->rows * b->keys; i++)
        pe_buffer_format(&body, "%s%d", i == 0 ? "" : i % b->keys == 0 ? "],[" : ",", b->mask[i]);
    pe_buffer_str(&body, "]]}");
    const encoded e = encode_json(&pe_alibi_padded_bias, "%s", pe_buffer_text(&body));
    pe_buffer_free(&body);
    return e;
}

/* (cumsum(mask) - 1) * mask, as upstream writes it. */
static int64_t slow_position(const batch *b, int64_t row, int64_t key)
{
    int64_t sum = 0;
    for (int64_t j = 0; j <= key; j++)
        sum += b->mask[row * b->keys + j];
    return (sum - 1) * b->mask[row * b->keys + key];
}

static void padded_biases_count_unmasked_keys(void **state)
{
    random_source random = random_make("padded");
    static batch b;
    for (int round = 0; round < 150; round++) {
        encoded e = encode_batch(&random, &b);
        double *got = encoded_all(&e, 0);
        for (int64_t i = 0; i < b.rows * b.heads * b.keys; i++) {
            const int64_t key = i % b.keys, h = i / b.keys % b.heads, row = i / b.keys / b.heads;
            const double wanted =
                product(b.heads, h, b.bias_max, slow_position(&b, row, key), b.dtype);
            if (memcmp(&got[i], &wanted, sizeof wanted) != 0)
                fail_msg("seed %llu: row %lld, head %lld of %lld, key %lld, %s: got %a, wanted %a",
                         (unsigned long long)random.seed, (long long)row, (long long)h,
                         (long long)b.heads, (long long)key, pe_dtype_name(b.dtype), got[i],
                         wanted);
        }
        free(got);
        encoded_free(&e);
    }
}

/* ---- probabilities ---- */

typedef struct attention {
    int64_t heads, queries, keys;
    pe_dtype dtype;
    double scale, bias_max;
    bool causal;
    double logit[4 * 20 * 60];
} attention;

static encoded encode_attention(random_source *random, attention *a)
{
    static const double scale[] = {1, 0.25, 0.088388347648318447, 3, 40};
    a->heads = random_int(random, 1, 4);
    a->keys = random_int(random, 1, 60);
    a->queries = random_int(random, 1, a->keys < 20 ? a->keys : 20);
    a->dtype = (pe_dtype)random_int(random, 0, 3);
    a->scale = scale[random_int(random, 0, 4)];
    a->bias_max = random_int(random, 0, 1) ? 8 : 5.3;
    a->causal = random_int(random, 0, 1) == 1;
    pe_buffer body = {0};
    pe_buffer_format(&body,
                     "{\"variant\":\"formula\",\"alibi_bias_max\":%.17g,\"scale\":%.17g,"
                     "\"causal\":%s,\"dtype\":\"%s\",\"logits\":[[[",
                     a->bias_max, a->scale, a->causal ? "true" : "false", pe_dtype_name(a->dtype));
    for (int64_t i = 0; i < a->heads * a->queries * a->keys; i++) {
        a->logit[i] = (double)random_int(random, -255, 255) / 64; /* exact in every dtype */
        pe_buffer_format(&body, "%s%.17g",
                         i == 0                            ? ""
                         : i % (a->queries * a->keys) == 0 ? "]],[["
                         : i % a->keys == 0                ? "],["
                                                           : ",",
                         a->logit[i]);
    }
    pe_buffer_str(&body, "]]]}");
    const encoded e = encode_json(&pe_alibi_probabilities, "%s", pe_buffer_text(&body));
    pe_buffer_free(&body);
    return e;
}

/* Query i of head h: the exponentials over their sum. */
static void slow_row(const attention *a, int64_t h, int64_t i, double *out)
{
    mpfr_t e[60], sum;
    mpfr_init2(sum, SLOW_BITS);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (int64_t j = 0; j < a->keys; j++) {
        const int64_t ahead = j - (a->keys - a->queries + i);
        mpfr_init2(e[j], SLOW_BITS);
        set_product(e[j], a->heads, h, a->bias_max, ahead > 0 ? -ahead : ahead);
        mpfr_t score;
        mpfr_init2(score, SLOW_BITS);
        mpfr_set_d(score, a->logit[(h * a->queries + i) * a->keys + j], MPFR_RNDN);
        mpfr_mul_d(score, score, a->scale, MPFR_RNDN);
        mpfr_add(score, score, e[j], MPFR_RNDN);
        mpfr_exp(e[j], score, MPFR_RNDN);
        mpfr_clear(score);
        if (a->causal && ahead > 0)
            mpfr_set_ui(e[j], 0, MPFR_RNDN);
        mpfr_add(sum, sum, e[j], MPFR_RNDN);
    }
    for (int64_t j = 0; j < a->keys; j++) {
        mpfr_div(e[j], e[j], sum, MPFR_RNDN);
        out[j] = slow_round(a->dtype, e[j]);
        mpfr_clear(e[j]);
    }
    mpfr_clear(sum);
}

static void probabilities_are_correctly_rounded(void **state)
{
    random_source random = random_make("probabilities");
    static attention a;
    for (int round = 0; round < 60; round++) {
        encoded e = encode_attention(&random, &a);
        double *got = encoded_all(&e, 0), wanted[60];
        for (int64_t r = 0; r < a.heads * a.queries; r++) {
            slow_row(&a, r / a.queries, r % a.queries, wanted);
            for (int64_t j = 0; j < a.keys; j++)
                if (memcmp(&got[r * a.keys + j], &wanted[j], sizeof wanted[j]) != 0)
                    fail_msg("seed %llu: row %lld of %lld heads, key %lld, %s: got %a, wanted %a",
                             (unsigned long long)random.seed, (long long)r, (long long)a.heads,
                             (long long)j, pe_dtype_name(a.dtype), got[r * a.keys + j], wanted[j]);
        }
        free(got);
        encoded_free(&e);
    }
}

/* A score that a number masks: float32's lowest, as frameworks add it. */
static void a_large_negative_logit_masks_its_key(void **state)
{
    encoded e = encode_json(&pe_alibi_probabilities,
                            "{\"logits\":[[[1,-3.4028234663852886e38,1]]],\"causal\":false}");
    encoded without =
        encode_json(&pe_alibi_probabilities, "{\"logits\":[[[1,-1e5,1]]],\"causal\":false}");
    double *got = encoded_all(&e, 0), *wanted = encoded_all(&without, 0);
    assert_memory_equal(got, wanted, 3 * sizeof *got);
    assert_true(got[1] == 0 && got[0] + got[2] == 1);
    free(got);
    free(wanted);
    encoded_free(&e);
    encoded_free(&without);
}

static void chosen_heads_are_those_of_all(void **state)
{
    encoded all =
        encode_json(&pe_alibi_probabilities, "{\"logits\":[[[1,2,3]],[[1,2,3]],[[1,2,3]]]}");
    encoded some = encode_json(&pe_alibi_probabilities,
                               "{\"logits\":[[[1,2,3]]],\"num_heads\":3,\"heads\":\"2\"}");
    double *a = encoded_all(&all, 0), *b = encoded_all(&some, 0);
    assert_memory_equal(a + 6, b, 3 * sizeof *a);
    free(a);
    free(b);
    encoded_free(&all);
    encoded_free(&some);
}

/* ---- parts, refusals ---- */

static void a_part_is_those_units_of_the_whole(void **state)
{
    random_source random = random_make("parts");
    static batch b;
    static attention a;
    for (int round = 0; round < 50; round++) {
        encoded e = round % 2 ? encode_batch(&random, &b) : encode_attention(&random, &a);
        assert_windows(&e, &random);
        encoded_free(&e);
    }
}

/* Without padding it is the plain table; heads choose among all. */
static void without_padding_it_is_the_key_form(void **state)
{
    encoded table = encode(&pe_alibi_bias, "num_heads=12&key_length=9&form=key&heads=11,3");
    encoded padded =
        encode_json(&pe_alibi_padded_bias, "{\"num_heads\":12,\"heads\":[11,3],\"attention_mask\":"
                                           "[[1,1,1,1,1,1,1,1,1]]}");
    double *a = encoded_all(&table, 0), *b = encoded_all(&padded, 0);
    assert_int_equal(padded.plan.tensors[0].elements, 18);
    assert_memory_equal(a, b, 18 * sizeof *a);
    free(a);
    free(b);
    encoded_free(&table);
    encoded_free(&padded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padded_biases_count_unmasked_keys),
        cmocka_unit_test(probabilities_are_correctly_rounded),
        cmocka_unit_test(a_large_negative_logit_masks_its_key),
        cmocka_unit_test(chosen_heads_are_those_of_all),
        cmocka_unit_test(a_part_is_those_units_of_the_whole),
        cmocka_unit_test(without_padding_it_is_the_key_form),
    };
    return cmocka_run_group_tests_name("laws: ALiBi in bodies", tests, NULL, NULL);
}
