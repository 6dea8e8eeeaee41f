/* SPDX-License-Identifier: MIT */
/* measure.c - how far an upload is from what a guess stands for, and whether that is too far. */
#include "verify/measure.h"

#include <math.h>
#include <mpfr.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "verify/allowance.h"

/* Units of work of an element that is computed and compared. */
#define ELEMENT_WORK 4

/* ---- types ---- */

static double rounded(pe_dtype dtype, double x)
{
    unsigned char element[8];
    if (dtype == PE_INT32)
        return x;
    pe_dtype_store(dtype, x, element);
    return pe_dtype_load(dtype, element);
}

static double distance(double got, double x)
{
    return got == x ? 0 : fabs(got - x);
}

/* ---- rows ---- */

/* A row of the upload beside the row that is expected there. */
typedef struct compared_row {
    const pe_upload_view *view;
    size_t row, width;
    pe_dtype dtype;
    const pe_grain *grain, *wider; /* that elements were rounded to, and perhaps on the way */
    bool truncated;
    double tolerance;
    const double *got;
    pe_expected_row want;
} compared_row;

/* Numbers that were not sent are as they should be. */
static void take_unsent(pe_expect *expect, compared_row *r)
{
    const pe_upload_view *view = r->view;
    if (r->got != expect->taken)
        memcpy(expect->taken, r->got, r->width * sizeof *r->got);
    memcpy(expect->taken + view->unsent_at, r->want.value + view->unsent_at,
           view->unsent_n * sizeof *r->got);
    r->got = expect->taken;
}

static pe_status compare_row(pe_expect *expect, size_t row, compared_row *out, pe_problem *why)
{
    const pe_upload_view *view = expect->view;
    const pe_dtype dtype = view->claim->uploads[0].array.dtype;
    const pe_grain *stored = expect->guess->distortion.stored;
    const bool narrow = dtype == PE_FLOAT16 || dtype == PE_BFLOAT16 || stored != NULL;
    *out = (compared_row){.view = view,
                          .row = row,
                          .width = pe_upload_view_row_width(view, row),
                          .dtype = dtype,
                          .grain = stored != NULL ? stored : pe_grain_of_dtype(dtype),
                          .wider = pe_grain_of_dtype(narrow ? PE_FLOAT32 : PE_FLOAT64),
                          .truncated = expect->guess->distortion.truncated,
                          .tolerance = view->claim->tolerance,
                          .got = pe_expect_got(expect, row)};
    pe_turn_spend(ELEMENT_WORK * out->width);
    const pe_status status = pe_expect_row(expect, row, &out->want, why);
    if (status == PE_OK && view->unsent_n > 0)
        take_unsent(expect, out);
    return status;
}

/* The guess's exact numbers, with its frequencies if they are needed. */
static pe_status expect_exact(const pe_comparison *of, bool frequencies, pe_expect *out,
                              pe_problem *why)
{
    pe_status status = pe_expect_make(of, PE_NUMERICS_EXACT, out, why);
    if (status != PE_OK || !out->fits || !frequencies)
        return status;
    status = pe_expect_probe(out, why);
    if (status != PE_OK)
        pe_expect_free(out);
    return status;
}

/* ---- the rule ---- */

/* What distance of column c an arithmetic allows. */
static double allowance(const compared_row *r, size_t c, unsigned by)
{
    if (r->tolerance >= 0)
        return r->tolerance;
    if (r->dtype == PE_INT32)
        return 0;
    const double x = r->want.value[c], ulp = pe_grain_ulp(r->grain, x);
    const double half = r->truncated ? ulp : ulp / 2;
    return by == PE_BY_FLOAT32 ? half + r->want.float32_error[c]
                               : half + pe_grain_ulp(r->wider, x) / 2 + r->want.exact_error[c];
}

/* Is the distance allowed? An allowance that is not finite allows none. */
static bool is_within(const compared_row *r, size_t c, unsigned by)
{
    const double most = allowance(r, c, by);
    return isfinite(most) && fabs(r->got[c] - r->want.value[c]) <= most;
}

