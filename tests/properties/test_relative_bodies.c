/* SPDX-License-Identifier: MIT */
/* test_relative_bodies.c - relative positions looked up in, and multiplied with, what a body
 * brings. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "support/encode.h"
#include "support/random.h"
#include "support/slow.h"

static int64_t clip(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Multiples of 1/64 in [-2, 2]: products and short sums of them are exact doubles. */
static void add_random_rows(random_source *random, int64_t rows, int64_t width, double *value,
                            pe_buffer *out)
{
    for (int64_t i = 0; i < rows * width; i++) {
        value[i] = (double)random_int(random, -128, 128) / 64;
        pe_buffer_str(out, i == 0 ? "[[" : i % width == 0 ? "],[" : ",");
        pe_buffer_format(out, "%.17g", value[i]);
    }
    pe_buffer_str(out, "]]");
}

static double rounded(pe_dtype dtype, double value)
{
    unsigned char element[8];
    pe_dtype_store(dtype, value, element);
    return pe_dtype_load(dtype, element) + 0.0;
}

typedef struct shaw_case {
    int64_t queries, keys, left, right, width;
    pe_dtype dtype;
    double query[16 * 40], row[41 * 40];
} shaw_case;

static encoded encode_scores(random_source *random, shaw_case *c)
{
    pe_buffer body = {0};
    pe_buffer_format(&body,
                     "{\"key_length\":%lld,\"left_max\":%lld,\"right_max\":%lld,\"dtype\":\"%s\","
                     "\"queries\":",
                     (long long)c->keys, (long long)c->left, (long long)c->right,
                     pe_dtype_name(c->dtype));
    add_random_rows(random, c->queries, c->width, c->query, &body);
    pe_buffer_str(&body, ",\"relative_embeddings\":");
    add_random_rows(random, c->left + c->right + 1, c->width, c->row, &body);
    pe_buffer_str(&body, "}");
    const encoded e = encode_json(&pe_shaw_scores, "%s", pe_buffer_text(&body));
    pe_buffer_free(&body);
    return e;
}

static void scores_are_exact_dot_products_rounded_once(void **state)
{
    random_source random = random_make("scores");
    static shaw_case c;
    for (int round = 0; round < 150; round++) {
        c.keys = random_int(&random, 1, 60);
        c.queries = random_int(&random, 1, c.keys < 16 ? c.keys : 16);
        c.left = random_int(&random, 0, 20);
        c.right = random_int(&random, 0, 20);
        c.width = random_int(&random, 1, 40);
        c.dtype = (pe_dtype)random_int(&random, 0, 3);
        encoded e = encode_scores(&random, &c);
        double *got = encoded_all(&e, 0);
        for (int64_t u = 0; u < c.queries * c.keys; u++) {
            const int64_t i = u / c.keys, j = u % c.keys;
            const int64_t row = clip(j - (c.keys - c.queries + i), -c.left, c.right) + c.left;
            double sum = 0;
            for (int64_t k = 0; k < c.width; k++)
                sum += rounded(c.dtype, c.query[i * c.width + k]) *
                       rounded(c.dtype, c.row[row * c.width + k]);
            if (got[u] != rounded(c.dtype, sum))
                fail_msg("seed %llu: query %lld, key %lld, %s: got %a, wanted %a",
                         (unsigned long long)random.seed, (long long)i, (long long)j,
                         pe_dtype_name(c.dtype), got[u], rounded(c.dtype, sum));
        }
        free(got);
        encoded_free(&e);
    }
}

/* ---- probabilities ---- */

typedef struct attention {
    int64_t heads, queries, keys, left, right, width;
    pe_dtype dtype;
    bool scaled; /* by 0.3, else by 1/sqrt(width) */
    double q[3 * 10 * 12], k[3 * 30 * 12], row[21 * 12];
} attention;

static void add_random_heads(random_source *random, int64_t heads, int64_t rows, int64_t width,
                             double *value, pe_buffer *out)
{
    for (int64_t h = 0; h < heads; h++) {
        pe_buffer_str(out, h == 0 ? "[" : ",");
        add_random_rows(random, rows, width, value + h * rows * width, out);
    }
    pe_buffer_str(out, "]");
}

