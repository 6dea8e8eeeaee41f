/* SPDX-License-Identifier: MIT */
/*
 * test_rope_turned_http.c - the golden RoPE rotations and shifts, and dynamic's state, through
 * HTTP.
 *
 * `truth` (exact arithmetic) within the bound of transforms, upstream's `expected` within the bound
 * of golden/README.md on its cosines and sines.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"
#include "support/rope_model.h"
#include "support/rope_request.h"
#include "support/slow.h"

static test_server server;

/* A rotation of a file's vectors [heads, token, width], or [token, heads, width]. */
typedef struct rotation {
    const char *file;
    const json_t *golden, *given;
    json_t *request;
    bool tokens_first, half;
    size_t heads, tokens, width, pairs;
} rotation;

static rotation rotation_of(const char *file, const json_t *golden, const char *input)
{
    const json_t *array = json_object_get(json_object_get(golden, "inputs"), input);
    const char *axes = json_string_value(json_object_get(array, "axes"));
    rotation r = {.file = file, .golden = golden, .given = golden_flat(golden, "inputs", input)};
    r.tokens_first = axes != NULL && strncmp(axes, "position,", 9) == 0;
    r.heads = golden_dimension(golden, "inputs", input, r.tokens_first ? 1 : 0);
    r.width = golden_dimension(golden, "inputs", input, 2);
    r.tokens = json_array_size(golden_positions(golden));
    r.request = rope_request_of(golden);
    r.pairs = rope_model_pairs(r.request);
    r.half = strcmp(json_string_value(json_object_get(r.request, "pairing")), "half") == 0;
    return r;
}

static double *turn(const rotation *r, const char *input, const char *members, pe_dtype dtype)
{
    pe_buffer more = {0};
    size_t n;
    pe_buffer_format(&more, "%s,\"seq_axis\":%d,\"positions\":\"", members,
                     r->tokens_first ? -3 : -2);
    golden_add_positions(r->golden, &more);
    pe_buffer_str(&more, "\",\"vectors\":");
    golden_add_nested(r->golden, "inputs", input, &more);
    reply answer = rope_request_post(&server, "rotate", r->request, pe_buffer_text(&more));
    double *got = golden_numbers(&answer, "data", dtype, r->file, &n);
    assert_int_equal(n, r->heads * r->tokens * r->width);
    reply_free(&answer);
    pe_buffer_free(&more);
    return got;
}

/* 8 * 2^-24 * position * inv_freq + 2^-22, for each of two products of at most A |a| and A |b|; one
 * rounding of the sum to float32, or three to bfloat16. */
static double upstream_bound(const rotation *r, size_t e, double rounding)
{
    const size_t c = e % r->width, row = e - c, i = r->half ? c % r->pairs : c / 2;
    const size_t other = r->half ? (c + r->pairs) % (2 * r->pairs) : c ^ 1;
    const size_t token = r->tokens_first ? e / (r->heads * r->width) : e / r->width % r->tokens;
    mpfr_t x;
    mpfr_init2(x, SLOW_BITS);
    rope_model_theta(r->request, i, x);
    const double angle =
        8 * 0x1p-24 * golden_item(golden_positions(r->golden), token) * mpfr_get_d(x, MPFR_RNDN);
    rope_model_attention(r->request, x);
    const double size = mpfr_get_d(x, MPFR_RNDN) *
                        (fabs(golden_item(r->given, e)) + fabs(golden_item(r->given, row + other)));
    mpfr_clear(x);
    return size * (angle + 0x1p-22 + rounding);
}

/* Upstream rotated input `x` to `x_rotated`; so must we, up to upstream's float32 or bfloat16
 * arithmetic. What passes through is the same. */
static void check_rotation(const json_t *golden, const char *file, const char *input,
                           const char *output)
{
    const bool narrow = strcmp(file, "rope_bfloat16") == 0;
    const json_t *expected = golden_flat(golden, "expected", output);
    rotation r = rotation_of(file, golden, input);
    double *got = turn(&r, input, narrow ? "\"dtype\":\"bfloat16\"" : "\"dtype\":\"float32\"",
                       narrow ? PE_BFLOAT16 : PE_FLOAT32);
    for (size_t e = 0; e < r.heads * r.tokens * r.width; e++) {
        const double bound = e % r.width >= 2 * r.pairs
                                 ? 0
                                 : upstream_bound(&r, e, narrow ? 4 * 0x1p-9 : 2 * 0x1p-24);
        if (!(fabs(got[e] - golden_item(expected, e)) <= bound))
            fail_msg("%s, element %zu: got %.9g, upstream %.9g", file, e, got[e],
                     golden_item(expected, e));
    }
    free(got);
    json_decref(r.request);
}

