/* SPDX-License-Identifier: MIT */
/* test_attention_values.c - attention under every scheme against the same formulas in MPFR. */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "kernels/kernels.h"
#include "support/encode.h"
#include "support/nest.h"
#include "support/random.h"
#include "support/variant_cases.h"

#define BITS 300
enum { HEADS = 2, QUERIES = 3, KEYS = 5, D = 4, CHANNELS = 3, SCHEMES = 5 };
enum { NONE, SINUSOIDAL, ROPE, ALIBI, T5 };
static const char *const schemes[SCHEMES] = {"none", "sinusoidal", "rope", "alibi", "t5"};

/* Inputs are multiples of 1/64, which every type of 11 bits holds. */
typedef struct problem {
    int scheme;
    bool causal, masked;
    double q[HEADS * QUERIES * D], k[HEADS * KEYS * D], v[HEADS * KEYS * CHANNELS];
    double query_at[QUERIES], key_at[KEYS];
    double mask[QUERIES * KEYS];
    double weights[32 * HEADS];
} problem;

static void draw(random_source *random, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (double)random_int(random, -128, 128) / 64;
}

static problem random_problem(random_source *random, int scheme)
{
    problem p = {.scheme = scheme,
                 .causal = random_int(random, 0, 1) == 1,
                 .masked = random_int(random, 0, 1) == 1};
    const double part = scheme == T5 ? 1 : 4; /* quarters of positions, where they may be */
    draw(random, p.q, PE_LEN(p.q));
    draw(random, p.k, PE_LEN(p.k));
    draw(random, p.v, PE_LEN(p.v));
    draw(random, p.weights, PE_LEN(p.weights));
    for (size_t i = 0; i < QUERIES; i++)
        p.query_at[i] = (double)random_int(random, 0, 7 * (int64_t)part) / part;
    for (size_t j = 0; j < KEYS; j++)
        p.key_at[j] = (double)random_int(random, 0, 7 * (int64_t)part) / part;
    for (size_t i = 0; i < PE_LEN(p.mask); i++)
        p.mask[i] = (double)random_int(random, 0, 2) == 0 ? 0 : 1;
    return p;
}

static void put(const char *name, const double *x, const size_t *shape, size_t axes,
                pe_buffer *body)
{
    pe_buffer_format(body, ",\"%s\":", name);
    nest(x, shape, axes, body);
}

static encoded ask(const problem *p, const char *more)
{
    pe_buffer body = {0};
    pe_buffer_format(&body, "{\"scheme\":\"%s\",\"causal\":%s", schemes[p->scheme],
                     p->causal ? "true" : "false");
    put("q", p->q, (const size_t[]){HEADS, QUERIES, D}, 3, &body);
    put("k", p->k, (const size_t[]){HEADS, KEYS, D}, 3, &body);
    put("v", p->v, (const size_t[]){HEADS, KEYS, CHANNELS}, 3, &body);
    put("query_positions", p->query_at, (const size_t[]){QUERIES}, 1, &body);
    put("key_positions", p->key_at, (const size_t[]){KEYS}, 1, &body);
    if (p->masked)
        put("attention_mask", p->mask, (const size_t[]){QUERIES, KEYS}, 2, &body);
    if (p->scheme == T5)
        put("weights", p->weights, (const size_t[]){32, HEADS}, 2, &body);
    encoded e = encode_json(&pe_attend_resource, "%s%s}", pe_buffer_text(&body), more);
    if (e.status != PE_OK)
        fail_msg("%s: %s", pe_buffer_text(&body), e.why.detail);
    pe_buffer_free(&body);
    return e;
}

/* ---- the truth ---- */

/* angle = position / 10000^(2i/D) */
static void angle_of(double position, size_t i, mpfr_ptr out)
{
    mpfr_set_ui(out, 10000, MPFR_RNDN);
    mpfr_t exponent;
    mpfr_init2(exponent, BITS);
    mpfr_set_si(exponent, -2 * (long)i, MPFR_RNDN);
    mpfr_div_ui(exponent, exponent, D, MPFR_RNDN);
    mpfr_pow(out, out, exponent, MPFR_RNDN);
    mpfr_mul_d(out, out, position, MPFR_RNDN);
    mpfr_clear(exponent);
}

/* A vector as the scheme has it: out [D]. */
static void place(int scheme, const double *x, double position, mpfr_t *out)
{
    mpfr_t sine, cosine, angle;
    mpfr_inits2(BITS, sine, cosine, angle, (mpfr_ptr)NULL);
    for (size_t c = 0; c < D; c++)
        mpfr_set_d(out[c], x[c], MPFR_RNDN);
    for (size_t i = 0; i < D / 2 && (scheme == SINUSOIDAL || scheme == ROPE); i++) {
        angle_of(position, i, angle);
        mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
        mpfr_ptr a = out[2 * i], b = out[2 * i + 1];
        if (scheme == SINUSOIDAL) {
            mpfr_add(a, a, sine, MPFR_RNDN);
            mpfr_add(b, b, cosine, MPFR_RNDN);
            continue;
        }
        mpfr_mul_d(a, cosine, x[2 * i], MPFR_RNDN);
        mpfr_mul_d(angle, sine, x[2 * i + 1], MPFR_RNDN);
        mpfr_sub(a, a, angle, MPFR_RNDN);
        mpfr_mul_d(b, cosine, x[2 * i + 1], MPFR_RNDN);
        mpfr_mul_d(angle, sine, x[2 * i], MPFR_RNDN);
        mpfr_add(b, b, angle, MPFR_RNDN);
    }
    mpfr_clears(sine, cosine, angle, (mpfr_ptr)NULL);
}

