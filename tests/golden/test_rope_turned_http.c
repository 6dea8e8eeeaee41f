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

/* Upstream rotated input `x` to `x_rotated`; so must we, up to upstream's float32 or bfloat16
 * arithmetic. */
static void check_rotation(const json_t *golden, const char *file, const char *input,
                           const char *output)
{
    const json_t *expected = golden_flat(golden, "expected", output);
    const json_t *positions = golden_positions(golden);
    const char *axes = json_string_value(
        json_object_get(json_object_get(json_object_get(golden, "inputs"), input), "axes"));
    const bool tokens_first = axes != NULL && strncmp(axes, "position,", 9) == 0;
    const size_t heads = golden_dimension(golden, "inputs", input, tokens_first ? 1 : 0);
    const size_t width = golden_dimension(golden, "inputs", input, 2);
    const size_t tokens = json_array_size(positions);
    const double step = strcmp(file, "rope_bfloat16") == 0 ? 0x1p-9 : 0x1p-24;
    json_t *request = rope_request_of(golden);
    pe_buffer more = {0}, list = {0};
    size_t n;
    golden_add_positions(golden, &list);
    pe_buffer_format(&more,
                     "\"seq_axis\":%d,\"positions\":\"%s\",\"vectors\":", tokens_first ? -3 : -2,
                     pe_buffer_text(&list));
    golden_add_nested(golden, "inputs", input, &more);
    reply answer = rope_request_post(&server, "rotate", request, pe_buffer_text(&more));
    double *got = golden_numbers(&answer, "data", PE_FLOAT32, file, &n);
    assert_int_equal(n, heads * tokens * width);
    for (size_t e = 0; e < n; e++) {
        const size_t token = tokens_first ? e / (heads * width) : e / width % tokens;
        /* |x| <= 2: the table bound on cosine and sine, times |a| + |b|, and the products' own
         * roundings */
        const double bound =
            4 * (8 * 0x1p-24 * golden_item(positions, token) + 0x1p-22) + 16 * step;
        if (!(fabs(got[e] - golden_item(expected, e)) <= bound))
            fail_msg("%s, element %zu: got %.9g, upstream %.9g", file, e, got[e],
                     golden_item(expected, e));
    }
    free(got);
    reply_free(&answer);
    pe_buffer_free(&more);
    pe_buffer_free(&list);
    json_decref(request);
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
    (void)state;
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
    (void)state;
    for (size_t f = 0; f < ROPE_REQUEST_FILES; f++) {
        json_t *golden = golden_load(rope_request_files[f]);
        for (size_t o = 0; o < PE_LEN(outputs); o++)
            if (golden_flat(golden, "expected", outputs[o].out) != NULL)
                check_rotation(golden, rope_request_files[f], outputs[o].in, outputs[o].out);
        json_decref(golden);
    }
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

/* The ten vectors turned to ten positions, with the attention factor or, shifted, without it. */
static void check_elsewhere(const json_t *request, const char *what, bool shift)
{
    const size_t pairs = rope_model_pairs(request);
    const size_t head_dim = (size_t)json_integer_value(json_object_get(request, "head_dim"));
    const char *pairing = json_string_value(json_object_get(request, "pairing"));
    const bool half = pairing != NULL && strcmp(pairing, "half") == 0;
    pe_buffer more = {0};
    size_t n;
    mpfr_t cosine, sine, attention;
    mpfr_inits2(SLOW_BITS, cosine, sine, attention, (mpfr_ptr)NULL);
    rope_model_attention(request, attention);
    pe_buffer_format(
        &more, "\"dtype\":\"float64\",\"%s\":%s%s%s,\"%s\":", shift ? "delta" : "positions",
        shift ? "[" : "\"", golden_elsewhere_text, shift ? "]" : "\"", shift ? "keys" : "vectors");
    add_vectors(head_dim, &more);
    reply answer =
        rope_request_post(&server, shift ? "shift" : "rotate", request, pe_buffer_text(&more));
    double *got = golden_numbers(&answer, "data", PE_FLOAT64, what, &n);
    assert_int_equal(n, GOLDEN_ELSEWHERE * head_dim);
    for (size_t e = 0; e < n; e++) {
        const size_t v = e / head_dim, c = e % head_dim;
        const size_t i = half ? c % pairs : c / 2, other = half ? (c + pairs) % (2 * pairs) : c ^ 1;
        if (c >= 2 * pairs) {
            assert_true(got[e] == channel(v, c));
            continue;
        }
        const bool second = half ? c >= pairs : c % 2 == 1;
        rope_model_wave(request, i, golden_elsewhere[v], true, cosine);
        rope_model_wave(request, i, golden_elsewhere[v], false, sine);
        mpfr_mul_d(cosine, cosine, channel(v, c), MPFR_RNDN);
        mpfr_mul_d(sine, sine, second ? channel(v, other) : -channel(v, other), MPFR_RNDN);
        mpfr_add(cosine, cosine, sine, MPFR_RNDN);
        if (shift)
            mpfr_div(cosine, cosine, attention, MPFR_RNDN);
        const double want = mpfr_get_d(cosine, MPFR_RNDN);
        const double size = (shift ? 1 : mpfr_get_d(attention, MPFR_RNDN)) *
                            (fabs(channel(v, c)) + fabs(channel(v, other)));
        /* 0.5 ulp + 2^-52 (|a| + |b|) of the amplitude; half an ulp more for want's own rounding */
        if (!(fabs(got[e] - want) <= 2 * 0x1p-53 * fabs(want) + 0x1p-52 * size))
            fail_msg("%s, %s, vector %zu, channel %zu: got %.17g, MPFR says %.17g", what,
                     shift ? "shift" : "rotate", v, c, got[e], want);
    }
    free(got);
    reply_free(&answer);
    pe_buffer_free(&more);
    mpfr_clears(cosine, sine, attention, (mpfr_ptr)NULL);
}

static void rotations_and_shifts_at_ten_other_positions(void **state)
{
    (void)state;
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
    (void)state;
    check_shift("kv_shift_half", "k", "k_rotated", "[-1,-7,-128,5]");
    check_shift("kv_rerotate_sink", "keys_kept", "keys_kept_rotated", "-3");
}

/* Upstream keeps the longest length seen; seq_len is what its state holds at each call. */
static void dynamic_frequencies_follow_upstreams_state(void **state)
{
    (void)state;
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
        cmocka_unit_test(rotations_and_shifts_at_ten_other_positions),
        cmocka_unit_test(cached_keys_are_shifted),
        cmocka_unit_test(dynamic_frequencies_follow_upstreams_state),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
