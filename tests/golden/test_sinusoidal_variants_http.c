/* SPDX-License-Identifier: MIT */
/*
 * test_sinusoidal_variants_http.c - golden tables of image patches, of distances and of the timing
 * signal, through HTTP.
 *
 * A file's `truth` (exact arithmetic) must come back bit for bit after rounding to the dtype asked
 * for. Its `expected` must be near: float32 upstream within 8 * 2^-24 * position + 2^-22 (no
 * frequency is above 1); the grid, which upstream computes in float64 from coordinates rounded to
 * float32 twice, within 2^-23 * coordinate + 2^-50. The same and other parameters elsewhere are
 * held against MPFR.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"
#include "support/slow.h"

static test_server server;

/* base^(-i/(half - freq_shift)) * factor / divisor / scale of frequency i: sin or cos of position
 * times that. */
typedef struct slow_sinusoid {
    double base, half, freq_shift;
    double factor, divisor, scale;
} slow_sinusoid;

static double slow_element(const slow_sinusoid *s, size_t i, double position, bool cosine,
                           pe_dtype dtype)
{
    mpfr_t exponent, w;
    mpfr_inits2(SLOW_BITS, exponent, w, (mpfr_ptr)NULL);
    mpfr_set_d(exponent, s->freq_shift, MPFR_RNDN);
    mpfr_sub_d(exponent, exponent, s->half, MPFR_RNDN);
    mpfr_ui_div(exponent, i, exponent, MPFR_RNDN);
    mpfr_set_d(w, s->base, MPFR_RNDN);
    mpfr_pow(w, w, exponent, MPFR_RNDN);
    if (i == 0) /* whatever half - freq_shift is */
        mpfr_set_ui(w, 1, MPFR_RNDN);
    mpfr_mul_d(w, w, s->factor, MPFR_RNDN);
    mpfr_div_d(w, w, s->divisor, MPFR_RNDN);
    mpfr_div_d(w, w, s->scale, MPFR_RNDN);
    const double value = slow_wave(w, position, cosine, dtype);
    mpfr_clears(exponent, w, (mpfr_ptr)NULL);
    return value;
}

static void same(double got, double wanted, const char *target, size_t row, size_t column)
{
    if (memcmp(&got, &wanted, sizeof got) != 0)
        fail_msg("%s: row %zu, column %zu: got %.17g, wanted %.17g", target, row, column, got,
                 wanted);
}

/* ---- image patches ---- */

typedef struct grid {
    size_t d_model, height, width, base_size, extra; /* base_size 0: none */
    double base, freq_shift, scale;
    const char *layout, *order;
} grid;

static void grid_target(const grid *g, const char *dtype, char *out, size_t bytes)
{
    char base_size[40] = "";
    if (g->base_size != 0)
        snprintf(base_size, sizeof base_size, "&base_size=%zu", g->base_size);
    snprintf(out, bytes,
             "/v1/sinusoidal/grid?d_model=%zu&height=%zu&width=%zu%s&extra_tokens=%zu&base=%.17g&"
             "freq_shift=%.17g&interpolation_scale=%.17g&layout=%s&axis_order=%s&dtype=%s",
             g->d_model, g->height, g->width, base_size, g->extra, g->base, g->freq_shift, g->scale,
             g->layout, g->order, dtype);
}

/* Channel c of the patch at (y, x), c counted within its axis. */
static double slow_patch(const grid *g, size_t y, size_t x, size_t c, pe_dtype dtype)
{
    const size_t half = g->d_model / 2, quarter = half / 2;
    const bool column = (c < half) == (strcmp(g->order, "wh") == 0);
    const size_t k = c % half, side = column ? g->width : g->height;
    const bool alternate = strcmp(g->layout, "interleaved") == 0;
    const bool second = alternate ? k % 2 == 1 : k >= quarter;
    const slow_sinusoid s = {.base = g->base,
                             .half = (double)quarter,
                             .freq_shift = g->freq_shift,
                             .factor = g->base_size != 0 ? (double)g->base_size : 1,
                             .divisor = g->base_size != 0 ? (double)side : 1,
                             .scale = g->scale};
    return slow_element(&s, alternate ? k / 2 : k % quarter, (double)(column ? x : y),
                        second != (strcmp(g->layout, "cos_sin") == 0), dtype);
}