/* Is the pair of column c as near to its circle as float32 arithmetic keeps it? Where only the
 * pair's other number is too far off, that one is at fault. */
static bool is_on_circle(const compared_row *r, size_t c)
{
    const size_t partner = r->want.partner[c];
    const double radius = r->want.radius[c], error = r->want.radius_error[c];
    if (partner == c || r->tolerance >= 0 || !pe_upload_view_is_sent(r->view, partner) ||
        !is_within(r, partner, PE_BY_FLOAT32))
        return true;
    /* 1.4143 > sqrt(2): both numbers of the pair may be off */
    const double most =
        1.4143 * (error + pe_grain_ulp(r->grain, radius + 2 * error) / (r->truncated ? 1 : 2));
    return isfinite(most) && fabs(hypot(r->got[c], r->got[partner]) - radius) <= most;
}

/* Which arithmetics allow column c. */
static unsigned explained_by(const compared_row *r, size_t c)
{
    if (r->got[c] == r->want.value[c])
        return PE_BY_EXACT | PE_BY_FLOAT32;
    const bool exact = is_within(r, c, PE_BY_EXACT);
    const bool float32 = is_within(r, c, PE_BY_FLOAT32) && (exact || is_on_circle(r, c));
    return (exact ? PE_BY_EXACT : 0U) | (float32 ? PE_BY_FLOAT32 : 0U);
}

/* Does float32 arithmetic tell nothing of column c, which is not exact? */
static bool is_undecided(const compared_row *r, size_t c)
{
    return r->want.radius[c] > 0 && r->want.float32_error[c] >= r->want.radius[c] &&
           (explained_by(r, c) & PE_BY_EXACT) == 0;
}

unsigned pe_measure_allowed(const pe_guess *guess)
{
    if (strcmp(pe_geometry_choice_text(&guess->values, "numerics"), "float32") == 0)
        return PE_BY_FLOAT32;
    return guess->claim->any_numerics ? PE_BY_EXACT | PE_BY_FLOAT32 : PE_BY_EXACT;
}

/* ---- does it explain the upload? ---- */

/* Go on with one token. */
static pe_status explain_token(pe_expect *expect, size_t token, unsigned *by, pe_problem *why)
{
    compared_row r;
    pe_status status = PE_OK;
    const size_t rows = pe_upload_view_token_rows(expect->view);
    for (size_t o = 0; o < rows && *by != 0 && status == PE_OK; o++) {
        status = compare_row(expect, pe_upload_view_row(expect->view, token, o), &r, why);
        for (size_t c = 0; c < r.width && *by != 0 && status == PE_OK; c++)
            *by &= explained_by(&r, c);
    }
    return status;
}