/* 0.5 ulp + 2^-52 (|a| + |b|), |a|, |b| <= 2; half an ulp more for the truth's own rounding. */
static double exact_bound(double truth)
{
    return 0x1p-53 * fabs(truth) * 2 + 0x1p-52 * 4;
}

static void rotations_are_the_truth_where_a_file_has_it(void **state)
{
    static const char *const files[] = {"rope_complex_interleaved",
                                        "rope_freq_factors_interleaved"};
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f]), *request = rope_request_of(golden);
        const json_t *truth = golden_flat(golden, "truth", "x_rotated");
        pe_buffer more = {0};
        size_t n;
        pe_buffer_str(&more, "\"dtype\":\"float64\",\"seq_axis\":-3,\"positions\":\"");
        golden_add_positions(golden, &more);
        pe_buffer_str(&more, "\",\"vectors\":");
        golden_add_nested(golden, "inputs", "x", &more);
        reply answer = rope_request_post(&server, "rotate", request, pe_buffer_text(&more));
        double *got = golden_numbers(&answer, "data", PE_FLOAT64, files[f], &n);
        assert_int_equal(n, json_array_size(truth));
        for (size_t e = 0; e < n; e++)
            if (!(fabs(got[e] - golden_item(truth, e)) <= exact_bound(golden_item(truth, e))))
                fail_msg("%s, element %zu: got %.17g, wanted %.17g", files[f], e, got[e],
                         golden_item(truth, e));
        free(got);
        reply_free(&answer);
        pe_buffer_free(&more);
        json_decref(request);
        json_decref(golden);
    }
}

static void rotations_are_upstreams_within_its_arithmetic(void **state)
{
    static const struct {
        const char *in, *out;
    } outputs[] = {{"x", "x_rotated"}, {"k", "k_rotated"}, {"x", "x_rotated_in_interleaved_order"}};
    for (size_t f = 0; f < ROPE_REQUEST_FILES; f++) {
        json_t *golden = golden_load(rope_request_files[f]);
        for (size_t o = 0; o < PE_LEN(outputs); o++)
            if (golden_flat(golden, "expected", outputs[o].out) != NULL)
                check_rotation(golden, rope_request_files[f], outputs[o].in, outputs[o].out);
        json_decref(golden);
    }
}

/* Upstream rounds its products to bfloat16 in one file. */
static void float32_steps_give_upstreams_rotations(void **state)
{
    size_t equal = 0, compared = 0;
    for (size_t f = 0; f < ROPE_REQUEST_FILES; f++) {
        json_t *golden = golden_load(rope_request_files[f]);
        const json_t *expected = golden_flat(golden, "expected", "x_rotated_in_interleaved_order");
        if (expected == NULL)
            expected = golden_flat(golden, "expected", "x_rotated");
        if (expected != NULL && strcmp(rope_request_files[f], "rope_bfloat16") != 0) {
            rotation r = rotation_of(rope_request_files[f], golden, "x");
            double *got = turn(&r, "x", "\"numerics\":\"float32\"", PE_FLOAT32);
            for (size_t e = 0; e < json_array_size(expected); e++)
                equal += (float)got[e] == (float)golden_item(expected, e);
            compared += json_array_size(expected);
            free(got);
            json_decref(r.request);
        }
        json_decref(golden);
    }
    print_message("x_rotated: %zu of %zu are upstream's bits\n", equal, compared);
    assert_true(compared > 2000 && (double)equal > 0.9 * (double)compared);
}

/* ---- elsewhere ------------------------------------------------------------------------------- */

/* Channel `at` of ten vectors: multiples of 1/64 in [-2, 2], as the golden inputs are. */
static double channel(size_t vector, size_t at)
{
    return ((double)((vector * 131 + at * 71) % 257) - 128) / 64;
}

