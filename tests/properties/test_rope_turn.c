/* SPDX-License-Identifier: MIT */
/* test_rope_turn.c - the laws that rotations and scores obey, at random parameters. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "encodings/registry.h"
#include "support/encode.h"
#include "support/nest.h"
#include "support/random.h"

static const char *const pairings[] = {"interleaved", "half"};

static bool same(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0;
}

/* POST {members, name: data as shape}; the first tensor of the answer. */
static double *transform(const pe_resource *resource, const char *members, const char *name,
                         const double *data, const size_t *shape, size_t ndim)
{
    pe_buffer body = {0};
    pe_buffer_format(&body, "{%s%s\"%s\":", members, members[0] == '\0' ? "" : ",", name);
    nest(data, shape, ndim, &body);
    encoded e = encode_json(resource, "%s}", pe_buffer_text(&body));
    pe_buffer_free(&body);
    if (e.status != PE_OK)
        fail_msg("{%s}: %s: %s", members, e.why.where, e.why.detail);
    double *out = encoded_all(&e, 0);
    encoded_free(&e);
    return out;
}

static double *random_vector(random_source *random, size_t n)
{
    double *x = malloc(n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = random_real(random, -2, 2);
    return x;
}

/* ---- rotations ------------------------------------------------------------------------------- */

/* A type with an attention factor: 2. */
static const char louder[] = ",\"rope_type\":\"yarn\",\"factor\":4,\"attention_factor\":2,"
                             "\"original_max_position_embeddings\":128";

static void a_rotation_keeps_norms_and_its_inverse_undoes_it(void **state)
{
    random_source random = random_make("rotations");
    for (size_t round = 0; round < 60; round++) {
        const size_t d = 2 * (size_t)random_int(&random, 1, 40), n = 3, shape[] = {n, d};
        const int bits = (int)random_int(&random, 3, 52);
        const int64_t first = random_int(&random, -((int64_t)1 << bits), ((int64_t)1 << bits) - 4);
        const double attention = round % 3 == 0 ? 2 : 1;
        char members[400];
        snprintf(members, sizeof members,
                 "\"dtype\":\"float64\",\"pairing\":\"%s\",\"positions\":\"%lld:%lld\"%s",
                 pairings[round % 2], (long long)first, (long long)(first + (int64_t)n),
                 attention == 1 ? "" : louder);
        double *x = random_vector(&random, n * d);
        double *y = transform(&pe_rope_rotate, members, "vectors", x, shape, 2);
        char back[440];
        snprintf(back, sizeof back, "%s,\"inverse\":true", members);
        double *z = transform(&pe_rope_rotate, back, "vectors", y, shape, 2);
        for (size_t r = 0; r < n; r++) {
            double before = 0, after = 0;
            for (size_t c = r * d; c < (r + 1) * d; c++) {
                before += x[c] * x[c];
                after += y[c] * y[c];
                /* two rotations, each within 2^-53 of 3 + 2^-52 of 4; the second turns the error */
                if (!(fabs(z[c] - x[c]) <= 0x1p-49))
                    fail_msg("seed %llu: {%s} channel %zu: got %.17g, wanted %.17g",
                             (unsigned long long)random.seed, members, c, z[c], x[c]);
            }
            before *= attention * attention;
            assert_true(fabs(after - before) <= 0x1p-48 * before + 0x1p-48);
        }
        free(x);
        free(y);
        free(z);
    }
}

/* x to the nearest of dtype. */
static double rounded(pe_dtype dtype, double x)
{
    unsigned char element[8];
    pe_dtype_store(dtype, x, element);
    return pe_dtype_load(dtype, element);
}

/* cosines, then sines, of rows n of a rotation with these members, attention factor included. */
static void table_of(const char *members, size_t head_dim, size_t n, double *cosine, double *sine)
{
    encoded e = encode_json(&pe_rope_table, "{%s,\"head_dim\":%zu,\"dtype\":\"float64\"}", members,
                            head_dim);
    double *const from[] = {encoded_all(&e, 0), encoded_all(&e, 1)}, *const to[] = {cosine, sine};
    for (size_t k = 0; k < 2; k++) {
        memcpy(to[k], from[k], n * sizeof *cosine);
        free(from[k]);
    }
    encoded_free(&e);
}

/* Half an ulp beside what real arithmetic gives, and 2^-50 of the channels for the cosines, the
 * sines and double: what is nearest to the ends of that. */
static void expect_channel(pe_dtype dtype, double want, double slack, double got,
                           const char *members, size_t c)
{
    if (got < rounded(dtype, want - slack) || got > rounded(dtype, want + slack))
        fail_msg("{%s} %s, channel %zu: got %.17g, wanted %.17g", members, pe_dtype_name(dtype), c,
                 got, want);
}

/* One random vector of each of three tokens, turned back: x' = (x c + y s)/A^2, y' = (y c - x
 * s)/A^2 where c and s have the attention factor A in them. */
static void check_inverse(random_source *random, pe_dtype dtype, bool half, double attention)
{
    enum { N = 3, PAIRS = 13, D = 2 * PAIRS + 6 };
    const size_t shape[] = {N, D};
    const int64_t first = random_int(random, -1000000, 1000000);
    char members[400], body[500];
    double c[N * PAIRS], s[N * PAIRS], x[N * D];
    snprintf(members, sizeof members,
             "\"pairing\":\"%s\",\"rotary_dim\":%d,\"positions\":\"%lld:%lld\"%s", pairings[half],
             2 * PAIRS, (long long)first, (long long)first + N, attention == 1 ? "" : louder);
    snprintf(body, sizeof body, "%s,\"inverse\":true,\"dtype\":\"%s\"", members,
             pe_dtype_name(dtype));
    table_of(members, D, N * PAIRS, c, s);
    for (size_t i = 0; i < N * D; i++)
        x[i] = rounded(dtype, random_real(random, -2, 2));
    double *got = transform(&pe_rope_rotate, body, "vectors", x, shape, 2);
    for (size_t k = 0; k < N * PAIRS; k++) {
        const size_t row = k / PAIRS * D, i = k % PAIRS;
        const size_t at = row + (half ? i : 2 * i), other = at + (half ? PAIRS : 1);
        const double a = x[at], b = x[other], by = attention * attention;
        const double slack = 0x1p-50 * (fabs(a) + fabs(b));
        expect_channel(dtype, (a * c[k] + b * s[k]) / by, slack, got[at], body, at);
        expect_channel(dtype, (b * c[k] - a * s[k]) / by, slack, got[other], body, other);
    }
    for (size_t k = 0; k < N * D; k++)
        assert_true(k % D < 2 * PAIRS || same(got[k], x[k]));
    free(got);
}

static void an_inverse_is_the_rotation_backwards_in_every_type_and_pairing(void **state)
{
    static const pe_dtype dtypes[] = {PE_FLOAT32, PE_FLOAT64, PE_FLOAT16, PE_BFLOAT16};
    random_source random = random_make("inverse");
    for (size_t d = 0; d < PE_LEN(dtypes); d++)
        for (int round = 0; round < 40; round++)
            check_inverse(&random, dtypes[d], round % 2 == 1, round % 4 < 2 ? 1 : 2);
}

static void a_shift_leaves_the_attention_factor_alone(void **state)
{
    const double k[] = {1, 2, 3, 4};
    const size_t shape[] = {1, 4};
    char members[300];
    snprintf(members, sizeof members, "\"delta\":0%s", louder);
    double *got = transform(&pe_rope_shift, members, "keys", k, shape, 2);
    assert_memory_equal(got, k, sizeof k);
    free(got);
}

static void turning_twice_is_turning_by_the_sum(void **state)
{
    random_source random = random_make("shifts");
    for (size_t round = 0; round < 40; round++) {
        const size_t n = 4, d = 16, shape[] = {n, d};
        const int64_t delta = random_int(&random, -100000, 100000);
        const int64_t first = random_int(&random, 0, 1 << 30);
        char at[160], by[160], sum[160];
        double *x = random_vector(&random, n * d);
        snprintf(at, sizeof at, "\"dtype\":\"float64\",\"positions\":\"%lld:%lld\"",
                 (long long)first, (long long)first + 4);
        snprintf(by, sizeof by, "\"dtype\":\"float64\",\"delta\":%lld", (long long)delta);
        snprintf(sum, sizeof sum, "\"dtype\":\"float64\",\"positions\":\"%lld:%lld\"",
                 (long long)(first + delta), (long long)(first + delta) + 4);
        double *once = transform(&pe_rope_rotate, at, "vectors", x, shape, 2);
        double *twice = transform(&pe_rope_shift, by, "keys", once, shape, 2);
        double *want = transform(&pe_rope_rotate, sum, "vectors", x, shape, 2);
        for (size_t c = 0; c < n * d; c++)
            if (!(fabs(twice[c] - want[c]) <= 0x1p-49))
                fail_msg("seed %llu: position %lld, delta %lld: got %.17g, wanted %.17g",
                         (unsigned long long)random.seed, (long long)first, (long long)delta,
                         twice[c], want[c]);
        free(x);
        free(once);
        free(twice);
        free(want);
    }
}

static void halves_are_a_permutation_of_neighbours(void **state)
{
    enum { N = 3, D = 16 };
    random_source random = random_make("pairing");
    const size_t shape[] = {N, D};
    double *x = random_vector(&random, N * D), permuted[N * D];
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < D; c++)
            permuted[r * D + c / 2 + (c % 2) * D / 2] = x[r * D + c];
    double *near =
        transform(&pe_rope_rotate, "\"pairing\":\"interleaved\"", "vectors", x, shape, 2);
    double *far = transform(&pe_rope_rotate, "\"pairing\":\"half\"", "vectors", permuted, shape, 2);
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < D; c++)
            assert_true(same(near[r * D + c], far[r * D + c / 2 + (c % 2) * D / 2]));
    free(x);
    free(near);
    free(far);
}

