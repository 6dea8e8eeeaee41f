/* SPDX-License-Identifier: MIT */
/*
 * test_rope_http.c - the golden RoPE frequencies, tables, rotations and shifts through HTTP.
 *
 * Each file's `truth` (exact arithmetic) must come back bit for bit after rounding to the dtype
 * asked for; its `expected` (upstream's own float32 arithmetic) within |difference| <= 8 * 2^-24 *
 * position * inv_freq + 2^-22. The same parameters at ten other positions are held against MPFR, so
 * that nothing is tuned to a file.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"
#include "plan/params.h"
#include "support/slow.h"

static test_server server;

static const char *const rope_files[] = {
    "rope_default_half",
    "rope_default_theta1e6_large_positions",
    "rope_complex_interleaved",
    "rope_interleaved_cohere",
    "rope_interleaved_partial_gptj",
    "rope_partial_half_interleaved_glm",
    "rope_partial_quarter_neox",
    "rope_linear",
    "rope_dynamic_ntk_long",
    "rope_dynamic_ntk_short",
    "rope_ntk_alpha",
    "rope_bfloat16",
};

/* A golden file's parameters in our names, as query text. NTK by alpha is ntk with factor alpha. */
static void add_rope(const json_t *params, slow_rope *rope, pe_buffer *query)
{
    const char *type = golden_text(params, "rope_type");
    *rope = (slow_rope){.type = strcmp(type, "ntk_alpha") == 0 ? "ntk" : type,
                        .theta = golden_number(params, "theta"),
                        .dim = golden_number(params, "rotary_dim")};
    pe_buffer_format(query, "head_dim=%.0f&rotary_dim=%.0f&rope_theta=%.17g&rope_type=%s",
                     golden_number(params, "head_dim"), rope->dim, rope->theta, rope->type);
    if (strcmp(rope->type, "default") == 0)
        return;
    rope->factor = golden_number(params, strcmp(rope->type, "ntk") == 0 ? "alpha" : "factor");
    pe_buffer_format(query, "&factor=%.17g", rope->factor);
    if (strcmp(rope->type, "dynamic") == 0) {
        rope->max_position_embeddings = golden_number(params, "max_position_embeddings");
        rope->seq_len = golden_number(params, "seq_len");
        pe_buffer_format(query, "&max_position_embeddings=%.0f&seq_len=%.0f",
                         rope->max_position_embeddings, rope->seq_len);
    }
}

static reply ask_rope(const char *resource, pe_buffer *query, const char *positions,
                      const char *dtype)
{
    pe_buffer target = {0};
    pe_buffer_format(&target, "/v1/rope/%s?%s&dtype=%s", resource, pe_buffer_text(query), dtype);
    if (positions != NULL)
        pe_buffer_format(&target, "&positions=%s", positions);
    reply answer = get(&server, pe_buffer_text(&target));
    pe_buffer_free(&target);
    return answer;
}

/* The frequencies' answer holds the wavelengths too, and float16 ends at 65504. */
static bool too_long_for(pe_dtype dtype, const json_t *golden, const char *resource)
{
    const json_t *truth = golden_flat(golden, "truth", "inv_freq");
    const double slowest = golden_item(truth, json_array_size(truth) - 1);
    return strcmp(resource, "frequencies") == 0 && 6.2831853 / slowest > pe_dtype_max(dtype);
}

/* One tensor of the table or the frequencies against truth, where the file has it, in every dtype.
 */
static void check_rope_truth(const json_t *golden, const char *file, const char *resource,
                             const char *tensor, pe_buffer *query, const char *positions)
{
    const json_t *truth = golden_flat(golden, "truth", tensor);
    for (size_t t = 0; truth != NULL && t < PE_LEN(golden_types); t++) {
        size_t n;
        reply answer = ask_rope(resource, query, positions, golden_types[t]);
        if (too_long_for(golden_dtypes[t], golden, resource)) {
            assert_int_equal(answer.status, 422);
            reply_free(&answer);
            continue;
        }
        double *got = golden_numbers(&answer, tensor, golden_dtypes[t], file, &n);
        golden_same(got, n, truth, golden_dtypes[t], file);
        free(got);
        reply_free(&answer);
    }
}

