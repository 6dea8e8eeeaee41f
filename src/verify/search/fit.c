/* SPDX-License-Identifier: MIT */
/* fit.c - a number of the claim that was another one, read off the upload. */
#include "plan/common_params.h"
#include "plan/resource.h"
#include "verify/search/attempts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/reading/reading.h"

enum { SAMPLE = 192, GRID = 17, STEPS = 28 };

/* One number, and what is looked at of the upload: frequencies of pairs, or elements of plain numbers,
 * of each tensor those of its last units. */
typedef struct fit {
    pe_search *search;
    const pe_guess *of;   /* what the number is added to */
    const pe_guess *from; /* the same, with a value to change */
    const pe_fault *row;  /* how it is added; NULL: as the value that it is */
    pe_try *behind;
    size_t value; /* of the guess's values */
    size_t n, place[SAMPLE];
    double got[SAMPLE], slack[SAMPLE];
    double step,
        span;        /* positions by which frequencies were measured, from row to row and in all */
    size_t findings; /* before it was looked for */
} fit;

static bool has_pairs(const fit *f)
{
    return f->search->view->layout != NULL;
}

static bool is_found(const fit *f)
{
    return f->search->report->n_findings > f->findings || pe_attempts_spent(f->search);
}

static const pe_param *param_of(const fit *f)
{
    return f->from->values.value[f->value].param;
}

static bool is_whole(const fit *f)
{
    return param_of(f)->kind == PE_KIND_INT;
}

static double claimed(const fit *f)
{
    const pe_value *value = &f->from->values.value[f->value];
    return is_whole(f) ? (double)value->integer : value->real;
}

/* ---- what the number gives ---- */

/* Of the sample from `first` on. False: there is no such table. */
static bool make_sample(fit *f, double x, size_t first, size_t n, double *out)
{
    pe_guess guess;
    pe_expect expect;
    pe_search *s = f->search;
    const pe_comparison of = {s->view, &guess, &s->work};
    if (!pe_attempts_did(s, pe_guess_copy(f->from, &guess, s->why)))
        return false;
    pe_value *value = &guess.values.value[f->value];
    value->integer = is_whole(f) ? (int64_t)x : value->integer;
    value->real = x;
    s->work += pe_upload_view_plan_work(s->view) + n;
    pe_status status = pe_expect_exact(&of, has_pairs(f), &expect, s->why);
    const bool fits = status == PE_OK && expect.fits;
    for (size_t e = first, some = 1; fits && e < first + n && status == PE_OK; e += some) {
        for (some = 1; !has_pairs(f) && e + some < first + n; some++)
            if (f->place[e + some] != f->place[e] + some)
                break;
        if (has_pairs(f))
            out[e] = expect.frequency[f->place[e]];
        else if ((status = pe_expect_plain(&expect, f->place[e], some, s->why)) == PE_OK)
            memcpy(out + e, expect.row.value, some * sizeof *out);
    }
    if (fits)
        pe_expect_free(&expect);
    pe_guess_free(&guess);
    if (pe_status_is_ours(status))
        pe_attempts_did(s, status);
    return fits && status == PE_OK;
}

/* ---- what the upload has ---- */

/* A frequency that was measured from row to row, by the phases of ever farther tokens: those of which
 * it tells the whole turns. */
static void refine(const pe_reading_source *s, const pe_expect *expect, size_t i, double *w,
                   double *error)
{
    const size_t tokens = s->view->tokens;
    for (double far = 0; far < HUGE_VAL;) {
        size_t best = tokens;
        for (size_t t = 0; t < tokens; t++) {
            const double p = fabs(pe_upload_view_position(s->view, &expect->positions, t));
            if (p > far && p * *error < 1 &&
                (best == tokens ||
                 p > fabs(pe_upload_view_position(s->view, &expect->positions, best))))
                best = t;
        }
        if (best == tokens)
            return;
        const double p = pe_upload_view_position(s->view, &expect->positions, best);
        far = fabs(p);
        *w += pe_reading_off(s, pe_reading_phase(s, best, i), *w * p) / p;
        *error = (4 * s->roundoff + 0x1p-21) / far + 0x1p-22 * fabs(*w);
    }
}

