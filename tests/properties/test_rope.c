/* SPDX-License-Identifier: MIT */
/* test_rope.c - the laws that rotary tables and frequencies obey, at random parameters. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "encodings/registry.h"
#include "encodings/rope/rope.h"
#include "support/encode.h"
#include "support/random.h"
#include "support/slow.h"

static const char *const dtypes[] = {"float32", "float64", "float16", "bfloat16"};
static const char *const pairings[] = {"interleaved", "half"};

static bool same(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0;
}

/* ---- tables against the formula -------------------------------------------------------------- */

typedef struct setting {
    slow_rope rope;
    size_t head_dim;
    char query[256];
} setting;

static setting random_setting(random_source *random)
{
    static const char *const types[] = {"default", "linear", "ntk", "dynamic"};
    const size_t pairs = (size_t)random_int(random, 2, 20);
    setting s = {.head_dim = 2 * pairs + (size_t)random_int(random, 0, 9),
                 .rope = {.type = types[random_int(random, 0, 3)],
                          .theta = floor(exp(random_real(random, 0, 27))),
                          .dim = 2 * (double)pairs,
                          .factor = floor(random_real(random, 4, 256)) / 4,
                          .max_position_embeddings = (double)random_int(random, 1, 8192),
                          .seq_len = (double)random_int(random, 1, 100000)}};
    const int n = snprintf(s.query, sizeof s.query,
                           "head_dim=%zu&rotary_dim=%zu&rope_theta=%.17g&rope_type=%s", s.head_dim,
                           2 * pairs, s.rope.theta, s.rope.type);
    char *at = s.query + n;
    const size_t left = sizeof s.query - (size_t)n;
    if (strcmp(s.rope.type, "dynamic") == 0)
        snprintf(at, left, "&factor=%.17g&max_position_embeddings=%.17g&seq_len=%.17g",
                 s.rope.factor, s.rope.max_position_embeddings, s.rope.seq_len);
    else if (strcmp(s.rope.type, "default") != 0)
        snprintf(at, left, "&factor=%.17g", s.rope.factor);
    return s;
}

static void check_table(const setting *s, int64_t first, int64_t step, size_t dtype, uint64_t seed)
{
    enum { ROWS = 5 };
    const size_t pairs = (size_t)s->rope.dim / 2;
    mpfr_t theta;
    mpfr_init2(theta, SLOW_BITS);
    encoded e =
        encode(&pe_rope_table, "%s&dtype=%s&positions=%lld:%lld:%lld", s->query, dtypes[dtype],
               (long long)first, (long long)(first + ROWS * step), (long long)step);
    double *table[2] = {encoded_all(&e, 0), encoded_all(&e, 1)};
    for (size_t i = 0; i < pairs; i++) {
        slow_rope_frequency(&s->rope, i, theta);
        for (size_t r = 0; r < ROWS; r++)
            for (int t = 0; t < 2; t++) {
                const double position = (double)(first + (int64_t)r * step);
                const double want = slow_wave(theta, position, t == 0, (pe_dtype)dtype);
                if (!same(table[t][r * pairs + i], want))
                    fail_msg("seed %llu: %s %s: %s of pair %zu at %.17g: got %a, wanted %a",
                             (unsigned long long)seed, s->query, dtypes[dtype],
                             t == 0 ? "cos" : "sin", i, position, table[t][r * pairs + i], want);
            }
    }
    free(table[0]);
    free(table[1]);
    encoded_free(&e);
    mpfr_clear(theta);
}

static void tables_are_correctly_rounded_at_any_position(void **state)
{
    random_source random = random_make("tables");
    for (size_t round = 0; round < 120; round++) {
        const setting s = random_setting(&random);
        const int bits = (int)random_int(&random, 0, 52);
        check_table(&s, random_int(&random, -((int64_t)1 << bits), (int64_t)1 << bits),
                    random_int(&random, 1, 7), (size_t)random_int(&random, 0, 3), random.seed);
    }
}