/* x as [B, T, H, D] by tokens along axis 1, token by token. */
static void tokens_turn_alike_wherever_their_axis_is(void **state)
{
    enum { B = 2, T = 70, H = 3, D = 8 };
    random_source random = random_make("axes");
    const size_t shape[] = {B, T, H, D}, swapped_shape[] = {B, H, T, D};
    double *x = random_vector(&random, B * T * H * D), *swapped = malloc(B * T * H * D * sizeof *x);
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < T; t++)
            for (size_t h = 0; h < H; h++)
                memcpy(swapped + ((b * H + h) * T + t) * D, x + ((b * T + t) * H + h) * D,
                       D * sizeof *x);
    const char *at = "\"rotary_dim\":6,\"positions\":\"30:100\"";
    char with_axis[128];
    snprintf(with_axis, sizeof with_axis, "%s,\"seq_axis\":1", at);
    double *one = transform(&pe_rope_rotate, with_axis, "vectors", x, shape, 4);
    snprintf(with_axis, sizeof with_axis, "%s,\"seq_axis\":-3", at);
    double *same_axis = transform(&pe_rope_rotate, with_axis, "vectors", x, shape, 4);
    double *other = transform(&pe_rope_rotate, at, "vectors", swapped, swapped_shape, 4);
    assert_memory_equal(one, same_axis, B * T * H * D * sizeof *one);
    for (size_t b = 0; b < B; b++)
        for (size_t t = 0; t < T; t++)
            for (size_t h = 0; h < H; h++)
                assert_memory_equal(other + ((b * H + h) * T + t) * D,
                                    one + ((b * T + t) * H + h) * D, D * sizeof *one);
    free(x);
    free(swapped);
    free(one);
    free(same_axis);
    free(other);
}

