/* SPDX-License-Identifier: MIT */
/* test_relative_values.c - the laws of bucketed and clipped relative positions, at random
 * parameters. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "support/encode.h"
#include "support/random.h"
#include "support/slow.h"

/* ---- buckets, in integers alone ---- */

typedef struct setting {
    int64_t queries, keys, num_buckets, max_distance;
    bool deberta, bidirectional;
} setting;

/* Whether (n/low)^parts >= (high/low)^k; beyond: more than. */
static bool reaches(unsigned long n, unsigned long low, unsigned long high, unsigned long parts,
                    unsigned long k, bool beyond)
{
    mpz_t left, right, factor;
    mpz_inits(left, right, factor, NULL);
    mpz_ui_pow_ui(left, n, parts);
    mpz_ui_pow_ui(factor, low, k);
    mpz_mul(left, left, factor);
    mpz_ui_pow_ui(right, high, k);
    mpz_ui_pow_ui(factor, low, parts);
    mpz_mul(right, right, factor);
    const int sign = mpz_cmp(left, right);
    mpz_clears(left, right, factor, NULL);
    return beyond ? sign > 0 : sign >= 0;
}

/* _relative_position_bucket, its floor of a quotient of logarithms being the largest k that is
 * reached. */
static int64_t slow_t5(const setting *s, int64_t relative)
{
    int64_t buckets = s->num_buckets, add = 0, n = relative < 0 ? -relative : 0;
    if (s->bidirectional) {
        buckets /= 2;
        add = relative > 0 ? buckets : 0;
        n = relative < 0 ? -relative : relative;
    }
    const int64_t exact = buckets / 2, parts = buckets - exact;
    if (n < exact)
        return add + n;
    int64_t k = 0;
    while (k + 1 < parts &&
           reaches((unsigned long)n, (unsigned long)exact, (unsigned long)s->max_distance,
                   (unsigned long)parts, (unsigned long)k + 1, false))
        k++;
    return add + exact + k;
}

/* make_log_bucket_position, its ceiling being how many k = 0, 1 ... are exceeded. */
static int64_t slow_deberta(const setting *s, int64_t relative)
{
    const int64_t mid = s->num_buckets / 2, d = -relative, n = d < 0 ? -d : d;
    if (n <= mid)
        return d;
    int64_t k = 0;
    while (mid > 1 &&
           reaches((unsigned long)n, (unsigned long)mid, (unsigned long)s->max_distance - 1,
                   (unsigned long)mid - 1, (unsigned long)k, true))
        k++;
    return d < 0 ? -(mid + k) : mid + k;
}

static setting random_setting(random_source *random)
{
    setting s = {.deberta = random_int(random, 0, 1) == 1,
                 .keys = random_int(random, 1, 300),
                 .num_buckets = random_int(random, 4, 40)};
    s.bidirectional = s.deberta || random_int(random, 0, 1) == 1;
    s.queries = random_int(random, 1, s.keys < 20 ? s.keys : 20);
    s.max_distance = random_int(random, s.num_buckets / 2 + 2, 200);
    return s;
}

static encoded encode_setting(const setting *s)
{
    return encode(&pe_t5_buckets,
                  "query_length=%lld&key_length=%lld&num_buckets=%lld&max_distance=%lld&"
                  "bidirectional=%s&variant=%s",
                  (long long)s->queries, (long long)s->keys, (long long)s->num_buckets,
                  (long long)s->max_distance, s->bidirectional ? "true" : "false",
                  s->deberta ? "deberta" : "t5");
}

/* Thresholds that are integers, where a float32 logarithm is at its worst. */
static const setting corners[] = {
    {3, 600, 32, 128, false, true},   {3, 600, 32, 128, false, false},
    {1, 5000, 8, 4096, false, false}, {1, 2000, 20, 1215, false, false},
    {1, 700, 6, 730, true, true},     {1, 300, 256, 512, true, true},
    {1, 3000, 64, 1024, false, true}, {1, 70, 2, 3, false, false},
    {5, 50, 2, 3, true, true},        {2, 90, 3, 100, true, true},
    {1, 400, 4, 257, true, true},     {2, 50, 5, 9, false, true},
};