static void check_frequencies(const setting *s, pe_dtype dtype, uint64_t seed)
{
    slow_rope unscaled = s->rope;
    unscaled.type = "default";
    mpfr_t theta, plain, x;
    mpfr_inits2(SLOW_BITS, theta, plain, x, (mpfr_ptr)NULL);
    encoded e = encode(&pe_rope_frequencies, "%s&dtype=%s", s->query, dtypes[dtype]);
    double *got[3];
    for (size_t t = 0; t < 3; t++)
        got[t] = encoded_all(&e, t);
    for (size_t i = 0; i < (size_t)s->rope.dim / 2; i++) {
        slow_rope_frequency(&s->rope, i, theta);
        slow_rope_frequency(&unscaled, i, plain);
        double want[3] = {slow_round(dtype, theta)};
        mpfr_const_pi(x, MPFR_RNDN);
        mpfr_mul_ui(x, x, 2, MPFR_RNDN);
        mpfr_div(x, x, theta, MPFR_RNDN);
        want[1] = slow_round(dtype, x);
        mpfr_div(x, plain, theta, MPFR_RNDN);
        want[2] = slow_round(dtype, x);
        for (size_t t = 0; t < 3; t++)
            if (!same(got[t][i], want[t]))
                fail_msg("seed %llu: %s %s: %s of pair %zu: got %a, wanted %a",
                         (unsigned long long)seed, s->query, dtypes[dtype], e.plan.tensors[t].name,
                         i, got[t][i], want[t]);
    }
    for (size_t t = 0; t < 3; t++)
        free(got[t]);
    encoded_free(&e);
    mpfr_clears(theta, plain, x, (mpfr_ptr)NULL);
}

static void frequencies_wavelengths_and_stretches_are_correctly_rounded(void **state)
{
    random_source random = random_make("frequencies");
    for (size_t round = 0; round < 100; round++) {
        static const pe_dtype wide[] = {PE_FLOAT32, PE_FLOAT64, PE_BFLOAT16};
        const setting s = random_setting(&random);
        check_frequencies(&s, wide[random_int(&random, 0, 2)], random.seed);
    }
    /* The last pair is stretched by 47804/37 = 1292, halfway between two bfloat16: to even, 1296. */
    const setting halfway = {
        .head_dim = 32,
        .rope = {"dynamic", 428144198628, 30, 1, 37, 47804},
        .query = "head_dim=32&rotary_dim=30&rope_theta=428144198628&rope_type=dynamic&factor=1"
                 "&max_position_embeddings=37&seq_len=47804"};
    check_frequencies(&halfway, PE_BFLOAT16, random.seed);
}

/* ---- windows, layouts, scalings that do nothing ---------------------------------------------- */

static void rows_do_not_depend_on_the_window_they_are_asked_in(void **state)
{
    random_source random = random_make("windows");
    for (size_t round = 0; round < 30; round++) {
        const setting s = random_setting(&random);
        const size_t pairs = (size_t)s.rope.dim / 2, dtype = (size_t)random_int(&random, 0, 3);
        const int64_t from = random_int(&random, 0, 150), to = from + random_int(&random, 1, 50);
        encoded all = encode(&pe_rope_table, "%s&dtype=%s&positions=0:200", s.query, dtypes[dtype]);
        encoded some = encode(&pe_rope_table, "%s&dtype=%s&positions=%lld:%lld", s.query,
                              dtypes[dtype], (long long)from, (long long)to);
        for (size_t t = 0; t < 2; t++) {
            double *a = encoded_all(&all, t), *b = encoded_all(&some, t);
            double *c = encoded_units(&all, t, (size_t)from, (size_t)(to - from));
            const size_t bytes = (size_t)(to - from) * pairs * sizeof *a;
            assert_memory_equal(a + (size_t)from * pairs, b, bytes);
            assert_memory_equal(b, c, bytes);
            free(a);
            free(b);
            free(c);
        }
        encoded_free(&all);
        encoded_free(&some);
    }
}

/* Where layouts put cos (0) and sin (1) of pair i in row r, in tensor *t. */
static size_t place(const char *layout, bool half, bool second, size_t r, size_t i, size_t sine,
                    size_t n, size_t *t)
{
    const bool single = strcmp(layout, "vllm") == 0, doubled = strcmp(layout, "hf") == 0;
    const bool paired = strcmp(layout, "meta") == 0 || strcmp(layout, "trtllm") == 0;
    *t = single || paired ? 0 : sine;
    if (single)
        return r * 2 * n + sine * n + i;
    if (paired)
        return r * 2 * n + 2 * i + sine;
    if (doubled)
        return r * 2 * n + (half ? second * n + i : 2 * i + second);
    return r * n + i;
}

static void check_layout(const char *layout, const char *pairing)
{
    enum { ROWS = 3, N = 5 };
    const char *query = "head_dim=10&positions=7:10&pairing";
    encoded plain = encode(&pe_rope_table, "%s=%s", query, pairing);
    encoded laid = encode(&pe_rope_table, "%s=%s&cache_layout=%s", query, pairing, layout);
    double *want[2] = {encoded_all(&plain, 0), encoded_all(&plain, 1)};
    double *got[2] = {encoded_all(&laid, 0),
                      laid.plan.n_tensors > 1 ? encoded_all(&laid, 1) : NULL};
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < N; i++)
            for (size_t k = 0; k < 4; k++) {
                size_t t;
                const size_t at =
                    place(layout, strcmp(pairing, "half") == 0, k / 2, r, i, k % 2, N, &t);
                assert_true(at < laid.plan.tensors[t].elements);
                if (got[t] == NULL || !same(got[t][at], want[k % 2][r * N + i]))
                    fail_msg("%s, %s: %s of pair %zu in row %zu is not at %zu", layout, pairing,
                             k % 2 ? "sin" : "cos", i, r, at);
            }
    for (size_t t = 0; t < 2; t++) {
        free(want[t]);
        free(got[t]);
    }
    encoded_free(&plain);
    encoded_free(&laid);
}

