/* SPDX-License-Identifier: MIT */
/*
 * test_xpos_http.c - the golden xPos rotation through HTTP, and its tables against MPFR.
 *
 * The file has upstream's float32 result only: |difference| <= S (|a| + |b|) (8 * 2^-24 * position
 * * inv_freq + 2^-22 + 4 * 2^-24), the bound of golden/README.md on cosines and sines with two
 * products, their sum, and a scale S of a few roundings. Against MPFR, tables are equal bit for
 * bit, and rotations within 0.5 ulp + 2^-52 S (|a| + |b|).
 */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/slow.h"

static test_server server;

/* ---- the model ------------------------------------------------------------------------------- */

typedef struct xpos {
    double dim, theta, base, center;
} xpos;

/* zeta_i^((position - center) / base), zeta_i = (2i/d + 2/5) / (7/5) */
static void model_scale(const xpos *x, size_t i, double position, mpfr_ptr out)
{
    mpfr_t exponent;
    mpfr_init2(exponent, SLOW_BITS);
    mpfr_set_ui(out, 2 * i, MPFR_RNDN);
    mpfr_div_d(out, out, x->dim, MPFR_RNDN);
    mpfr_mul_ui(out, out, 5, MPFR_RNDN);
    mpfr_add_ui(out, out, 2, MPFR_RNDN);
    mpfr_div_ui(out, out, 7, MPFR_RNDN);
    mpfr_set_d(exponent, position, MPFR_RNDN);
    mpfr_sub_d(exponent, exponent, x->center, MPFR_RNDN);
    mpfr_div_d(exponent, exponent, x->base, MPFR_RNDN);
    mpfr_pow(out, out, exponent, MPFR_RNDN);
    mpfr_clear(exponent);
}

/* (a cos - b sin) S or (b cos + a sin) S, S the scale or its inverse; *size is S (|a| + |b|). */
static double model_channel(const xpos *x, size_t i, double position, double a, double b,
                            bool second, bool divide, double *size)
{
    mpfr_t angle, scale, sine, cosine;
    mpfr_inits2(SLOW_BITS, angle, scale, sine, cosine, (mpfr_ptr)NULL);
    slow_frequency(x->theta, 2 * i, x->dim, angle);
    mpfr_mul_d(angle, angle, position, MPFR_RNDN);
    mpfr_sin_cos(sine, cosine, angle, MPFR_RNDN);
    mpfr_mul_d(cosine, cosine, second ? b : a, MPFR_RNDN);
    mpfr_mul_d(sine, sine, second ? a : -b, MPFR_RNDN);
    mpfr_add(cosine, cosine, sine, MPFR_RNDN);
    model_scale(x, i, position, scale);
    if (divide)
        mpfr_ui_div(scale, 1, scale, MPFR_RNDN);
    mpfr_mul(cosine, cosine, scale, MPFR_RNDN);
    const double result = mpfr_get_d(cosine, MPFR_RNDN);
    *size = mpfr_get_d(scale, MPFR_RNDN) * (fabs(a) + fabs(b));
    mpfr_clears(angle, scale, sine, cosine, (mpfr_ptr)NULL);
    return result;
}

/* ---- the golden file ------------------------------------------------------------------------- */

typedef struct bound {
    pe_dtype dtype;
    double exact; /* relative to S (|a| + |b|) */
    double ulp;   /* relative to the result; float64's twice, for the model's own rounding */
} bound;

static void check_tensor(const xpos *x, const json_t *golden, const char *tensor, bool divide,
                         const json_t *json, const bound *within)
{
    const json_t *given = golden_flat(golden, "inputs", divide ? "k" : "x");
    const json_t *expected = golden_flat(golden, "expected", divide ? "k_rotated" : "x_rotated");
    const json_t *rows =
        json_array_get(json_object_get(json_object_get(json, tensor), "data"), 0); /* one head */
    const size_t dim = (size_t)x->dim;
    assert_int_equal(json_array_size(rows) * dim, json_array_size(expected));
    for (size_t e = 0; e < json_array_size(expected); e++) {
        const size_t position = e / dim, channel = e % dim, first = e - channel % 2;
        const double got =
            golden_round(within->dtype, golden_item(json_array_get(rows, position), channel));
        const double inv = pow(x->theta, -(double)(channel / 2 * 2) / x->dim);
        double size;
        const double want =
            model_channel(x, channel / 2, (double)position, golden_item(given, first),
                          golden_item(given, first + 1), channel % 2 == 1, divide, &size);
        const double near = size * (8 * 0x1p-24 * (double)position * inv + 0x1p-22 + 4 * 0x1p-24);
        if (!(fabs(got - want) <= within->ulp * fabs(want) + within->exact * size))
            fail_msg("%s, element %zu: got %.17g, MPFR says %.17g", tensor, e, got, want);
        if (!(fabs(got - golden_item(expected, e)) <= near + within->ulp * fabs(want)))
            fail_msg("%s, element %zu: got %.9g, upstream %.9g", tensor, e, got,
                     golden_item(expected, e));
    }
}

