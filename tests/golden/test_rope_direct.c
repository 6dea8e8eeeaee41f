/* SPDX-License-Identifier: MIT */
/*
 * test_rope_direct.c - the golden vectors of rotary embeddings, without HTTP.
 *
 * `truth` (exact arithmetic, rounded to float64) must come back bit for bit, and rounded again to
 * float32; `expected` (upstream's float32 arithmetic) within the bounds its README gives. With
 * numerics=float32 nearly all of upstream's frequencies come back bit for bit.
 */
#include "support/check.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "encodings/registry.h"
#include "support/encode.h"
#include "support/golden.h"
#include "support/nest.h"
#include "support/rope_request.h"

/* Files of rope_*.json: parameters are read from the file; seq_axis is where x keeps its tokens. */
static const struct {
    const char *file;
    int seq_axis;
} files[] = {
    {"rope_default_half", -2},
    {"rope_default_theta1e6_large_positions", -2},
    {"rope_linear", -2},
    {"rope_dynamic_ntk_long", -2},
    {"rope_dynamic_ntk_short", -2},
    {"rope_ntk_alpha", -3},
    {"rope_interleaved_cohere", -2},
    {"rope_interleaved_partial_gptj", -3},
    {"rope_partial_half_interleaved_glm", -2},
    {"rope_partial_quarter_neox", -2},
    {"rope_bfloat16", -2},
    {"rope_complex_interleaved", -3},
    {"rope_yarn", -2},
    {"rope_yarn_explicit_attention_factor", -2},
    {"rope_yarn_no_truncate", -2},
    {"rope_yarn_mscale_deepseek", -2},
    {"rope_longrope_long", -2},
    {"rope_longrope_short", -2},
    {"rope_llama3", -2},
    {"rope_proportional", -2},
};

/* ---- golden files ---------------------------------------------------------------------------- */

/* The flat numbers of golden[part][name]; NULL when there is no such array. */
static double *numbers(const json_t *golden, const char *part, const char *name, size_t *n)
{
    const json_t *array = json_object_get(json_object_get(golden, part), name);
    const json_t *data = json_object_get(array, "data");
    *n = json_array_size(data);
    if (*n == 0)
        return NULL;
    double *out = malloc(*n * sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < *n; i++)
        out[i] = json_number_value(json_array_get(data, i));
    return out;
}

/* One array of a file that has to be there and as long as said. */
static double *need(const json_t *golden, const char *part, const char *name, size_t length)
{
    size_t n;
    double *out = numbers(golden, part, name, &n);
    if (n != length)
        fail_msg("%s: %s.%s has %zu numbers, wanted %zu",
                 json_string_value(json_object_get(golden, "name")), part, name, n, length);
    return out;
}

static size_t dimension(const json_t *golden, const char *name)
{
    const json_t *value = rope_request_param(golden, name);
    if (value == NULL) /* a head that rotates whole */
        value = rope_request_param(golden, "rotary_dim");
    return (size_t)json_number_value(value);
}

/* A file's parameters as members of a request, without braces. */
static void members(const json_t *golden, pe_buffer *out)
{
    static const struct {
        const char *golden, *ours;
    } names[] = {{"theta", "rope_theta"},
                 {"rope_theta", "rope_theta"},
                 {"rotary_dim", "rotary_dim"},
                 {"partial_rotary_factor", "partial_rotary_factor"},
                 {"factor", "factor"},
                 {"alpha", "factor"},
                 {"seq_len", "seq_len"},
                 {"max_position_embeddings", "max_position_embeddings"},
                 {"original_max_position_embeddings", "original_max_position_embeddings"},
                 {"attention_factor", "attention_factor"},
                 {"beta_fast", "beta_fast"},
                 {"beta_slow", "beta_slow"},
                 {"mscale", "mscale"},
                 {"mscale_all_dim", "mscale_all_dim"},
                 {"truncate", "truncate"},
                 {"low_freq_factor", "low_freq_factor"},
                 {"high_freq_factor", "high_freq_factor"},
                 {"short_factor", "short_factor"},
                 {"long_factor", "long_factor"},
                 {"freq_factors", "freq_factors"}};
    const char *type = json_string_value(rope_request_param(golden, "rope_type"));
    if (type == NULL)
        type = "default";
    pe_buffer_format(out, "\"head_dim\":%zu,\"pairing\":\"%s\",\"rope_type\":\"%s\"",
                     dimension(golden, "head_dim"),
                     json_string_value(rope_request_param(golden, "layout")),
                     strcmp(type, "ntk_alpha") == 0 ? "ntk" : type);
    for (size_t i = 0; i < PE_LEN(names); i++) {
        char *text = json_dumps(rope_request_param(golden, names[i].golden), JSON_ENCODE_ANY);
        if (text != NULL)
            pe_buffer_format(out, ",\"%s\":%s", names[i].ours, text);
        free(text);
    }
}

