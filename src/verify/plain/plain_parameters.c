/* SPDX-License-Identifier: MIT */
/* plain_parameters.c - a number of the claim that was another one, read off plain numbers. */
#include "verify/plain/plain_parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/mistakes/changes.h"
#include "verify/plain/explain.h"
#include "verify/mistakes/value_faults.h"

enum { SAMPLE = 192, GRID = 17, STEPS = 28 };

/* One number, and elements that are looked at: of each tensor those of its last units. */
typedef struct fit {
    pe_search *search;
    const pe_guess *guess;
    size_t value; /* of the guess's values */
    size_t n, place[SAMPLE];
    double got[SAMPLE], slack[SAMPLE];
    bool reciprocal;
} fit;

static bool is_whole(const fit *f)
{
    return f->guess->values.value[f->value].param->kind == PE_KIND_INT;
}

static double claimed(const fit *f)
{
    const pe_value *value = &f->guess->values.value[f->value];
    return is_whole(f) ? (double)value->integer : value->real;
}

/* ---- elements with another number ---- */

/* The last units of a tensor; *first: the element of the tensor where they begin. */
static pe_status fill_tensor(const pe_plan *plan, size_t t, size_t most, double *out, size_t *first,
                             size_t *n, pe_problem *why)
{
    const pe_tensor *tensor = &plan->tensors[t];
    const size_t units = tensor->unit < most ? most / tensor->unit : 1;
    const size_t some = units < tensor->units ? units : tensor->units;
    const size_t bytes = pe_dtype_bytes(tensor->dtype), all = some * tensor->unit;
    *n = all < most ? all : most;
    *first = (tensor->units - some) * tensor->unit + (all - *n);
    double *filled = malloc(all * sizeof *filled);
    if (filled == NULL)
        return pe_fail_memory(why);
    const pe_region region = pe_plan_units(plan, t, tensor->units - some, some);
    const pe_status status = pe_plan_make_region(plan, &region, filled, why);
    for (size_t e = 0; e < *n && status == PE_OK; e++)
        out[e] = pe_dtype_load(tensor->dtype, (const char *)filled + (all - *n + e) * bytes);
    free(filled);
    return status;
}

/* Does the plan have the tensors of the upload? */
static bool fits_upload(const fit *f, const pe_plan *plan)
{
    const pe_upload_view *view = f->search->view;
    for (size_t u = 0; u < view->n_tensors; u++)
        if (view->plan_tensor[u] >= plan->n_tensors ||
            plan->tensors[view->plan_tensor[u]].elements !=
                view->tensor_at[u + 1] - view->tensor_at[u])
            return false;
    return true;
}

static pe_status fill_sample(const fit *f, const pe_plan *plan, double *out, size_t *place,
                             size_t *used, pe_problem *why)
{
    const pe_upload_view *view = f->search->view;
    pe_status status = PE_OK;
    *used = 0;
    for (size_t u = 0; u < view->n_tensors && status == PE_OK; u++) {
        size_t first, n = 0;
        status = fill_tensor(plan, view->plan_tensor[u], SAMPLE / view->n_tensors, out + *used,
                             &first, &n, why);
        for (size_t e = 0; e < n; e++)
            place[*used + e] = view->tensor_at[u] + first + e;
        *used += n;
    }
    return status;
}

/* *made is false where there is no such table. */
static pe_status make_sample(fit *f, double x, double *out, bool *made, pe_problem *why)
{
    pe_values values;
    pe_plan plan = {0};
    *made = false;
    pe_status status = pe_values_copy(&f->guess->values, &values, why);
    if (status != PE_OK)
        return status;
    pe_value *value = &values.value[f->value];
    value->integer = is_whole(f) ? (int64_t)x : value->integer;
    value->real = x;
    (void)pe_geometry_set_choice(&values, "dtype", "float64");
    status = pe_guess_plan(f->guess, &values, &plan, why);
    f->search->work += pe_upload_view_plan_work(f->search->view) + SAMPLE;
    if (status == PE_OK && fits_upload(f, &plan)) {
        status = fill_sample(f, &plan, out, f->place, &f->n, why);
        *made = status == PE_OK;
    }
    pe_plan_free(&plan);
    pe_values_free(&values);
    return status == PE_OK || pe_status_is_ours(status) ? status : PE_OK;
}

/* ---- looking for it ---- */

/* Point k of the grid around the claimed number, from a 256th of it to 256 times. */
static double grid_at(const fit *f, size_t k)
{
    const pe_param *row = f->guess->values.value[f->value].param;
    const double by = exp2(((double)k - (GRID - 1) / 2.0)), x = claimed(f);
    double at = x * by;
    if (is_whole(f)) /* those beside it, too, and 0 */
        at = round(by < 1 ? at - 1 : by > 1 ? at + 1 : at);
    return row->min != 0 || row->max != 0 ? fmax(row->min, fmin(row->max, at)) : at;
}

/* An element that crosses the upload's once, and between which points of the grid. */
typedef struct crossing {
    bool found, grows;
    size_t at, first, last;
    double low, high, steepness;
} crossing;

static bool is_near(const fit *f, double x, size_t e)
{
    return fabs(x - f->got[e]) <= f->slack[e];
}