static void xpos_is_upstreams_and_the_formulas(void **state)
{
    static const bound bounds[] = {{PE_FLOAT64, .exact = 0x1p-52, .ulp = 2 * 0x1p-53},
                                   {PE_FLOAT32, .exact = 0x1p-52, .ulp = 0x1p-24}};
    json_t *golden = golden_load("rope_xpos");
    const json_t *params = json_object_get(golden, "params");
    const xpos x = {.dim = golden_number(params, "dim"),
                    .theta = golden_number(params, "theta"),
                    .base = golden_number(params, "scale_base"),
                    .center = floor(golden_number(params, "length") / 2)};
    for (size_t t = 0; t < PE_LEN(bounds); t++) {
        pe_buffer body = {0};
        pe_buffer_format(&body,
                         "{\"rope_theta\":%.17g,\"scale_base\":%.17g,\"pairing\":\"%s\","
                         "\"dtype\":\"%s\",\"q\":",
                         x.theta, x.base, golden_text(params, "layout"),
                         pe_dtype_name(bounds[t].dtype));
        golden_add_nested(golden, "inputs", "x", &body);
        pe_buffer_str(&body, ",\"k\":");
        golden_add_nested(golden, "inputs", "k", &body);
        pe_buffer_str(&body, "}");
        reply answer = post_json(&server, "/v1/rope/xpos", pe_buffer_text(&body));
        assert_int_equal(answer.status, 200);
        json_t *json = reply_json(&answer);
        check_tensor(&x, golden, "q", false, json, &bounds[t]);
        check_tensor(&x, golden, "k", true, json, &bounds[t]);
        json_decref(json);
        reply_free(&answer);
        pe_buffer_free(&body);
    }
    json_decref(golden);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct table_case {
    xpos x;
    bool narrow; /* fits float16 */
    const char *text;
    double positions[10];
} tables[] = {
    {{8, 10000, 512, 3},
     true,
     "3,4,5,77,99,-500,1021,1022,-11,2000",
     {3, 4, 5, 77, 99, -500, 1021, 1022, -11, 2000}},
    /* d = 20: zeta_3 is 1/2, whose whole powers are representable */
    {{20, 500, 8, 0}, true, "0,8,-8,16,64,-64,7,9,1,-1", {0, 8, -8, 16, 64, -64, 7, 9, 1, -1}},
    {{128, 10000, 512, 0},
     false,
     "283136,-283136,262143,-131071,100003,-99991,65537,4095,2,-3",
     {283136, -283136, 262143, -131071, 100003, -99991, 65537, 4095, 2, -3}},
    {{34, 1e6, 99999.5, 123456789},
     false,
     "123456789,123456788,178755000,68160000,100000000,140000001,134217727,123000000,123456800,"
     "150000000",
     {123456789, 123456788, 178755000, 68160000, 100000000, 140000001, 134217727, 123000000,
      123456800, 150000000}},
};

static void check_table(const struct table_case *c, size_t t)
{
    static const char *const tensors[] = {"cos", "sin", "scale"};
    const size_t pairs = (size_t)c->x.dim / 2;
    pe_buffer target = {0};
    mpfr_t value;
    mpfr_init2(value, SLOW_BITS);
    pe_buffer_format(&target,
                     "/v1/rope/xpos/table?head_dim=%.0f&rope_theta=%.17g&scale_base=%.17g"
                     "&center=%.0f&positions=%s&dtype=%s",
                     c->x.dim, c->x.theta, c->x.base, c->x.center, c->text, golden_types[t]);
    reply answer = get(&server, pe_buffer_text(&target));
    for (size_t s = 0; s < PE_LEN(tensors); s++) {
        size_t n;
        double *got =
            golden_numbers(&answer, tensors[s], golden_dtypes[t], pe_buffer_text(&target), &n);
        assert_int_equal(n, pairs * PE_LEN(c->positions));
        for (size_t e = 0; e < n; e++) {
            const double position = c->positions[e / pairs];
            double want;
            if (s == 2) {
                model_scale(&c->x, e % pairs, position, value);
                want = slow_round(golden_dtypes[t], value);
            } else {
                slow_frequency(c->x.theta, 2 * (e % pairs), c->x.dim, value);
                want = slow_wave(value, position, s == 0, golden_dtypes[t]);
            }
            if (got[e] != want)
                fail_msg("%s: %s at %.0f, pair %zu: got %.17g, MPFR says %.17g",
                         pe_buffer_text(&target), tensors[s], position, e % pairs, got[e], want);
        }
        free(got);
    }
    reply_free(&answer);
    pe_buffer_free(&target);
    mpfr_clear(value);
}

static void xpos_tables_are_correctly_rounded(void **state)
{
    for (size_t c = 0; c < PE_LEN(tables); c++)
        for (size_t t = 0; t < GOLDEN_TYPES; t++)
            if (tables[c].narrow || golden_dtypes[t] == PE_FLOAT64)
                check_table(&tables[c], t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xpos_is_upstreams_and_the_formulas),
        cmocka_unit_test(xpos_tables_are_correctly_rounded),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