static void layouts_hold_the_same_numbers_where_engines_look(void **state)
{
    static const char *const layouts[] = {"pairs", "hf", "vllm", "onnx", "meta", "trtllm"};
    for (size_t l = 0; l < PE_LEN(layouts); l++)
        for (size_t p = 0; p < 2; p++)
            check_layout(layouts[l], pairings[p]);
}

static void scaling_by_one_changes_nothing(void **state)
{
    static const char *const scalings[] = {
        "&rope_type=linear&factor=1",
        "&rope_type=ntk&factor=1",
        "&rope_type=dynamic&factor=8&max_position_embeddings=4096&seq_len=16",
        "&rope_type=dynamic&factor=8&max_position_embeddings=4096",
        "&max_position_embeddings=4096",
        "&partial_rotary_factor=1",
        "&rotary_dim=24",
        "&rope_type=proportional",
        "&freq_factors=1,1,1,1,1,1,1,1,1,1,1,1",
        ("&rope_type=longrope&short_factor=1,1,1,1,1,1,1,1,1,1,1,1&"
         "long_factor=2,2,2,2,2,2,2,2,2,2,2,2&attention_factor=1&"
         "original_max_position_embeddings=64&seq_len=64"),
        /* upstream rounds its blend of equals, so these two are for exact numerics only */
        "&rope_type=yarn&factor=1&original_max_position_embeddings=64",
        ("&rope_type=llama3&factor=1&low_freq_factor=1&high_freq_factor=4&"
         "original_max_position_embeddings=64"),
    };
    for (size_t numerics = 0; numerics < 2; numerics++) {
        char query[128];
        snprintf(query, sizeof query, "head_dim=24&positions=100000:100010&numerics=%s",
                 numerics == 0 ? "exact" : "float32");
        encoded plain = encode(&pe_rope_table, "%s", query);
        double *want = encoded_all(&plain, 1);
        for (size_t i = 0; i + 2 * numerics < PE_LEN(scalings); i++) {
            encoded scaled = encode(&pe_rope_table, "%s%s", query, scalings[i]);
            double *got = encoded_all(&scaled, 1);
            for (size_t j = 0; j < 120; j++)
                if (!same(got[j], want[j]))
                    fail_msg("%s%s: element %zu: got %a, wanted %a", query, scalings[i], j, got[j],
                             want[j]);
            free(got);
            encoded_free(&scaled);
        }
        free(want);
        encoded_free(&plain);
    }
}

/* ---- decay ----------------------------------------------------------------------------------- */

static void decay_is_the_mean_cosine(void **state)
{
    random_source random = random_make("decay");
    mpfr_t theta, angle, sum;
    mpfr_inits2(SLOW_BITS, theta, angle, sum, (mpfr_ptr)NULL);
    for (size_t round = 0; round < 20; round++) {
        const setting s = random_setting(&random);
        const size_t pairs = (size_t)s.rope.dim / 2;
        const int64_t first = random_int(&random, -1000, (int64_t)1 << 40);
        encoded e = encode(&pe_rope_decay, "%s&dtype=float64&offsets=%lld:%lld", s.query,
                           (long long)first, (long long)first + 4);
        double *got = encoded_all(&e, 0);
        for (size_t r = 0; r < 4; r++) {
            mpfr_set_ui(sum, 0, MPFR_RNDN);
            for (size_t i = 0; i < pairs; i++) {
                slow_rope_frequency(&s.rope, i, theta);
                mpfr_mul_d(angle, theta, (double)(first + (int64_t)r), MPFR_RNDN);
                mpfr_cos(angle, angle, MPFR_RNDN);
                mpfr_add(sum, sum, angle, MPFR_RNDN);
            }
            mpfr_div_ui(sum, sum, pairs, MPFR_RNDN);
            const double want = slow_round(PE_FLOAT64, sum);
            /* each cosine is rounded to float64, within 2^-54; their mean and `want` are, too */
            if (!(fabs(got[r] - want) <= 0x1p-54 + 2 * 0x1p-53 * fabs(want)))
                fail_msg("seed %llu: %s, offset %lld: got %.17g, wanted %.17g",
                         (unsigned long long)random.seed, s.query, (long long)first + (long long)r,
                         got[r], want);
        }
        free(got);
        encoded_free(&e);
    }
    mpfr_clears(theta, angle, sum, (mpfr_ptr)NULL);
}

