/* SPDX-License-Identifier: MIT */
/* test_xpos.c - the laws that xPos obeys, at random parameters. */
#include "support/check.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

#include "encodings/registry.h"
#include "support/encode.h"
#include "support/nest.h"
#include "support/random.h"

enum { DIM = 12 };

/* The product of a query at m and a key at n. */
static double score(const double *q, const double *k, int64_t m, int64_t n, const char *members)
{
    double *turned[2];
    const size_t shape[] = {1, DIM};
    for (int t = 0; t < 2; t++) {
        pe_buffer body = {0};
        pe_buffer_format(&body, "{%s,\"dtype\":\"float64\",\"positions\":%lld,\"%s\":", members,
                         (long long)(t == 0 ? m : n), t == 0 ? "q" : "k");
        nest(t == 0 ? q : k, shape, 2, &body);
        encoded e = encode_json(&pe_rope_xpos, "%s}", pe_buffer_text(&body));
        if (e.status != PE_OK)
            fail_msg("%s: %s", pe_buffer_text(&body), e.why.detail);
        turned[t] = encoded_all(&e, 0);
        encoded_free(&e);
        pe_buffer_free(&body);
    }
    double sum = 0;
    for (size_t i = 0; i < DIM; i++)
        sum += turned[0][i] * turned[1][i];
    free(turned[0]);
    free(turned[1]);
    return sum;
}

static void scores_depend_on_the_distance_only_whatever_the_center(void **state)
{
    random_source random = random_make("xpos scores");
    for (size_t round = 0; round < 100; round++) {
        double q[DIM], k[DIM];
        char near[160], far[160];
        const double base = floor(random_real(&random, 64, 1000));
        const int64_t n = random_int(&random, -500, 500), m = n + random_int(&random, 0, 300);
        const int64_t shift = random_int(&random, -2000, 2000);
        for (size_t i = 0; i < DIM; i++) {
            q[i] = random_real(&random, -2, 2);
            k[i] = random_real(&random, -2, 2);
        }
        snprintf(near, sizeof near, "\"scale_base\":%.0f,\"center\":0,\"pairing\":\"%s\"", base,
                 round % 2 == 0 ? "half" : "interleaved");
        snprintf(far, sizeof far, "\"scale_base\":%.0f,\"center\":%lld,\"pairing\":\"%s\"", base,
                 (long long)(shift + 137), round % 2 == 0 ? "half" : "interleaved");
        const double want = score(q, k, m, n, near);
        const double got = score(q, k, m + shift, n + shift, far);
        /* each side: DIM products of two channels, off by 2^-52 S (|a| + |b|) at most, |a|, |b| <=
         * 2 and the scales of query and key together at most 1 */
        if (!(fabs(got - want) <= 2 * DIM * 4 * 4 * 0x1p-51))
            fail_msg("seed %llu: {%s} at %lld, %lld: %.17g, moved by %lld {%s}: %.17g",
                     (unsigned long long)random.seed, near, (long long)m, (long long)n, want,
                     (long long)shift, far, got);
    }
}

/* A like pair, alone: every scale_base tokens its score falls by its zeta, besides the cosine. */
static void a_pairs_score_falls_by_its_zeta(void **state)
{
    for (size_t i = 0; i < DIM / 2; i++) {
        double x[DIM] = {0};
        x[2 * i] = 1;
        const double zeta = (2 * (double)i / DIM + 0.4) / 1.4;
        double *inv, angle, got, want;
        encoded e = encode(&pe_rope_frequencies, "head_dim=%d&rope_theta=1e12&dtype=float64", DIM);
        inv = encoded_all(&e, 0);
        angle = inv[i] * 100;
        got = score(x, x, 100, 0, "\"scale_base\":100,\"center\":7,\"rope_theta\":1e12");
        want = zeta * cos(angle);
        if (!(fabs(got - want) <= 0x1p-45))
            fail_msg("pair %zu: got %.17g, wanted %.17g", i, got, want);
        free(inv);
        encoded_free(&e);
    }
}

/* ((2i/d + 0.4) / 1.4)^((p - center) / 512) with 400 bits. */
static void scale_at(double position, double center, size_t i, mpfr_ptr out)
{
    mpfr_t zeta;
    mpfr_init2(zeta, 400);
    mpfr_set_ui(zeta, 10 * i + 2 * DIM, MPFR_RNDN);
    mpfr_div_ui(zeta, zeta, 7 * DIM, MPFR_RNDN);
    mpfr_set_d(out, position, MPFR_RNDN);
    mpfr_sub_d(out, out, center, MPFR_RNDN);
    mpfr_div_ui(out, out, 512, MPFR_RNDN);
    mpfr_pow(out, zeta, out, MPFR_RNDN);
    mpfr_clear(zeta);
}

