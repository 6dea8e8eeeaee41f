/* SPDX-License-Identifier: MIT */
/* measure_distances.c - what a person is told of an upload: distances, bad elements, strays. */
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "verify/allowance.h"
#include "verify/measure.h"
#include "verify/measure_rows.h"

static double rounded(pe_dtype dtype, double x)
{
    unsigned char element[8];
    if (dtype == PE_INT32)
        return x;
    pe_dtype_store(dtype, x, element);
    return pe_dtype_load(dtype, element);
}

/* ---- rows and columns of a person ---- */

/* Where an element is, to a person. */
typedef struct place {
    size_t row, column;
} place;

/* Columns of numbers that were not sent stand before or behind the others. */
static size_t first_sent(const pe_upload_view *view)
{
    return view->unsent_at == 0 ? view->unsent_n : 0;
}

static place place_of(const pe_upload_view *view, size_t row, size_t column)
{
    pe_bad at = {0};
    if (view->layout != NULL)
        return (place){row, column - first_sent(view)};
    pe_upload_view_index(view, row, column, &at);
    return (place){at.ndim > 1 ? at.index[0] : 0, at.ndim > 0 ? at.index[at.ndim - 1] : 0};
}

/* How many rows and columns there are, to a person. */
static void set_extent(const pe_upload_view *view, pe_strays *out)
{
    *out = (pe_strays){.all_rows = view->rows, .all_columns = view->width - view->unsent_n};
    if (view->layout != NULL)
        return;
    out->all_rows = out->all_columns = 1;
    for (size_t u = 0; u < view->n_tensors; u++) {
        const pe_shape *shape = &view->claim->uploads[u].array.shape;
        if (shape->ndim > 1 && shape->dim[0] > out->all_rows)
            out->all_rows = shape->dim[0];
        if (shape->ndim > 0 && shape->dim[shape->ndim - 1] > out->all_columns)
            out->all_columns = shape->dim[shape->ndim - 1];
    }
}

/* ---- a difference ---- */

static pe_status make_difference(const pe_upload_view *view, pe_difference *out, pe_problem *why)
{
    pe_strays extent;
    set_extent(view, &extent);
    out->rows = extent.all_rows;
    out->columns = view->layout != NULL ? view->geometry.pairs : extent.all_columns;
    out->down = out->rows < PE_DIFFERENCE_CELLS ? out->rows : PE_DIFFERENCE_CELLS;
    out->across = out->columns < PE_DIFFERENCE_CELLS ? out->columns : PE_DIFFERENCE_CELLS;
    out->cell = calloc(out->down * out->across + 1, sizeof *out->cell);
    return out->cell != NULL ? PE_OK : pe_fail_memory(why);
}

static void raise(const pe_difference *d, place at, const pe_measure_row *r, size_t c)
{
    float *cell =
        &d->cell[at.row * d->down / d->rows * d->across + at.column * d->across / d->columns];
    const double off = pe_measure_distance(r->got[c], r->want.value[c]);
    *cell = !isfinite(off) ? INFINITY : fmaxf(*cell, (float)off);
}

static void add_difference(const pe_measure_row *r, const pe_geometry *g, const pe_difference *out)
{
    for (size_t c = 0; c < r->width && r->view->layout == NULL; c++)
        raise(out, place_of(r->view, r->row, c), r, c);
    for (size_t i = 0; i < g->pairs && r->view->layout != NULL; i++)
        for (size_t copy = 0; copy <= g->copy; copy += g->copy + (g->copy == 0)) {
            if (i < g->cos_n)
                raise(out, (place){r->row, i}, r, g->cos_at + i * g->stride + copy);
            if (i < g->sin_n)
                raise(out, (place){r->row, i}, r, g->sin_at + i * g->stride + copy);
        }
}

/* ---- distances ---- */

/* Grows with |atan2(cross, dot)|: 0 at 0, 1 at a right angle, 2 at pi. */
static double angle_key(double cross, double dot)
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

/* How far an element is from what is expected, rounded to the upload's type. */
typedef struct element_error {
    double off, ulps;
} element_error;

static element_error error_of(const pe_measure_row *r, size_t c)
{
    const double x = r->want.value[c], off = pe_measure_distance(r->got[c], x);
    return (element_error){off, off / pe_grain_ulp(pe_grain_of_dtype(r->dtype), x)};
}