static void check_setting(const setting *s, uint64_t seed)
{
    encoded e = encode_setting(s);
    double *got = encoded_all(&e, 0);
    assert_int_equal(e.plan.tensors[0].dtype, PE_INT32);
    for (int64_t i = 0; i < s->queries; i++)
        for (int64_t j = 0; j < s->keys; j++) {
            const int64_t relative = j - (s->keys - s->queries + i);
            const int64_t want = s->deberta ? slow_deberta(s, relative) : slow_t5(s, relative);
            if (got[i * s->keys + j] != (double)want)
                fail_msg("seed %llu: %s, num_buckets %lld, max_distance %lld, bidirectional %d, "
                         "relative position %lld: got %.0f, wanted %lld",
                         (unsigned long long)seed, s->deberta ? "deberta" : "t5",
                         (long long)s->num_buckets, (long long)s->max_distance, s->bidirectional,
                         (long long)relative, got[i * s->keys + j], (long long)want);
        }
    free(got);
    encoded_free(&e);
}

static void buckets_are_those_of_integer_powers(void **state)
{
    random_source random = random_make("buckets");
    for (size_t c = 0; c < PE_LEN(corners); c++)
        check_setting(&corners[c], 0);
    for (int round = 0; round < 150; round++) {
        const setting s = random_setting(&random);
        check_setting(&s, random.seed);
    }
}

/* Distances that no table walks through: whole tables of one query, looked at near their end. */
static void far_buckets_are_those_of_integer_powers(void **state)
{
    random_source random = random_make("far buckets");
    for (int round = 0; round < 60; round++) {
        setting s = random_setting(&random);
        s.queries = 1;
        s.keys = random_int(&random, 1000000, 15000000);
        s.max_distance = random_int(&random, 100000, s.keys);
        encoded e = encode_setting(&s);
        for (int look = 0; look < 20; look++) {
            const int64_t j = random_int(&random, 0, s.keys - 1), relative = j - (s.keys - 1);
            double *got = encoded_units(&e, 0, (size_t)j, 1);
            const int64_t want = s.deberta ? slow_deberta(&s, relative) : slow_t5(&s, relative);
            if (*got != (double)want)
                fail_msg("seed %llu: %s, relative position %lld: got %.0f, wanted %lld",
                         (unsigned long long)random.seed, s.deberta ? "deberta" : "t5",
                         (long long)relative, *got, (long long)want);
            free(got);
        }
        encoded_free(&e);
    }
}

/* ---- those who took T5's buckets ---- */

static const struct usual {
    const char *query; /* defaults of the variant stay out of it */
    setting is;
} usual[] = {
    {"variant=mpnet", {1, 0, 32, 128, false, true}},
    {"variant=wavlm", {1, 0, 320, 800, false, true}},
    {"variant=wavlm&num_buckets=64&max_distance=256", {1, 0, 64, 256, false, true}},
    {"variant=t5", {1, 0, 32, 128, false, true}},
    {"variant=t5&bidirectional=false", {1, 0, 32, 128, false, false}},
    {"variant=deberta&num_buckets=256&max_distance=512", {1, 0, 256, 512, true, true}},
};

/* At published settings float32 logarithms miss no edge, so nobody is warned. */
static void published_settings_are_those_of_integer_powers(void **state)
{
    static const int64_t lengths[] = {1, 2, 9, 17, 80, 81, 128, 129, 801, 1500};
    for (size_t u = 0; u < PE_LEN(usual); u++)
        for (size_t l = 0; l < PE_LEN(lengths); l++) {
            setting s = usual[u].is;
            s.keys = lengths[l];
            s.queries = s.keys < 3 ? s.keys : 3;
            encoded e = encode(&pe_t5_buckets, "query_length=%lld&key_length=%lld&%s",
                               (long long)s.queries, (long long)s.keys, usual[u].query);
            double *got = encoded_all(&e, 0);
            for (int64_t i = 0; i < s.queries * s.keys; i++) {
                const int64_t relative = i % s.keys - (s.keys - s.queries + i / s.keys);
                const int64_t want = s.deberta ? slow_deberta(&s, relative) : slow_t5(&s, relative);
                if (got[i] != (double)want)
                    fail_msg("%s, %lld keys, relative position %lld: got %.0f, wanted %lld",
                             usual[u].query, (long long)s.keys, (long long)relative, got[i],
                             (long long)want);
            }
            assert_int_equal(e.plan.n_warnings, 0);
            free(got);
            encoded_free(&e);
        }
}