static void a_batch_of_positions_turns_each_batch_by_its_own(void **state)
{
    enum { B = 2, H = 3, T = 4, D = 8, EACH = H * T * D };
    static const char *const own[] = {"\"positions\":[0,1,2,3]", "\"positions\":[500,7,7.5,-2]"};
    random_source random = random_make("batches");
    const size_t shape[] = {B, H, T, D};
    double *x = random_vector(&random, B * EACH);
    double *both = transform(&pe_rope_rotate, "\"positions\":[[0,1,2,3],[500,7,7.5,-2]]", "vectors",
                             x, shape, 4);
    for (size_t b = 0; b < B; b++) {
        double *one = transform(&pe_rope_rotate, own[b], "vectors", x + b * EACH, shape + 1, 3);
        assert_memory_equal(one, both + b * EACH, EACH * sizeof *one);
        free(one);
    }
    double *all = transform(&pe_rope_rotate, "\"positions\":[[0,1,2,3]]", "vectors", x, shape, 4);
    double *plain = transform(&pe_rope_rotate, "", "vectors", x, shape, 4);
    assert_memory_equal(all, plain, B * EACH * sizeof *all);
    free(x);
    free(both);
    free(all);
    free(plain);
}

static void queries_and_keys_turn_as_vectors_do(void **state)
{
    encoded e = encode_json(&pe_rope_rotate,
                            "{\"q\":[[[1,2],[3,4]],[[5,6],[7,8]]],\"k\":[[[0.5,1],[1.5,2]]],"
                            "\"positions\":[9,10]}");
    const double q[] = {1, 2, 3, 4, 5, 6, 7, 8}, k[] = {0.5, 1, 1.5, 2};
    const size_t q_shape[] = {2, 2, 2}, k_shape[] = {1, 2, 2};
    double *got_q = encoded_all(&e, 0), *got_k = encoded_all(&e, 1);
    double *want_q = transform(&pe_rope_rotate, "\"positions\":[9,10]", "vectors", q, q_shape, 3);
    double *want_k = transform(&pe_rope_rotate, "\"positions\":[9,10]", "vectors", k, k_shape, 3);
    assert_string_equal(e.plan.tensors[0].name, "q");
    assert_string_equal(e.plan.tensors[1].name, "k");
    assert_memory_equal(got_q, want_q, sizeof q);
    assert_memory_equal(got_k, want_k, sizeof k);
    free(got_q);
    free(got_k);
    free(want_q);
    free(want_k);
    encoded_free(&e);
}