/* golden.inputs[name] as JSON text. */
static void input(const json_t *golden, const char *name, pe_buffer *out)
{
    size_t n, shape[PE_MAX_DIMS];
    const json_t *array = json_object_get(json_object_get(golden, "inputs"), name);
    const json_t *axes = json_object_get(array, "shape");
    double *data = numbers(golden, "inputs", name, &n);
    assert_non_null(data);
    for (size_t d = 0; d < json_array_size(axes); d++)
        shape[d] = (size_t)json_integer_value(json_array_get(axes, d));
    nest(data, shape, json_array_size(axes), out);
    free(data);
}

static encoded ask(const pe_resource *resource, const json_t *golden, const char *more)
{
    pe_buffer body = {0};
    members(golden, &body);
    const encoded e = encode_json(resource, "{%s%s}", pe_buffer_text(&body), more);
    pe_buffer_free(&body);
    return e;
}

/* ---- against truth --------------------------------------------------------------------------- */

static void same_bits(const char *file, const char *what, const double *got, const double *want,
                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0)
            fail_msg("%s: %s[%zu]: got %.17g, wanted %.17g", file, what, i, got[i], want[i]);
}

/* Every tensor of e that the file's truth has, as float64 or rounded to float32. */
static size_t check_truth(const char *file, const json_t *golden, const encoded *e, bool narrow)
{
    size_t checked = 0;
    if (e->status != PE_OK)
        fail_msg("%s: %s", file, e->why.detail);
    for (size_t t = 0; t < e->plan.n_tensors; t++) {
        size_t n;
        const char *name = e->plan.tensors[t].name;
        double *want = numbers(golden, "truth", name, &n), *got = encoded_all(e, t);
        for (size_t i = 0; i < n && narrow; i++)
            want[i] = (double)(float)want[i];
        if (want != NULL) {
            assert_int_equal(n, e->plan.tensors[t].elements);
            same_bits(file, name, got, want, n);
            checked++;
        }
        free(want);
        free(got);
    }
    return checked;
}

static void check_attention(const char *file, const json_t *golden, const encoded *e)
{
    const json_t *want = json_object_get(json_object_get(golden, "truth"), "attention_factor");
    assert_string_equal(e->plan.scalars[0].name, "attention_factor");
    if (want != NULL && e->plan.scalars[0].value != json_number_value(want))
        fail_msg("%s: attention_factor: got %.17g, wanted %.17g", file, e->plan.scalars[0].value,
                 json_number_value(want));
}

static void check_tables(const char *file, const json_t *golden, size_t *checked)
{
    static const char *const dtypes[] = {"float64", "float32"};
    for (size_t d = 0; d < PE_LEN(dtypes); d++) {
        char more[64];
        pe_buffer positions = {0};
        snprintf(more, sizeof more, ",\"dtype\":\"%s\"", dtypes[d]);
        encoded e = ask(&pe_rope_frequencies, golden, more);
        *checked += check_truth(file, golden, &e, d == 1);
        check_attention(file, golden, &e);
        encoded_free(&e);
        pe_buffer_format(&positions, "%s,\"positions\":", more);
        input(golden, "positions", &positions);
        e = ask(&pe_rope_table, golden, pe_buffer_text(&positions));
        *checked += check_truth(file, golden, &e, d == 1);
        encoded_free(&e);
        pe_buffer_free(&positions);
    }
}

static void frequencies_and_tables_are_the_truth_bit_for_bit(void **state)
{
    size_t checked = 0;
    (void)state;
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f].file);
        check_tables(files[f].file, golden, &checked);
        json_decref(golden);
    }
    /* 20 files, two types: inv_freq in all, cos and sin in all but the complex one */
    assert_int_equal(PE_LEN(files), 20);
    assert_int_equal(checked, 2 * (20 + 2 * 19));
}

/* ---- rotations ------------------------------------------------------------------------------- */

/* A rotation of the file's x, with what it is held against. */
typedef struct rotation {
    const char *file;
    size_t tokens, rows, head_dim, pairs;
    double attention;
    bool half, tokens_first;
    double *x, *got, *cos, *sin;
} rotation;

