/* SPDX-License-Identifier: MIT */
/* totals.c - what a person is told of an upload, counted in one walk over its elements. */
#include "verify/compare/totals.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "plan/common_params.h"
#include "plan/resource.h"
#include "verify/compare/allowance.h"
#include "verify/compare/report.h"

/* ---- rows and columns of a person ---- */

typedef struct place {
    size_t row, column;
} place;

/* Does a tensor have rows? Then a list beside it has a number for each. */
static bool has_rows(const pe_upload_view *view)
{
    size_t u = 0;
    while (u < view->n_tensors && view->claim->uploads[u].array.shape.ndim < 2)
        u++;
    return u < view->n_tensors;
}

static place place_of(const pe_totals *totals, const pe_measure_row *r, size_t column)
{
    pe_bad at = {0};
    if (r->view->layout != NULL) /* columns that were not sent stand before or behind the others */
        return (place){totals->done + r->row,
                       column - (r->view->unsent_at == 0 ? r->view->unsent_n : 0)};
    pe_upload_view_index(r->view, r->row, column, &at);
    if (at.ndim == 1 && has_rows(r->view))
        return (place){totals->done + at.index[0], 0};
    return (place){totals->done + (at.ndim > 1 ? at.index[0] : 0),
                   at.ndim > 0 ? at.index[at.ndim - 1] : 0};
}

/* How many rows and columns there are, to a person. */
static void set_extent(const pe_upload_view *view, size_t rows, pe_mismatches *out)
{
    *out = (pe_mismatches){.all_rows = rows > 0 ? rows : view->rows,
                           .all_columns = view->width - view->unsent_n};
    if (view->layout != NULL)
        return;
    out->all_rows = rows > 0 ? rows : 1;
    out->all_columns = 1;
    for (size_t u = 0; u < view->n_tensors; u++) {
        const pe_upload *upload = &view->claim->uploads[u];
        const pe_shape *shape = upload->sent.ndim > 0 ? &upload->sent : &upload->array.shape;
        const bool lists = shape->ndim == 1 && has_rows(view);
        if ((shape->ndim > 1 || lists) && shape->dim[0] > out->all_rows)
            out->all_rows = shape->dim[0];
        if (shape->ndim > 0 && !lists && shape->dim[shape->ndim - 1] > out->all_columns)
            out->all_columns = shape->dim[shape->ndim - 1];
    }
}

/* Units of the leading axis: what bands are of where there are no pairs. */
static size_t leading_units(const pe_upload_view *view)
{
    const pe_shape *shape = &view->claim->uploads[0].array.shape;
    return shape->ndim == 0 ? 1 : shape->dim[0];
}

static double position_of(const pe_expect *expect, const pe_measure_row *r)
{
    return pe_upload_view_position(r->view, &expect->positions,
                                   pe_upload_view_token(r->view, r->row));
}

/* ---- what was allowed ---- */

/* The steps behind the allowance of a column. */
static void take_steps(const pe_expect *expect, const pe_measure_row *r, size_t c, unsigned by,
                       pe_allowed *out)
{
    const double x = r->want.value[c], radius = r->want.radius[c];
    out->stored = pe_measure_stored(r, c, by);
    out->max_ulp = out->max_abs / pe_narrow_type_ulp(r->narrow, radius > fabs(x) ? radius : x);
    out->has_pair = r->view->layout != NULL && by == PE_BY_FLOAT32 &&
                    pe_geometry_has_pair(&expect->geometry, c, &out->pair);
    if (!out->has_pair)
        return;
    out->position = position_of(expect, r);
    out->frequency = expect->frequency[out->pair];
    out->roundings = expect->roundings[out->pair];
    out->amplitude = expect->amplitude;
    const double turned = out->roundings * 0x1p-24 * fabs(out->position) * out->frequency;
    out->angle = radius > 0 ? expect->amplitude * turned : 0;
    out->waves = expect->amplitude * 0x1p-22;
    if (r->view->rotated) { /* of both channels */
        const double size =
            (r->want.float32_error[c] - r->want.exact_error[c]) / (out->angle + out->waves);
        out->angle *= size;
        out->waves *= size;
        out->products = r->want.exact_error[c];
    }
}

static void forget_allowed(pe_totals *totals)
{
    for (pe_allowed *one = totals->allowed; one < totals->allowed + PE_LEN(totals->allowed); one++)
        *one = (pe_allowed){.arithmetic = one->arithmetic, .words = one->words};
}

/* Allowances of a table of pairs grow with the position, so that its farthest rows tell the
 * largest. */