static void check_grid(const grid *g)
{
    for (size_t t = 0; t < PE_LEN(golden_types); t++) {
        char target[512];
        size_t n;
        grid_target(g, golden_types[t], target, sizeof target);
        reply answer = get(&server, target);
        double *got = golden_numbers(&answer, "data", golden_dtypes[t], target, &n);
        assert_int_equal(n, (g->extra + g->height * g->width) * g->d_model);
        for (size_t e = 0; e < n; e++) {
            const size_t row = e / g->d_model, patch = row - g->extra, c = e % g->d_model;
            const double wanted = row < g->extra ? 0
                                                 : slow_patch(g, patch / g->width, patch % g->width,
                                                              c, golden_dtypes[t]);
            same(got[e], wanted, target, row, c);
        }
        free(got);
        reply_free(&answer);
    }
}

static void patches_are_those_of_diffusers(void **state)
{
    json_t *golden = golden_load("sincos_2d_grid");
    const json_t *params = json_object_get(golden, "params");
    const json_t *expected = golden_flat(golden, "expected", "table");
    const grid g = {.d_model = (size_t)golden_number(params, "dim"),
                    .height = (size_t)golden_number(params, "grid_h"),
                    .width = (size_t)golden_number(params, "grid_w"),
                    .base_size = (size_t)golden_number(params, "base_size"),
                    .extra = (size_t)golden_number(params, "extra_tokens"),
                    .base = 10000,
                    .scale = golden_number(params, "interpolation_scale"),
                    .layout = "sin_cos",
                    .order = "wh"};
    char target[512];
    size_t n;
    grid_target(&g, "float64", target, sizeof target);
    reply answer = get(&server, target);
    double *got = golden_numbers(&answer, "data", PE_FLOAT64, target, &n);
    assert_int_equal(n, json_array_size(expected));
    for (size_t e = 0; e < n; e++) {
        const size_t y = e / g.d_model / g.width, x = e / g.d_model % g.width;
        const bool column = e % g.d_model < g.d_model / 2;
        const double coordinate = (double)((column ? x : y) * g.base_size) /
                                  (double)(column ? g.width : g.height) / g.scale;
        if (!(fabs(got[e] - golden_item(expected, e)) <= 0x1p-23 * coordinate + 0x1p-50))
            fail_msg("element %zu: got %.17g, upstream %.17g", e, got[e], golden_item(expected, e));
    }
    check_grid(&g);
    free(got);
    reply_free(&answer);
    json_decref(golden);
}

/* The rows are diffusers at another size, MAE, the simple ViT, and what else may be asked for. */
static void other_patches_are_those_of_mpfr(void **state)
{
    static const grid grids[] = {
        {16, 5, 7, 16, 0, 10000, 0, 1, "sin_cos", "wh"},
        {24, 3, 9, 64, 2, 10000, 0, 2.1, "sin_cos", "wh"},
        {12, 10, 10, 0, 1, 10000, 0, 1, "sin_cos", "wh"},
        {16, 10, 3, 0, 0, 10000, 1, 1, "sin_cos", "wh"},
        {20, 4, 6, 0, 0, 777, 0.1, 0.3, "interleaved", "hw"},
        {8, 1, 11, 7, 0, 100, 0, 1, "cos_sin", "hw"},
        {4, 11, 1, 7, 3, 1e12, 0, 1e9, "interleaved", "wh"},
    };
    for (size_t i = 0; i < PE_LEN(grids); i++)
        check_grid(&grids[i]);
}

/* ---- distances ---- */