/* Most steeply, in units of what it may be off. */
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
        if (crossings == 1 && !used[e] && at.steepness > best.steepness)
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
    return best;
}

/* The number from which on the element is beyond the upload's, more or less so far. */
static pe_status bisect(fit *f, const crossing *at, double off, double *out, pe_problem *why)
{
    double low = at->low, high = at->high, row[SAMPLE];
    pe_status status = PE_OK;
    for (size_t k = 0; k < STEPS && status == PE_OK; k++) {
        bool made;
        const double middle = is_whole(f) ? floor((low + high) / 2) : low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        status = make_sample(f, middle, row, &made, why);
        if (status == PE_OK && !made)
            break;
        if ((row[at->at] > f->got[at->at] + (at->grows ? off : -off)) == at->grows)
            high = middle;
        else
            low = middle;
    }
    *out = off > 0 ? low : high;
    return status;
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
    const char *resource = f->guess->claim->resource->name;
    for (size_t k = 0; k < PE_LEN(names); k++)
        if (strcmp(names[k].param, param) == 0 &&
            strncmp(resource, names[k].resources, strlen(names[k].resources)) == 0)
            return names[k].name;
    return NULL;
}

/* Digits beyond which a number is only fitted. */
#define TIDY 1e-4

static pe_status try_number(fit *f, double x, pe_problem *why)
{
    const pe_param *row = f->guess->values.value[f->value].param;
    const double unit = pow(10, floor(log10(fabs(x))) - 3);
    const pe_fault fault = {.name = name_of(f, row->name),
                            .param = row->name,
                            .change = pe_changes_number,
                            .value = x,
                            .fitted = !is_whole(f) && fabs(x / unit - round(x / unit)) > TIDY};
    if (x == claimed(f))
        return PE_OK;
    if (f->reciprocal)
        return pe_attempts_with_fault(f->search, f->guess, &fault, pe_explain_behind, why);
    pe_status status = pe_attempts_with_fault(f->search, f->guess, &fault, pe_attempts_try, why);
    if (status == PE_OK && !pe_attempts_found(f->search))
        status = pe_attempts_with_fault(f->search, f->guess, &fault, pe_explain_behind, why);
    return status;
}

/* One element tells an interval; several tell a smaller one. */
#define ELEMENTS 4

static pe_status narrow_down(fit *f, double (*grid)[SAMPLE], const bool *made, pe_problem *why)
{
    bool used[SAMPLE] = {false};
    double least = -HUGE_VAL, most = HUGE_VAL;
    pe_status status = PE_OK;
    for (size_t k = 0; k < ELEMENTS && status == PE_OK && pe_attempts_go_on(f->search); k++) {
        double low = 0, high = 0;
        const crossing at = find_crossing(f, grid, made, used);
        if (!at.found || !(at.steepness > 1))
            return PE_OK;
        used[at.at] = true;
        status = bisect(f, &at, -f->slack[at.at], &low, why);
        if (status == PE_OK)
            status = bisect(f, &at, f->slack[at.at], &high, why);
        least = fmax(least, fmin(low, high));
        most = fmin(most, fmax(low, high));
        if (status == PE_OK && least <= most)
            status = try_number(f, tidiest(least, most), why);
    }
    return status;
}

static pe_status find_number(fit *f, double (*grid)[SAMPLE], pe_problem *why)
{
    bool made[GRID];
    pe_status status = PE_OK;
    for (size_t k = 0; k < GRID && status == PE_OK; k++) { /* the ends, then between them */
        const size_t at = k == 0 ? 0 : k == 1 ? GRID - 1 : k - 1;
        status = make_sample(f, grid_at(f, at), grid[at], &made[at], why);
        if (k == 1 && made[0] && made[at] && memcmp(grid[0], grid[at], f->n * sizeof **grid) == 0)
            return status;
    }
    const pe_upload_view *view = f->search->view;
    const double u = 2 * pe_upload_view_roundoff(view) + 0x1p-22;
    for (size_t e = 0; e < f->n; e++) {
        const double got = view->got[f->place[e]];
        f->got[e] = f->reciprocal ? 1 / got : got;
        f->slack[e] =
            view->claim->uploads[0].array.dtype == PE_INT32 ? 0.5 : u * fabs(f->got[e]) + 1e-12;
    }
    return status == PE_OK ? narrow_down(f, grid, made, why) : status;
}

pe_status pe_plain_parameters_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    double(*grid)[SAMPLE] = malloc(GRID * sizeof *grid);
    pe_status status = grid == NULL ? pe_fail_memory(why) : PE_OK;
    for (int reciprocal = 0; reciprocal < 2; reciprocal++)
        for (size_t i = 0; i < guess->values.n && status == PE_OK && pe_attempts_go_on(s); i++) {
            const pe_value *value = &guess->values.value[i];
            const pe_param_kind kind = value->param->kind;
            fit f = {.search = s, .guess = guess, .value = i, .reciprocal = reciprocal != 0};
            if (value->present && (kind == PE_KIND_INT || kind == PE_KIND_REAL))
                status = find_number(&f, grid, why);
        }
    free(grid);
    return status;
}