/* Found by comparing with correctly rounded logarithms of another library (mpmath). */
static void where_the_reference_differs_a_warning_says_so(void **state)
{
    static const struct {
        const char *query, *says;
    } cases[] = {
        {"key_length=1644&variant=deberta&num_buckets=512&max_distance=4096",
         "deberta is published, distance 1643 falls into bucket 427, not 428"},
        {"key_length=1643&variant=deberta&num_buckets=512&max_distance=4096", NULL},
        {"key_length=5000&variant=deberta&num_buckets=16&max_distance=128",
         "distance 4442 falls into bucket 24, not 25"},
        {"key_length=4&variant=mpnet&num_buckets=16", "mpnet as published always has 32 buckets"},
        {"key_length=4&variant=mpnet&max_distance=256", "mpnet as published always"},
        {"key_length=4&variant=mpnet&num_buckets=32&max_distance=128", NULL},
    };
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        encoded e = encode(&pe_t5_buckets, "query_length=1&%s", cases[i].query);
        assert_int_equal(e.status, PE_OK);
        assert_int_equal(e.plan.n_warnings, cases[i].says != NULL);
        if (cases[i].says != NULL && strstr(e.plan.warnings[0], cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].query, e.plan.warnings[0]);
        encoded_free(&e);
    }
}

/* clamp(bucket + att_span, 0, 2 att_span - 1), as disentangled_attention_bias gathers. */
static void deberta_rows_are_buckets_moved_and_clamped(void **state)
{
    random_source random = random_make("rows");
    for (int round = 0; round < 40; round++) {
        setting s = random_setting(&random);
        s.deberta = s.bidirectional = true;
        const long long span = random_int(&random, 1, 40);
        encoded e = encode_setting(&s);
        encoded rows =
            encode(&pe_t5_buckets,
                   "query_length=%lld&key_length=%lld&num_buckets=%lld&max_distance=%lld&"
                   "variant=deberta&att_span=%lld",
                   (long long)s.queries, (long long)s.keys, (long long)s.num_buckets,
                   (long long)s.max_distance, span);
        double *bucket = encoded_all(&e, 0), *row = encoded_all(&rows, 0);
        for (int64_t i = 0; i < s.queries * s.keys; i++)
            assert_true(row[i] == fmin(fmax(bucket[i] + (double)span, 0), 2 * (double)span - 1));
        free(bucket);
        free(row);
        encoded_free(&e);
        encoded_free(&rows);
    }
}

static void t5_buckets_rise_with_distance_and_saturate(void **state)
{
    random_source random = random_make("monotone");
    for (int round = 0; round < 60; round++) {
        setting s = random_setting(&random);
        s.deberta = false;
        s.queries = 1;
        s.keys = 400;
        const int64_t last = s.bidirectional ? s.num_buckets / 2 - 1 : s.num_buckets - 1;
        encoded e = encode_setting(&s);
        double *got = encoded_all(&e, 0);
        for (int64_t distance = 0; distance < s.keys; distance++) {
            const double bucket = got[s.keys - 1 - distance];
            assert_true(distance == 0 ? bucket == 0 : bucket >= got[s.keys - distance]);
            assert_true(bucket <= (double)last);
            if (distance >= s.max_distance)
                assert_true(bucket == (double)last);
        }
        free(got);
        encoded_free(&e);
    }
}

static void deberta_buckets_are_odd(void **state)
{
    random_source random = random_make("odd");
    for (int round = 0; round < 40; round++) {
        setting s = random_setting(&random);
        s.deberta = s.bidirectional = true;
        s.queries = s.keys = random_int(&random, 1, 120);
        encoded e = encode_setting(&s);
        double *got = encoded_all(&e, 0);
        for (int64_t i = 0; i < s.keys; i++)
            for (int64_t j = 0; j < s.keys; j++)
                assert_true(got[i * s.keys + j] == -got[j * s.keys + i]);
        free(got);
        encoded_free(&e);
    }
}

/* ---- clipping -------------------------------------------------------------------------------- */

