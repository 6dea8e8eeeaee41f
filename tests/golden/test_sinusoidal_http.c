/* SPDX-License-Identifier: MIT */
/*
 * test_sinusoidal_http.c - the golden sinusoidal tables through HTTP.
 *
 * Each file's `truth` (exact arithmetic) must come back bit for bit after rounding to the dtype
 * asked for; its `expected` (upstream's own float32 arithmetic) within |difference| <= 8 * 2^-24 *
 * position * inv_freq + 2^-22. The same and other parameters at ten other positions are held
 * against MPFR, so that nothing is tuned to a file.
 */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/golden.h"
#include "support/slow.h"

static test_server server;

static const char *const sinusoidal_files[] = {
    "sinusoidal_paper_interleaved", "sinusoidal_paper_concat",     "sinusoidal_t2t_sin_cos",
    "sinusoidal_t2t_cos_sin",       "sinusoidal_t2t_odd_dim",      "sinusoidal_whisper",
    "sinusoidal_timing_signal",     "sinusoidal_tutorial_float32", "timestep_ddpm",
    "timestep_flip_shift0",
};

struct sinusoidal {
    size_t d_model;
    double base, freq_shift;
    const char *layout;
    double padding_idx; /* whose row is zero; below 0: none */
};

static struct sinusoidal sinusoidal_of(const json_t *golden)
{
    const json_t *params = json_object_get(golden, "params");
    const char *layout = golden_text(params, "layout");
    struct sinusoidal s = {.d_model = (size_t)golden_number(params, "dim"), .base = 10000};
    if (json_object_get(params, "base") != NULL)
        s.base = golden_number(params, "base");
    if (json_object_get(params, "downscale_freq_shift") != NULL)
        s.freq_shift = golden_number(params, "downscale_freq_shift");
    else
        s.freq_shift = strcmp(golden_text(params, "variant"), "tensor2tensor") == 0;
    s.padding_idx =
        json_object_get(params, "padding_idx") != NULL ? golden_number(params, "padding_idx") : -1;
    s.layout = strcmp(layout, "concat_sin_cos") == 0   ? "sin_cos"
               : strcmp(layout, "concat_cos_sin") == 0 ? "cos_sin"
                                                       : "interleaved";
    return s;
}

static reply ask_sinusoidal(const struct sinusoidal *s, const char *positions, const char *dtype)
{
    char target[4096];
    snprintf(
        target, sizeof target,
        "/v1/sinusoidal?d_model=%zu&base=%.17g&layout=%s&freq_shift=%.17g&positions=%s&dtype=%s",
        s->d_model, s->base, s->layout, s->freq_shift, positions, dtype);
    if (s->padding_idx >= 0) {
        const size_t used = strlen(target);
        snprintf(target + used, sizeof target - used, "&padding_idx=%.0f", s->padding_idx);
    }
    return get(&server, target);
}

static void sinusoidal_truth_and_upstream(void **state)
{
    for (size_t f = 0; f < PE_LEN(sinusoidal_files); f++) {
        json_t *golden = golden_load(sinusoidal_files[f]);
        const struct sinusoidal s = sinusoidal_of(golden);
        const json_t *expected = golden_flat(golden, "expected", "table");
        pe_buffer positions = {0};
        golden_add_positions(golden, &positions);
        for (size_t t = 0; t < PE_LEN(golden_types); t++) {
            size_t n;
            reply answer = ask_sinusoidal(&s, pe_buffer_text(&positions), golden_types[t]);
            double *got =
                golden_numbers(&answer, "data", golden_dtypes[t], sinusoidal_files[f], &n);
            golden_same(got, n, golden_flat(golden, "truth", "table"), golden_dtypes[t],
                        sinusoidal_files[f]);
            for (size_t i = 0; golden_dtypes[t] == PE_FLOAT32 && i < n; i++) {
                const json_t *list = golden_positions(golden);
                const double position =
                    list != NULL ? golden_item(list, i / s.d_model)
                                 : golden_number(json_object_get(golden, "params"), "start_index") +
                                       (double)(i / s.d_model);
                const double bound = 8 * 0x1p-24 * position + 0x1p-22; /* inv_freq <= 1 */
                if (!(fabs(got[i] - golden_item(expected, i)) <= bound))
                    fail_msg("%s, element %zu: got %.9g, upstream %.9g", sinusoidal_files[f], i,
                             got[i], golden_item(expected, i));
            }
            free(got);
            reply_free(&answer);
        }
        pe_buffer_free(&positions);
        json_decref(golden);
    }
}

