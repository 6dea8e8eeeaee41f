/* SPDX-License-Identifier: MIT */
/* expect.c - the numbers that a guess stands for, laid out as the upload. */
#include "verify/expect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The position of the probe: w * 2^-40 is below 2^-10 for any w up to 1e9, so that its tangent is
 * off by 2^-21 of itself at most; the allowance it scales is not known that well. */
#define PROBE 0x1p-40

/* Sine, amplitude and their product in float32, each an ulp of 1; as a part of the amplitude. */
#define STEPS32 0x1p-22

/* ---- values for
 * the resource -------------------------------------------------------------------- */

static void choose(pe_values *values, const char *name, const char *text)
{
    pe_value *value = pe_values_find(values, name);
    if (value == NULL)
        return;
    const char *const *choices = value->param->choices;
    for (size_t c = 0; choices[c] != NULL; c++)
        if (strcmp(choices[c], text) == 0) {
            value->choice = c;
            value->present = true;
        }
}

static void forget(pe_values *values, const char *name)
{
    pe_value *value = pe_values_find(values, name);
    if (value != NULL)
        value->present = false;
}

static pe_status ask_values(const pe_upload_view *view, const pe_guess *guess, size_t numerics,
                            pe_values *out, pe_problem *why)
{
    const pe_status status = pe_values_copy(&guess->values, out, why);
    if (status != PE_OK)
        return status;
    choose(out, "dtype", "float64");
    choose(out, "numerics", pe_plan_numerics[numerics]);
    if (view->waves != NULL)
        choose(out, view->waves->layout, view->waves->cosines_first);
    if (guess->distortion.head_in_exponent) {
        pe_values_set_int(out, "rotary_dim", pe_values_int(out, "head_dim"));
        forget(out, "partial_rotary_factor");
    }
    return PE_OK;
}

static pe_status plan_values(const pe_guess *guess, pe_values *values, pe_plan *out,
                             pe_problem *why)
{
    return guess->claim->resource->plan(values, guess->tables, guess->limits, out, why);
}

/* ---- waves ---- */

static bool wave_geometry(pe_expect *expect)
{
    const pe_upload_view *view = expect->view;
    const pe_guess *guess = expect->guess;
    pe_geometry *g = &expect->geometry;
    if (view->rotated)
        pe_geometry_of_vectors(&guess->values, g);
    else if (!view->waves->geometry(&guess->values, g))
        return false;
    if (guess->distortion.exchanged && (view->rotated || g->cos_n != g->sin_n))
        return false;
    if (guess->distortion.exchanged)
        pe_geometry_exchange(g);
    return g->width == view->width;
}

/* The plan's tensors: cosines and sines, or one with all cosines first. */
static bool wave_plan_fits(pe_expect *expect)
{
    const pe_plan *plan = &expect->plan;
    const pe_geometry *g = &expect->geometry;
    expect->split = plan->n_tensors == 2;
    expect->table_pairs = expect->split ? plan->tensors[0].unit : g->pairs;
    for (size_t t = 0; t < plan->n_tensors; t++)
        if (plan->tensors[t].units != expect->view->tokens)
            return false;
    return expect->table_pairs >= g->pairs &&
           (expect->split ||
            (plan->n_tensors == 1 && plan->tensors[0].unit >= g->cos_n + g->sin_n));
}

static pe_status make_row(pe_expect *expect, size_t width, pe_problem *why)
{
    double *of = calloc(5 * width, sizeof *of);
    size_t *partner = calloc(width, sizeof *partner);
    expect->row = (pe_expected_row){.value = of, .partner = partner};
    if (of == NULL || partner == NULL)
        return pe_fail_memory(why);
    expect->row.exact = of + width;
    expect->row.float32 = of + 2 * width;
    expect->row.radius = of + 3 * width;
    expect->row.radial = of + 4 * width;
    for (size_t c = 0; c < width; c++)
        partner[c] = c;
    return PE_OK;
}