/* Until finish, max_phase holds a key, and rms a sum of squares. */
static void add_element(const element_error *is, pe_errors *errors)
{
    errors->elements++;
    errors->max_abs = is->off > errors->max_abs ? is->off : errors->max_abs;
    errors->max_ulp = is->ulps > errors->max_ulp ? is->ulps : errors->max_ulp;
    errors->rms += is->off * is->off;
}

static double phase_key(const pe_measure_row *r, size_t c, size_t s)
{
    const double *got = r->got, *x = r->want.value;
    return angle_key(got[s] * x[c] - got[c] * x[s], got[c] * x[c] + got[s] * x[s]);
}

static void add_phase(double key, pe_errors *errors)
{
    errors->has_phase = true;
    errors->max_phase = key > errors->max_phase ? key : errors->max_phase;
}

static void finish(pe_errors *errors)
{
    errors->max_phase = key_angle(errors->max_phase);
    errors->rms = errors->elements > 0 ? sqrt(errors->rms / (double)errors->elements) : 0;
}

/* Units of the leading axis: what bands are of where there are no pairs. */
static size_t leading_units(const pe_upload_view *view)
{
    const pe_shape *shape = &view->claim->uploads[0].array.shape;
    return shape->ndim == 0 ? 1 : shape->dim[0];
}

void pe_measure_set_bands(const pe_upload_view *view, pe_distances *out)
{
    const size_t n = view->layout != NULL ? view->geometry.pairs : leading_units(view);
    const size_t bands = n < PE_BANDS_MAX ? n : PE_BANDS_MAX;
    for (size_t b = 0; b < bands; b++)
        out->bands[b] = (pe_band){.first = (b * n + bands - 1) / bands,
                                  .last = ((b + 1) * n + bands - 1) / bands - 1};
    out->n_bands = bands;
}

static pe_errors *band_of(pe_distances *out, size_t i)
{
    size_t b = 0;
    while (b + 1 < out->n_bands && i > out->bands[b].last)
        b++;
    return &out->bands[b].errors;
}

/* Each pair once, where the guess puts it: the upload may be narrower than the claim. */
static void set_bands_of_columns(const pe_geometry *g, pe_distances *out, pe_errors **of)
{
    for (size_t i = 0; i < g->pairs && out->n_bands > 0; i++) {
        if (i < g->cos_n)
            of[g->cos_at + i * g->stride] = band_of(out, i);
        if (i < g->sin_n)
            of[g->sin_at + i * g->stride] = band_of(out, i);
    }
}

static void measure_phases(const pe_measure_row *r, const pe_geometry *g,
                           pe_errors **band_of_column, pe_distances *out)
{
    for (size_t i = 0; i < g->cos_n && i < g->sin_n; i++) {
        const size_t c = g->cos_at + i * g->stride;
        const double key = phase_key(r, c, g->sin_at + i * g->stride);
        add_phase(key, &out->errors);
        if (band_of_column[c] != NULL)
            add_phase(key, band_of_column[c]);
    }
}

/* Bands of units of the leading axis. */
static void set_bands_of_units(const pe_measure_row *r, pe_distances *out, pe_errors **of)
{
    const size_t n = leading_units(r->view), each = r->view->claim->uploads[0].array.elements / n;
    for (size_t c = 0; c < r->width && out->n_bands > 0; c++) {
        const size_t unit = (r->row * r->view->width + c) / each;
        of[c] = unit < n ? band_of(out, unit) : NULL;
    }
}

static pe_status measure_row(pe_expect *expect, size_t row, pe_errors **band_of_column,
                             pe_distances *out, pe_problem *why)
{
    pe_measure_row r;
    const pe_status status = pe_measure_compare(expect, row, &r, why);
    if (status != PE_OK)
        return status;
    if (r.view->layout == NULL)
        set_bands_of_units(&r, out, band_of_column);
    for (size_t c = 0; c < r.width; c++) {
        r.want.value[c] = rounded(r.dtype, r.want.value[c]);
        if (!pe_upload_view_is_sent(r.view, c))
            continue;
        const element_error is = error_of(&r, c);
        add_element(&is, &out->errors);
        if (band_of_column[c] != NULL)
            add_element(&is, band_of_column[c]);
    }
    if (r.view->layout != NULL && r.view->unsent_n == 0)
        measure_phases(&r, &expect->geometry, band_of_column, out);
    if (out->difference != NULL)
        add_difference(&r, &expect->geometry, out->difference);
    return PE_OK;
}

