/* SPDX-License-Identifier: MIT */
/* test_swin.c - windows of images and skewed logits against slow models of their definitions. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "support/encode.h"
#include "support/random.h"
#include "support/slow.h"

static const char *const dtypes[] = {"float32", "float64", "float16", "bfloat16"};

/* Windows that no published model has. */
static const struct window {
    long long height, width;
} windows[] = {{1, 1}, {1, 6}, {5, 1}, {2, 3}, {3, 2}, {4, 7}, {7, 4}, {8, 8}, {9, 5}, {6, 11}};

/* The offsets (down, across) of a window in reading order, found by looking for them. */
static long long place_of(const struct window *w, long long down, long long across)
{
    long long place = 0;
    for (long long d = -(w->height - 1); d < w->height; d++)
        for (long long a = -(w->width - 1); a < w->width; a++, place++)
            if (d == down && a == across)
                return place;
    return -1;
}

static long long slow_index(const struct window *w, long long query, long long key)
{
    return place_of(w, query / w->width - key / w->width, query % w->width - key % w->width);
}

static void indices_are_places_of_offsets(void **state)
{
    for (size_t i = 0; i < PE_LEN(windows); i++) {
        const struct window *w = &windows[i];
        const long long patches = w->height * w->width;
        encoded e =
            encode(&pe_swin_index, "window_height=%lld&window_width=%lld", w->height, w->width);
        double *got = encoded_all(&e, 0);
        for (long long u = 0; u < patches * patches; u++)
            if (got[u] != (double)slow_index(w, u / patches, u % patches))
                fail_msg("window %lld x %lld, query %lld, key %lld: got %.0f", w->height, w->width,
                         u / patches, u % patches, got[u]);
        free(got);
        encoded_free(&e);
    }
}

/* Weights 1, 2, 3 ... as [rows, heads]. */
static encoded encode_bias(const struct window *w, long long heads, const char *dtype)
{
    const long long rows = (2 * w->height - 1) * (2 * w->width - 1);
    pe_buffer body = {0};
    pe_buffer_format(&body, "{\"window_height\":%lld,\"window_width\":%lld,\"dtype\":\"%s\",",
                     w->height, w->width, dtype);
    for (long long i = 0; i < rows * heads; i++)
        pe_buffer_format(&body, "%s%lld",
                         i == 0           ? "\"weights\":[["
                         : i % heads == 0 ? "],["
                                          : ",",
                         i + 1);
    pe_buffer_str(&body, "]]}");
    const encoded e = encode_json(&pe_swin_bias, "%s", pe_buffer_text(&body));
    pe_buffer_free(&body);
    return e;
}

static void biases_are_weights_of_the_index(void **state)
{
    for (size_t i = 0; i < PE_LEN(windows); i++) {
        const struct window *w = &windows[i];
        const long long patches = w->height * w->width, heads = 1 + (long long)i % 3;
        encoded e = encode_bias(w, heads, i % 2 ? "float32" : "float64");
        double *got = encoded_all(&e, 0);
        for (long long u = 0; u < heads * patches * patches; u++) {
            const long long head = u / patches / patches, pair = u % (patches * patches);
            const long long row = slow_index(w, pair / patches, pair % patches);
            assert_true(got[u] == (double)(row * heads + head + 1));
        }
        free(got);
        encoded_free(&e);
    }
}

/* sign(c) log2(1 + |c|)/log2(8), c = 8 offset/(trained - 1). */
static double slow_coordinate(long long offset, long long trained, pe_dtype dtype)
{
    mpfr_t x, eight;
    mpfr_inits2(SLOW_BITS, x, eight, (mpfr_ptr)NULL);
    mpfr_set_si(x, 8 * (offset < 0 ? -offset : offset), MPFR_RNDN);
    mpfr_div_si(x, x, trained - 1, MPFR_RNDN);
    mpfr_add_ui(x, x, 1, MPFR_RNDN);
    mpfr_log2(x, x, MPFR_RNDN);
    mpfr_set_ui(eight, 8, MPFR_RNDN);
    mpfr_log2(eight, eight, MPFR_RNDN);
    mpfr_div(x, x, eight, MPFR_RNDN);
    if (offset < 0)
        mpfr_neg(x, x, MPFR_RNDN);
    const double value = slow_round(dtype, x);
    mpfr_clears(x, eight, (mpfr_ptr)NULL);
    return value;
}

static void check_coordinates(const struct window *w, const struct window *trained, size_t dtype)
{
    const struct window *by = trained != NULL ? trained : w;
    char more[96] = "";
    if (trained != NULL)
        snprintf(more, sizeof more, "&pretrained_window_height=%lld&pretrained_window_width=%lld",
                 trained->height, trained->width);
    encoded e = encode(&pe_swin_coordinates, "window_height=%lld&window_width=%lld&dtype=%s%s",
                       w->height, w->width, dtypes[dtype], more);
    double *got = encoded_all(&e, 0), *at = got;
    for (long long down = 1 - w->height; down < w->height; down++)
        for (long long across = 1 - w->width; across < w->width; across++, at += 2) {
            const double wanted[] = {
                down == 0 ? 0 : slow_coordinate(down, by->height, (pe_dtype)dtype),
                across == 0 ? 0 : slow_coordinate(across, by->width, (pe_dtype)dtype)};
            if (memcmp(at, wanted, sizeof wanted) != 0)
                fail_msg("window %lld x %lld, offset %lld, %lld, %s: got %a, %a, wanted %a, %a",
                         w->height, w->width, down, across, dtypes[dtype], at[0], at[1], wanted[0],
                         wanted[1]);
        }
    assert_int_equal(e.plan.n_warnings, trained != NULL ? 0 : (w->height == 1) + (w->width == 1));
    free(got);
    encoded_free(&e);
}