static pe_status make_wave(pe_expect *expect, pe_problem *why)
{
    const size_t pairs = expect->geometry.pairs, width = expect->view->width;
    const size_t unit = expect->split ? 2 * expect->table_pairs : expect->plan.tensors[0].unit;
    expect->cosines = calloc(PE_EXPECT_BLOCK * pairs, sizeof(double));
    expect->sines = calloc(PE_EXPECT_BLOCK * pairs, sizeof(double));
    expect->raw = malloc(PE_EXPECT_BLOCK * unit * sizeof(double));
    if (expect->cosines == NULL || expect->sines == NULL || expect->raw == NULL)
        return pe_fail_memory(why);
    return make_row(expect, width, why);
}

static void take_block(pe_expect *expect, const double *from, size_t unit, size_t at, size_t n,
                       double *to)
{
    for (size_t r = 0; r < expect->block_rows; r++)
        memcpy(to + r * expect->geometry.pairs, from + r * unit + at, n * sizeof *to);
}

static pe_status fill_block(pe_expect *expect, size_t token, pe_problem *why)
{
    const size_t first = token - token % PE_EXPECT_BLOCK;
    const size_t left = expect->view->tokens - first;
    const size_t rows = left < PE_EXPECT_BLOCK ? left : PE_EXPECT_BLOCK;
    const pe_geometry *g = &expect->geometry;
    /* an exchanged layout counts its columns the other way round; both counts are the same */
    const size_t unit = expect->plan.tensors[0].unit, cos_n = g->cos_n, sin_n = g->sin_n;
    double *raw = expect->raw, *sines = expect->split ? raw + rows * unit : raw;
    pe_status status = expect->plan.fill(&expect->plan, 0, first, rows, raw, why);
    if (status == PE_OK && expect->split)
        status = expect->plan.fill(&expect->plan, 1, first, rows, sines, why);
    if (status != PE_OK)
        return status;
    expect->block = first;
    expect->block_rows = rows;
    take_block(expect, raw, unit, 0, cos_n, expect->cosines);
    take_block(expect, sines, unit, expect->split ? 0 : cos_n, sin_n, expect->sines);
    return PE_OK;
}

/* ----
 * one row ------------------------------------------------------------------------------------ */

static void put(pe_expect *expect, size_t column, double value, double exact, double float32)
{
    expect->row.value[column] = value;
    expect->row.exact[column] = exact;
    expect->row.float32[column] = float32;
}

static void put_circle(pe_expect *expect, size_t column, size_t partner, double radius,
                       double radial)
{
    expect->row.partner[column] = partner;
    expect->row.radius[column] = radius;
    expect->row.radial[column] = radial;
}

/* How far the reference path's sine or cosine may be off; then one whose frequency and amplitude
 * are products of float64 numbers. */
static double drift32(const pe_expect *expect, double position, size_t i)
{
    if (expect->frequency == NULL)
        return 0;
    return expect->amplitude * (24 * 0x1p-24 * fabs(position) * expect->frequency[i] + STEPS32);
}

static double drift64(const pe_expect *expect, double position, size_t i)
{
    if (!expect->guess->distortion.loose || expect->frequency == NULL)
        return 0;
    return expect->amplitude * 0x1p-51 * (1 + fabs(position) * expect->frequency[i]);
}

static void table_row(pe_expect *expect, const double *cosines, const double *sines,
                      double position)
{
    const pe_geometry *g = &expect->geometry;
    const double a = expect->amplitude;
    for (size_t c = 0; c < g->width; c++)
        put(expect, c, 0, 0, 0);
    for (size_t i = 0; i < g->pairs; i++) {
        const double loose = drift64(expect, position, i), drift = drift32(expect, position, i);
        const size_t cos_at = g->cos_at + i * g->stride, sin_at = g->sin_at + i * g->stride;
        for (size_t copy = 0; copy <= g->copy; copy += g->copy + (g->copy == 0)) {
            const bool both = i < g->cos_n && i < g->sin_n;
            if (i < g->cos_n) {
                put(expect, cos_at + copy, cosines[i], loose, drift);
                put_circle(expect, cos_at + copy, (both ? sin_at : cos_at) + copy, a, a * STEPS32);
            }
            if (i < g->sin_n) {
                put(expect, sin_at + copy, sines[i], loose, drift);
                put_circle(expect, sin_at + copy, (both ? cos_at : sin_at) + copy, a, a * STEPS32);
            }
        }
    }
}