/* Channels before rotary_offset and after the slice pass through; the slice is a head of its own. */
static void a_slice_turns_as_a_head_of_its_own(void **state)
{
    enum { N = 3, R = 8, D = 19 };
    static const char *const ways[] = {"", ",\"numerics\":\"float32\"", ",\"inverse\":true",
                                       ",\"dtype\":\"bfloat16\""};
    random_source random = random_make("slices");
    const size_t shape[] = {N, D}, slice_shape[] = {N, R};
    for (size_t round = 0; round < 48; round++) {
        const size_t offset = (size_t)random_int(&random, 0, D - R);
        double *x = random_vector(&random, N * D), slice[N * R];
        char alone[200], within[300];
        for (size_t c = 0; c < N * D; c++)
            x[c] = rounded(PE_BFLOAT16, x[c]);
        for (size_t r = 0; r < N; r++)
            memcpy(slice + r * R, x + r * D + offset, R * sizeof *x);
        snprintf(alone, sizeof alone, "\"positions\":[5,70,900],\"pairing\":\"%s\"%s",
                 pairings[round / 4 % 2], ways[round % 4]);
        snprintf(within, sizeof within, "%s,\"rotary_dim\":%d,\"rotary_offset\":%zu", alone, R,
                 offset);
        double *want = transform(&pe_rope_rotate, alone, "vectors", slice, slice_shape, 2);
        double *got = transform(&pe_rope_rotate, within, "vectors", x, shape, 2);
        for (size_t c = 0; c < N * D; c++) {
            const bool turns = c % D >= offset && c % D < offset + R;
            assert_true(same(got[c], turns ? want[c / D * R + c % D - offset] : x[c]));
        }
        free(x);
        free(want);
        free(got);
    }
}