static void coordinates_are_correctly_rounded(void **state)
{
    static const struct window trained = {12, 24};
    for (size_t i = 0; i < PE_LEN(windows); i++)
        for (size_t t = 0; t < PE_LEN(dtypes); t++) {
            check_coordinates(&windows[i], NULL, t);
            check_coordinates(&windows[i], &trained, t);
        }
}

/* ---- skewing ---- */

/* As its authors do it: a column of zeros in front, the whole read as rows of another length, the
 * first row dropped; what stands above the diagonal then is masked. */
static void skew_slowly(const double *logits, long long n, double *out)
{
    double *padded = calloc((size_t)(n * (n + 1)), sizeof *padded);
    assert_non_null(padded);
    for (long long i = 0; i < n; i++)
        memcpy(padded + i * (n + 1) + 1, logits + i * n, (size_t)n * sizeof *logits);
    for (long long i = 0; i < n; i++)
        for (long long j = 0; j < n; j++)
            out[i * n + j] = j <= i ? padded[(i + 1) * n + j] : 0;
    free(padded);
}

static encoded encode_skew(random_source *random, long long heads, long long n, long long r,
                           double *logits)
{
    pe_buffer body = {0};
    pe_buffer_str(&body, "{\"dtype\":\"float64\",\"logits\":[[[");
    for (long long i = 0; i < heads * n * r; i++) {
        logits[i] = random_real(random, -4, 4);
        pe_buffer_format(&body, "%s%.17g",
                         i == 0             ? ""
                         : i % (n * r) == 0 ? "]],[["
                         : i % r == 0       ? "],["
                                            : ",",
                         logits[i]);
    }
    pe_buffer_str(&body, "]]]}");
    const encoded e = encode_json(&pe_relative_skew, "%s", pe_buffer_text(&body));
    pe_buffer_free(&body);
    return e;
}

static void skewing_is_padding_and_reshaping(void **state)
{
    static double logits[3 * 20 * 20], wanted[20 * 20];
    random_source random = random_make("skew");
    for (long long n = 1; n <= 20; n++) {
        const long long heads = 1 + n % 3;
        encoded e = encode_skew(&random, heads, n, n, logits);
        double *got = encoded_all(&e, 0);
        for (long long h = 0; h < heads; h++) {
            skew_slowly(logits + h * n * n, n, wanted);
            assert_memory_equal(got + h * n * n, wanted, (size_t)(n * n) * sizeof *got);
        }
        assert_int_equal(e.plan.n_warnings, n > 1);
        free(got);
        encoded_free(&e);
    }
}

static void logits_of_both_directions_keep_all_keys(void **state)
{
    static double logits[2 * 12 * 23];
    random_source random = random_make("both directions");
    for (long long n = 2; n <= 12; n++) {
        const long long r = 2 * n - 1;
        encoded e = encode_skew(&random, 2, n, r, logits);
        double *got = encoded_all(&e, 0);
        for (long long h = 0; h < 2; h++)
            for (long long i = 0; i < n; i++)
                for (long long j = 0; j < n; j++)
                    assert_true(got[(h * n + i) * n + j] ==
                                logits[(h * n + i) * r + j - i + n - 1]);
        assert_int_equal(e.plan.n_warnings, 0);
        free(got);
        encoded_free(&e);
    }
}

/* ---- windows, refusals ---- */

static void a_part_is_those_units_of_the_whole(void **state)
{
    static double logits[2 * 12 * 12];
    random_source random = random_make("parts");
    encoded tables[] = {
        encode(&pe_swin_index, "window_height=4&window_width=3"),
        encode(&pe_swin_coordinates, "window_height=4&window_width=3"),
        encode_bias(&windows[5], 2, "bfloat16"),
        encode_skew(&random, 2, 12, 12, logits),
    };
    for (size_t t = 0; t < PE_LEN(tables); t++) {
        assert_windows(&tables[t], &random);
        encoded_free(&tables[t]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_are_places_of_offsets),
        cmocka_unit_test(biases_are_weights_of_the_index),
        cmocka_unit_test(coordinates_are_correctly_rounded),
        cmocka_unit_test(skewing_is_padding_and_reshaping),
        cmocka_unit_test(logits_of_both_directions_keep_all_keys),
        cmocka_unit_test(a_part_is_those_units_of_the_whole),
    };
    return cmocka_run_group_tests_name("laws: windows and skewed logits", tests, NULL, NULL);
}