static pe_status measure_rows(pe_expect *expect, pe_distances *out, pe_problem *why)
{
    const pe_upload_view *view = expect->view;
    pe_errors **band_of_column = calloc(view->width + 1, sizeof(pe_errors *));
    pe_status status = band_of_column == NULL ? pe_fail_memory(why) : PE_OK;
    if (status == PE_OK && view->layout != NULL)
        set_bands_of_columns(&expect->geometry, out, band_of_column);
    for (size_t t = 0; t < view->tokens && status == PE_OK; t++)
        for (size_t o = 0; o < pe_upload_view_token_rows(view) && status == PE_OK; o++)
            status = measure_row(expect, pe_upload_view_row(view, t, o), band_of_column, out, why);
    free(band_of_column);
    return status;
}

pe_status pe_measure_distances(const pe_comparison *of, size_t numerics, pe_distances *out,
                               pe_problem *why)
{
    pe_expect expect;
    out->errors = (pe_errors){0};
    pe_status status = pe_expect_make(of, numerics, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    if (out->difference != NULL)
        status = make_difference(of->view, out->difference, why);
    if (status == PE_OK)
        status = measure_rows(&expect, out, why);
    finish(&out->errors);
    for (size_t b = 0; b < out->n_bands; b++)
        finish(&out->bands[b].errors);
    pe_expect_free(&expect);
    return status;
}

/* ---- the first bad element ---- */

/* Does the column belong to a pair of the claim, and to which? */
static bool has_pair(const pe_geometry *g, size_t column, size_t *out)
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

static void describe_bad(const pe_expect *expect, const pe_measure_row *r, size_t column,
                         pe_bad *out)
{
    *out = (pe_bad){
        .any = true, .expected = rounded(r->dtype, r->want.value[column]), .got = r->got[column]};
    pe_upload_view_index(r->view, r->row, column, out);
    if (r->view->layout == NULL)
        return;
    out->position =
        pe_upload_view_position(r->view, &expect->positions, pe_upload_view_token(r->view, r->row));
    out->has_pair = has_pair(&r->view->geometry, column, &out->pair);
}

pe_status pe_measure_first_bad(const pe_comparison *of, unsigned by, pe_bad *out, pe_problem *why)
{
    pe_expect expect;
    pe_measure_row r;
    pe_status status = pe_measure_expect(of, by == PE_BY_FLOAT32, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    for (size_t row = 0; row < of->view->rows && !out->any && status == PE_OK; row++) {
        status = pe_measure_compare(&expect, row, &r, why);
        for (size_t c = 0; c < r.width && !out->any && status == PE_OK; c++)
            if ((pe_measure_explained_by(&r, c) & by) == 0)
                describe_bad(&expect, &r, c, out);
    }
    pe_expect_free(&expect);
    return status;
}

/* ---- what was allowed ---- */

static size_t farthest_token(const pe_upload_view *view, const pe_positions *positions)
{
    size_t best = 0;
    double most = -1;
    for (size_t t = 0; t < view->tokens; t++) {
        const double p = fabs(pe_upload_view_position(view, positions, t));
        if (p > most) {
            most = p;
            best = t;
        }
    }
    return best;
}

/* The steps behind the allowance of a column. */
static void take_steps(const pe_expect *expect, const pe_measure_row *r, size_t c, unsigned by,
                       pe_allowed *out)
{
    const double x = r->want.value[c], radius = r->want.radius[c];
    const double ulp = pe_grain_ulp(r->grain, x), part = radius > 0 ? radius : 0;
    out->stored =
        (r->truncated ? ulp : ulp / 2) + (by == PE_BY_FLOAT32 ? 0 : pe_grain_ulp(r->wider, x) / 2);
    out->max_ulp = out->max_abs / pe_grain_ulp(r->grain, radius > fabs(x) ? radius : x);
    out->has_pair = r->view->layout != NULL && by == PE_BY_FLOAT32 &&
                    has_pair(&expect->geometry, c, &out->pair);
    if (!out->has_pair)
        return;
    const size_t token = pe_upload_view_token(r->view, r->row);
    out->position = pe_upload_view_position(r->view, &expect->positions, token);
    out->frequency = expect->frequency[out->pair];
    out->roundings = expect->roundings[out->pair];
    out->amplitude = expect->amplitude;
    const double turned = out->roundings * 0x1p-24 * fabs(out->position) * out->frequency;
    out->angle = part > 0 ? expect->amplitude * turned : 0;
    out->waves = expect->amplitude * 0x1p-22;
    if (r->view->rotated) { /* of both channels */
        const double size =
            (r->want.float32_error[c] - r->want.exact_error[c]) / (out->angle + out->waves);
        out->angle *= size;
        out->waves *= size;
        out->products = r->want.exact_error[c];
    }
}

static pe_status look_at_row(pe_expect *expect, size_t row, unsigned by, pe_allowed *out,
                             pe_problem *why)
{
    pe_measure_row r;
    const pe_status status = pe_measure_compare(expect, row, &r, why);
    for (size_t c = 0; status == PE_OK && c < r.width; c++) {
        const double most = pe_measure_row_allows(&r, c, by);
        if (!isfinite(most) || most <= out->max_abs)
            continue;
        out->max_abs = most;
        take_steps(expect, &r, c, by, out);
    }
    return status;
}

pe_status pe_measure_allowance(const pe_comparison *of, unsigned by, pe_allowed *out,
                               pe_problem *why)
{
    pe_expect expect;
    const pe_upload_view *view = of->view;
    const bool table = view->layout != NULL && !view->rotated;
    pe_status status = pe_measure_expect(of, by == PE_BY_FLOAT32, &expect, why);
    *out = (pe_allowed){.arithmetic = by == PE_BY_FLOAT32 ? "float32" : "exact",
                        .words = pe_allowance_words(view->claim->resource)};
    if (status != PE_OK || !expect.fits)
        return status;
    if (view->claim->tolerance >= 0)
        out->arithmetic = NULL;
    const size_t token = table ? farthest_token(view, &expect.positions) : 0;
    const size_t rows = table ? pe_upload_view_token_rows(view) : view->rows;
    for (size_t k = 0; k < rows && status == PE_OK; k++)
        status = look_at_row(&expect, table ? pe_upload_view_row(view, token, k) : k, by, out, why);
    *of->work += rows * view->width;
    pe_expect_free(&expect);
    return status;
}

/* ---- strays ---- */

/* Which rows and columns hold strays. */
typedef struct marks {
    bool *rows, *columns;
} marks;

static void add_stray(place at, double got, const marks *seen, pe_strays *out)
{
    if (out->elements == 0)
        out->first_row = at.row, out->first_column = at.column;
    out->elements++;
    out->not_finite += isfinite(got) ? 0 : 1;
    out->zeros += got == 0 ? 1 : 0;
    out->rows += !seen->rows[at.row];
    out->columns += !seen->columns[at.column];
    seen->rows[at.row] = seen->columns[at.column] = true;
    out->first_row = at.row < out->first_row ? at.row : out->first_row;
    out->last_row = at.row > out->last_row ? at.row : out->last_row;
    out->first_column = at.column < out->first_column ? at.column : out->first_column;
    out->last_column = at.column > out->last_column ? at.column : out->last_column;
    out->map[at.row * PE_MAP_CELLS / out->all_rows][at.column * PE_MAP_CELLS / out->all_columns]++;
}

/* -inf is a number of a bias that masks. */
static bool is_mask(const pe_measure_row *r, size_t c)
{
    return r->got[c] == -HUGE_VAL && strcmp(r->view->claim->resource->encoding, "alibi") == 0;
}

static void count_row(const pe_measure_row *r, unsigned by, const marks *seen, pe_strays *out)
{
    out->compared += r->width - r->view->unsent_n;
    for (size_t c = 0; c < r->width; c++)
        if ((pe_measure_explained_by(r, c) & by) == 0)
            add_stray(place_of(r->view, r->row, c), is_mask(r, c) ? 1 : r->got[c], seen, out);
}

pe_status pe_measure_strays(const pe_comparison *of, unsigned by, bool *columns, pe_strays *out,
                            pe_problem *why)
{
    pe_expect expect;
    pe_measure_row r;
    set_extent(of->view, out);
    marks seen = {.rows = calloc(out->all_rows + out->all_columns, sizeof(bool))};
    seen.columns = seen.rows + out->all_rows;
    pe_status status = seen.rows == NULL ? pe_fail_memory(why)
                                         : pe_measure_expect(of, by == PE_BY_FLOAT32, &expect, why);
    if (status == PE_OK && expect.fits) {
        for (size_t row = 0; row < of->view->rows && status == PE_OK; row++) {
            status = pe_measure_compare(&expect, row, &r, why);
            if (status == PE_OK)
                count_row(&r, by, &seen, out);
        }
        *of->work += of->view->elements;
        pe_expect_free(&expect);
    }
    for (size_t c = 0; columns != NULL && status == PE_OK && c < out->all_columns; c++)
        columns[c] |= seen.columns[c];
    free(seen.rows);
    return status;
}