static void add_vectors(size_t head_dim, pe_buffer *out)
{
    for (size_t v = 0; v < GOLDEN_ELSEWHERE; v++)
        for (size_t c = 0; c < head_dim; c++)
            pe_buffer_format(out, "%s%.17g", c > 0 ? "," : v > 0 ? "],[" : "[[", channel(v, c));
    pe_buffer_str(out, "]]");
}

/* Of float64 twice that, since what is wanted is rounded itself. */
static double half_ulp(pe_dtype dtype, double value)
{
    static const double half[] = {[PE_FLOAT32] = 0x1p-24,
                                  [PE_FLOAT64] = 2 * 0x1p-53,
                                  [PE_FLOAT16] = 0x1p-11,
                                  [PE_BFLOAT16] = 0x1p-8};
    return half[dtype] * fmax(fabs(value), dtype == PE_FLOAT16 ? 0x1p-14 : 0);
}

/* The ten vectors turned to ten positions, or keys shifted by them, as numbers of a type. */
static double *turn_elsewhere(const json_t *request, const char *what, bool shift, size_t t,
                              size_t *n)
{
    pe_buffer more = {0};
    pe_buffer_format(&more, "\"dtype\":\"%s\",\"%s\":%s%s%s,\"%s\":", golden_types[t],
                     shift ? "delta" : "positions", shift ? "[" : "\"", golden_elsewhere_text,
                     shift ? "]" : "\"", shift ? "keys" : "vectors");
    add_vectors((size_t)json_integer_value(json_object_get(request, "head_dim")), &more);
    reply answer =
        rope_request_post(&server, shift ? "shift" : "rotate", request, pe_buffer_text(&more));
    double *got = golden_numbers(&answer, "data", golden_dtypes[t], what, n);
    reply_free(&answer);
    pe_buffer_free(&more);
    return got;
}

/* With the attention factor or, shifted, without it. */
static void check_elsewhere(const json_t *request, const char *what, bool shift)
{
    const size_t pairs = rope_model_pairs(request);
    const size_t head_dim = (size_t)json_integer_value(json_object_get(request, "head_dim"));
    const char *pairing = json_string_value(json_object_get(request, "pairing"));
    const bool half = pairing != NULL && strcmp(pairing, "half") == 0;
    double *got[GOLDEN_TYPES];
    size_t n;
    mpfr_t cosine, sine, attention;
    mpfr_inits2(SLOW_BITS, cosine, sine, attention, (mpfr_ptr)NULL);
    rope_model_attention(request, attention);
    for (size_t t = 0; t < GOLDEN_TYPES; t++)
        got[t] = turn_elsewhere(request, what, shift, t, &n);
    assert_int_equal(n, GOLDEN_ELSEWHERE * head_dim);
    for (size_t e = 0; e < n; e++) {
        const size_t v = e / head_dim, c = e % head_dim;
        const size_t i = half ? c % pairs : c / 2, other = half ? (c + pairs) % (2 * pairs) : c ^ 1;
        const bool turned = c < 2 * pairs, second = half ? c >= pairs : c % 2 == 1;
        double want = channel(v, c), size = 0;
        if (turned) {
            rope_model_wave(request, i, golden_elsewhere[v], true, cosine);
            rope_model_wave(request, i, golden_elsewhere[v], false, sine);
            mpfr_mul_d(cosine, cosine, channel(v, c), MPFR_RNDN);
            mpfr_mul_d(sine, sine, second ? channel(v, other) : -channel(v, other), MPFR_RNDN);
            mpfr_add(cosine, cosine, sine, MPFR_RNDN);
            if (shift)
                mpfr_div(cosine, cosine, attention, MPFR_RNDN);
            want = mpfr_get_d(cosine, MPFR_RNDN);
            size = (shift ? 1 : mpfr_get_d(attention, MPFR_RNDN)) *
                   (fabs(channel(v, c)) + fabs(channel(v, other)));
        }
        for (size_t t = 0; t < GOLDEN_TYPES; t++) {
            /* 0.5 ulp + 2^-52 (|a| + |b|) of the amplitude; what passes through is the same */
            const double bound = turned ? half_ulp(golden_dtypes[t], want) + 0x1p-52 * size : 0;
            if (!(fabs(got[t][e] - want) <= bound))
                fail_msg("%s, %s, %s, vector %zu, channel %zu: got %.17g, MPFR says %.17g", what,
                         shift ? "shift" : "rotate", golden_types[t], v, c, got[t][e], want);
        }
    }
    for (size_t t = 0; t < GOLDEN_TYPES; t++)
        free(got[t]);
    mpfr_clears(cosine, sine, attention, (mpfr_ptr)NULL);
}