/* Frequencies that the upload has where the guess puts its pairs. False: they were not measured. */
static bool take_frequencies(fit *f, const pe_reading *r, const pe_expect *expect)
{
    pe_reading_source s = pe_reading_source_of(f->search->view, f->of, &expect->geometry);
    s.amplitude = r->amplitude;
    if (r->tokens < 2 || r->pairs != s.pairs || pe_reading_turning(r) <= 0.75)
        return false;
    f->span = pe_reading_span(r);
    f->step = fabs(r->step);
    const double far = fmax(fabs(r->claimed[0]), fabs(r->claimed[r->tokens - 1]));
    for (size_t i = 0; i < r->pairs; i += r->pairs / SAMPLE + 1) {
        double w = fabs(r->turned[i]);
        double error = (8 * s.roundoff + 0x1p-19 + 0x1p-20 * far * w) / f->span;
        if (!isfinite(w))
            continue;
        refine(&s, expect, i, &w, &error);
        f->place[f->n] = i;
        f->got[f->n] = w;
        f->slack[f->n++] = 2 * error;
    }
    return f->n > 0;
}

/* A small upload is measured anew: in other layouts it has other frequencies. */
#define SMALL 1024

/* False: they are not known. */
static bool read_frequencies(fit *f)
{
    pe_guess guess;
    pe_expect expect;
    pe_reading own = {0};
    pe_search *s = f->search;
    const pe_comparison of = {s->view, &guess, &s->work};
    const pe_reading *r = s->measured != NULL ? &s->measured->reading : &own;
    bool known = true;
    if (!pe_attempts_did(s, pe_guess_copy(f->of, &guess, s->why)))
        return false;
    if (s->view->elements <= SMALL) {
        const pe_reading_least any = {0};
        known = pe_attempts_did(s, pe_reading_make(&of, &any, &own, &known, s->why));
        r = &own;
    }
    if (known && pe_attempts_did(s, pe_expect_make(&of, PE_NUMERICS_EXACT, &expect, s->why)) &&
        expect.fits) {
        known = take_frequencies(f, r, &expect);
        pe_expect_free(&expect);
    } else {
        known = false;
    }
    pe_reading_free(&own);
    pe_guess_free(&guess);
    return known;
}

/* The last elements of each tensor. */
static void take_numbers(fit *f)
{
    const pe_upload_view *view = f->search->view;
    const double u = 2 * pe_upload_view_roundoff(view) + 0x1p-22;
    const bool indices = view->claim->uploads[0].array.dtype == PE_INT32;
    for (size_t t = 0; t < view->n_tensors; t++) {
        const size_t end = view->tensor_at[t + 1], most = SAMPLE / view->n_tensors;
        const size_t all = end - view->tensor_at[t];
        for (size_t at = end - (all < most ? all : most); at < end; at++) {
            f->place[f->n] = at;
            f->got[f->n] = view->got[at];
            f->slack[f->n++] = indices ? 0.5 : u * fabs(view->got[at]) + 1e-12;
        }
    }
}

/* ---- looking for it ---- */

/* Point k of the grid around the claimed number: from a 256th of it to 256 times, of pairs from a
 * 65536th to 65536 times. */
static double grid_at(const fit *f, size_t k)
{
    const pe_param *row = param_of(f);
    const double by = exp2((has_pairs(f) ? 2 : 1) * ((double)k - (GRID - 1) / 2.0)), x = claimed(f);
    double at = x * by;
    if (is_whole(f)) /* those beside it, too, and 0 */
        at = round(by < 1 ? at - 1 : by > 1 ? at + 1 : at);
    return row->min != 0 || row->max != 0 ? fmax(row->min, fmin(row->max, at)) : at;
}

/* An element that crosses the upload's once, and between which points of the grid. */
typedef struct crossing {
    bool found, grows;
    size_t at, first, last, seen;
    double low, high, y[2], steepness;
} crossing;