static size_t token_of(const rotation *r, size_t row)
{
    return r->tokens_first ? row / (r->rows / r->tokens) : row % r->tokens;
}

/* a cos - b sin, b cos + a sin of pair i of a row; c2 is the partner's channel. */
static void turned(const rotation *r, size_t row, size_t i, size_t *c1, size_t *c2, long double *a2,
                   long double *b2, double *size)
{
    *c1 = row * r->head_dim + (r->half ? i : 2 * i);
    *c2 = *c1 + (r->half ? r->pairs : 1);
    const size_t at = token_of(r, row) * r->pairs + i;
    const long double a = (long double)r->x[*c1], b = (long double)r->x[*c2];
    const long double c = (long double)r->cos[at], s = (long double)r->sin[at];
    *a2 = a * c - b * s;
    *b2 = b * c + a * s;
    *size = fmax(1, r->attention) * (double)(fabsl(a) + fabsl(b));
}

/* Half a spacing of dtype around v; subnormals lie as far apart as the least normals. */
static double half_ulp(pe_dtype dtype, double v)
{
    static const struct {
        int digits, least; /* exponent of the least normal, as frexp counts */
    } types[] = {[PE_FLOAT32] = {24, -125},
                 [PE_FLOAT64] = {53, -1021},
                 [PE_FLOAT16] = {11, -13},
                 [PE_BFLOAT16] = {8, -125}};
    int exponent;
    frexp(v, &exponent);
    if (exponent < types[dtype].least)
        exponent = types[dtype].least;
    return ldexp(0.5, exponent - types[dtype].digits);
}

/* The sines and cosines used here are rounded themselves: another 2^-53 (|a| + |b|). */
static void check_rotation(const rotation *r, pe_dtype dtype)
{
    for (size_t row = 0; row < r->rows; row++)
        for (size_t i = 0; i < r->pairs; i++) {
            size_t c[2];
            long double want[2];
            double size;
            turned(r, row, i, &c[0], &c[1], &want[0], &want[1], &size);
            for (size_t k = 0; k < 2; k++) {
                const double got = r->got[c[k]];
                const double bound = half_ulp(dtype, got) + 1.5 * 0x1p-52 * size;
                if (!(fabsl((long double)got - want[k]) <= (long double)bound))
                    fail_msg("%s: %s, row %zu pair %zu: got %.17g, wanted %.20Lg +- %g", r->file,
                             pe_dtype_name(dtype), row, i, got, want[k], bound);
            }
        }
}

static void check_pass_through(const rotation *r)
{
    for (size_t row = 0; row < r->rows; row++)
        same_bits(r->file, "pass-through", r->got + row * r->head_dim + 2 * r->pairs,
                  r->x + row * r->head_dim + 2 * r->pairs, r->head_dim - 2 * r->pairs);
}

static encoded rotate(const json_t *golden, int seq_axis, const char *more)
{
    pe_buffer body = {0};
    pe_buffer_format(&body, ",\"seq_axis\":%d%s,\"positions\":", seq_axis, more);
    input(golden, "positions", &body);
    pe_buffer_str(&body, ",\"vectors\":");
    input(golden, "x", &body);
    const encoded e = ask(&pe_rope_rotate, golden, pe_buffer_text(&body));
    pe_buffer_free(&body);
    if (e.status != PE_OK)
        fail_msg("%s: %s: %s", json_string_value(json_object_get(golden, "name")), e.why.where,
                 e.why.detail);
    return e;
}

static rotation start(const char *file, int seq_axis, const json_t *golden)
{
    const json_t *factor = json_object_get(json_object_get(golden, "truth"), "attention_factor");
    size_t elements;
    rotation r = {.file = file,
                  .head_dim = dimension(golden, "head_dim"),
                  .pairs = dimension(golden, "rotary_dim") / 2,
                  .attention = factor != NULL ? json_number_value(factor) : 1,
                  .half =
                      strcmp(json_string_value(rope_request_param(golden, "layout")), "half") == 0,
                  .tokens_first = seq_axis == -3};
    free(numbers(golden, "inputs", "positions", &r.tokens));
    r.x = numbers(golden, "inputs", "x", &elements);
    r.rows = elements / r.head_dim;
    r.cos = numbers(golden, "truth", "cos", &elements);
    r.sin = numbers(golden, "truth", "sin", &elements);
    return r;
}

static void finish(rotation *r)
{
    free(r->x);
    free(r->cos);
    free(r->sin);
}