static encoded encode_attention(random_source *random, attention *a)
{
    a->heads = random_int(random, 1, 3);
    a->keys = random_int(random, 1, 30);
    a->queries = random_int(random, 1, a->keys < 10 ? a->keys : 10);
    a->left = random_int(random, 0, 10);
    a->right = random_int(random, 0, 10);
    a->width = random_int(random, 1, 12);
    a->dtype = (pe_dtype)random_int(random, 0, 3);
    a->scaled = random_int(random, 0, 1) == 1;
    pe_buffer body = {0};
    pe_buffer_format(&body, "{\"left_max\":%lld,\"right_max\":%lld,\"dtype\":\"%s\",%s\"q\":",
                     (long long)a->left, (long long)a->right, pe_dtype_name(a->dtype),
                     a->scaled ? "\"scale\":0.3," : "");
    add_random_heads(random, a->heads, a->queries, a->width, a->q, &body);
    pe_buffer_str(&body, ",\"k\":");
    add_random_heads(random, a->heads, a->keys, a->width, a->k, &body);
    pe_buffer_str(&body, ",\"relative_embeddings\":");
    add_random_rows(random, a->left + a->right + 1, a->width, a->row, &body);
    pe_buffer_str(&body, "}");
    const encoded e = encode_json(&pe_shaw_probabilities, "%s", pe_buffer_text(&body));
    pe_buffer_free(&body);
    return e;
}