/* What is added: two heads have the slopes 2^-4 and 2^-8; T5 has exact buckets up to 7. */
static double bias_of(const problem *p, size_t head, double query, double key)
{
    const size_t far = (size_t)fabs(key - query);
    if (p->scheme == ALIBI)
        return -ldexp(fabs(query - key), head == 0 ? -4 : -8);
    if (p->scheme == T5)
        return p->weights[(far + (key > query ? 16 : 0)) * HEADS + head];
    return 0;
}

/* e^score, 0 where it is masked; the scale is 1/sqrt(D) = 1/2. */
static void weight_of(const problem *p, size_t head, size_t i, size_t j, mpfr_ptr out)
{
    mpfr_t q[D], k[D], product;
    mpfr_init2(product, BITS);
    for (size_t c = 0; c < D; c++)
        mpfr_inits2(BITS, q[c], k[c], (mpfr_ptr)NULL);
    place(p->scheme, p->q + (head * QUERIES + i) * D, p->query_at[i], q);
    place(p->scheme, p->k + (head * KEYS + j) * D, p->key_at[j], k);
    mpfr_set_zero(out, 1);
    for (size_t c = 0; c < D; c++) {
        mpfr_mul(product, q[c], k[c], MPFR_RNDN);
        mpfr_add(out, out, product, MPFR_RNDN);
    }
    mpfr_div_ui(out, out, 2, MPFR_RNDN);
    mpfr_add_d(out, out, bias_of(p, head, p->query_at[i], p->key_at[j]), MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
    if ((p->causal && p->key_at[j] > p->query_at[i]) || (p->masked && p->mask[i * KEYS + j] == 0))
        mpfr_set_zero(out, 1);
    for (size_t c = 0; c < D; c++)
        mpfr_clears(q[c], k[c], (mpfr_ptr)NULL);
    mpfr_clear(product);
}

static double rounded(pe_dtype dtype, mpfr_srcptr x)
{
    return dtype == PE_FLOAT64 ? mpfr_get_d(x, MPFR_RNDN) : (double)mpfr_get_flt(x, MPFR_RNDN);
}

/* A row of probabilities and of the output. */
static void truth(const problem *p, pe_dtype dtype, size_t row, double *probability, double *output)
{
    const size_t head = row / QUERIES, i = row % QUERIES;
    mpfr_t weight[KEYS], sum, x;
    mpfr_inits2(BITS, sum, x, (mpfr_ptr)NULL);
    mpfr_set_zero(sum, 1);
    for (size_t j = 0; j < KEYS; j++) {
        mpfr_init2(weight[j], BITS);
        weight_of(p, head, i, j, weight[j]);
        mpfr_add(sum, sum, weight[j], MPFR_RNDN);
    }
    for (size_t j = 0; j < KEYS; j++) {
        if (!mpfr_zero_p(sum))
            mpfr_div(weight[j], weight[j], sum, MPFR_RNDN);
        probability[j] = rounded(dtype, weight[j]);
    }
    for (size_t c = 0; c < CHANNELS; c++) {
        mpfr_set_zero(sum, 1);
        for (size_t j = 0; j < KEYS; j++) {
            mpfr_mul_d(x, weight[j], p->v[(head * KEYS + j) * CHANNELS + c], MPFR_RNDN);
            mpfr_add(sum, sum, x, MPFR_RNDN);
        }
        output[c] = rounded(dtype, sum);
    }
    for (size_t j = 0; j < KEYS; j++)
        mpfr_clear(weight[j]);
    mpfr_clears(sum, x, (mpfr_ptr)NULL);
}

/* ---- the cases ---- */

/* Channels of sinusoidal and rope are rounded to doubles, by 2^-52 of at most 4 each: a score is
 * off by 2^-49 at most, a probability by twice that of itself, an output by 2 times that. Others
 * are good to 2^-95, so that they are rounded as the truth is. */
static void compare(const problem *p, pe_dtype dtype, const double *got, const double *want,
                    size_t n, const char *what, uint64_t seed)
{
    const bool rough = p->scheme == SINUSOIDAL || p->scheme == ROPE;
    const double off = !rough ? 0 : dtype == PE_FLOAT64 ? 0x1p-46 : 0x1p-22;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= off))
            fail_msg("seed %llu: %s, %s %zu: got %a, wanted %a", (unsigned long long)seed,
                     schemes[p->scheme], what, i, got[i], want[i]);
}