static void rotations_keep_their_bound_in_every_type(void **state)
{
    static const char *const names[] = {"float32", "float64", "float16", "bfloat16"};
    (void)state;
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f].file);
        rotation r = start(files[f].file, files[f].seq_axis, golden);
        for (size_t d = 0; d < PE_LEN(names) && r.cos != NULL; d++) {
            char more[64];
            snprintf(more, sizeof more, ",\"dtype\":\"%s\"", names[d]);
            encoded e = rotate(golden, files[f].seq_axis, more);
            r.got = encoded_all(&e, 0);
            check_rotation(&r, (pe_dtype)d);
            check_pass_through(&r);
            free(r.got);
            encoded_free(&e);
        }
        finish(&r);
        json_decref(golden);
    }
}

static void check_rotated_truth(const char *file)
{
    size_t n;
    json_t *golden = golden_load(file);
    double *want = numbers(golden, "truth", "x_rotated", &n);
    encoded e = rotate(golden, -3, ",\"dtype\":\"float64\"");
    double *got = encoded_all(&e, 0);
    assert_non_null(want);
    for (size_t i = 0; i < n; i++) /* |a| + |b| <= 4 */
        if (!(fabs(got[i] - want[i]) <= 2 * half_ulp(PE_FLOAT64, want[i]) + 4 * 0x1p-52))
            fail_msg("%s: channel %zu: got %.17g, wanted %.17g", file, i, got[i], want[i]);
    free(got);
    free(want);
    encoded_free(&e);
    json_decref(golden);
}

static void rotated_vectors_are_the_truth_to_the_last_bits(void **state)
{
    (void)state;
    check_rotated_truth("rope_complex_interleaved");
    check_rotated_truth("rope_freq_factors_interleaved");
}

/* ---- against upstream ------------------------------------------------------------------------ */

static const char *rotated_name(const json_t *golden)
{
    static const char in_place[] = "x_rotated_in_interleaved_order";
    const json_t *expected = json_object_get(golden, "expected");
    return json_object_get(expected, in_place) != NULL ? in_place : "x_rotated";
}

/* 8 * 2^-24 * position * inv_freq + 2^-22, for each of two products of at most |a| and |b|; one
 * rounding of the sum to float32, or three to bfloat16. */
static void check_upstream(const rotation *r, const json_t *golden, bool bfloat16)
{
    double *positions = need(golden, "inputs", "positions", r->tokens);
    double *inv = need(golden, "truth", "inv_freq", r->pairs);
    double *want = need(golden, "expected", rotated_name(golden), r->rows * r->head_dim);
    const double rounding = bfloat16 ? 4 * 0x1p-9 : 2 * 0x1p-24;
    for (size_t row = 0; row < r->rows; row++)
        for (size_t c = 0; c < 2 * r->pairs; c++) {
            const size_t i = r->half ? c % r->pairs : c / 2, at = row * r->head_dim + c;
            const size_t other = r->half ? (c + r->pairs) % (2 * r->pairs) : c ^ 1;
            const double size =
                r->attention * (fabs(r->x[at]) + fabs(r->x[row * r->head_dim + other]));
            const double angle = 8 * 0x1p-24 * positions[token_of(r, row)] * inv[i];
            if (!(fabs(r->got[at] - want[at]) <= size * (angle + 0x1p-22 + rounding)))
                fail_msg("%s: row %zu channel %zu: got %.9g, upstream has %.9g", r->file, row, c,
                         r->got[at], want[at]);
        }
    free(positions);
    free(inv);
    free(want);
}

static void rotations_are_as_near_upstream_as_float32_angles_allow(void **state)
{
    (void)state;
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f].file);
        const bool bfloat16 = strcmp(files[f].file, "rope_bfloat16") == 0;
        rotation r = start(files[f].file, files[f].seq_axis, golden);
        encoded e = rotate(golden, files[f].seq_axis, bfloat16 ? ",\"dtype\":\"bfloat16\"" : "");
        r.got = encoded_all(&e, 0);
        check_upstream(&r, golden, bfloat16);
        free(r.got);
        finish(&r);
        encoded_free(&e);
        json_decref(golden);
    }
}

/* Counts of elements of `expected` that came back bit for bit, all over the files. */
static size_t equal, compared;

static void count_equal(const json_t *golden, const encoded *e, size_t t, const char *name)
{
    size_t n;
    double *want = numbers(golden, "expected", name, &n);
    double *got = encoded_all(e, t);
    for (size_t i = 0; i < n; i++)
        equal += (float)got[i] == (float)want[i];
    compared += n;
    free(want);
    free(got);
}