/* ---- scores ---------------------------------------------------------------------------------- */

static encoded score(const double *q, const double *k, size_t d, const char *more)
{
    const size_t q_shape[] = {2, d}, k_shape[] = {3, d};
    pe_buffer body = {0};
    pe_buffer_str(&body, "{\"q\":");
    nest(q, q_shape, 2, &body);
    pe_buffer_str(&body, ",\"k\":");
    nest(k, k_shape, 2, &body);
    encoded e =
        encode_json(&pe_rope_scores, "%s,\"dtype\":\"float64\"%s}", pe_buffer_text(&body), more);
    pe_buffer_free(&body);
    return e;
}

static void scores_depend_on_the_distance_alone_bit_for_bit(void **state)
{
    random_source random = random_make("distance");
    for (size_t round = 0; round < 30; round++) {
        const size_t d = (size_t)random_int(&random, 2, 30) * 2 + 1;
        double *q = random_vector(&random, 2 * d), *k = random_vector(&random, 3 * d);
        double *want = NULL;
        for (size_t move = 0; move < 4; move++) {
            const int64_t by = move == 0 ? 0 : random_int(&random, -(1 << 30), 1 << 30);
            char more[200];
            snprintf(more, sizeof more,
                     ",\"rotary_dim\":%zu,\"pairing\":\"%s\",\"query_positions\":[%lld,%lld],"
                     "\"key_positions\":[%lld,%lld,%lld]",
                     d - 1, pairings[round % 2], (long long)by + 5, (long long)by + 1000,
                     (long long)by + 3, (long long)by - 70, (long long)by + 4);
            encoded e = score(q, k, d, more);
            double *got = encoded_all(&e, 0);
            for (size_t i = 0; i < 6 && want != NULL; i++)
                if (!same(got[i], want[i]))
                    fail_msg("seed %llu: moved by %lld, score %zu: got %a, wanted %a",
                             (unsigned long long)random.seed, (long long)by, i, got[i], want[i]);
            if (want == NULL)
                want = got;
            else
                free(got);
            encoded_free(&e);
        }
        free(want);
        free(q);
        free(k);
    }
}

/* Where they are: integers, fractions, and both. */
static const struct {
    const char *queries, *keys;
} places[] = {
    {"[80,81]", "\"20:23\""},
    {"[80.25,81]", "[20,21,22]"},
    {"\"-0.3:0:0.15\"", "\"7:8:0.4\""},
};

/* With a slice at an offset as well, whose other channels pass through. */
static void scores_of_a_slice_are_products_of_rotated_vectors(void **state)
{
    enum { D = 13 };
    static const char slice[] = "\"rotary_dim\":6,\"rotary_offset\":5",
                      at[] = "\"rotary_dim\":6,\"rotary_offset\":5,\"dtype\":\"float64\"";
    random_source random = random_make("slices of scores");
    const size_t q_shape[] = {2, D}, k_shape[] = {3, D};
    double *q = random_vector(&random, 2 * D), *k = random_vector(&random, 3 * D);
    char more[300];
    snprintf(more, sizeof more, ",%s", slice);
    encoded whole = score(q, k, D, more);
    snprintf(more, sizeof more, ",%s,\"per_pair\":true", slice);
    encoded parts = score(q, k, D, more);
    double *sum = encoded_all(&whole, 0), *term = encoded_all(&parts, 0);
    double *rq = transform(&pe_rope_rotate, at, "vectors", q, q_shape, 2);
    double *rk = transform(&pe_rope_rotate, at, "vectors", k, k_shape, 2);
    for (size_t i = 0; i < 6; i++) {
        double want = 0, passed = 0;
        for (size_t c = 0; c < D; c++)
            want += rq[i / 3 * D + c] * rk[i % 3 * D + c];
        for (size_t c = 0; c < D; c++)
            passed += c < 5 || c >= 11 ? q[i / 3 * D + c] * k[i % 3 * D + c] : 0;
        /* D products of channels up to 4 and within 2^-49 each, on both sides */
        assert_true(fabs(sum[i] - want) <= D * 8 * 0x1p-48);
        assert_true(fabs(term[3 * i] + term[3 * i + 1] + term[3 * i + 2] + passed - want) <=
                    D * 8 * 0x1p-48);
    }
    encoded_free(&whole);
    encoded_free(&parts);
    free(q);
    free(k);
    free(rq);
    free(rk);
    free(sum);
    free(term);
}