/* Of the upload's type. */
static double unit_roundoff(const pe_expect *expect)
{
    static const double of[PE_DTYPES] = {[PE_FLOAT32] = 0x1p-24,
                                         [PE_FLOAT64] = 0x1p-53,
                                         [PE_FLOAT16] = 0x1p-11,
                                         [PE_BFLOAT16] = 0x1p-8};
    return of[expect->view->claim->uploads[0].array.dtype];
}

/* x (|a| + |b|), which is finite more often than the sum. */
static double times_size(double x, double a, double b)
{
    return x * fabs(a) + x * fabs(b);
}

/* a' = a c - b s, b' = b c + a s; other channels pass. Tables, products and the sum may each be
 * rounded to the upload's type. */
static void vector_row(pe_expect *expect, const double *cosines, const double *sines,
                       double position, const double *in)
{
    const pe_geometry *g = &expect->geometry;
    const double u = unit_roundoff(expect);
    for (size_t c = 0; c < g->width; c++)
        put(expect, c, in[c], 0, 0);
    for (size_t i = 0; i < g->pairs; i++) {
        const size_t a_at = g->cos_at + i * g->stride, b_at = g->sin_at + i * g->stride;
        const double a = in[a_at], b = in[b_at], c = cosines[i], s = sines[i];
        const double kept = 3 * (1 + u) * u * hypot(c, s);
        const double exact = times_size(kept + drift64(expect, position, i), a, b);
        const double drift = times_size(kept + drift32(expect, position, i), a, b);
        const double radius = expect->amplitude * hypot(a, b);
        const double radial = times_size(kept + expect->amplitude * STEPS32, a, b);
        put(expect, a_at, a * c - b * s, exact, drift);
        put(expect, b_at, b * c + a * s, exact, drift);
        put_circle(expect, a_at, b_at, radius, radial);
        put_circle(expect, b_at, a_at, radius, radial);
    }
}

static pe_status wave_row(pe_expect *expect, size_t row, pe_problem *why)
{
    const pe_upload_view *view = expect->view;
    const size_t token = pe_upload_view_token(view, row);
    if (token < expect->block || token >= expect->block + expect->block_rows) {
        const pe_status status = fill_block(expect, token, why);
        if (status != PE_OK)
            return status;
    }
    const size_t at = (token - expect->block) * expect->geometry.pairs;
    const double position = pe_positions_at(&expect->positions, token);
    if (view->rotated)
        vector_row(expect, expect->cosines + at, expect->sines + at, position,
                   view->inputs + row * view->width);
    else
        table_row(expect, expect->cosines + at, expect->sines + at, position);
    return PE_OK;
}

/* ----
 * plain numbers ------------------------------------------------------------------------------ */

/* A bias of one row for all queries ([heads, 1, keys]) may stand for one of each. */
static bool plain_fits(pe_expect *expect)
{
    const pe_plan *plan = &expect->plan;
    const pe_claim *claim = expect->view->claim;
    if (plan->n_tensors != claim->n_uploads)
        return false;
    expect->repeat = 1;
    for (size_t t = 0; t < plan->n_tensors; t++) {
        const pe_tensor *tensor = &plan->tensors[t];
        const pe_array *array = &claim->uploads[t].array;
        if (tensor->elements == array->elements)
            continue;
        if (tensor->shape.ndim != 3 || array->shape.ndim != 3 || plan->n_tensors != 1 ||
            tensor->shape.dim[1] != 1 || tensor->shape.dim[0] != array->shape.dim[0] ||
            tensor->shape.dim[2] != array->shape.dim[2])
            return false;
        expect->repeat = array->shape.dim[1];
    }
    return true;
}