static bool is_near(const fit *f, double x, size_t e)
{
    return fabs(x - f->got[e]) <= f->slack[e];
}

/* With how many numbers of the grid are whole turns from row to row seen? */
static size_t count_seen(const fit *f, double (*grid)[SAMPLE], const bool *made, size_t e)
{
    size_t n = 0;
    for (size_t k = 0; k < GRID; k++)
        n += !made[k] || fabs(grid[k][e]) * f->step < PE_TURN / 2;
    return n;
}

/* Whose turns are seen with most numbers; of these most steeply, in units of what it may be off. */
static crossing find_crossing(const fit *f, double (*grid)[SAMPLE], const bool *made,
                              const bool *used)
{
    crossing best = {0};
    for (size_t e = 0; e < f->n; e++) {
        size_t crossings = 0, last = SIZE_MAX;
        crossing at = {.found = true, .at = e};
        for (size_t k = 0; k < GRID; k++) {
            if (!made[k] || !isfinite(grid[k][e]))
                continue;
            const double x = grid[k][e], y = last == SIZE_MAX ? x : grid[last][e];
            if ((x < f->got[e]) != (y < f->got[e])) {
                crossings++;
                at.grows = x > y;
                at.first = last;
                at.last = k;
                at.steepness = fabs(x - y) / f->slack[e];
            }
            last = k;
        }
        at.seen = count_seen(f, grid, made, e);
        if (crossings == 1 && !used[e] &&
            (at.seen > best.seen || (at.seen == best.seen && at.steepness > best.steepness)))
            best = at;
    }
    if (!best.found)
        return best;
    while (best.first > 0 && is_near(f, grid[best.first][best.at], best.at))
        best.first--;
    while (best.last + 1 < GRID && is_near(f, grid[best.last][best.at], best.at))
        best.last++;
    best.low = grid_at(f, best.first);
    best.high = grid_at(f, best.last);
    best.y[0] = grid[best.first][best.at];
    best.y[1] = grid[best.last][best.at];
    return best;
}

/* Where a line through two points has the height y; in logarithms, in which most are lines. */
static double between(const double x[2], const double y[2], double height)
{
    const bool positive = x[0] > 0 && y[0] > 0 && y[1] > 0 && height > 0;
    const double part =
        positive ? log(height / y[0]) / log(y[1] / y[0]) : (height - y[0]) / (y[1] - y[0]);
    return positive ? x[0] * pow(x[1] / x[0], part) : x[0] + (x[1] - x[0]) * part;
}

/* The number with which the element is the upload's, more or less so far; of whole numbers the last
 * one with which it is not beyond that. */
static double solve(fit *f, const crossing *at, double off)
{
    double x[2] = {at->low, at->high}, y[2] = {at->y[0], at->y[1]}, row[SAMPLE];
    const double height = f->got[at->at] + (at->grows ? off : -off);
    const bool steps = is_whole(f) || f->slack[at->at] == 0.5; /* of indices */
    const double near = off != 0 ? f->slack[at->at] / 16 : 0x1p-50 * fabs(height);
    for (size_t k = 0; k < STEPS; k++) {
        double middle = k % 4 == 3 || steps ? x[0] + (x[1] - x[0]) / 2 : between(x, y, height);
        middle = is_whole(f) ? floor(middle) : middle;
        if (!(middle > x[0] && middle < x[1]) || !make_sample(f, middle, at->at, 1, row))
            break;
        const size_t end = (row[at->at] > height) == at->grows;
        x[end] = middle;
        y[end] = row[at->at];
        if (!steps && fabs(y[end] - height) <= near)
            return middle;
    }
    return x[off > 0 ? 0 : 1];
}

/* The number of fewest digits between two. */
static double tidiest(double low, double high)
{
    for (int digits = 0; digits < 17; digits++) {
        const double unit = pow(10, floor(log10(fmax(fabs(high), 1e-300))) - digits);
        const double x = ceil(low / unit - 1e-9) * unit;
        if (x <= high * (1 + 1e-15))
            return x;
    }
    return low + (high - low) / 2;
}