static void add_allowed(pe_totals *totals, const pe_expect *expect, const pe_measure_row *r)
{
    const bool table = r->view->layout != NULL && !r->view->rotated;
    const double far = table ? fabs(position_of(expect, r)) : 0;
    const unsigned allowed = pe_measure_allowed(expect->guess);
    if (far < totals->farthest)
        return;
    if (far > totals->farthest)
        forget_allowed(totals);
    totals->farthest = far;
    for (unsigned by = PE_BY_EXACT; by <= PE_BY_FLOAT32; by++) {
        pe_allowed *all = &totals->allowed[by == PE_BY_FLOAT32];
        for (size_t c = 0; c < r->width && (allowed & by) != 0; c++) {
            const double most = pe_measure_allowance(r, c, by);
            if (!isfinite(most) || most <= all->max_abs)
                continue;
            all->max_abs = most;
            take_steps(expect, r, c, by, all);
        }
    }
}

/* ---- the rule ---- */

static void add_stray(pe_totals *totals, const pe_measure_row *r, size_t c)
{
    pe_mismatches *out = &totals->mismatches;
    const place at = place_of(totals, r, c);
    const bool none = out->elements++ == 0; /* so far */
    const bool masks =
        r->got[c] == -HUGE_VAL && strcmp(r->view->claim->resource->encoding, "alibi") == 0;
    out->not_finite += !isfinite(r->got[c]) && !masks;
    out->zeros += r->got[c] == 0;
    out->rows += !totals->seen_rows[at.row];
    out->columns += !totals->seen_columns[at.column];
    totals->seen_rows[at.row] = totals->seen_columns[at.column] = true;
    out->first_row = none || at.row < out->first_row ? at.row : out->first_row;
    out->last_row = at.row > out->last_row ? at.row : out->last_row;
    out->first_column = none || at.column < out->first_column ? at.column : out->first_column;
    out->last_column = at.column > out->last_column ? at.column : out->last_column;
    out->map[at.row * PE_MAP_CELLS / out->all_rows][at.column * PE_MAP_CELLS / out->all_columns]++;
}

static double rounded(pe_dtype dtype, double x)
{
    unsigned char element[8];
    if (dtype == PE_INT32)
        return x;
    pe_dtype_store(dtype, x, element);
    return pe_dtype_load(dtype, element);
}

/* Tokens come in order, but not the rows of their vectors. */
static void add_bad(pe_totals *totals, const pe_expect *expect, const pe_measure_row *r, size_t c)
{
    pe_bad *out = &totals->first_bad;
    if (out->any && totals->done + r->row >= totals->first_bad_row)
        return;
    totals->first_bad_row = totals->done + r->row;
    *out = (pe_bad){.any = true, .expected = rounded(r->dtype, r->want.value[c]), .got = r->got[c]};
    pe_upload_view_index(r->view, r->row, c, out);
    if (r->view->layout == NULL)
        return;
    out->position = position_of(expect, r);
    out->has_pair = pe_geometry_has_pair(&r->view->geometry, c, &out->pair);
}

static void judge(pe_totals *totals, const pe_expect *expect, const pe_measure_row *r)
{
    const unsigned loosest = pe_measure_loosest(expect->guess);
    totals->mismatches.compared += r->width - r->view->unsent_n;
    for (size_t c = 0; c < r->width; c++) {
        const unsigned by = pe_measure_explained_by(r, c);
        totals->by &= by;
        /* Of what is not exact float32 arithmetic may tell nothing. */
        totals->undecided += (by & PE_BY_EXACT) == 0 && pe_measure_is_undecided(r, c);
        if ((by & loosest) != 0)
            continue;
        add_bad(totals, expect, r, c);
        add_stray(totals, r, c);
    }
    add_allowed(totals, expect, r);
}

/* ---- distances ---- */

/* 0 where they are equal: infinities, too. */
static double distance(const pe_measure_row *r, size_t c)
{
    const double x = r->want.value[c];
    return r->got[c] == x ? 0 : fabs(r->got[c] - x);
}

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

/* Until all parts are there max_phase holds a key, and rms a sum of squares. */
static void add_error(const pe_measure_row *r, size_t c, pe_errors *errors)
{
    const double off = distance(r, c);
    const double ulps =
        off / pe_narrow_type_ulp(pe_narrow_type_of_dtype(r->dtype), r->want.value[c]);
    errors->elements++;
    errors->max_abs = off > errors->max_abs ? off : errors->max_abs;
    errors->max_ulp = ulps > errors->max_ulp ? ulps : errors->max_ulp;
    errors->rms += off * off;
}

static void add_phase(double key, pe_errors *errors)
{
    errors->has_phase = true;
    errors->max_phase = key > errors->max_phase ? key : errors->max_phase;
}

static void finish_errors(pe_errors *errors)
{
    errors->max_phase = key_angle(errors->max_phase);
    errors->rms = errors->elements > 0 ? sqrt(errors->rms / (double)errors->elements) : 0;
}