static void scores_are_products_of_rotated_vectors(void **state)
{
    random_source random = random_make("scores");
    for (size_t round = 0; round < 30; round++) {
        const size_t d = (size_t)random_int(&random, 1, 40) * 2, q_shape[] = {2, d},
                     k_shape[] = {3, d};
        double *q = random_vector(&random, 2 * d), *k = random_vector(&random, 3 * d);
        const char *type = round % 2 == 0 ? louder : "";
        char more[400];
        const char *queries = places[round % 3].queries, *keys = places[round % 3].keys;
        snprintf(more, sizeof more, ",\"query_positions\":%s,\"key_positions\":%s%s", queries, keys,
                 type);
        encoded e = score(q, k, d, more);
        double *got = encoded_all(&e, 0);
        snprintf(more, sizeof more, "\"dtype\":\"float64\",\"positions\":%s%s", queries, type);
        double *rq = transform(&pe_rope_rotate, more, "vectors", q, q_shape, 2);
        snprintf(more, sizeof more, "\"dtype\":\"float64\",\"positions\":%s%s", keys, type);
        double *rk = transform(&pe_rope_rotate, more, "vectors", k, k_shape, 2);
        for (size_t i = 0; i < 6; i++) {
            double want = 0;
            for (size_t c = 0; c < d; c++)
                want += rq[i / 3 * d + c] * rk[i % 3 * d + c];
            /* d products of channels up to 8 and within 2^-49 each, on both sides */
            if (!(fabs(got[i] - want) <= (double)d * 16 * 0x1p-48))
                fail_msg("seed %llu: d %zu, score %zu: got %.17g, wanted %.17g",
                         (unsigned long long)random.seed, d, i, got[i], want);
        }
        encoded_free(&e);
        free(q);
        free(k);
        free(rq);
        free(rk);
        free(got);
    }
}

/* With the channels that pass through they are the score; both pairings, integers and fractions. */
static void terms_of_pairs_add_up_to_the_score(void **state)
{
    random_source random = random_make("pairs");
    for (size_t round = 0; round < 12; round++) {
        const size_t d = 9, pairs = 3, half = round % 2;
        double *q = random_vector(&random, 2 * d), *k = random_vector(&random, 3 * d);
        char more[300];
        const int used = snprintf(more, sizeof more,
                                  ",\"rotary_dim\":6,\"pairing\":\"%s\",\"query_positions\":%s,"
                                  "\"key_positions\":%s",
                                  half ? "half" : "interleaved", places[round % 3].queries,
                                  places[round % 3].keys);
        encoded whole = score(q, k, d, more);
        snprintf(more + used, sizeof more - (size_t)used, ",\"per_pair\":true");
        encoded parts = score(q, k, d, more);
        double *sum = encoded_all(&whole, 0), *term = encoded_all(&parts, 0);
        assert_int_equal(parts.plan.tensors[0].shape.ndim, 3);
        assert_int_equal(parts.plan.tensors[0].shape.dim[2], pairs);
        for (size_t i = 0; i < 6; i++) {
            double got = 0;
            for (size_t p = 0; p < pairs; p++)
                got += term[i * pairs + p];
            for (size_t c = 2 * pairs; c < d; c++)
                got += q[i / 3 * d + c] * k[i % 3 * d + c];
            /* the same products added in another order: 9 sums of products up to 64 */
            if (!(fabs(got - sum[i]) <= 9 * 9 * 64 * 0x1p-53))
                fail_msg("seed %llu: score %zu: terms %.17g, sum %.17g",
                         (unsigned long long)random.seed, i, got, sum[i]);
        }
        free(sum);
        free(term);
        free(q);
        free(k);
        encoded_free(&whole);
        encoded_free(&parts);
    }
}