/* ---- facts anyone can check by hand ---------------------------------------------------------- */

static void the_facts_of_the_contract_hold(void **state)
{
    encoded e =
        encode(&pe_rope_scaled_base, "rope_theta=10000&head_dim=128&factor=8&dtype=float64");
    assert_string_equal(e.plan.scalars[0].name, "base");
    assert_true(e.plan.scalars[0].value == 10000);
    assert_string_equal(e.plan.scalars[1].name, "scaled_base");
    assert_true(e.plan.scalars[1].value == 82684.62264056221);
    double *stretch = encoded_all(&e, 4), *wavelength = encoded_all(&e, 2);
    assert_true(stretch[0] == 1 && stretch[63] == 8);
    assert_true(fabs(wavelength[63] - 54410) < 1); /* 2 pi 10000^(126/128) */
    free(stretch);
    free(wavelength);
    encoded_free(&e);
    e = encode_json(&pe_rope_scores, "{\"q\":[[1,0.5,-2,3],[1,0.5,-2,3]],"
                                     "\"k\":[[0.25,1,2,-1],[0.25,1,2,-1]],"
                                     "\"query_positions\":[5,105],\"key_positions\":[3,103]}");
    double *logits = encoded_all(&e, 0);
    assert_true(same(logits[0], logits[3]) && logits[0] != logits[1]);
    free(logits);
    encoded_free(&e);
}

static void methods_of_scaled_base_are_those_of_the_types(void **state)
{
    static const struct {
        const char *method, *type;
    } cases[] = {
        {"method=ntk&factor=3", "rope_type=ntk&factor=3"},
        {"method=dynamic&factor=3&seq_len=9000&max_position_embeddings=2048",
         "rope_type=dynamic&factor=3&seq_len=9000&max_position_embeddings=2048"},
        {"method=linear&factor=3", "rope_theta=30000"},
    };
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        encoded base = encode(&pe_rope_scaled_base, "head_dim=32&%s", cases[c].method);
        encoded type = encode(&pe_rope_frequencies, "head_dim=32&%s", cases[c].type);
        double *got = encoded_all(&base, 1), *want = encoded_all(&type, 0);
        assert_string_equal(base.plan.tensors[1].name, "scaled_inv_freq");
        assert_memory_equal(got, want, 16 * sizeof *got);
        free(got);
        free(want);
        encoded_free(&base);
        encoded_free(&type);
    }
}

static void pairs_that_stand_still_have_no_wavelength(void **state)
{
    encoded e = encode(&pe_rope_frequencies, "head_dim=16&rope_type=proportional&"
                                             "partial_rotary_factor=0.25&dtype=float16");
    for (size_t t = 0; t < 3; t++) {
        double *got = encoded_all(&e, t);
        for (size_t i = 0; i < 8; i++) /* int(16 * 0.25 / 2) = 2 pairs turn */
            assert_true(i < 2    ? isfinite(got[i]) && got[i] > 0
                        : t == 0 ? got[i] == 0
                                 : isinf(got[i]) && got[i] > 0);
        free(got);
    }
    encoded_free(&e);
    e = encode(&pe_rope_table, "head_dim=16&rope_type=proportional&partial_rotary_factor=0.25&"
                               "positions=1000000007");
    double *cosines = encoded_all(&e, 0), *sines = encoded_all(&e, 1);
    for (size_t i = 2; i < 8; i++)
        assert_true(same(cosines[i], 1) && same(sines[i], 0));
    free(cosines);
    free(sines);
    encoded_free(&e);
}

static void the_names_of_types_are_those_of_the_table(void **state)
{
    size_t t = 0;
    for (; pe_rope_types[t] != NULL && pe_rope_type_names[t] != NULL; t++)
        assert_string_equal(pe_rope_types[t]->name, pe_rope_type_names[t]);
    assert_true(pe_rope_types[t] == NULL && pe_rope_type_names[t] == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_correctly_rounded_at_any_position),
        cmocka_unit_test(frequencies_wavelengths_and_stretches_are_correctly_rounded),
        cmocka_unit_test(rows_do_not_depend_on_the_window_they_are_asked_in),
        cmocka_unit_test(layouts_hold_the_same_numbers_where_engines_look),
        cmocka_unit_test(scaling_by_one_changes_nothing),
        cmocka_unit_test(decay_is_the_mean_cosine),
        cmocka_unit_test(the_facts_of_the_contract_hold),
        cmocka_unit_test(methods_of_scaled_base_are_those_of_the_types),
        cmocka_unit_test(pairs_that_stand_still_have_no_wavelength),
        cmocka_unit_test(the_names_of_types_are_those_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