static pe_errors *band_of(pe_distances *out, size_t i)
{
    size_t b = 0;
    while (b + 1 < out->n_bands && i > out->bands[b].last)
        b++;
    return &out->bands[b].errors;
}

/* Each pair once, where the guess puts it: the upload may be narrower than the claim. */
static void add_pairs(const pe_measure_row *r, const pe_geometry *g, pe_distances *out)
{
    const double *got = r->got, *x = r->want.value;
    for (size_t i = 0; i < g->pairs; i++) {
        pe_errors *band = band_of(out, i);
        const size_t c = g->cos_at + i * g->stride, s = g->sin_at + i * g->stride;
        if (i < g->cos_n && pe_upload_view_is_sent(r->view, c))
            add_error(r, c, band);
        if (i < g->sin_n && pe_upload_view_is_sent(r->view, s))
            add_error(r, s, band);
        if (i >= g->cos_n || i >= g->sin_n || r->view->unsent_n > 0)
            continue;
        const double key = angle_key(got[s] * x[c] - got[c] * x[s], got[c] * x[c] + got[s] * x[s]);
        add_phase(key, &out->errors);
        add_phase(key, band);
    }
}

static void add_units(const pe_totals *totals, const pe_measure_row *r, pe_distances *out)
{
    const size_t n = leading_units(r->view), each = r->view->claim->uploads[0].array.elements / n;
    for (size_t c = 0; c < r->width; c++) {
        const size_t unit = (r->row * r->view->width + c) / each;
        if (unit < n)
            add_error(r, c, band_of(out, totals->done + unit));
    }
}

static void add_difference(const pe_totals *totals, const pe_measure_row *r, const pe_geometry *g)
{
    const pe_difference *d = &totals->difference;
    for (size_t c = 0; c < r->width; c++) {
        place at = {r->row, 0};
        if (r->view->layout == NULL)
            at = place_of(totals, r, c);
        else if (!pe_geometry_has_pair(g, c, &at.column))
            continue;
        float *cell =
            &d->cell[at.row * d->down / d->rows * d->across + at.column * d->across / d->columns];
        const double off = distance(r, c);
        *cell = !isfinite(off) ? INFINITY : fmaxf(*cell, (float)off);
    }
}

/* From here on the row holds what is expected as the upload's type has it. */
static void add_distances(pe_totals *totals, const pe_expect *expect, pe_measure_row *r)
{
    for (size_t c = 0; c < r->width; c++) {
        r->want.value[c] = rounded(r->dtype, r->want.value[c]);
        if (pe_upload_view_is_sent(r->view, c))
            add_error(r, c, &totals->distances.errors);
    }
    if (totals->distances.n_bands > 0 && r->view->layout != NULL)
        add_pairs(r, &expect->geometry, &totals->distances);
    else if (totals->distances.n_bands > 0)
        add_units(totals, r, &totals->distances);
    if (totals->difference.cell != NULL)
        add_difference(totals, r, &expect->geometry);
}

/* ---- one walk ---- */

typedef struct walking {
    pe_totals *totals;
    unsigned what;
} walking;

/* Fewer elements are compared to their end. */
#define GLANCE ((size_t)65536)

bool pe_totals_are_most(const pe_mismatches *at)
{
    return at->elements > GLANCE && at->elements > at->compared / 2;
}

static bool count_row(void *state, const pe_expect *expect, pe_measure_row *r)
{
    const walking *w = state;
    if ((w->what & PE_TOTALS_RULE) != 0)
        judge(w->totals, expect, r);
    if ((w->what & PE_TOTALS_DISTANCES) != 0)
        add_distances(w->totals, expect, r);
    return !expect->guess->context->glances || !pe_totals_are_most(&w->totals->mismatches);
}

static pe_status count(pe_totals *totals, const pe_comparison *of, unsigned what, size_t numerics,
                       pe_problem *why)
{
    pe_expect expect;
    *of->work += pe_upload_view_plan_work(of->view);
    pe_status status = pe_expect_make(of, numerics, &expect, why);
    if (status != PE_OK || !expect.fits) {
        totals->by = 0;
        return status;
    }
    if ((what & PE_TOTALS_RULE) != 0) {
        totals->by &= pe_measure_allowed(of->guess);
        status = pe_expect_probe(&expect, why);
    }
    if (status == PE_OK)
        return pe_measure_walk(of, &expect, false, count_row, &(walking){totals, what}, why);
    pe_expect_free(&expect);
    return status;
}

pe_status pe_totals_add(pe_totals *totals, const pe_comparison *of, unsigned what, pe_problem *why)
{
    if (pe_measure_allowed(of->guess) != PE_BY_FLOAT32 || (what & PE_TOTALS_DISTANCES) == 0)
        return count(totals, of, what, PE_NUMERICS_EXACT, why);
    PE_TRY(count(totals, of, what & PE_TOTALS_RULE, PE_NUMERICS_EXACT, why));
    return count(totals, of, PE_TOTALS_DISTANCES, PE_NUMERICS_FLOAT32, why);
}