/* e^(scale q . (k + embedding)); the dot products are exact doubles. */
static void slow_exponential(const attention *a, int64_t h, int64_t i, int64_t j, mpfr_ptr out)
{
    const int64_t relative = j - (a->keys - a->queries + i);
    const double *q = a->q + (h * a->queries + i) * a->width;
    const double *k = a->k + (h * a->keys + j) * a->width;
    const double *row = a->row + (clip(relative, -a->left, a->right) + a->left) * a->width;
    double sum = 0;
    for (int64_t c = 0; c < a->width; c++)
        sum += q[c] * (k[c] + row[c]);
    mpfr_set_d(out, a->scaled ? 0.3 : (double)a->width, MPFR_RNDN);
    if (!a->scaled)
        mpfr_rec_sqrt(out, out, MPFR_RNDN);
    mpfr_mul_d(out, out, sum, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
}

static void probabilities_are_correctly_rounded(void **state)
{
    random_source random = random_make("probabilities");
    static attention a;
    mpfr_t e[30], sum;
    mpfr_init2(sum, SLOW_BITS);
    for (int j = 0; j < 30; j++)
        mpfr_init2(e[j], SLOW_BITS);
    for (int round = 0; round < 100; round++) {
        encoded answer = encode_attention(&random, &a);
        double *got = encoded_all(&answer, 0);
        for (int64_t r = 0; r < a.heads * a.queries; r++) {
            mpfr_set_ui(sum, 0, MPFR_RNDN);
            for (int64_t j = 0; j < a.keys; j++) {
                slow_exponential(&a, r / a.queries, r % a.queries, j, e[j]);
                mpfr_add(sum, sum, e[j], MPFR_RNDN);
            }
            for (int64_t j = 0; j < a.keys; j++) {
                mpfr_div(e[j], e[j], sum, MPFR_RNDN);
                const double wanted = slow_round(a.dtype, e[j]);
                if (got[r * a.keys + j] != wanted)
                    fail_msg("seed %llu: row %lld, key %lld, %s: got %a, wanted %a",
                             (unsigned long long)random.seed, (long long)r, (long long)j,
                             pe_dtype_name(a.dtype), got[r * a.keys + j], wanted);
            }
        }
        free(got);
        encoded_free(&answer);
    }
    for (int j = 0; j < 30; j++)
        mpfr_clear(e[j]);
    mpfr_clear(sum);
}

/* ---- lookups ---- */

/* A lookup is indices, then rows: of each resource against its own index table. */
static void lookups_are_rows_of_the_index_tables(void **state)
{
    random_source random = random_make("lookups");
    static double value[32 * 8];
    for (int round = 0; round < 60; round++) {
        const long long keys = random_int(&random, 1, 40), queries = random_int(&random, 1, keys);
        const int64_t width = random_int(&random, 1, 8), most = random_int(&random, 0, 15);
        pe_buffer rows = {0}, weights = {0};
        add_random_rows(&random, 2 * most + 1, width, value, &rows);
        encoded e = encode_json(&pe_shaw_lookup,
                                "{\"query_length\":%lld,\"key_length\":%lld,\"dtype\":\"float64\","
                                "\"relative_embeddings\":%s}",
                                queries, keys, pe_buffer_text(&rows));
        encoded index =
            encode(&pe_shaw_indices, "query_length=%lld&key_length=%lld&max_relative_position=%lld",
                   queries, keys, (long long)most);
        double *got = encoded_all(&e, 0), *at = encoded_all(&index, 0);
        for (long long u = 0; u < queries * keys; u++)
            assert_memory_equal(got + u * width, value + (int64_t)at[u] * width,
                                (size_t)width * sizeof *got);
        free(got);
        free(at);
        encoded_free(&e);
        encoded_free(&index);

        add_random_rows(&random, 32, width, value, &weights);
        e = encode_json(&pe_t5_bias,
                        "{\"query_length\":%lld,\"key_length\":%lld,\"dtype\":\"float64\","
                        "\"max_distance\":20,\"weights\":%s}",
                        queries, keys, pe_buffer_text(&weights));
        index = encode(&pe_t5_buckets, "query_length=%lld&key_length=%lld&max_distance=20", queries,
                       keys);
        got = encoded_all(&e, 0);
        at = encoded_all(&index, 0);
        for (long long u = 0; u < queries * keys; u++)
            for (int64_t h = 0; h < width; h++)
                assert_true(got[h * queries * keys + u] == value[(int64_t)at[u] * width + h]);
        free(got);
        free(at);
        encoded_free(&e);
        encoded_free(&index);
        pe_buffer_free(&rows);
        pe_buffer_free(&weights);
    }
}

/* The variants' defaults hold in bodies, too: a row of the weights for each of 320 buckets. */
static void wavlm_biases_have_320_buckets(void **state)
{
    static double value[320];
    random_source random = random_make("wavlm");
    pe_buffer weights = {0};
    add_random_rows(&random, 320, 1, value, &weights);
    encoded e = encode_json(&pe_t5_bias,
                            "{\"query_length\":3,\"key_length\":900,\"variant\":\"wavlm\","
                            "\"dtype\":\"float64\",\"weights\":%s}",
                            pe_buffer_text(&weights));
    encoded index = encode(&pe_t5_buckets, "query_length=3&key_length=900&variant=wavlm");
    double *got = encoded_all(&e, 0), *at = encoded_all(&index, 0);
    for (size_t i = 0; i < (size_t)3 * 900; i++)
        assert_true(got[i] == value[(size_t)at[i]]);
    free(got);
    free(at);
    encoded_free(&e);
    encoded_free(&index);
    pe_buffer_free(&weights);
}

static void a_window_is_those_units_of_the_whole(void **state)
{
    random_source random = random_make("windows");
    static shaw_case c = {.queries = 9, .keys = 21, .left = 3, .right = 2, .width = 5};
    static attention a;
    for (int round = 0; round < 30; round++) {
        encoded tables[] = {
            encode_json(&pe_shaw_lookup, "{\"query_length\":7,\"key_length\":12,"
                                         "\"relative_embeddings\":[[1,2],[3,4],[5,6]]}"),
            encode_json(&pe_t5_bias, "{\"query_length\":7,\"key_length\":12,\"num_buckets\":4,"
                                     "\"weights\":[[1,2,3],[4,5,6],[7,8,9],[10,11,12]]}"),
            encode_scores(&random, &c),
            encode_attention(&random, &a),
        };
        for (size_t t = 0; t < PE_LEN(tables); t++) {
            assert_windows(&tables[t], &random);
            encoded_free(&tables[t]);
        }
    }
}

/* The bound of Cauchy and Schwarz does not clear these, and nothing overflows. */
static void scores_that_just_fit_are_answered(void **state)
{
    encoded e = encode_json(&pe_shaw_scores,
                            "{\"dtype\":\"float16\",\"queries\":[[60000,60000],[60000,-60000]],"
                            "\"relative_embeddings\":[[1,-1],[1,1],[-1,1]],\"key_length\":2}");
    assert_int_equal(e.status, PE_INVALID_PARAMETER); /* 60000 + 60000 */
    encoded_free(&e);
    e = encode_json(&pe_shaw_scores,
                    "{\"dtype\":\"float16\",\"queries\":[[60000,60000],[60000,60000]],"
                    "\"relative_embeddings\":[[1,-1],[1,-1],[-1,1]],\"key_length\":2}");
    double *got = encoded_all(&e, 0);
    for (size_t i = 0; i < 4; i++)
        assert_true(got[i] == 0 && !signbit(got[i]));
    free(got);
    encoded_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_exact_dot_products_rounded_once),
        cmocka_unit_test(probabilities_are_correctly_rounded),
        cmocka_unit_test(lookups_are_rows_of_the_index_tables),
        cmocka_unit_test(wavlm_biases_have_320_buckets),
        cmocka_unit_test(a_window_is_those_units_of_the_whole),
        cmocka_unit_test(scores_that_just_fit_are_answered),
    };
    return cmocka_run_group_tests_name("laws: relative positions in bodies", tests, NULL, NULL);
}