static void rope_frequencies_and_tables_are_the_truth(void **state)
{
    (void)state;
    for (size_t f = 0; f < PE_LEN(rope_files); f++) {
        json_t *golden = golden_load(rope_files[f]);
        slow_rope rope;
        pe_buffer query = {0}, positions = {0};
        add_rope(json_object_get(golden, "params"), &rope, &query);
        golden_add_positions(golden, &positions);
        check_rope_truth(golden, rope_files[f], "frequencies", "inv_freq", &query, NULL);
        check_rope_truth(golden, rope_files[f], "table", "cos", &query, pe_buffer_text(&positions));
        check_rope_truth(golden, rope_files[f], "table", "sin", &query, pe_buffer_text(&positions));
        pe_buffer_free(&query);
        pe_buffer_free(&positions);
        json_decref(golden);
    }
}

static void check_rope_elsewhere(const slow_rope *rope, pe_buffer *query, const char *tensor,
                                 const char *file, size_t t)
{
    const size_t pairs = (size_t)rope->dim / 2;
    size_t n;
    mpfr_t frequency;
    mpfr_init2(frequency, SLOW_BITS);
    reply answer = ask_rope("table", query, golden_elsewhere_text, golden_types[t]);
    double *got = golden_numbers(&answer, tensor, golden_dtypes[t], file, &n);
    assert_int_equal(n, pairs * PE_LEN(golden_elsewhere));
    for (size_t e = 0; e < n; e++) {
        slow_rope_frequency(rope, e % pairs, frequency);
        const double wanted = slow_wave(frequency, golden_elsewhere[e / pairs],
                                        strcmp(tensor, "cos") == 0, golden_dtypes[t]);
        if (memcmp(&got[e], &wanted, sizeof wanted) != 0)
            fail_msg("%s, %s, %s, position %.0f, pair %zu: got %.17g, MPFR says %.17g", file,
                     tensor, golden_types[t], golden_elsewhere[e / pairs], e % pairs, got[e],
                     wanted);
    }
    free(got);
    reply_free(&answer);
    mpfr_clear(frequency);
}

static void rope_tables_at_ten_other_positions(void **state)
{
    (void)state;
    for (size_t f = 0; f < PE_LEN(rope_files); f++) {
        json_t *golden = golden_load(rope_files[f]);
        slow_rope rope;
        pe_buffer query = {0};
        add_rope(json_object_get(golden, "params"), &rope, &query);
        for (size_t t = 0; t < PE_LEN(golden_types); t++) {
            check_rope_elsewhere(&rope, &query, "cos", rope_files[f], t);
            check_rope_elsewhere(&rope, &query, "sin", rope_files[f], t);
        }
        pe_buffer_free(&query);
        json_decref(golden);
    }
}

/* numerics=float32 against upstream's own float32 frequencies: never more than one ulp off, mostly
 * equal. */
static void float32_numerics_reproduce_upstream_frequencies(void **state)
{
    (void)state;
    size_t equal = 0, all = 0;
    for (size_t f = 0; f < PE_LEN(rope_files); f++) {
        json_t *golden = golden_load(rope_files[f]);
        const json_t *expected = golden_flat(golden, "expected", "inv_freq");
        slow_rope rope;
        pe_buffer query = {0};
        size_t n;
        add_rope(json_object_get(golden, "params"), &rope, &query);
        pe_buffer_str(&query, "&numerics=float32");
        reply answer = ask_rope("frequencies", &query, NULL, "float32");
        double *got = golden_numbers(&answer, "inv_freq", PE_FLOAT32, rope_files[f], &n);
        for (size_t i = 0; expected != NULL && i < n; i++) {
            const float upstream = (float)golden_item(expected, i), ours = (float)got[i];
            equal += ours == upstream;
            all++;
            if (ours != upstream && nextafterf(ours, upstream) != upstream)
                fail_msg("%s, pair %zu: got %.9g, upstream %.9g", rope_files[f], i, (double)ours,
                         (double)upstream);
        }
        free(got);
        reply_free(&answer);
        pe_buffer_free(&query);
        json_decref(golden);
    }
    print_message("upstream float32 frequencies: %zu of %zu equal, the rest 1 ulp off\n", equal,
                  all);
    assert_true(all > 100 && (double)equal > 0.98 * (double)all);
}

/* {"vectors":..., nested by shape} of a golden input, appended to body. */
static void add_nested(const json_t *data, const json_t *shape, size_t axis, size_t *next,
                       pe_buffer *body)
{
    if (axis == json_array_size(shape)) {
        pe_real_print(golden_item(data, (*next)++), body);
        return;
    }
    const size_t n = (size_t)json_integer_value(json_array_get(shape, axis));
    for (size_t i = 0; i < n; i++) {
        pe_buffer_str(body, i == 0 ? "[" : ",");
        add_nested(data, shape, axis + 1, next, body);
    }
    pe_buffer_str(body, "]");
}

