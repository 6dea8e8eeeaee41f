/* SPDX-License-Identifier: MIT */
/* test_alibi_bodies.c - linear biases of padded batches against a slow model of their definition.
 */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "support/encode.h"
#include "support/random.h"
#include "support/slow.h"

enum { KEYS_MAX = 80, BATCH_MAX = 4 };

/* 2^(-bias_max (h + 1)/heads) * k: the slopes of variant=formula, and of press where heads is a
 * power of two. */
static double product(int64_t heads, int64_t h, double bias_max, int64_t k, pe_dtype dtype)
{
    mpfr_t x;
    mpfr_init2(x, SLOW_BITS);
    mpfr_set_d(x, -bias_max, MPFR_RNDN);
    mpfr_mul_si(x, x, h + 1, MPFR_RNDN);
    mpfr_div_si(x, x, heads, MPFR_RNDN);
    mpfr_exp2(x, x, MPFR_RNDN);
    mpfr_mul_si(x, x, k, MPFR_RNDN);
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
    (void)state;
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

static void a_part_is_those_units_of_the_whole(void **state)
{
    (void)state;
    random_source random = random_make("parts");
    static batch b;
    for (int round = 0; round < 50; round++) {
        encoded e = encode_batch(&random, &b);
        const size_t n = e.plan.tensors[0].units;
        double *all = encoded_all(&e, 0);
        for (int parts = 0; parts < 20; parts++) {
            const size_t first = (size_t)random_int(&random, 0, (int64_t)n - 1);
            const size_t some = (size_t)random_int(&random, 1, (int64_t)(n - first));
            double *got = encoded_units(&e, 0, first, some);
            assert_memory_equal(got, all + first, some * sizeof *got);
            free(got);
        }
        free(all);
        encoded_free(&e);
    }
}

/* Without padding it is the plain table; heads choose among all. */
static void without_padding_it_is_the_key_form(void **state)
{
    (void)state;
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

static void bodies_that_cannot_be_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const pe_resource *resource;
        const char *body, *where, *says;
        pe_status status;
    } cases[] = {
        {&pe_alibi_padded_bias, "{\"num_heads\":2}", "attention_mask", "required",
         PE_MISSING_PARAMETER},
        {&pe_alibi_padded_bias, "{\"attention_mask\":[[1]]}", "num_heads", "required",
         PE_MISSING_PARAMETER},
        {&pe_alibi_padded_bias, "{\"num_heads\":2,\"attention_mask\":[[1,2]]}", "attention_mask",
         "got 2 at [0, 1]", PE_INVALID_PARAMETER},
        {&pe_alibi_padded_bias, "{\"num_heads\":2,\"attention_mask\":[[1,0.5]]}", "attention_mask",
         "integers", PE_INVALID_PARAMETER},
        {&pe_alibi_padded_bias, "{\"num_heads\":2,\"attention_mask\":[1,1]}", "attention_mask",
         "2 axes, got 1", PE_INVALID_PARAMETER},
        {&pe_alibi_padded_bias, "{\"num_heads\":2,\"heads\":\"2\",\"attention_mask\":[[1]]}",
         "heads", "from 0 to 1", PE_INVALID_PARAMETER},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        encoded e = encode_json(cases[i].resource, "%s", cases[i].body);
        if (e.status != cases[i].status || strcmp(e.why.where, cases[i].where) != 0 ||
            strstr(e.why.detail, cases[i].says) == NULL)
            fail_msg("%s: got status %d at \"%s\": %s", cases[i].body, e.status, e.why.where,
                     e.why.detail);
        encoded_free(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padded_biases_count_unmasked_keys),
        cmocka_unit_test(a_part_is_those_units_of_the_whole),
        cmocka_unit_test(without_padding_it_is_the_key_form),
        cmocka_unit_test(bodies_that_cannot_be_are_refused_by_name),
    };
    return cmocka_run_group_tests_name("laws: ALiBi in bodies", tests, NULL, NULL);
}