typedef struct relative {
    size_t d_model;
    long long queries, keys, clamp; /* clamp 0: not asked for */
    const char *variant, *attn_type;
    double base;
} relative;

/* What upstream's arange makes: [first, last], falling. */
static void slow_span(const relative *r, long long *first, long long *last)
{
    const bool xlnet = strcmp(r->variant, "xlnet") == 0;
    const bool both =
        strcmp(r->variant, "conformer") == 0 || (xlnet && strcmp(r->attn_type, "bi") == 0);
    *first = xlnet ? r->keys : r->keys - 1;
    *last = both ? -r->queries + 1 : 0;
}

static reply ask_relative(const relative *r, const char *dtype, char *target, size_t bytes)
{
    char clamp[40] = "", type[40] = "";
    if (r->clamp != 0)
        snprintf(clamp, sizeof clamp, "&clamp_len=%lld", r->clamp);
    if (r->attn_type != NULL)
        snprintf(type, sizeof type, "&attn_type=%s", r->attn_type);
    snprintf(target, bytes,
             "/v1/sinusoidal/relative?d_model=%zu&query_length=%lld&key_length=%lld&variant=%s"
             "%s%s&base=%.17g&dtype=%s",
             r->d_model, r->queries, r->keys, r->variant, type, clamp, r->base, dtype);
    return get(&server, target);
}

static double slow_distance(const relative *r, const slow_sinusoid *s, size_t c, double distance,
                            pe_dtype dtype)
{
    const size_t half = r->d_model / 2;
    const bool alternate = strcmp(r->variant, "conformer") == 0;
    return slow_element(s, alternate ? c / 2 : c % half, distance,
                        alternate ? c % 2 == 1 : c >= half, dtype);
}

static void check_relative(const relative *r)
{
    const slow_sinusoid s = {r->base, (double)r->d_model / 2, 0, 1, 1, 1};
    long long first, last;
    slow_span(r, &first, &last);
    for (size_t t = 0; t < PE_LEN(golden_types); t++) {
        char target[512];
        size_t rows, n;
        reply answer = ask_relative(r, golden_types[t], target, sizeof target);
        double *distance = golden_numbers(&answer, "distances", PE_FLOAT64, target, &rows);
        double *got = golden_numbers(&answer, "table", golden_dtypes[t], target, &n);
        assert_int_equal(rows, first - last + 1);
        assert_int_equal(n, rows * r->d_model);
        for (size_t row = 0; row < rows; row++) {
            double wanted = (double)(first - (long long)row);
            if (r->clamp > 0)
                wanted = fmax(fmin(wanted, (double)r->clamp), (double)-r->clamp);
            same(distance[row], wanted, target, row, 0);
            for (size_t c = 0; c < r->d_model; c++)
                same(got[row * r->d_model + c], slow_distance(r, &s, c, wanted, golden_dtypes[t]),
                     target, row, c);
        }
        free(distance);
        free(got);
        reply_free(&answer);
    }
}

static void other_distances_are_those_of_mpfr(void **state)
{
    static const relative relatives[] = {
        {8, 14, 37, 0, "xlnet", "bi", 10000},      {8, 14, 37, 9, "xlnet", "bi", 10000},
        {6, 14, 37, 20, "xlnet", "bi", 777},       {2, 5, 12, -1, "xlnet", "uni", 10000},
        {4, 5, 12, 7, "xlnet", "uni", 10000},      {8, 3, 12, 0, "transformer_xl", NULL, 10000},
        {8, 3, 12, 4, "transformer_xl", NULL, 50}, {8, 16, 16, 0, "conformer", NULL, 10000},
        {10, 6, 13, 0, "conformer", NULL, 31.5},   {2, 1, 1, 1, "xlnet", "bi", 10000},
        {2, 1, 1, 0, "conformer", NULL, 10000},    {2, 1, 1, 0, "transformer_xl", NULL, 10000},
    };
    for (size_t i = 0; i < PE_LEN(relatives); i++)
        check_relative(&relatives[i]);
}