static void finish(pe_totals *totals)
{
    finish_errors(&totals->distances.errors);
    for (size_t b = 0; b < totals->distances.n_bands; b++)
        finish_errors(&totals->distances.bands[b].errors);
}

void pe_totals_report(pe_totals *totals, unsigned loosest, pe_report *out)
{
    const bool float32 = totals->by == PE_BY_FLOAT32;
    finish(totals);
    out->matches = totals->by != 0;
    out->numerics = !out->matches ? NULL : float32 ? "float32" : "exact";
    out->undecided = float32 ? totals->undecided : 0;
    out->distances = totals->distances;
    out->allowed = totals->allowed[out->matches ? float32 : loosest == PE_BY_FLOAT32];
    out->has_mismatches = !out->matches;
    if (out->has_mismatches)
        out->mismatches = totals->mismatches;
    if (out->has_mismatches)
        out->first_bad = totals->first_bad;
    out->difference = totals->difference;
    totals->difference.cell = NULL;
}

/* ---- life ---- */

pe_status pe_totals_make(const pe_upload_view *view, size_t rows, bool draws, pe_totals *out,
                         pe_problem *why)
{
    pe_mismatches *extent = &out->mismatches;
    pe_difference *difference = &out->difference;
    *out = (pe_totals){.by = PE_BY_EXACT | PE_BY_FLOAT32, .farthest = -1};
    for (size_t k = 0; k < PE_LEN(out->allowed); k++) {
        out->allowed[k].words = pe_allowance_words(view->claim->resource);
        if (view->claim->tolerance < 0)
            out->allowed[k].arithmetic = k > 0 ? "float32" : "exact";
    }
    set_extent(view, rows, extent);
    const size_t units = view->layout != NULL ? view->geometry.pairs
                         : rows > 0           ? rows
                                              : leading_units(view);
    const size_t bands = units < PE_BANDS_MAX ? units : PE_BANDS_MAX;
    for (size_t b = 0; b < bands; b++)
        out->distances.bands[b] = (pe_band){.first = (b * units + bands - 1) / bands,
                                            .last = ((b + 1) * units + bands - 1) / bands - 1};
    out->distances.n_bands = bands;
    out->seen_rows = calloc(extent->all_rows + extent->all_columns, sizeof(bool));
    if (draws) {
        const size_t down = extent->all_rows;
        const size_t across = view->layout != NULL ? view->geometry.pairs : extent->all_columns;
        *difference =
            (pe_difference){.rows = down,
                            .columns = across,
                            .down = down < PE_DIFFERENCE_CELLS ? down : PE_DIFFERENCE_CELLS,
                            .across = across < PE_DIFFERENCE_CELLS ? across : PE_DIFFERENCE_CELLS};
        difference->cell =
            calloc(difference->down * difference->across + 1, sizeof *difference->cell);
    }
    if (out->seen_rows == NULL || (draws && difference->cell == NULL)) {
        pe_totals_free(out);
        return pe_fail_memory(why);
    }
    out->seen_columns = out->seen_rows + extent->all_rows;
    return PE_OK;
}

void pe_totals_free(pe_totals *totals)
{
    free(totals->seen_rows);
    free(totals->difference.cell);
    totals->seen_rows = NULL;
    totals->difference.cell = NULL;
}

pe_status pe_totals_view(const pe_comparison *of, unsigned what, pe_totals *out, pe_problem *why)
{
    pe_status status = pe_totals_make(of->view, 0, false, out, why);
    if (status == PE_OK)
        status = pe_totals_add(out, of, what, why);
    finish(out);
    pe_totals_free(out);
    return status;
}

pe_status pe_totals_errors(const pe_comparison *of, size_t numerics, pe_errors *out,
                           pe_problem *why)
{
    pe_totals totals = {0};
    const pe_status status = count(&totals, of, PE_TOTALS_DISTANCES, numerics, why);
    finish_errors(&totals.distances.errors);
    *out = totals.distances.errors;
    return status;
}

/* ==== the life of reports ==== */

void pe_verify_finding_free(pe_finding *finding)
{
    free(finding->rule);
    free(finding->evidence);
    free(finding->remedy);
    free(finding->parameters);
}

void pe_verify_report_free(pe_report *report)
{
    for (size_t f = 0; f < report->n_findings; f++)
        pe_verify_finding_free(&report->findings[f]);
    free(report->parameters);
    free(report->reading.claimed);
    free(report->difference.cell);
    pe_buffer_free(&report->facts.text);
    pe_buffer_free(&report->facts.json);
    *report = (pe_report){0};
}