/* (q1 k1 + q2 k2) cos((m - n) theta) + (q1 k2 - q2 k1) sin((m - n) theta), by hand at theta = 1. */
static void the_term_of_a_pair_has_the_sign_of_the_paper(void **state)
{
    encoded e = encode_json(&pe_rope_scores,
                            "{\"q\":[[0.3,-1.2]],\"k\":[[1,0.5]],\"query_positions\":[5],"
                            "\"key_positions\":[3],\"per_pair\":true,\"dtype\":\"float64\"}");
    double *got = encoded_all(&e, 0);
    assert_true(fabs(*got - (-0.3 * cos(2) + 1.35 * sin(2))) < 1e-15);
    assert_true(fabs(*got - 1.3524) < 0.00005);
    free(got);
    encoded_free(&e);
}

static void windows_of_scores_are_the_scores(void **state)
{
    random_source random = random_make("score windows");
    double *q = random_vector(&random, 2 * 8), *k = random_vector(&random, 3 * 8);
    encoded e = score(q, k, 8, "");
    double *all = encoded_all(&e, 0);
    for (size_t first = 0; first < 6; first++)
        for (size_t units = 1; first + units <= 6; units++) {
            double *some = encoded_units(&e, 0, first, units);
            assert_memory_equal(some, all + first, units * sizeof *some);
            free(some);
        }
    free(all);
    free(q);
    free(k);
    encoded_free(&e);
}

static void a_score_near_the_largest_value_is_answered(void **state)
{
    /* |q| |k| is beyond float16; the score, 0.25 * 65504 in the pass-through channels, is not */
    encoded e =
        encode_json(&pe_rope_scores, "{\"q\":[[0,0,16376,0,0,0,16376,0]],\"k\":[[0,0,1,0,0,0,0,4]],"
                                     "\"rotary_dim\":2,\"dtype\":\"float16\"}");
    double *got = encoded_all(&e, 0);
    assert_true(got[0] == 16376);
    free(got);
    encoded_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rotation_keeps_norms_and_its_inverse_undoes_it),
        cmocka_unit_test(an_inverse_is_the_rotation_backwards_in_every_type_and_pairing),
        cmocka_unit_test(a_shift_leaves_the_attention_factor_alone),
        cmocka_unit_test(turning_twice_is_turning_by_the_sum),
        cmocka_unit_test(halves_are_a_permutation_of_neighbours),
        cmocka_unit_test(tokens_turn_alike_wherever_their_axis_is),
        cmocka_unit_test(a_batch_of_positions_turns_each_batch_by_its_own),
        cmocka_unit_test(queries_and_keys_turn_as_vectors_do),
        cmocka_unit_test(a_slice_turns_as_a_head_of_its_own),
        cmocka_unit_test(scores_depend_on_the_distance_alone_bit_for_bit),
        cmocka_unit_test(scores_are_products_of_rotated_vectors),
        cmocka_unit_test(scores_of_a_slice_are_products_of_rotated_vectors),
        cmocka_unit_test(terms_of_pairs_add_up_to_the_score),
        cmocka_unit_test(the_term_of_a_pair_has_the_sign_of_the_paper),
        cmocka_unit_test(windows_of_scores_are_the_scores),
        cmocka_unit_test(a_score_near_the_largest_value_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