static pe_status make_plain(pe_expect *expect, pe_problem *why)
{
    size_t unit = PE_PLAIN_ROW;
    for (size_t t = 0; t < expect->plan.n_tensors; t++)
        if (expect->plan.tensors[t].unit > unit)
            unit = expect->plan.tensors[t].unit;
    expect->raw = malloc(unit * sizeof(double));
    if (expect->raw == NULL)
        return pe_fail_memory(why);
    return make_row(expect, PE_PLAIN_ROW, why);
}

/* Elements [first, first + n) of tensor t into out, unit by unit. */
static pe_status plain_run(pe_expect *expect, size_t t, size_t first, size_t n, double *out,
                           pe_problem *why)
{
    const pe_tensor *tensor = &expect->plan.tensors[t];
    const size_t bytes = pe_dtype_bytes(tensor->dtype);
    const double sign = expect->guess->distortion.negated ? -1 : 1;
    while (n > 0) {
        const size_t at = first % tensor->unit, room = n < PE_PLAIN_ROW ? n : PE_PLAIN_ROW;
        const size_t units = at == 0 && room > tensor->unit ? room / tensor->unit : 1;
        const size_t some = units * tensor->unit - at < n ? units * tensor->unit - at : n;
        const pe_status status =
            expect->plan.fill(&expect->plan, t, first / tensor->unit, units, expect->raw, why);
        if (status != PE_OK)
            return status;
        for (size_t e = 0; e < some; e++) {
            const double x =
                pe_dtype_load(tensor->dtype, (const char *)expect->raw + (at + e) * bytes);
            out[e] = isfinite(x) ? sign * x : x; /* a mask stays one */
        }
        first += some;
        out += some;
        n -= some;
    }
    return PE_OK;
}

/* Elements of a repeated tensor: row q of every head is the head's only row. */
static pe_status repeated_run(pe_expect *expect, size_t first, size_t n, double *out,
                              pe_problem *why)
{
    const size_t keys = expect->plan.tensors[0].shape.dim[2];
    while (n > 0) {
        const size_t head = first / keys / expect->repeat, key = first % keys;
        const size_t some = keys - key < n ? keys - key : n;
        const pe_status status = plain_run(expect, 0, head * keys + key, some, out, why);
        if (status != PE_OK)
            return status;
        first += some;
        out += some;
        n -= some;
    }
    return PE_OK;
}

/* A slope and its product may each be rounded to the upload's type. */
static pe_status plain_row(pe_expect *expect, size_t row, pe_problem *why)
{
    const pe_upload_view *view = expect->view;
    const size_t width = pe_upload_view_row_width(view, row);
    const double u = unit_roundoff(expect);
    size_t first = row * view->width, n = width, done = 0;
    pe_status status = PE_OK;
    if (expect->repeat > 1) {
        status = repeated_run(expect, first, n, expect->row.value, why);
        n = 0;
    }
    for (size_t t = 0; t < view->n_parts && n > 0 && status == PE_OK; t++) {
        if (first >= view->part_at[t + 1])
            continue;
        const size_t left = view->part_at[t + 1] - first, some = left < n ? left : n;
        status =
            plain_run(expect, t, first - view->part_at[t], some, expect->row.value + done, why);
        first += some;
        done += some;
        n -= some;
    }
    for (size_t e = 0; e < width && status == PE_OK; e++)
        expect->row.exact[e] = expect->row.float32[e] =
            isfinite(expect->row.value[e]) ? 2 * (1 + u) * u * fabs(expect->row.value[e]) : 0;
    return status;
}

/* ---- life ---- */

