/* SPDX-License-Identifier: MIT */
/* measure.c - how far an upload is from what a guess stands for, and whether that is too far. */
#include "verify/measure.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

/* ----
 * the rule ----------------------------------------------------------------------------------- */

/* The distance of neighbours at x. */
static double ulp(pe_dtype dtype, double x)
{
    static const struct {
        int bits, least;
    } types[PE_DTYPES] = {[PE_FLOAT32] = {24, -149},
                          [PE_FLOAT64] = {53, -1074},
                          [PE_FLOAT16] = {11, -24},
                          [PE_BFLOAT16] = {8, -133},
                          [PE_INT32] = {31, 0}};
    int exponent;
    if (x == 0 || !isfinite(x))
        return ldexp(1, types[dtype].least);
    frexp(x, &exponent); /* |x| in [2^(exponent - 1), 2^exponent) */
    const int at = exponent - types[dtype].bits;
    return ldexp(1, at < types[dtype].least ? types[dtype].least : at);
}

static double rounded(pe_dtype dtype, double x)
{
    unsigned char element[8];
    pe_dtype_store(dtype, x, element);
    return pe_dtype_load(dtype, element);
}

typedef struct ruler {
    pe_dtype dtype, wider;
    double tolerance;
} ruler;

static ruler ruler_of(const pe_upload_view *view)
{
    const pe_dtype dtype = view->claim->uploads[0].array.dtype;
    const bool narrow = dtype == PE_FLOAT16 || dtype == PE_BFLOAT16;
    return (ruler){dtype, narrow ? PE_FLOAT32 : PE_FLOAT64, view->claim->tolerance};
}

/* What distances from x the arithmetics allow. */
typedef struct allowance {
    double exact, float32;
} allowance;

static allowance allowed_at(const ruler *r, double x, double exact, double float32)
{
    if (r->tolerance >= 0)
        return (allowance){r->tolerance, r->tolerance};
    if (r->dtype == PE_INT32)
        return (allowance){0, 0};
    const double half = ulp(r->dtype, x) / 2;
    return (allowance){half + ulp(r->wider, x) / 2 + exact, half + float32};
}

/* Is the pair of column c as near to its circle as float32 arithmetic keeps it? */
static bool on_circle(const ruler *r, const double *got, const pe_expected_row *x, size_t c)
{
    const double radius = x->radius[c], radial = x->radial[c];
    if (x->partner[c] == c || r->tolerance >= 0)
        return true;
    /* 1.4143 > sqrt(2): both numbers of the pair may be off */
    const double most = 1.4143 * (radial + ulp(r->dtype, radius + 2 * radial) / 2);
    return isfinite(most) && fabs(hypot(got[c], got[x->partner[c]]) - radius) <= most;
}

/* Which arithmetics allow column c of a row. */
static unsigned allow(const ruler *r, const double *got, const pe_expected_row *x, size_t c)
{
    if (got[c] == x->value[c])
        return PE_BY_EXACT | PE_BY_FLOAT32;
    const double distance = fabs(got[c] - x->value[c]);
    const allowance most = allowed_at(r, x->value[c], x->exact[c], x->float32[c]);
    const bool exact = isfinite(most.exact) && distance <= most.exact;
    const bool float32 = isfinite(most.float32) && distance <= most.float32;
    return (exact ? PE_BY_EXACT : 0U) |
           (float32 && (exact || on_circle(r, got, x, c)) ? PE_BY_FLOAT32 : 0U);
}

/* Does float32 arithmetic tell nothing of column c of a row, which is not exact? */
static bool undecided(const ruler *r, const double *got, const pe_expected_row *x, size_t c)
{
    return x->radius[c] > 0 && x->float32[c] >= x->radius[c] &&
           (allow(r, got, x, c) & PE_BY_EXACT) == 0;
}

unsigned pe_measure_allowed(const pe_guess *guess)
{
    const bool float32 =
        strcmp(pe_geometry_choice_text(&guess->values, "numerics"), "float32") == 0;
    if (float32)
        return PE_BY_FLOAT32;
    return guess->claim->any_numerics ? PE_BY_EXACT | PE_BY_FLOAT32 : PE_BY_EXACT;
}

/* ---- does it explain
 * the upload? ---------------------------------------------------------------- */

static unsigned allow_row(const pe_upload_view *view, const ruler *r, size_t row,
                          const pe_expected_row *expected, unsigned by)
{
    const double *got = view->got + row * view->width;
    const size_t width = pe_upload_view_row_width(view, row);
    for (size_t c = 0; c < width && by != 0; c++)
        by &= allow(r, got, expected, c);
    return by;
}