static void rotations_and_shifts_at_ten_other_positions(void **state)
{
    for (size_t f = 0; f < ROPE_REQUEST_FILES; f++) {
        json_t *golden = golden_load(rope_request_files[f]), *request = rope_request_of(golden);
        check_elsewhere(request, rope_request_files[f], false);
        check_elsewhere(request, rope_request_files[f], true);
        json_decref(request);
        json_decref(golden);
    }
}

/* ---- shifts and state ------------------------------------------------------------------------ */

static void check_shift(const char *file, const char *input, const char *output,
                        const char *delta_text)
{
    json_t *golden = golden_load(file);
    const json_t *truth = golden_flat(golden, "truth", output);
    const json_t *params = json_object_get(golden, "params");
    pe_buffer body = {0};
    size_t n;
    pe_buffer_format(&body,
                     "{\"pairing\":\"%s\",\"dtype\":\"float64\",\"rope_theta\":%.17g,\"delta\":%s,",
                     golden_text(params, "layout"), golden_number(params, "theta"), delta_text);
    pe_buffer_str(&body, "\"keys\":");
    golden_add_nested(golden, "inputs", input, &body);
    pe_buffer_str(&body, "}");
    reply answer = post_json(&server, "/v1/rope/shift", pe_buffer_text(&body));
    double *got = golden_numbers(&answer, "data", PE_FLOAT64, file, &n);
    assert_int_equal(n, json_array_size(truth));
    for (size_t e = 0; e < n; e++)
        if (!(fabs(got[e] - golden_item(truth, e)) <= exact_bound(golden_item(truth, e))))
            fail_msg("%s, element %zu: got %.17g, wanted %.17g", file, e, got[e],
                     golden_item(truth, e));
    free(got);
    reply_free(&answer);
    pe_buffer_free(&body);
    json_decref(golden);
}

static void cached_keys_are_shifted(void **state)
{
    check_shift("kv_shift_half", "k", "k_rotated", "[-1,-7,-128,5]");
    check_shift("kv_rerotate_sink", "keys_kept", "keys_kept_rotated", "-3");
}

/* Upstream keeps the longest length seen; seq_len is what its state holds at each call. */
static void dynamic_frequencies_follow_upstreams_state(void **state)
{
    static const double held[] = {8, 24, 40, 40, 12};
    json_t *golden = golden_load("rope_dynamic_ntk_state");
    const json_t *expected = golden_flat(golden, "expected", "inv_freq_after_call");
    for (size_t call = 0; call < PE_LEN(held); call++) {
        char target[256];
        size_t n;
        snprintf(target, sizeof target,
                 "/v1/rope/frequencies?head_dim=8&rope_type=dynamic&factor=2"
                 "&max_position_embeddings=16&seq_len=%.0f&numerics=float32",
                 held[call]);
        reply answer = get(&server, target);
        double *got = golden_numbers(&answer, "inv_freq", PE_FLOAT32, target, &n);
        assert_int_equal(n, 4);
        for (size_t i = 0; i < n; i++) {
            const float upstream = (float)golden_item(expected, call * 4 + i), ours = (float)got[i];
            if (ours != upstream && nextafterf(ours, upstream) != upstream)
                fail_msg("%s, pair %zu: got %.9g, upstream %.9g", target, i, (double)ours,
                         (double)upstream);
        }
        free(got);
        reply_free(&answer);
    }
    json_decref(golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotations_are_the_truth_where_a_file_has_it),
        cmocka_unit_test(rotations_are_upstreams_within_its_arithmetic),
        cmocka_unit_test(float32_steps_give_upstreams_rotations),
        cmocka_unit_test(rotations_and_shifts_at_ten_other_positions),
        cmocka_unit_test(cached_keys_are_shifted),
        cmocka_unit_test(dynamic_frequencies_follow_upstreams_state),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
