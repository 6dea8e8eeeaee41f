/* SPDX-License-Identifier: MIT */
/* test_rope.c - the laws that rotary embeddings obey, at random parameters. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "encodings/registry.h"
#include "encodings/rope.h"
#include "support/encode.h"
#include "support/random.h"
#include "support/slow.h"

static const char *const dtypes[] = {"float32", "float64", "float16", "bfloat16"};
static const char *const pairings[] = {"interleaved", "half"};

static bool same(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0;
}

/* data as nested JSON arrays. */
static void nest(const double *data, const size_t *shape, size_t ndim, pe_buffer *out)
{
    size_t inner = 1;
    for (size_t d = 1; d < ndim; d++)
        inner *= shape[d];
    pe_buffer_str(out, "[");
    for (size_t i = 0; i < shape[0]; i++) {
        pe_buffer_str(out, i == 0 ? "" : ",");
        if (ndim == 1)
            pe_buffer_format(out, "%.17g", data[i]);
        else
            nest(data + i * inner, shape + 1, ndim - 1, out);
    }
    pe_buffer_str(out, "]");
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

/* ---- tables against the formula -----------------------------------------------------------------
 */

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
    (void)state;
    for (size_t round = 0; round < 120; round++) {
        const setting s = random_setting(&random);
        const int bits = (int)random_int(&random, 0, 52);
        check_table(&s, random_int(&random, -((int64_t)1 << bits), (int64_t)1 << bits),
                    random_int(&random, 1, 7), (size_t)random_int(&random, 0, 3), random.seed);
    }
}

static void frequencies_wavelengths_and_stretches_are_correctly_rounded(void **state)
{
    random_source random = random_make("frequencies");
    mpfr_t theta, plain, x;
    mpfr_inits2(SLOW_BITS, theta, plain, x, (mpfr_ptr)NULL);
    (void)state;
    for (size_t round = 0; round < 100; round++) {
        static const pe_dtype wide[] = {PE_FLOAT32, PE_FLOAT64, PE_BFLOAT16};
        const setting s = random_setting(&random);
        const pe_dtype dtype = wide[random_int(&random, 0, 2)];
        slow_rope unscaled = s.rope;
        unscaled.type = "default";
        encoded e = encode(&pe_rope_frequencies, "%s&dtype=%s", s.query, dtypes[dtype]);
        double *got[3];
        for (size_t t = 0; t < 3; t++)
            got[t] = encoded_all(&e, t);
        for (size_t i = 0; i < (size_t)s.rope.dim / 2; i++) {
            slow_rope_frequency(&s.rope, i, theta);
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
                             (unsigned long long)random.seed, s.query, dtypes[dtype],
                             e.plan.tensors[t].name, i, got[t][i], want[t]);
        }
        for (size_t t = 0; t < 3; t++)
            free(got[t]);
        encoded_free(&e);
    }
    mpfr_clears(theta, plain, x, (mpfr_ptr)NULL);
}

/* ---- windows, layouts, scalings that do nothing -------------------------------------------------
 */