/* What a mistake of a number is called where it is not by its parameter. */
static const struct {
    const char *resources; /* that begin so */
    const char *param;
    const pe_fault_name *name;
} names[] = {
    {"rope/attention-scale", "original_max_position_embeddings", PE_NAME(scale_length)},
    {"rope/attention-scale", "beta", PE_NAME(scale_beta)},
    {"rope/xpos", "center", PE_NAME(xpos_center)},
    {"rope/xpos", "scale_base", PE_NAME(xpos_scale_base)},
};

static const pe_fault_name *name_of(const fit *f, const char *param)
{
    const char *resource = f->from->claim->resource->name;
    for (size_t k = 0; k < PE_LEN(names); k++)
        if (strcmp(names[k].param, param) == 0 &&
            strncmp(resource, names[k].resources, strlen(names[k].resources)) == 0)
            return names[k].name;
    return NULL;
}

/* Digits beyond which a number is only fitted. */
#define TIDY 1e-4

/* Nobody scales by less; a range reduction of low precision looks so. */
#define LEAST_FACTOR 1.0001

static void try_number(fit *f, double x)
{
    const double unit = pow(10, floor(log10(fabs(x))) - 3);
    pe_fault fault = {.name = name_of(f, param_of(f)->name),
                      .param = param_of(f)->name,
                      .change = pe_changes_set};
    if (f->row != NULL)
        fault = *f->row;
    fault.value = x;
    fault.fitted = has_pairs(f) || (!is_whole(f) && fabs(x / unit - round(x / unit)) > TIDY);
    if (x == claimed(f) || (f->row != NULL && x < LEAST_FACTOR))
        return;
    pe_attempts_with_fault(f->search, f->of, &fault, pe_attempts_try);
    /* Two numbers can be any, by one that is fitted and another mistake. */
    if (f->behind != NULL && f->n > 2 && !pe_attempts_found(f->search))
        pe_attempts_with_fault(f->search, f->of, &fault, f->behind);
}

/* Do so many frequencies turn, from row to row, as this number gives them, but for a part of itself, and so
 * many radians over the span? Which way is not seen of those that turn far. */
static bool agree(fit *f, double x, double many, const double off[2])
{
    double row[SAMPLE];
    size_t near = 0;
    const double turn = PE_TURN / f->step;
    if (!make_sample(f, x, 0, f->n, row))
        return false;
    for (size_t e = 0; e < f->n; e++)
        near += fmin(fabs(remainder(row[e] - f->got[e], turn)),
                     fabs(remainder(row[e] + f->got[e], turn))) <
                f->slack[e] + off[0] * fabs(row[e]) + off[1] / f->span;
    return (double)near >= many * (double)f->n;
}

/* The decimal of fewest digits between two; of pairs also those around the middle, of ever more digits,
 * until one explains the upload. */
static void try_between(fit *f, const crossing *at, double low, double high)
{
    double last = tidiest(low, high);
    try_number(f, last);
    if (!has_pairs(f) || is_found(f))
        return;
    const double middle = solve(f, at, 0);
    for (int digits = 0; digits < 15 && !is_found(f); digits++) {
        const double unit = pow(10, floor(log10(fabs(middle))) - digits);
        const double x = unit * round(middle / unit);
        if (x < low || x > high || x == last)
            continue;
        try_number(f, x);
        last = x;
    }
}

/* One element tells an interval; several tell a smaller one. */
#define ELEMENTS 4

static void narrow_down(fit *f, double (*grid)[SAMPLE], const bool *made)
{
    bool used[SAMPLE] = {false};
    double least = -HUGE_VAL, most = HUGE_VAL;
    for (size_t k = 0; k < ELEMENTS && !is_found(f); k++) {
        const crossing at = find_crossing(f, grid, made, used);
        if (!at.found || !(at.steepness > 1))
            return;
        used[at.at] = true;
        const double low = solve(f, &at, -f->slack[at.at]), high = solve(f, &at, f->slack[at.at]);
        least = fmax(least, fmin(low, high));
        most = fmin(most, fmax(low, high));
        if (least > most)
            continue;
        /* what is not near is not worth its tables */
        if (has_pairs(f) && !agree(f, (least + most) / 2, 0.75, (const double[]){0.02, 0.2}))
            return;
        try_between(f, &at, least, most);
    }
}