static void every_scheme_is_its_formula(void **state)
{
    random_source random = random_make("attention");
    for (int round = 0; round < 20 * SCHEMES; round++) {
        const problem p = random_problem(&random, round % SCHEMES);
        const pe_dtype dtype = round % 3 == 0 ? PE_FLOAT32 : PE_FLOAT64;
        encoded e = ask(&p, dtype == PE_FLOAT32 ? "" : ",\"dtype\":\"float64\"");
        double *probability = encoded_all(&e, 0), *output = encoded_all(&e, 1);
        for (size_t row = 0; row < HEADS * QUERIES; row++) {
            double wanted[KEYS], mixed[CHANNELS];
            truth(&p, dtype, row, wanted, mixed);
            compare(&p, dtype, probability + row * KEYS, wanted, KEYS, "probability", random.seed);
            compare(&p, dtype, output + row * CHANNELS, mixed, CHANNELS, "output", random.seed);
        }
        free(probability);
        free(output);
        encoded_free(&e);
    }
}

static encoded ask_doubles(const void *p)
{
    return ask(p, ",\"dtype\":\"float64\"");
}

static void every_variant_gives_the_same_bits(void **state)
{
    random_source random = random_make("attention bits");
    for (int scheme = 0; scheme < SCHEMES; scheme++) {
        const problem p = random_problem(&random, scheme);
        assert_levels_agree(ask_doubles, &p);
    }
}

static void only_the_difference_of_positions_matters(void **state)
{
    random_source random = random_make("attention moved");
    for (int round = 0; round < 20; round++) {
        problem p = random_problem(&random, round % 2 == 0 ? ROPE : ALIBI);
        encoded here = ask(&p, "");
        for (size_t i = 0; i < QUERIES; i++)
            p.query_at[i] += 100;
        for (size_t j = 0; j < KEYS; j++)
            p.key_at[j] += 100;
        encoded there = ask(&p, "");
        double *a = encoded_all(&here, 0), *b = encoded_all(&there, 0);
        for (size_t i = 0; i < here.plan.tensors[0].elements; i++)
            if (!(fabs(a[i] - b[i]) <= 0x1p-22))
                fail_msg("seed %llu: %s: %.9g, moved %.9g", (unsigned long long)random.seed,
                         schemes[p.scheme], a[i], b[i]);
        free(a);
        free(b);
        encoded_free(&here);
        encoded_free(&there);
    }
}

/* Without positions, keys in another order are the same probabilities in that order. */
static void attention_without_positions_only_permutes(void **state)
{
    static const size_t order[KEYS] = {3, 0, 4, 1, 2};
    random_source random = random_make("attention order");
    problem p = random_problem(&random, NONE), other;
    p.causal = p.masked = false;
    other = p;
    for (size_t j = 0; j < HEADS * KEYS; j++)
        memcpy(other.k + j * D, p.k + (j / KEYS * KEYS + order[j % KEYS]) * D, D * sizeof *p.k);
    encoded a = ask(&p, ""), b = ask(&other, "");
    double *first = encoded_all(&a, 0), *second = encoded_all(&b, 0);
    for (size_t r = 0; r < HEADS * QUERIES; r++)
        for (size_t j = 0; j < KEYS; j++)
            assert_true(second[r * KEYS + j] == first[r * KEYS + order[j]]);
    free(first);
    free(second);
    encoded_free(&a);
    encoded_free(&b);
}

static void one_slope_is_that_of_every_head(void **state)
{
    random_source random = random_make("attention slope");
    const problem p = random_problem(&random, ALIBI);
    encoded a = ask(&p, ",\"num_heads\":8,\"heads\":\"0,0\""), b = ask(&p, ",\"slope\":0.5");
    double *by_head = encoded_all(&a, 0), *by_slope = encoded_all(&b, 0);
    assert_memory_equal(by_head, by_slope, a.plan.tensors[0].elements * sizeof *by_head);
    free(by_head);
    free(by_slope);
    encoded_free(&a);
    encoded_free(&b);
}

static void a_query_that_sees_no_key_has_zeros(void **state)
{
    encoded e = encode_json(&pe_attend_resource, "{\"q\":[[1],[2]],\"k\":[[1],[1]],\"v\":[[5],[7]],"
                                                 "\"attention_mask\":[[0,0],[0,1]]}");
    static const double probabilities[] = {0, 0, 0, 1}, outputs[] = {0, 7};
    double *p = encoded_all(&e, 0), *out = encoded_all(&e, 1);
    assert_memory_equal(p, probabilities, sizeof probabilities);
    assert_memory_equal(out, outputs, sizeof outputs);
    free(p);
    free(out);
    encoded_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheme_is_its_formula),
        cmocka_unit_test(every_variant_gives_the_same_bits),
        cmocka_unit_test(only_the_difference_of_positions_matters),
        cmocka_unit_test(attention_without_positions_only_permutes),
        cmocka_unit_test(one_slope_is_that_of_every_head),
        cmocka_unit_test(a_query_that_sees_no_key_has_zeros),
        cmocka_unit_test(every_variant_of_kernels_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