static void rows_do_not_depend_on_the_window_they_are_asked_in(void **state)
{
    random_source random = random_make("windows");
    (void)state;
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
                if (!same(got[t][at], want[k % 2][r * N + i]))
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
    (void)state;
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
    (void)state;
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

/* ---- rotations ----------------------------------------------------------------------------------
 */

/* A type with an attention factor: 2. */
static const char louder[] = ",\"rope_type\":\"yarn\",\"factor\":4,\"attention_factor\":2,"
                             "\"original_max_position_embeddings\":128";

static void a_rotation_keeps_norms_and_its_inverse_undoes_it(void **state)
{
    random_source random = random_make("rotations");
    (void)state;
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
        strcat(members, ",\"inverse\":true");
        double *z = transform(&pe_rope_rotate, members, "vectors", y, shape, 2);
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

static void a_shift_leaves_the_attention_factor_alone(void **state)
{
    const double k[] = {1, 2, 3, 4};
    const size_t shape[] = {1, 4};
    char members[300];
    (void)state;
    snprintf(members, sizeof members, "\"delta\":0%s", louder);
    double *got = transform(&pe_rope_shift, members, "keys", k, shape, 2);
    assert_memory_equal(got, k, sizeof k);
    free(got);
}

static void turning_twice_is_turning_by_the_sum(void **state)
{
    random_source random = random_make("shifts");
    (void)state;
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
    (void)state;
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
    (void)state;
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
    (void)state;
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
    (void)state;
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

/* ---- scores and decay ---------------------------------------------------------------------------
 */

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
    (void)state;
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

static void scores_are_products_of_rotated_vectors(void **state)
{
    random_source random = random_make("scores");
    (void)state;
    for (size_t round = 0; round < 30; round++) {
        const size_t d = (size_t)random_int(&random, 1, 40) * 2, q_shape[] = {2, d},
                     k_shape[] = {3, d};
        double *q = random_vector(&random, 2 * d), *k = random_vector(&random, 3 * d);
        const char *type = round % 3 == 0 ? louder : "";
        char more[400];
        snprintf(more, sizeof more, ",\"query_positions\":[80,81],\"key_positions\":\"20:23\"%s",
                 type);
        encoded e = score(q, k, d, more);
        double *got = encoded_all(&e, 0);
        snprintf(more, sizeof more, "\"dtype\":\"float64\",\"positions\":[80,81]%s", type);
        double *rq = transform(&pe_rope_rotate, more, "vectors", q, q_shape, 2);
        snprintf(more, sizeof more, "\"dtype\":\"float64\",\"positions\":\"20:23\"%s", type);
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

static void windows_of_scores_are_the_scores(void **state)
{
    random_source random = random_make("score windows");
    double *q = random_vector(&random, 2 * 8), *k = random_vector(&random, 3 * 8);
    encoded e = score(q, k, 8, "");
    double *all = encoded_all(&e, 0);
    (void)state;
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

static void decay_is_the_mean_cosine(void **state)
{
    random_source random = random_make("decay");
    mpfr_t theta, angle, sum;
    mpfr_inits2(SLOW_BITS, theta, angle, sum, (mpfr_ptr)NULL);
    (void)state;
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

/* ---- facts anyone can check by hand -------------------------------------------------------------
 */

static void the_facts_of_the_contract_hold(void **state)
{
    encoded e =
        encode(&pe_rope_scaled_base, "rope_theta=10000&head_dim=128&factor=8&dtype=float64");
    (void)state;
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
    (void)state;
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
    (void)state;
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
    (void)state;
    for (size_t t = 0; pe_rope_types[t] != NULL || pe_rope_type_names[t] != NULL; t++) {
        assert_non_null(pe_rope_types[t]);
        assert_string_equal(pe_rope_types[t]->name, pe_rope_type_names[t]);
    }
}

/* ---- the canonical form -------------------------------------------------------------------------
 */

static void the_canonical_form_is_its_own_canonical_form(void **state)
{
    static const struct {
        const char *query, *part;
    } cases[] = {
        {"head_dim=64", "partial_rotary_factor=1&rope_theta=10000&rope_type=default&rotary_dim=64"},
        {"head_dim=100&rotary_dim=58", "partial_rotary_factor=0.58"},
        {"head_dim=80&partial_rotary_factor=0.4", "rotary_dim=32"},
        {"head_dim=64&rope_type=dynamic&factor=2&max_position_embeddings=4096", "seq_len=4096"},
        {"head_dim=64&rope_type=yarn&factor=4&max_position_embeddings=4096",
         "original_max_position_embeddings=4096"},
        {"head_dim=64&rope_type=yarn&factor=4&max_position_embeddings=4096&truncate=false",
         "beta_fast=32&beta_slow=1"},
        {"head_dim=64&rope_type=proportional&partial_rotary_factor=0.25", "factor=1&head_dim=64"},
        {"head_dim=4&rope_type=longrope&short_factor=1,1.50&long_factor=2,3&"
         "max_position_embeddings=64",
         "seq_len=64&short_factor=1,1.5"},
        {"head_dim=64&rope_type=linear&factor=4.0&max_position_embeddings=4096",
         "factor=4&head_dim=64&max_position_embeddings=4096"},
    };
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        pe_buffer once = {0}, twice = {0};
        encoded e = encode(&pe_rope_frequencies, "%s", cases[c].query);
        assert_int_equal(e.status, PE_OK);
        pe_values_query(&e.ask.values, &once);
        encoded again = encode(&pe_rope_frequencies, "%s", pe_buffer_text(&once));
        if (again.status != PE_OK)
            fail_msg("%s: %s", pe_buffer_text(&once), again.why.detail);
        pe_values_query(&again.ask.values, &twice);
        assert_string_equal(pe_buffer_text(&once), pe_buffer_text(&twice));
        if (strstr(pe_buffer_text(&once), cases[c].part) == NULL)
            fail_msg("%s: wanted %s in %s", cases[c].query, cases[c].part, pe_buffer_text(&once));
        encoded_free(&e);
        encoded_free(&again);
        pe_buffer_free(&once);
        pe_buffer_free(&twice);
    }
}

/* ---- refusals -----------------------------------------------------------------------------------
 */

static void what_cannot_be_is_refused_by_name(void **state)
{
    static const struct {
        const pe_resource *resource;
        const char *query;
        pe_status status;
        const char *where;
    } cases[] = {
        {&pe_rope_frequencies, "", PE_MISSING_PARAMETER, "head_dim"},
        {&pe_rope_frequencies, "head_dim=7", PE_INVALID_PARAMETER, "head_dim"},
        {&pe_rope_frequencies, "head_dim=8&rotary_dim=7", PE_INVALID_PARAMETER, "rotary_dim"},
        {&pe_rope_frequencies, "head_dim=8&rotary_dim=10", PE_INVALID_PARAMETER, "rotary_dim"},
        {&pe_rope_frequencies, "head_dim=10&partial_rotary_factor=0.7", PE_INVALID_PARAMETER,
         "partial_rotary_factor"},
        {&pe_rope_frequencies, "head_dim=10&partial_rotary_factor=0.1", PE_INVALID_PARAMETER,
         "partial_rotary_factor"},
        {&pe_rope_frequencies, "head_dim=64&rotary_dim=32&partial_rotary_factor=0.25",
         PE_INVALID_PARAMETER, "rotary_dim"},
        {&pe_rope_frequencies, "head_dim=8&factor=2", PE_INVALID_PARAMETER, "factor"},
        {&pe_rope_frequencies, "head_dim=8&rope_type=linear&factor=2&seq_len=9",
         PE_INVALID_PARAMETER, "seq_len"},
        {&pe_rope_frequencies, "head_dim=8&rope_type=linear", PE_MISSING_PARAMETER, "factor"},
        {&pe_rope_frequencies, "head_dim=8&rope_type=linear&factor=0.5", PE_INVALID_PARAMETER,
         "factor"},
        {&pe_rope_frequencies, "head_dim=8&rope_type=dynamic&factor=2", PE_MISSING_PARAMETER,
         "max_position_embeddings"},
        {&pe_rope_frequencies, "head_dim=2&rope_type=ntk&factor=2", PE_INVALID_PARAMETER,
         "rope_type"},
        {&pe_rope_frequencies, "head_dim=128&dtype=float16&rope_theta=500000", PE_INVALID_PARAMETER,
         "dtype"},
        {&pe_rope_frequencies,
         "head_dim=4&rope_type=dynamic&factor=1000000&max_position_embeddings=1&"
         "seq_len=1000000000000&rope_theta=1000000000000&numerics=float32",
         PE_INVALID_PARAMETER, "numerics"},
        {&pe_rope_frequencies, "head_dim=8&rope_type=linear&factor=2&beta_fast=32",
         PE_INVALID_PARAMETER, "beta_fast"},
        {&pe_rope_frequencies, "head_dim=8&rope_type=yarn&factor=2", PE_MISSING_PARAMETER,
         "original_max_position_embeddings"},
        {&pe_rope_frequencies,
         "head_dim=8&rope_type=yarn&factor=2&original_max_position_embeddings=64&beta_slow=33",
         PE_INVALID_PARAMETER, "beta_fast"},
        {&pe_rope_frequencies,
         "head_dim=8&rope_type=yarn&factor=2&original_max_position_embeddings=64&rope_theta=1",
         PE_INVALID_PARAMETER, "rope_theta"},
        {&pe_rope_frequencies, "head_dim=8&rope_type=llama3&factor=2&max_position_embeddings=64",
         PE_MISSING_PARAMETER, "original_max_position_embeddings"},
        {&pe_rope_frequencies,
         "head_dim=8&rope_type=llama3&factor=2&original_max_position_embeddings=64&"
         "low_freq_factor=4&high_freq_factor=1",
         PE_INVALID_PARAMETER, "high_freq_factor"},
        {&pe_rope_frequencies,
         "head_dim=8&rope_type=longrope&short_factor=1,2&long_factor=1,2,3,4&"
         "max_position_embeddings=64",
         PE_INVALID_PARAMETER, "short_factor"},
        {&pe_rope_frequencies,
         "head_dim=4&rope_type=longrope&short_factor=1,2&long_factor=1,2&seq_len=5&"
         "original_max_position_embeddings=64",
         PE_MISSING_PARAMETER, "max_position_embeddings"},
        {&pe_rope_frequencies,
         "head_dim=4&rope_type=longrope&short_factor=1,2&long_factor=1,2&"
         "original_max_position_embeddings=1&max_position_embeddings=64",
         PE_INVALID_PARAMETER, "original_max_position_embeddings"},
        {&pe_rope_frequencies, "head_dim=8&freq_factors=1,2,3", PE_INVALID_PARAMETER,
         "freq_factors"},
        {&pe_rope_frequencies, "head_dim=8&rope_type=proportional&rotary_dim=4",
         PE_INVALID_PARAMETER, "rotary_dim"},
        {&pe_rope_frequencies, "head_dim=9&rope_type=proportional", PE_INVALID_PARAMETER,
         "head_dim"},
        {&pe_rope_decay, "head_dim=8&numerics=float32", PE_INVALID_PARAMETER, "numerics"},
        {&pe_rope_scaled_base, "head_dim=8", PE_MISSING_PARAMETER, "factor"},
        {&pe_rope_scaled_base, "head_dim=9&factor=2", PE_INVALID_PARAMETER, "head_dim"},
        {&pe_rope_scaled_base, "head_dim=2&factor=2", PE_INVALID_PARAMETER, "method"},
        {&pe_rope_scaled_base, "head_dim=8&factor=2&seq_len=5", PE_INVALID_PARAMETER, "seq_len"},
        {&pe_rope_scaled_base, "head_dim=8&factor=2&method=dynamic&max_position_embeddings=5",
         PE_MISSING_PARAMETER, "seq_len"},
        {&pe_rope_scaled_base, "head_dim=8&factor=2&method=dynamic&seq_len=5", PE_MISSING_PARAMETER,
         "max_position_embeddings"},
        {&pe_rope_table, "head_dim=65536&positions=0:1000", PE_TOO_MANY_ELEMENTS, ""},
    };
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++)
        assert_refused(cases[c].resource, cases[c].query, cases[c].status, cases[c].where);
}

static void bodies_that_cannot_be_turned_are_refused_by_name(void **state)
{
    static const struct {
        const pe_resource *resource;
        const char *body;
        pe_status status;
        const char *where;
    } cases[] = {
        {&pe_rope_rotate, "{}", PE_MISSING_PARAMETER, "vectors"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2]],\"q\":[[1,2]]}", PE_INVALID_PARAMETER, "vectors"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2]],\"head_dim\":4}", PE_INVALID_PARAMETER, "vectors"},
        {&pe_rope_rotate, "{\"vectors\":[[1],[2]]}", PE_INVALID_PARAMETER, "vectors"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2,3]]}", PE_INVALID_PARAMETER, "head_dim"},
        {&pe_rope_rotate, "{\"q\":[[1,2]],\"k\":[[1,2],[3,4]]}", PE_INVALID_PARAMETER, "k"},
        {&pe_rope_rotate, "{\"q\":[[1,2]],\"k\":[[1,2,3,4]]}", PE_INVALID_PARAMETER, "k"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2]],\"seq_axis\":-1}", PE_INVALID_PARAMETER,
         "seq_axis"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2]],\"seq_axis\":1}", PE_INVALID_PARAMETER, "seq_axis"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2]],\"seq_axis\":-3}", PE_INVALID_PARAMETER,
         "seq_axis"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2],[3,4]],\"positions\":[1,2,3]}", PE_INVALID_PARAMETER,
         "positions"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2],[3,4]],\"positions\":5}", PE_INVALID_PARAMETER,
         "positions"},
        {&pe_rope_rotate, "{\"vectors\":[[[1,2]],[[3,4]]],\"positions\":[[1],[2],[3]]}",
         PE_INVALID_PARAMETER, "positions"},
        {&pe_rope_rotate, "{\"vectors\":[[1,2],[3,4]],\"positions\":[[1,2],[3,4]]}",
         PE_INVALID_PARAMETER, "positions"},
        {&pe_rope_rotate, "{\"vectors\":[[65504,65504]],\"positions\":[1],\"dtype\":\"float16\"}",
         PE_INVALID_PARAMETER, "vectors"},
        {&pe_rope_rotate,
         "{\"vectors\":[[1,2]],\"rope_parameters\":{\"rope_type\":\"default\",\"factor\":2}}",
         PE_INVALID_PARAMETER, "rope_parameters/factor"},
        {&pe_rope_shift, "{\"keys\":[[1,2]]}", PE_MISSING_PARAMETER, "delta"},
        {&pe_rope_shift, "{\"delta\":3}", PE_MISSING_PARAMETER, "keys"},
        {&pe_rope_shift, "{\"keys\":[[1,2]],\"delta\":[0.5]}", PE_INVALID_PARAMETER, "delta"},
        {&pe_rope_shift, "{\"keys\":[[1,2],[3,4],[5,6]],\"delta\":[1,2]}", PE_INVALID_PARAMETER,
         "delta"},
        {&pe_rope_scores, "{\"q\":[[1,2]],\"k\":[[1,2,3,4]]}", PE_INVALID_PARAMETER, "k"},
        {&pe_rope_scores, "{\"q\":[[1,2]],\"k\":[[1,2]],\"key_positions\":[1,2]}",
         PE_INVALID_PARAMETER, "key_positions"},
        {&pe_rope_scores, "{\"q\":[[1,2]],\"k\":[[1,2]],\"query_positions\":[0.5]}",
         PE_INVALID_PARAMETER, "query_positions"},
        {&pe_rope_scores,
         "{\"q\":[[1,2]],\"k\":[[1,2]],\"query_positions\":[-9007199254740991],"
         "\"key_positions\":[9007199254740991]}",
         PE_INVALID_PARAMETER, "key_positions"},
        {&pe_rope_scores, "{\"q\":[[300,300]],\"k\":[[300,300]],\"dtype\":\"float16\"}",
         PE_INVALID_PARAMETER, "q"},
    };
    (void)state;
    for (size_t c = 0; c < PE_LEN(cases); c++) {
        encoded e = encode_json(cases[c].resource, "%s", cases[c].body);
        if (e.status != cases[c].status || strcmp(e.why.where, cases[c].where) != 0)
            fail_msg("%s %s: got status %d at \"%s\" (%s), wanted %d at \"%s\"",
                     cases[c].resource->name, cases[c].body, (int)e.status, e.why.where,
                     e.why.detail, (int)cases[c].status, cases[c].where);
        encoded_free(&e);
    }
}