static void find_number(fit *f, double (*grid)[SAMPLE])
{
    bool made[GRID];
    for (size_t k = 0; k < GRID; k++) { /* the ends, then between */
        const size_t at = k == 0 ? 0 : k == 1 ? GRID - 1 : k - 1;
        made[at] = make_sample(f, grid_at(f, at), 0, f->n, grid[at]);
        if (k == 1 && made[0] && made[at] && memcmp(grid[0], grid[at], f->n * sizeof **grid) == 0)
            return;
    }
    narrow_down(f, grid, made);
}

/* ---- which numbers ---- */

static void try_each(pe_search *s, const fit *with, double (*grid)[SAMPLE], const char *only)
{
    const pe_values *values = &with->from->values;
    for (size_t i = 0; i < values->n && !pe_attempts_spent(s); i++) {
        const pe_param *row = values->value[i].param;
        fit f = *with;
        f.value = i;
        f.findings = s->report->n_findings;
        if (f.findings > 0 && !has_pairs(&f))
            break; /* of pairs all numbers that explain the upload are told */
        if (values->value[i].present && (only == NULL || strstr(only, row->name) != NULL) &&
            (row->kind == PE_KIND_INT || row->kind == PE_KIND_REAL))
            find_number(&f, grid);
    }
}

static bool set_linear(pe_guess *guess, const pe_fault *fault)
{
    pe_values_set_real(&guess->values, "factor", fault->value);
    return pe_geometry_set_choice(&guess->values, "rope_type", "linear");
}

/* Scaling that the claim does not tell. A factor of ntk would be another base. */
static const pe_fault linear = {.name = PE_NAME(scaling_added),
                                .change = set_linear,
                                .param = "factor",
                                .sets_rope_type = true};

static void try_linear(pe_search *s, const fit *with, double (*grid)[SAMPLE])
{
    fit f = *with;
    pe_guess scaled;
    const pe_guess *guess = with->of;
    const bool alone =
        guess->n_faults == 0 || !pe_guess_map_is_identity(&guess->distortion.positions);
    if (!alone || !pe_geometry_has_rope_type(&guess->values, "default") ||
        !pe_geometry_has_rope_type(&guess->claim->values, "default") ||
        !pe_attempts_did(s, pe_guess_copy(guess, &scaled, s->why)))
        return;
    const pe_fault none = {.value = 1};
    f.from = &scaled;
    f.row = &linear;
    if (set_linear(&scaled, &none))
        try_each(s, &f, grid, "factor");
    pe_guess_free(&scaled);
}

static void try_pairs(pe_search *s, fit *with, double (*grid)[SAMPLE])
{
    if (!read_frequencies(with) || agree(with, claimed(with), 0.9, (const double[]){0, 0}))
        return;
    try_each(s, with, grid, "rope_theta base factor scale");
    try_linear(s, with, grid);
}

void pe_fit_each(pe_search *s, const pe_guess *guess, pe_try *behind)
{
    fit with = {.search = s, .of = guess, .from = guess, .behind = behind};
    double(*grid)[SAMPLE] = malloc(GRID * sizeof *grid);
    if (grid == NULL)
        pe_attempts_did(s, pe_fail_memory(s->why));
    else if (has_pairs(&with))
        try_pairs(s, &with, grid);
    else {
        take_numbers(&with);
        try_each(s, &with, grid, NULL);
    }
    free(grid);
}

void pe_attempts_fits(pe_search *s, pe_guess *guess)
{
    if (!pe_faults_hold_mostly(guess))
        pe_fit_each(s, guess, NULL);
}