static void float32_steps_give_upstreams_frequencies(void **state)
{
    (void)state;
    equal = compared = 0;
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f].file);
        encoded e = ask(&pe_rope_frequencies, golden, ",\"numerics\":\"float32\"");
        assert_int_equal(e.status, PE_OK);
        count_equal(golden, &e, 0, "inv_freq");
        encoded_free(&e);
        json_decref(golden);
    }
    print_message("inv_freq: %zu of %zu are upstream's bits\n", equal, compared);
    assert_true(compared > 150 && (double)equal > 0.98 * (double)compared);
}

static void float32_steps_give_upstreams_rotations(void **state)
{
    (void)state;
    equal = compared = 0;
    for (size_t f = 0; f < PE_LEN(files); f++) {
        json_t *golden = golden_load(files[f].file);
        if (strcmp(files[f].file, "rope_bfloat16") != 0) { /* upstream rounds its products there */
            encoded e = rotate(golden, files[f].seq_axis, ",\"numerics\":\"float32\"");
            count_equal(golden, &e, 0, rotated_name(golden));
            encoded_free(&e);
        }
        json_decref(golden);
    }
    print_message("x_rotated: %zu of %zu are upstream's bits\n", equal, compared);
    assert_true(compared > 2000 && (double)equal > 0.9 * (double)compared);
}

/* ---- state, shifts --------------------------------------------------------------------------- */

static void dynamic_frequencies_grow_with_the_longest_sequence(void **state)
{
    /* the lengths whose frequencies hold after each call, as the file's notes tell */
    static const int lengths[] = {8, 24, 40, 40, 12};
    json_t *golden = golden_load("rope_dynamic_ntk_state");
    double *want = need(golden, "expected", "inv_freq_after_call", 5 * 4);
    (void)state;
    for (size_t call = 0; call < 5; call++) {
        encoded e = encode(&pe_rope_frequencies,
                           "head_dim=8&rope_type=dynamic&factor=2&max_position_embeddings=16&"
                           "seq_len=%d&numerics=float32",
                           lengths[call]);
        double *got = encoded_all(&e, 0);
        for (size_t i = 0; i < 4; i++)
            if (fabs(got[i] - want[call * 4 + i]) > 0x1p-23 * want[call * 4 + i])
                fail_msg("call %zu, pair %zu: got %.9g, upstream has %.9g", call, i, got[i],
                         want[call * 4 + i]);
        free(got);
        encoded_free(&e);
    }
    free(want);
    json_decref(golden);
}

static void check_shift(const char *file, const char *keys, const char *delta, const char *name)
{
    size_t n;
    pe_buffer body = {0};
    json_t *golden = golden_load(file);
    double *want = numbers(golden, "truth", name, &n);
    assert_non_null(want);
    pe_buffer_str(&body, "{\"dtype\":\"float64\",\"pairing\":\"half\",\"keys\":");
    input(golden, keys, &body);
    pe_buffer_str(&body, ",\"delta\":");
    if (delta != NULL)
        pe_buffer_str(&body, delta);
    else
        input(golden, "shifts", &body);
    encoded e = encode_json(&pe_rope_shift, "%s}", pe_buffer_text(&body));
    double *got = encoded_all(&e, 0);
    for (size_t i = 0; i < n; i++) /* |a| + |b| <= 4 */
        if (!(fabs(got[i] - want[i]) <= 2 * half_ulp(PE_FLOAT64, want[i]) + 4 * 0x1p-52))
            fail_msg("%s: channel %zu: got %.17g, wanted %.17g", file, i, got[i], want[i]);
    free(got);
    free(want);
    encoded_free(&e);
    pe_buffer_free(&body);
    json_decref(golden);
}

static void shifted_keys_are_the_truth_to_the_last_bits(void **state)
{
    (void)state;
    check_shift("kv_shift_half", "k", NULL, "k_rotated");
    check_shift("kv_rerotate_sink", "keys_kept", "-3", "keys_kept_rotated");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequencies_and_tables_are_the_truth_bit_for_bit),
        cmocka_unit_test(rotations_keep_their_bound_in_every_type),
        cmocka_unit_test(rotated_vectors_are_the_truth_to_the_last_bits),
        cmocka_unit_test(rotations_are_as_near_upstream_as_float32_angles_allow),
        cmocka_unit_test(float32_steps_give_upstreams_frequencies),
        cmocka_unit_test(float32_steps_give_upstreams_rotations),
        cmocka_unit_test(dynamic_frequencies_grow_with_the_longest_sequence),
        cmocka_unit_test(shifted_keys_are_the_truth_to_the_last_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