static pe_status explain_token(pe_expect *expect, const ruler *r, size_t token, unsigned *by,
                               pe_problem *why)
{
    const pe_upload_view *view = expect->view;
    pe_expected_row expected;
    pe_status status = PE_OK;
    for (size_t o = 0; o < view->rest * view->inner && *by != 0 && status == PE_OK; o++) {
        const size_t row = pe_upload_view_row(view, token, o);
        status = pe_expect_row(expect, row, &expected, why);
        if (status == PE_OK)
            *by = allow_row(view, r, row, &expected, *by);
    }
    return status;
}

/* The last block of tokens first, for its positions tell most; then the rest. */
static pe_status explain_all(pe_expect *expect, unsigned *by, size_t *work, pe_problem *why)
{
    const pe_upload_view *view = expect->view;
    const ruler r = ruler_of(view);
    const size_t last = (view->tokens - 1) / PE_EXPECT_BLOCK * PE_EXPECT_BLOCK;
    pe_status status = PE_OK;
    for (size_t n = 0; n < view->tokens && *by != 0 && status == PE_OK; n++) {
        const size_t token = n < view->tokens - last ? last + n : n - (view->tokens - last);
        status = explain_token(expect, &r, token, by, why);
        *work += view->width * view->rest * view->inner;
    }
    return status;
}

pe_status pe_measure_explain(const pe_upload_view *view, const pe_guess *guess, unsigned *by,
                             size_t *work, pe_problem *why)
{
    bool fits;
    pe_expect expect;
    const unsigned allowed = pe_measure_allowed(guess);
    *by = 0;
    *work += pe_upload_view_plan_work(view);
    pe_status status = pe_expect_make(view, guess, PE_NUMERICS_EXACT, &expect, &fits, why);
    if (status != PE_OK || !fits)
        return status;
    *by = allowed;
    if ((allowed & PE_BY_FLOAT32) != 0 || guess->distortion.loose)
        status = pe_expect_probe(&expect, why);
    if (status == PE_OK)
        status = explain_all(&expect, by, work, why);
    pe_expect_free(&expect);
    return status;
}

pe_status pe_measure_undecided(const pe_upload_view *view, const pe_guess *guess, size_t *out,
                               pe_problem *why)
{
    bool fits;
    pe_expect expect;
    pe_expected_row expected;
    const ruler r = ruler_of(view);
    *out = 0;
    pe_status status = pe_expect_make(view, guess, PE_NUMERICS_EXACT, &expect, &fits, why);
    if (status != PE_OK || !fits)
        return status;
    status = pe_expect_probe(&expect, why);
    for (size_t t = 0; t < view->tokens && status == PE_OK; t++)
        for (size_t o = 0; o < view->rest * view->inner && status == PE_OK; o++) {
            const size_t row = pe_upload_view_row(view, t, o);
            status = pe_expect_row(&expect, row, &expected, why);
            for (size_t c = 0; c < pe_upload_view_row_width(view, row) && status == PE_OK; c++)
                *out += undecided(&r, view->got + row * view->width, &expected, c);
        }
    pe_expect_free(&expect);
    return status;
}

static double row_strain(const pe_upload_view *view, const ruler *r, size_t row, unsigned by,
                         const pe_expected_row *expected, double *squares)
{
    double strain = 0;
    const double *got = view->got + row * view->width, *x = expected->value;
    for (size_t c = 0; c < pe_upload_view_row_width(view, row); c++) {
        const allowance most = allowed_at(r, x[c], expected->exact[c], expected->float32[c]);
        const double distance = got[c] == x[c] ? 0 : fabs(got[c] - x[c]);
        strain = fmax(strain, distance / ((by & PE_BY_FLOAT32) != 0 ? most.float32 : most.exact));
        *squares += distance * distance;
    }
    return strain;
}

pe_status pe_measure_strain(const pe_upload_view *view, const pe_guess *guess, unsigned by,
                            double most, double *out, double *squares, size_t *work,
                            pe_problem *why)
{
    bool fits;
    pe_expect expect;
    pe_expected_row expected;
    const ruler r = ruler_of(view);
    double strain = 0;
    *out = *squares = HUGE_VAL;
    *work += pe_upload_view_plan_work(view);
    pe_status status = pe_expect_make(view, guess, PE_NUMERICS_EXACT, &expect, &fits, why);
    if (status != PE_OK || !fits)
        return status;
    if ((by & PE_BY_FLOAT32) != 0)
        status = pe_expect_probe(&expect, why);
    *squares = 0;
    for (size_t row = 0; row < view->rows && status == PE_OK; row++) {
        if (fabs(pe_positions_at(&expect.positions, pe_upload_view_token(view, row))) > most)
            continue;
        status = pe_expect_row(&expect, row, &expected, why);
        if (status == PE_OK)
            strain = fmax(strain, row_strain(view, &r, row, by, &expected, squares));
        *work += view->width;
    }
    pe_expect_free(&expect);
    *out = strain;
    return status;
}