static void a_score_near_the_largest_value_is_answered(void **state)
{
    /* |q| |k| is beyond float16, but the score, 0.25 * 65504 in the pass-through channels, is not
     */
    encoded e =
        encode_json(&pe_rope_scores, "{\"q\":[[0,0,16376,0,0,0,16376,0]],\"k\":[[0,0,1,0,0,0,0,4]],"
                                     "\"rotary_dim\":2,\"dtype\":\"float16\"}");
    (void)state;
    double *got = encoded_all(&e, 0);
    assert_true(got[0] == 16376);
    free(got);
    encoded_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_correctly_rounded_at_any_position),
        cmocka_unit_test(frequencies_wavelengths_and_stretches_are_correctly_rounded),
        cmocka_unit_test(rows_do_not_depend_on_the_window_they_are_asked_in),
        cmocka_unit_test(layouts_hold_the_same_numbers_where_engines_look),
        cmocka_unit_test(scaling_by_one_changes_nothing),
        cmocka_unit_test(a_rotation_keeps_norms_and_its_inverse_undoes_it),
        cmocka_unit_test(a_shift_leaves_the_attention_factor_alone),
        cmocka_unit_test(turning_twice_is_turning_by_the_sum),
        cmocka_unit_test(halves_are_a_permutation_of_neighbours),
        cmocka_unit_test(tokens_turn_alike_wherever_their_axis_is),
        cmocka_unit_test(a_batch_of_positions_turns_each_batch_by_its_own),
        cmocka_unit_test(queries_and_keys_turn_as_vectors_do),
        cmocka_unit_test(scores_depend_on_the_distance_alone_bit_for_bit),
        cmocka_unit_test(scores_are_products_of_rotated_vectors),
        cmocka_unit_test(windows_of_scores_are_the_scores),
        cmocka_unit_test(decay_is_the_mean_cosine),
        cmocka_unit_test(the_facts_of_the_contract_hold),
        cmocka_unit_test(methods_of_scaled_base_are_those_of_the_types),
        cmocka_unit_test(pairs_that_stand_still_have_no_wavelength),
        cmocka_unit_test(the_names_of_types_are_those_of_the_table),
        cmocka_unit_test(the_canonical_form_is_its_own_canonical_form),
        cmocka_unit_test(what_cannot_be_is_refused_by_name),
        cmocka_unit_test(bodies_that_cannot_be_turned_are_refused_by_name),
        cmocka_unit_test(a_score_near_the_largest_value_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