static void add_tensor(const json_t *golden, const char *input, const char *member, pe_buffer *body)
{
    const json_t *array = json_object_get(json_object_get(golden, "inputs"), input);
    size_t next = 0;
    pe_buffer_format(body, "\"%s\":", member);
    add_nested(json_object_get(array, "data"), json_object_get(array, "shape"), 0, &next, body);
}

/* The query's parameters as members of a body. */
static void add_members(pe_buffer *query, pe_buffer *body)
{
    char *pairs = strdup(pe_buffer_text(query));
    for (char *rest, *pair = strtok_r(pairs, "&", &rest); pair != NULL;
         pair = strtok_r(NULL, "&", &rest)) {
        char *value = strchr(pair, '=');
        *value++ = '\0';
        const char *quote = strcmp(pair, "rope_type") == 0 ? "\"" : "";
        pe_buffer_format(body, "\"%s\":%s%s%s,", pair, quote, value, quote);
    }
    free(pairs);
}

/* Upstream rotated input `x` to `x_rotated`; so must we, up to upstream's float32 or bfloat16
 * arithmetic. */
static void check_rotation(const json_t *golden, const char *file, const char *input,
                           const char *output)
{
    const json_t *expected = golden_flat(golden, "expected", output);
    const json_t *params = json_object_get(golden, "params");
    const json_t *positions = golden_positions(golden);
    const char *axes = json_string_value(
        json_object_get(json_object_get(json_object_get(golden, "inputs"), input), "axes"));
    const bool tokens_first = axes != NULL && strncmp(axes, "position,", 9) == 0;
    const size_t heads = golden_dimension(golden, "inputs", input, tokens_first ? 1 : 0);
    const size_t width = golden_dimension(golden, "inputs", input, 2);
    const size_t tokens = json_array_size(positions);
    const double step = strcmp(file, "rope_bfloat16") == 0 ? 0x1p-9 : 0x1p-24;
    slow_rope rope;
    pe_buffer query = {0}, body = {0}, list = {0};
    size_t n;
    add_rope(params, &rope, &query);
    golden_add_positions(golden, &list);
    pe_buffer_str(&body, "{");
    add_members(&query, &body);
    pe_buffer_format(&body, "\"pairing\":\"%s\",\"seq_axis\":%d,\"positions\":\"%s\",",
                     golden_text(params, "layout"), tokens_first ? -3 : -2, pe_buffer_text(&list));
    add_tensor(golden, input, "vectors", &body);
    pe_buffer_str(&body, "}");
    reply answer = post_json(&server, "/v1/rope/rotate", pe_buffer_text(&body));
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
    pe_buffer_free(&query);
    pe_buffer_free(&body);
    pe_buffer_free(&list);
}

static void rotations_are_upstreams_within_its_arithmetic(void **state)
{
    (void)state;
    for (size_t f = 0; f < PE_LEN(rope_files); f++) {
        json_t *golden = golden_load(rope_files[f]);
        check_rotation(golden, rope_files[f], "x", "x_rotated");
        if (golden_flat(golden, "expected", "k_rotated") != NULL)
            check_rotation(golden, rope_files[f], "k", "k_rotated");
        json_decref(golden);
    }
}

/* Cached keys moved: exact results to half an ulp of float64 plus 2^-52 (|a| + |b|), |a|, |b| <= 2.
 */
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
    add_tensor(golden, input, "keys", &body);
    pe_buffer_str(&body, "}");
    reply answer = post_json(&server, "/v1/rope/shift", pe_buffer_text(&body));
    double *got = golden_numbers(&answer, "data", PE_FLOAT64, file, &n);
    assert_int_equal(n, json_array_size(truth));
    for (size_t e = 0; e < n; e++)
        if (!(fabs(got[e] - golden_item(truth, e)) <=
              0x1p-53 * fabs(golden_item(truth, e)) * 2 + 0x1p-52 * 4))
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

static int start(void **state)
{
    (void)state;
    server_start(&server, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    const int status = server_stop(&server);
    server_free(&server);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rope_frequencies_and_tables_are_the_truth),
        cmocka_unit_test(rope_tables_at_ten_other_positions),
        cmocka_unit_test(float32_numerics_reproduce_upstream_frequencies),
        cmocka_unit_test(rotations_are_upstreams_within_its_arithmetic),
        cmocka_unit_test(cached_keys_are_shifted),
        cmocka_unit_test(dynamic_frequencies_follow_upstreams_state),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