/* What column c of a row is: frequency *i, sine or cosine; false for the padding column of odd
 * widths. */
static bool column(const struct sinusoidal *s, size_t c, size_t *i, bool *cosine)
{
    const size_t half = s->d_model / 2;
    const bool spare = s->d_model % 2 == 1 && s->freq_shift == 0; /* the last sine has no partner */
    if (s->d_model % 2 == 1 && !spare && c == s->d_model - 1)
        return false;
    if (strcmp(s->layout, "interleaved") == 0) {
        *i = c / 2;
        *cosine = c % 2 == 1;
    } else {
        const bool sine_first = strcmp(s->layout, "sin_cos") == 0;
        const size_t first = sine_first && spare ? half + 1 : half;
        *i = c < first ? c : c - first;
        *cosine = (c >= first) == sine_first;
    }
    return true;
}

static void check_sinusoidal_elsewhere(const struct sinusoidal *s, size_t t, const char *what)
{
    size_t n;
    reply answer = ask_sinusoidal(s, golden_elsewhere_text, golden_types[t]);
    double *got = golden_numbers(&answer, "data", golden_dtypes[t], what, &n);
    const double den =
        s->freq_shift == 0 ? (double)s->d_model / 2 : (double)(s->d_model / 2) - s->freq_shift;
    mpfr_t frequency;
    mpfr_init2(frequency, SLOW_BITS);
    assert_int_equal(n, PE_LEN(golden_elsewhere) * s->d_model);
    for (size_t e = 0; e < n; e++) {
        size_t i;
        bool cosine;
        double wanted = 0;
        if (column(s, e % s->d_model, &i, &cosine)) {
            slow_frequency(s->base, i, den, frequency);
            wanted =
                slow_wave(frequency, golden_elsewhere[e / s->d_model], cosine, golden_dtypes[t]);
        }
        if (memcmp(&got[e], &wanted, sizeof wanted) != 0)
            fail_msg("%s, %s, position %.0f, column %zu: got %.17g, MPFR says %.17g", what,
                     golden_types[t], golden_elsewhere[e / s->d_model], e % s->d_model, got[e],
                     wanted);
    }
    mpfr_clear(frequency);
    free(got);
    reply_free(&answer);
}

static void sinusoidal_at_ten_other_positions(void **state)
{
    for (size_t f = 0; f < PE_LEN(sinusoidal_files); f++) {
        json_t *golden = golden_load(sinusoidal_files[f]);
        const struct sinusoidal s = sinusoidal_of(golden);
        const struct sinusoidal other = {s.d_model + 5, 777.5, s.freq_shift, s.layout, -1};
        for (size_t t = 0; t < PE_LEN(golden_types); t++) {
            check_sinusoidal_elsewhere(&s, t, sinusoidal_files[f]);
            check_sinusoidal_elsewhere(&other, t, "other parameters");
        }
        json_decref(golden);
    }
}

/* scale * (t * freq), two roundings, as diffusers computes it; then the sine correctly rounded. */
static void float32_numerics_scale_the_angle_last(void **state)
{
    size_t n, order_matters = 0;
    reply answer =
        get(&server, "/v1/sinusoidal?d_model=32&layout=sin_cos&scale=1000&positions=33:133"
                     "&numerics=float32");
    reply frequencies =
        get(&server, "/v1/rope/frequencies?head_dim=32&numerics=float32&rope_theta=10000");
    double *got = golden_numbers(&answer, "data", PE_FLOAT32, "scaled timesteps", &n);
    double *inv = golden_numbers(&frequencies, "inv_freq", PE_FLOAT32, "frequencies", &n);
    mpfr_t angle;
    mpfr_init2(angle, SLOW_BITS);
    for (int row = 0; row < 100; row++)
        for (size_t i = 0; i < 16; i++) {
            const float position = (float)(33 + row), product = position * (float)inv[i];
            const float last = 1000.0F * product, first = 1000.0F * position;
            mpfr_set_flt(angle, last, MPFR_RNDN);
            assert_true(got[(size_t)row * 32 + i] == slow_wave(angle, 1, false, PE_FLOAT32));
            order_matters += last != first * (float)inv[i];
        }
    assert_true(order_matters > 100);
    mpfr_clear(angle);
    free(got);
    free(inv);
    reply_free(&answer);
    reply_free(&frequencies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sinusoidal_truth_and_upstream),
        cmocka_unit_test(sinusoidal_at_ten_other_positions),
        cmocka_unit_test(float32_numerics_scale_the_angle_last),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