/* ---- the timing signal ---- */

typedef struct timing {
    size_t d_model, length;
    long long start;
    double least, most;
    bool documented;
} timing;

static reply ask_timing(const timing *s, const char *dtype, char *target, size_t bytes)
{
    snprintf(target, bytes,
             "/v1/sinusoidal/timing?d_model=%zu&length=%zu&start_index=%lld&min_timescale=%.17g&"
             "max_timescale=%.17g&dtype=%s%s",
             s->d_model, s->length, s->start, s->least, s->most, dtype,
             s->documented ? "&variant=documented" : "");
    return get(&server, target);
}

/* The frequency min (max/min)^(-i/(n - 1)) of the code, or by the timescales of the docstring:
 * 1/(min (max/min)^(i/(n - 1))). */
static double slow_signal(const timing *s, size_t i, double position, bool cosine, pe_dtype dtype)
{
    const size_t n = s->d_model / 2;
    mpfr_t scale, power;
    mpfr_inits2(SLOW_BITS, scale, power, (mpfr_ptr)NULL);
    mpfr_set_ui(power, i, MPFR_RNDN);
    mpfr_div_ui(power, power, n > 1 ? n - 1 : 1, MPFR_RNDN);
    mpfr_set_d(scale, s->most, MPFR_RNDN);
    mpfr_div_d(scale, scale, s->least, MPFR_RNDN);
    mpfr_pow(scale, scale, power, MPFR_RNDN);
    mpfr_ui_div(scale, 1, scale, MPFR_RNDN);
    (s->documented ? mpfr_div_d : mpfr_mul_d)(scale, scale, s->least, MPFR_RNDN);
    const double value = slow_wave(scale, position, cosine, dtype);
    mpfr_clears(scale, power, (mpfr_ptr)NULL);
    return value;
}

static void check_timing(const timing *s)
{
    const size_t half = s->d_model / 2;
    for (size_t t = 0; t < PE_LEN(golden_types); t++) {
        char target[512];
        size_t n;
        reply answer = ask_timing(s, golden_types[t], target, sizeof target);
        double *got = golden_numbers(&answer, "data", golden_dtypes[t], target, &n);
        assert_int_equal(n, s->length * s->d_model);
        assert_true((strstr(answer.body, "warnings") != NULL) == (s->least != 1));
        for (size_t e = 0; e < n; e++) {
            const size_t row = e / s->d_model, c = e % s->d_model;
            const double position = (double)(s->start + (long long)row);
            const double wanted =
                c < 2 * half ? slow_signal(s, c % half, position, c >= half, golden_dtypes[t]) : 0;
            same(got[e], wanted, target, row, c);
        }
        free(got);
        reply_free(&answer);
    }
}

static void other_timing_signals_are_those_of_mpfr(void **state)
{
    static const timing signals[] = {
        {10, 10, 1000000, 1, 10000, false},
        {11, 10, -4, 1, 10000, true},
        {12, 10, 77, 0.3, 1e6, true},
        {12, 10, 77, 0.3, 1e6, false},
        {3, 10, 5, 7, 9, true},
        {3, 10, 5, 7, 9, false},
        {1, 2, 0, 1, 10000, false},
        {8, 10, 9007199254740982, 1e-9, 1e12, true},
        {8, 10, 9007199254740982, 1e-9, 1e12, false},
        {8, 10, 9007199254740982, 1e9, 1e12, false},
        {6, 3, 12, 5, 5, true},
        {6, 3, 12, 5, 5, false},
    };
    for (size_t i = 0; i < PE_LEN(signals); i++)
        check_timing(&signals[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patches_are_those_of_diffusers),
        cmocka_unit_test(other_patches_are_those_of_mpfr),
        cmocka_unit_test(other_distances_are_those_of_mpfr),
        cmocka_unit_test(other_timing_signals_are_those_of_mpfr),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