static pe_status plan_guess(pe_expect *expect, size_t numerics, bool *fits, pe_problem *why)
{
    pe_values values;
    pe_status status = ask_values(expect->view, expect->guess, numerics, &values, why);
    if (status != PE_OK)
        return status;
    pe_value *positions = pe_values_find(&values, "positions");
    *fits = positions == NULL ||
            pe_guess_map_positions(&positions->positions, &expect->guess->distortion.positions);
    if (*fits)
        status = plan_values(expect->guess, &values, &expect->plan, why);
    if (*fits && status == PE_OK && positions != NULL)
        status = pe_positions_copy(&positions->positions, &expect->positions, why);
    pe_values_free(&values);
    if (status != PE_OK && status != PE_INTERNAL) {
        *fits = false; /* refused: no table is made so */
        status = PE_OK;
    }
    return status;
}

pe_status pe_expect_make(const pe_upload_view *view, const pe_guess *guess, size_t numerics,
                         pe_expect *out, bool *fits, pe_problem *why)
{
    pe_expect made = {.view = view, .guess = guess, .amplitude = 1};
    const bool waves = view->waves != NULL;
    *fits = !waves || wave_geometry(&made);
    pe_status status = *fits ? plan_guess(&made, numerics, fits, why) : PE_OK;
    if (status == PE_OK && *fits)
        *fits = waves ? wave_plan_fits(&made) : plain_fits(&made);
    if (status == PE_OK && *fits)
        status = waves ? make_wave(&made, why) : make_plain(&made, why);
    if (status == PE_OK && *fits)
        *out = made;
    else
        pe_expect_free(&made);
    return status;
}

void pe_expect_free(pe_expect *expect)
{
    pe_plan_free(&expect->plan);
    pe_positions_free(&expect->positions);
    free(expect->frequency);
    free(expect->cosines);
    free(expect->sines);
    free(expect->row.value);
    free(expect->row.partner);
    free(expect->raw);
}

static pe_status probe_row(pe_expect *expect, pe_plan *plan, pe_problem *why)
{
    const pe_geometry *g = &expect->geometry;
    const size_t unit = plan->tensors[0].unit;
    double *row = malloc(2 * unit * sizeof *row);
    double *frequency = calloc(g->pairs, sizeof *frequency);
    if (row == NULL || frequency == NULL) {
        free(row);
        free(frequency);
        return pe_fail_memory(why);
    }
    pe_status status = plan->fill(plan, 0, 0, 1, row, why);
    if (status == PE_OK && expect->split)
        status = plan->fill(plan, 1, 0, 1, row + unit, why);
    const double *sines = row + (expect->split ? unit : g->cos_n);
    expect->amplitude = g->cos_n > 0 ? hypot(row[0], sines[0]) : 1;
    for (size_t i = 0; i < g->sin_n; i++)
        frequency[i] = sines[i] / expect->amplitude / PROBE;
    free(row);
    expect->frequency = frequency;
    return status;
}

pe_status pe_expect_probe(pe_expect *expect, pe_problem *why)
{
    pe_values values;
    pe_plan plan = {0};
    if (expect->view->waves == NULL || expect->frequency != NULL)
        return PE_OK;
    pe_status status = ask_values(expect->view, expect->guess, PE_NUMERICS_EXACT, &values, why);
    if (status != PE_OK)
        return status;
    pe_value *positions = pe_values_find(&values, "positions");
    pe_array list;
    status = pe_array_make(PE_FLOAT64, &(pe_shape){1, {1}}, &list, why);
    if (status == PE_OK) {
        ((double *)list.data)[0] = PROBE;
        pe_positions_free(&positions->positions);
        status = pe_positions_from_list(&list, "positions", &positions->positions, why);
    }
    if (status == PE_OK)
        status = plan_values(expect->guess, &values, &plan, why);
    if (status == PE_OK)
        status = probe_row(expect, &plan, why);
    pe_plan_free(&plan);
    pe_values_free(&values);
    return status;
}

pe_status pe_expect_row(pe_expect *expect, size_t row, pe_expected_row *out, pe_problem *why)
{
    const pe_status status =
        expect->view->waves != NULL ? wave_row(expect, row, why) : plain_row(expect, row, why);
    *out = expect->row;
    return status;
}