/* ---- distances ---- */

/* A monotone stand-in for |atan2(cross, dot)|: 0 at 0, 1 at a right angle, 2 at pi. */
static double turn_key(double cross, double dot)
{
    const double c = fabs(cross);
    if (c == 0 && dot == 0)
        return 0;
    return dot >= 0 ? c / (c + dot) : 2 - c / (c - dot);
}

static double key_angle(double key)
{
    mpfr_t angle, x;
    mpfr_inits2(128, angle, x, (mpfr_ptr)NULL);
    mpfr_set_d(angle, key <= 1 ? key : 2 - key, MPFR_RNDN);
    mpfr_set_d(x, key <= 1 ? 1 - key : key - 1, MPFR_RNDN);
    if (key > 1)
        mpfr_neg(x, x, MPFR_RNDN);
    mpfr_atan2(angle, angle, x, MPFR_RNDN);
    const double result = mpfr_get_d(angle, MPFR_RNDN);
    mpfr_clears(angle, x, (mpfr_ptr)NULL);
    return result;
}

/* max_phase holds keys, rms a sum of squares until finish. */
static void add_element(const ruler *r, pe_errors *errors, double got, double x)
{
    const double distance = got == x ? 0 : fabs(got - x);
    errors->elements++;
    if (distance > errors->max_abs)
        errors->max_abs = distance;
    if (distance / ulp(r->dtype, x) > errors->max_ulp)
        errors->max_ulp = distance / ulp(r->dtype, x);
    errors->rms += distance * distance;
}

static void add_pair(pe_errors *errors, const double *got, const double *x, size_t c, size_t s)
{
    const double key = turn_key(got[s] * x[c] - got[c] * x[s], got[c] * x[c] + got[s] * x[s]);
    errors->has_phase = true;
    if (key > errors->max_phase)
        errors->max_phase = key;
}

static void finish(pe_errors *errors)
{
    errors->max_phase = key_angle(errors->max_phase);
    errors->rms = errors->elements > 0 ? sqrt(errors->rms / (double)errors->elements) : 0;
}

size_t pe_measure_bands(const pe_upload_view *view, pe_band *out)
{
    const pe_shape *shape = &view->claim->uploads[0].array.shape;
    const size_t n = view->waves != NULL ? view->geometry.pairs
                     : shape->ndim == 0  ? 1
                                         : shape->dim[0];
    const size_t bands = n < PE_BANDS_MAX ? n : PE_BANDS_MAX;
    for (size_t b = 0; b < bands; b++)
        out[b] = (pe_band){.first = (b * n + bands - 1) / bands,
                           .last = ((b + 1) * n + bands - 1) / bands - 1};
    return bands;
}

static pe_band *band_of(pe_band *bands, size_t n_bands, size_t i)
{
    size_t b = 0;
    while (b + 1 < n_bands && i > bands[b].last)
        b++;
    return &bands[b];
}

static void measure_pair(const pe_geometry *g, const ruler *r, const double *got, const double *x,
                         size_t i, pe_errors *errors)
{
    const size_t c = g->cos_at + i * g->stride, s = g->sin_at + i * g->stride;
    if (i < g->cos_n)
        add_element(r, errors, got[c], x[c]);
    if (i < g->sin_n)
        add_element(r, errors, got[s], x[s]);
    if (i < g->cos_n && i < g->sin_n)
        add_pair(errors, got, x, c, s);
}

/* Elements of the row in bands; x is rounded already. Pairs are where the guess puts them: the
 * upload may be narrower than the claim. */
static void measure_bands(const pe_upload_view *view, const pe_geometry *g, const ruler *r,
                          size_t row, const double *x, pe_band *bands, size_t n_bands)
{
    const double *got = view->got + row * view->width;
    if (view->waves != NULL) {
        for (size_t i = 0; i < g->pairs; i++)
            measure_pair(g, r, got, x, i, &band_of(bands, n_bands, i)->errors);
        return;
    }
    const pe_shape *shape = &view->claim->uploads[0].array.shape;
    const size_t n = shape->ndim == 0 ? 1 : shape->dim[0];
    const size_t each = view->claim->uploads[0].array.elements / n;
    for (size_t e = 0; e < pe_upload_view_row_width(view, row); e++) {
        const size_t at = (row * view->width + e) / each;
        if (at < n)
            add_element(r, &band_of(bands, n_bands, at)->errors, got[e], x[e]);
    }
}