/* The last block of tokens comes first, for its positions tell most; then the rest. */
pe_status pe_measure_explain(const pe_comparison *of, unsigned *by, pe_problem *why)
{
    pe_expect expect;
    const pe_upload_view *view = of->view;
    const unsigned allowed = pe_measure_allowed(of->guess);
    const bool frequencies = (allowed & PE_BY_FLOAT32) != 0 || of->guess->distortion.values_inexact;
    const size_t last = (view->tokens - 1) % PE_EXPECT_BLOCK + 1; /* tokens of the last block */
    *by = 0;
    *of->work += pe_upload_view_plan_work(view);
    pe_status status = expect_exact(of, frequencies, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    *by = allowed;
    for (size_t n = 0; n < view->tokens && *by != 0 && status == PE_OK; n++) {
        status = explain_token(&expect, n < last ? view->tokens - last + n : n - last, by, why);
        *of->work += view->width * pe_upload_view_token_rows(view);
    }
    pe_expect_free(&expect);
    return status;
}

pe_status pe_measure_undecided(const pe_comparison *of, size_t *out, pe_problem *why)
{
    pe_expect expect;
    compared_row r;
    *out = 0;
    pe_status status = expect_exact(of, true, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    for (size_t row = 0; row < of->view->rows && status == PE_OK; row++) {
        status = compare_row(&expect, row, &r, why);
        for (size_t c = 0; c < r.width && status == PE_OK; c++)
            *out += is_undecided(&r, c);
    }
    pe_expect_free(&expect);
    return status;
}

static void add_residual(const compared_row *r, unsigned by, pe_residual *out)
{
    for (size_t c = 0; c < r->width; c++) {
        const double off = distance(r->got[c], r->want.value[c]);
        out->ratio = fmax(out->ratio, off / allowance(r, c, by));
        out->squares += off * off;
    }
}

pe_status pe_measure_residual(const pe_comparison *of, unsigned by, double reach,
                              const pe_residual *most, pe_residual *out, pe_problem *why)
{
    pe_expect expect;
    compared_row r;
    *out = (pe_residual){HUGE_VAL, HUGE_VAL};
    *of->work += pe_upload_view_plan_work(of->view);
    pe_status status = expect_exact(of, by == PE_BY_FLOAT32, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    *out = (pe_residual){0, 0};
    for (size_t row = of->view->rows; row-- > 0 && status == PE_OK;) {
        const size_t token = pe_upload_view_token(of->view, row);
        if (fabs(pe_upload_view_position(of->view, &expect.positions, token)) > reach)
            continue;
        if (out->ratio > most->ratio || out->squares > most->squares)
            break;
        status = compare_row(&expect, row, &r, why);
        if (status == PE_OK)
            add_residual(&r, by, out);
        *of->work += of->view->width;
    }
    pe_expect_free(&expect);
    return status;
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

static void raise(const pe_difference *d, place at, const compared_row *r, size_t c)
{
    float *cell =
        &d->cell[at.row * d->down / d->rows * d->across + at.column * d->across / d->columns];
    const double off = distance(r->got[c], r->want.value[c]);
    *cell = !isfinite(off) ? INFINITY : fmaxf(*cell, (float)off);
}

static void add_difference(const compared_row *r, const pe_geometry *g, const pe_difference *out)
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

/* Until finish, max_phase holds a key, and rms a sum of squares. */
static void add_element(const compared_row *r, size_t c, pe_errors *errors)
{
    const double x = r->want.value[c], off = distance(r->got[c], x);
    if (!pe_upload_view_is_sent(r->view, c))
        return;
    errors->elements++;
    errors->max_abs = off > errors->max_abs ? off : errors->max_abs;
    errors->max_ulp = fmax(errors->max_ulp, off / pe_grain_ulp(pe_grain_of_dtype(r->dtype), x));
    errors->rms += off * off;
}

static void add_phase(const compared_row *r, size_t c, size_t s, pe_errors *errors)
{
    const double *got = r->got, *x = r->want.value;
    if (r->view->unsent_n > 0)
        return;
    const double key = angle_key(got[s] * x[c] - got[c] * x[s], got[c] * x[c] + got[s] * x[s]);
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
static void measure_pairs(const compared_row *r, const pe_geometry *g, pe_distances *out)
{
    for (size_t i = 0; i < g->pairs; i++) {
        const size_t c = g->cos_at + i * g->stride, s = g->sin_at + i * g->stride;
        const bool has_cos = i < g->cos_n, has_sin = i < g->sin_n;
        if (has_cos && has_sin)
            add_phase(r, c, s, &out->errors);
        if (out->n_bands == 0)
            continue;
        pe_errors *band = band_of(out, i);
        if (has_cos)
            add_element(r, c, band);
        if (has_sin)
            add_element(r, s, band);
        if (has_cos && has_sin)
            add_phase(r, c, s, band);
    }
}

static void measure_units(const compared_row *r, pe_distances *out)
{
    const size_t n = leading_units(r->view), each = r->view->claim->uploads[0].array.elements / n;
    for (size_t c = 0; c < r->width && out->n_bands > 0; c++) {
        const size_t unit = (r->row * r->view->width + c) / each;
        if (unit < n)
            add_element(r, c, band_of(out, unit));
    }
}

static pe_status measure_row(pe_expect *expect, size_t row, pe_distances *out, pe_problem *why)
{
    compared_row r;
    const pe_status status = compare_row(expect, row, &r, why);
    if (status != PE_OK)
        return status;
    for (size_t c = 0; c < r.width; c++) {
        r.want.value[c] = rounded(r.dtype, r.want.value[c]);
        add_element(&r, c, &out->errors);
    }
    if (r.view->layout != NULL)
        measure_pairs(&r, &expect->geometry, out);
    else
        measure_units(&r, out);
    if (out->difference != NULL)
        add_difference(&r, &expect->geometry, out->difference);
    return PE_OK;
}

pe_status pe_measure_distances(const pe_comparison *of, size_t numerics, pe_distances *out,
                               pe_problem *why)
{
    pe_expect expect;
    const pe_upload_view *view = of->view;
    out->errors = (pe_errors){0};
    pe_status status = pe_expect_make(of, numerics, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    if (out->difference != NULL)
        status = make_difference(view, out->difference, why);
    for (size_t t = 0; t < view->tokens && status == PE_OK; t++)
        for (size_t o = 0; o < pe_upload_view_token_rows(view) && status == PE_OK; o++)
            status = measure_row(&expect, pe_upload_view_row(view, t, o), out, why);
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

static void describe_bad(const pe_expect *expect, const compared_row *r, size_t column, pe_bad *out)
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
    compared_row r;
    pe_status status = expect_exact(of, by == PE_BY_FLOAT32, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    for (size_t row = 0; row < of->view->rows && !out->any && status == PE_OK; row++) {
        status = compare_row(&expect, row, &r, why);
        for (size_t c = 0; c < r.width && !out->any && status == PE_OK; c++)
            if ((explained_by(&r, c) & by) == 0)
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
static void take_steps(const pe_expect *expect, const compared_row *r, size_t c, unsigned by,
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
    compared_row r;
    const pe_status status = compare_row(expect, row, &r, why);
    for (size_t c = 0; status == PE_OK && c < r.width; c++) {
        const double most = allowance(&r, c, by);
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
    pe_status status = expect_exact(of, by == PE_BY_FLOAT32, &expect, why);
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

/* ---- how many are bad ---- */

pe_status pe_measure_misses(const pe_comparison *of, unsigned by, size_t most, size_t *out,
                            pe_problem *why)
{
    pe_expect expect;
    compared_row r;
    *out = SIZE_MAX;
    pe_status status = expect_exact(of, by == PE_BY_FLOAT32, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    *out = 0;
    for (size_t row = 0; row < of->view->rows && *out <= most && status == PE_OK; row++) {
        status = compare_row(&expect, row, &r, why);
        for (size_t c = 0; c < r.width && status == PE_OK; c++)
            *out += (explained_by(&r, c) & by) == 0;
        *of->work += r.width;
    }
    pe_expect_free(&expect);
    return status;
}

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
static bool is_mask(const compared_row *r, size_t c)
{
    return r->got[c] == -HUGE_VAL && strcmp(r->view->claim->resource->encoding, "alibi") == 0;
}

static void count_row(const compared_row *r, unsigned by, const marks *seen, pe_strays *out)
{
    out->compared += r->width - r->view->unsent_n;
    for (size_t c = 0; c < r->width; c++)
        if ((explained_by(r, c) & by) == 0)
            add_stray(place_of(r->view, r->row, c), is_mask(r, c) ? 0 : r->got[c], seen, out);
}

pe_status pe_measure_strays(const pe_comparison *of, unsigned by, bool *columns, pe_strays *out,
                            pe_problem *why)
{
    pe_expect expect;
    compared_row r;
    set_extent(of->view, out);
    marks seen = {.rows = calloc(out->all_rows + out->all_columns, sizeof(bool))};
    seen.columns = seen.rows + out->all_rows;
    pe_status status = seen.rows == NULL ? pe_fail_memory(why)
                                         : expect_exact(of, by == PE_BY_FLOAT32, &expect, why);
    if (status == PE_OK && expect.fits) {
        for (size_t row = 0; row < of->view->rows && status == PE_OK; row++) {
            status = compare_row(&expect, row, &r, why);
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