static void scales_of_fractional_positions_are_correctly_rounded(void **state)
{
    static const double some[] = {0.5,       -0.1,    1e-20, -1e-300, 99.99999999999999,
                                  100000.25, -0x1p-53};
    enum { COUNT = PE_LEN(some) + 20 };
    random_source random = random_make("xpos fractions");
    double positions[COUNT];
    pe_buffer list = {0};
    mpfr_t want;
    mpfr_init2(want, 400);
    for (size_t r = 0; r < COUNT; r++) {
        positions[r] = r < PE_LEN(some) ? some[r] : random_real(&random, -3000, 3000);
        pe_buffer_format(&list, "%s%.17g", r == 0 ? "" : ",", positions[r]);
    }
    encoded e = encode(&pe_rope_xpos_table, "head_dim=%d&center=100&dtype=float64&positions=%s",
                       DIM, pe_buffer_text(&list));
    double *got = encoded_all(&e, 2);
    for (size_t r = 0; r < COUNT; r++)
        for (size_t i = 0; i < DIM / 2; i++) {
            scale_at(positions[r], 100, i, want);
            if (got[r * DIM / 2 + i] != mpfr_get_d(want, MPFR_RNDN))
                fail_msg("seed %llu: position %.17g, pair %zu: got %a, wanted %a",
                         (unsigned long long)random.seed, positions[r], i, got[r * DIM / 2 + i],
                         mpfr_get_d(want, MPFR_RNDN));
        }
    free(got);
    encoded_free(&e);
    mpfr_clear(want);
    pe_buffer_free(&list);
}

static void fractional_tokens_are_scaled_by_their_scales(void **state)
{
    encoded table =
        encode(&pe_rope_xpos_table, "head_dim=2&center=1&dtype=float64&positions=-3:4:0.3");
    encoded turned = encode_json(&pe_rope_xpos,
                                 "{\"q\":[[1,0]],\"k\":[[1,0]],\"center\":1,\"dtype\":\"float64\","
                                 "\"positions\":\"-0.3:0.3:0.6\"}");
    double *cos = encoded_units(&table, 0, 9, 1), *scale = encoded_units(&table, 2, 9, 1);
    double *q = encoded_all(&turned, 0), *k = encoded_all(&turned, 1);
    assert_true(fabs(q[0] - *cos * *scale) <= 0x1p-52);
    assert_true(fabs(k[0] - *cos / *scale) <= 0x1p-52);
    free(cos);
    free(scale);
    free(q);
    free(k);
    encoded_free(&table);
    encoded_free(&turned);
}

#define HALVES                                                                                     \
    "{\"q\":[[1,-0.5,0.25,2],[0.125,1.5,-2,1]],\"positions\":[900,3],\"center\":5,"                \
    "\"dtype\":\"%s\"}"

static void half_precision_goes_through_one_rounding(void **state)
{
    static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT16, PE_BFLOAT16};
    for (size_t d = 0; d < PE_LEN(dtypes); d++) {
        encoded narrow = encode_json(&pe_rope_xpos, HALVES, pe_dtype_name(dtypes[d]));
        encoded wide = encode_json(&pe_rope_xpos, HALVES, "float64");
        double *got = encoded_all(&narrow, 0), *want = encoded_all(&wide, 0);
        for (size_t i = 0; i < 8; i++) {
            unsigned char bytes[8];
            pe_dtype_store(dtypes[d], want[i], bytes);
            assert_true(got[i] == pe_dtype_load(dtypes[d], bytes));
        }
        free(got);
        free(want);
        encoded_free(&narrow);
        encoded_free(&wide);
    }
}

/* [2, heads, tokens, DIM] with positions [2, tokens], more tokens than a block of rows, against
 * each token alone. */
static void heads_and_batches_are_tokens_of_their_own(void **state)
{
    enum { HEADS = 2, TOKENS = 70, ALL = 2 * HEADS * TOKENS * DIM };
    const size_t shape[] = {2, HEADS, TOKENS, DIM}, one[] = {1, DIM};
    random_source random = random_make("xpos batches");
    pe_buffer body = {0};
    static double x[ALL];
    for (size_t i = 0; i < ALL; i++)
        x[i] = random_real(&random, -2, 2);
    pe_buffer_str(&body, "{\"center\":9,\"dtype\":\"float64\",\"positions\":[[");
    for (int t = 0; t < 2 * TOKENS; t++)
        pe_buffer_format(&body, "%s%d", t == 0 ? "" : t == TOKENS ? "],[" : ",", 7 * t % 97);
    pe_buffer_str(&body, "]],\"k\":");
    nest(x, shape, 4, &body);
    encoded e = encode_json(&pe_rope_xpos, "%s}", pe_buffer_text(&body));
    if (e.status != PE_OK)
        fail_msg("%s", e.why.detail);
    double *got = encoded_all(&e, 0);
    for (size_t v = 0; v < ALL / DIM; v++) {
        const size_t token = v % TOKENS + v / (HEADS * TOKENS) * TOKENS;
        pe_buffer alone = {0};
        pe_buffer_format(
            &alone, "{\"center\":9,\"dtype\":\"float64\",\"positions\":%zu,\"k\":", 7 * token % 97);
        nest(x + v * DIM, one, 2, &alone);
        encoded f = encode_json(&pe_rope_xpos, "%s}", pe_buffer_text(&alone));
        double *want = encoded_all(&f, 0);
        assert_memory_equal(got + v * DIM, want, DIM * sizeof *want);
        free(want);
        encoded_free(&f);
        pe_buffer_free(&alone);
    }
    free(got);
    encoded_free(&e);
    pe_buffer_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_depend_on_the_distance_only_whatever_the_center),
        cmocka_unit_test(a_pairs_score_falls_by_its_zeta),
        cmocka_unit_test(scales_of_fractional_positions_are_correctly_rounded),
        cmocka_unit_test(fractional_tokens_are_scaled_by_their_scales),
        cmocka_unit_test(half_precision_goes_through_one_rounding),
        cmocka_unit_test(heads_and_batches_are_tokens_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