static void measure_row(const pe_upload_view *view, const pe_geometry *g, const ruler *r,
                        size_t row, double *x, pe_errors *errors, pe_band *bands, size_t n_bands)
{
    const double *got = view->got + row * view->width;
    const size_t width = pe_upload_view_row_width(view, row);
    for (size_t c = 0; c < width; c++) {
        x[c] = r->dtype == PE_INT32 ? x[c] : rounded(r->dtype, x[c]);
        add_element(r, errors, got[c], x[c]);
    }
    for (size_t i = 0; view->waves != NULL && i < g->cos_n && i < g->sin_n; i++)
        add_pair(errors, got, x, g->cos_at + i * g->stride, g->sin_at + i * g->stride);
    if (n_bands > 0)
        measure_bands(view, g, r, row, x, bands, n_bands);
}

pe_status pe_measure(const pe_upload_view *view, const pe_guess *guess, size_t numerics,
                     pe_errors *errors, pe_band *bands, size_t n_bands, pe_problem *why)
{
    bool fits;
    pe_expect expect;
    pe_expected_row expected;
    const ruler r = ruler_of(view);
    *errors = (pe_errors){0};
    pe_status status = pe_expect_make(view, guess, numerics, &expect, &fits, why);
    if (status != PE_OK || !fits)
        return status;
    for (size_t t = 0; t < view->tokens && status == PE_OK; t++)
        for (size_t o = 0; o < view->rest * view->inner && status == PE_OK; o++) {
            const size_t row = pe_upload_view_row(view, t, o);
            status = pe_expect_row(&expect, row, &expected, why);
            if (status == PE_OK)
                measure_row(view, &expect.geometry, &r, row, expected.value, errors, bands,
                            n_bands);
        }
    finish(errors);
    for (size_t b = 0; b < n_bands; b++)
        finish(&bands[b].errors);
    pe_expect_free(&expect);
    return status;
}

/* ---- the first
 * bad element ---------------------------------------------------------------------- */

/* The pair that a column of the claim belongs to. */
static bool pair_of(const pe_geometry *g, size_t column, size_t *out)
{
    for (size_t i = 0; i < g->pairs; i++) {
        const size_t c = g->cos_at + i * g->stride, s = g->sin_at + i * g->stride;
        if ((i < g->cos_n && (column == c || column == c + g->copy)) ||
            (i < g->sin_n && (column == s || column == s + g->copy))) {
            *out = i;
            return true;
        }
    }
    return false;
}

static void tell(const pe_expect *expect, size_t row, size_t column, double x, pe_bad *out)
{
    const pe_upload_view *view = expect->view;
    const ruler r = ruler_of(view);
    *out = (pe_bad){.any = true,
                    .expected = r.dtype == PE_INT32 ? x : rounded(r.dtype, x),
                    .got = view->got[row * view->width + column]};
    pe_upload_view_index(view, row, column, out);
    if (view->waves == NULL)
        return;
    out->position = pe_positions_at(&expect->positions, pe_upload_view_token(view, row));
    out->has_pair = pair_of(&view->geometry, column, &out->pair);
}

pe_status pe_measure_first_bad(const pe_upload_view *view, const pe_guess *guess, unsigned by,
                               pe_bad *out, pe_problem *why)
{
    bool fits;
    pe_expect expect;
    pe_expected_row expected;
    const ruler r = ruler_of(view);
    pe_status status = pe_expect_make(view, guess, PE_NUMERICS_EXACT, &expect, &fits, why);
    if (status != PE_OK || !fits)
        return status;
    if (by == PE_BY_FLOAT32)
        status = pe_expect_probe(&expect, why);
    for (size_t row = 0; row < view->rows && !out->any && status == PE_OK; row++) {
        const double *got = view->got + row * view->width;
        status = pe_expect_row(&expect, row, &expected, why);
        for (size_t c = 0; c < pe_upload_view_row_width(view, row) && !out->any && status == PE_OK;
             c++)
            if ((allow(&r, got, &expected, c) & by) == 0)
                tell(&expect, row, c, expected.value[c], out);
    }
    pe_expect_free(&expect);
    return status;
}