static int64_t clip(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

static void shaw_indices_are_clipped_positions(void **state)
{
    random_source random = random_make("shaw");
    for (int round = 0; round < 200; round++) {
        const int64_t keys = random_int(&random, 1, 90), queries = random_int(&random, 1, keys);
        const int64_t left = random_int(&random, 0, 60), right = random_int(&random, 0, 60);
        encoded e = encode(&pe_shaw_indices,
                           "query_length=%lld&key_length=%lld&left_max=%lld&right_max=%lld",
                           (long long)queries, (long long)keys, (long long)left, (long long)right);
        double *got = encoded_all(&e, 0);
        for (int64_t i = 0; i < queries; i++)
            for (int64_t j = 0; j < keys; j++) {
                const int64_t want = clip(j - (keys - queries + i), -left, right) + left;
                if (got[i * keys + j] != (double)want)
                    fail_msg("seed %llu: %lld of %lld keys, left %lld, right %lld, [%lld, %lld]: "
                             "got %.0f, wanted %lld",
                             (unsigned long long)random.seed, (long long)queries, (long long)keys,
                             (long long)left, (long long)right, (long long)i, (long long)j,
                             got[i * keys + j], (long long)want);
            }
        free(got);
        encoded_free(&e);
    }
}

static void the_widest_clip_is_an_int32(void **state)
{
    encoded e = encode(&pe_shaw_indices, "query_length=2&max_relative_position=1073741823");
    double *got = encoded_all(&e, 0);
    static const double want[] = {1073741823, 1073741824, 1073741822, 1073741823};
    assert_memory_equal(got, want, sizeof want);
    free(got);
    encoded_free(&e);
}

/* ---- windows, canonical forms, refusals ---- */

static void a_window_is_those_units_of_the_whole(void **state)
{
    random_source random = random_make("windows");
    for (int round = 0; round < 30; round++) {
        const setting s = random_setting(&random);
        encoded tables[] = {
            encode_setting(&s),
            encode(&pe_shaw_indices, "query_length=13&key_length=29&left_max=4&right_max=9"),
        };
        for (size_t t = 0; t < PE_LEN(tables); t++) {
            assert_windows(&tables[t], &random);
            encoded_free(&tables[t]);
        }
    }
}

/* Those of a window, named one by one: key - query, of deberta query - key. */
static void distances_have_the_buckets_of_their_queries_and_keys(void **state)
{
    static const char *const variants[] = {"t5", "mpnet", "wavlm", "deberta", "deberta&att_span=3"};
    enum { FAR = 300, SIDE = FAR + 1 };
    for (size_t v = 0; v < PE_LEN(variants); v++) {
        const bool of_key = strncmp(variants[v], "deberta", 7) == 0;
        encoded window = encode(&pe_t5_buckets, "query_length=%d&variant=%s", SIDE, variants[v]);
        encoded line =
            encode(&pe_t5_buckets, "distances=%d:%d&variant=%s", -FAR, FAR + 1, variants[v]);
        double *of_window = encoded_all(&window, 0), *got = encoded_all(&line, 0);
        assert_int_equal(line.plan.tensors[0].shape.ndim, 1);
        for (int d = -FAR; d <= FAR; d++) {
            const int relative = of_key ? -d : d; /* key - query */
            const size_t query = relative < 0 ? (size_t)-relative : 0;
            const size_t key = relative < 0 ? 0 : (size_t)relative;
            if (got[d + FAR] != of_window[query * SIDE + key])
                fail_msg("%s: distance %d: got %.0f, wanted %.0f", variants[v], d, got[d + FAR],
                         of_window[query * SIDE + key]);
        }
        free(of_window);
        free(got);
        encoded_free(&window);
        encoded_free(&line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_have_the_buckets_of_their_queries_and_keys),
        cmocka_unit_test(buckets_are_those_of_integer_powers),
        cmocka_unit_test(far_buckets_are_those_of_integer_powers),
        cmocka_unit_test(published_settings_are_those_of_integer_powers),
        cmocka_unit_test(where_the_reference_differs_a_warning_says_so),
        cmocka_unit_test(deberta_rows_are_buckets_moved_and_clamped),
        cmocka_unit_test(t5_buckets_rise_with_distance_and_saturate),
        cmocka_unit_test(deberta_buckets_are_odd),
        cmocka_unit_test(shaw_indices_are_clipped_positions),
        cmocka_unit_test(the_widest_clip_is_an_int32),
        cmocka_unit_test(a_window_is_those_units_of_the_whole),
    };
    return cmocka_run_group_tests_name("laws: relative positions", tests, NULL, NULL);
}
