/* SPDX-License-Identifier: MIT */
/* expected_numbers.c - the numbers that a guess stands for, laid out as the upload. */
#include "verify/compare/expected_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "verify/upload/upload_view.h"
#include "plan/common_params.h"
#include "plan/plan.h"
#include "plan/resource.h"
#include "verify/compare/allowance.h"

/* The position of the probe: w * 2^-40 is below 2^-10 for any w up to 1e9, so that its tangent is
 * off by 2^-21 of itself at most. The allowance it scales is not known that well. */
#define PROBE 0x1p-40

/* Sine, amplitude and their product in float32, each an ulp of 1; as a part of the amplitude. */
#define FLOAT32_STEPS 0x1p-22

/* What planning and room for a block take, beside the frequencies, which exact/ charges. */
#define MAKE_WORK 600

/* ---- values for the resource ---- */

/* The guess's values, for float64 elements of this arithmetic and all cosines first. */
static pe_status copy_values(const pe_expect *expect, size_t numerics, pe_values *out,
                             pe_problem *why)
{
    const pe_pair_layout *layout = expect->view->layout;
    PE_TRY(pe_values_copy(&expect->guess->values, out, why));
    (void)pe_geometry_set_choice(out, "dtype", "float64");
    (void)pe_geometry_set_choice(out, "numerics", pe_plan_numerics[numerics]);
    if (layout != NULL)
        (void)pe_geometry_set_choice(out, layout->param, layout->cosines_first);
    if (expect->guess->distortion.head_in_exponent) {
        static const char *const of_part[] = {"partial_rotary_factor", "rotary_offset"};
        pe_values_set_int(out, "rotary_dim", pe_values_int(out, "head_dim"));
        for (size_t i = 0; i < PE_LEN(of_part); i++)
            if (pe_values_find(out, of_part[i]) != NULL)
                pe_values_find(out, of_part[i])->present = false;
    }
    return PE_OK;
}

/* ---- pairs ---- */

/* Does the guess put its pairs into rows of the upload's width? */
static bool pairs_fit_width(pe_expect *expect)
{
    const pe_upload_view *view = expect->view;
    const pe_guess *guess = expect->guess;
    pe_geometry *g = &expect->geometry;
    if (view->rotated)
        pe_geometry_of_vectors(&guess->values, g);
    else if (!view->layout->geometry(&guess->values, g))
        return false;
    if (guess->distortion.exchanged && !view->rotated && g->cos_n != g->sin_n)
        return false;
    if (guess->distortion.exchanged && !view->rotated)
        pe_geometry_exchange(g);
    return g->width == view->width &&
           (guess->distortion.inv_freq == NULL || guess->distortion.inv_freq_pairs == g->pairs);
}

/* The plan's tensors: cosines and sines, or one with all cosines first. */
static bool pairs_fit_plan(pe_expect *expect)
{
    const pe_plan *plan = expect->plan;
    const pe_geometry *g = &expect->geometry;
    for (size_t t = 0; t < plan->n_tensors; t++)
        if (plan->tensors[t].units != expect->view->tokens)
            return false;
    expect->two_tensors = plan->n_tensors == 2;
    if (expect->two_tensors)
        return plan->tensors[0].unit >= g->pairs;
    return plan->n_tensors == 1 && plan->tensors[0].unit >= g->cos_n + g->sin_n;
}

/* Room for rows of so many numbers, for a block of pairs, and for what the plan fills. */
static pe_status make_room(pe_expect *expect, size_t width, size_t pairs, size_t filled,
                           pe_problem *why)
{
    const size_t block = PE_EXPECT_BLOCK * pairs;
    double *numbers = calloc(7 * width + 2 * block + filled, sizeof *numbers);
    size_t *partner = calloc(width, sizeof *partner);
    expect->row = (pe_expected_row){.value = numbers, .partner = partner};
    if (numbers == NULL || partner == NULL)
        return pe_fail_memory(why);
    expect->row.exact_error = numbers + width;
    expect->row.float32_error = numbers + 2 * width;
    expect->row.radius = numbers + 3 * width;
    expect->row.radius_error = numbers + 4 * width;
    expect->taken = numbers + 5 * width;
    expect->cosines = numbers + 7 * width;
    expect->sines = expect->cosines + block;
    expect->filled = expect->sines + block;
    for (size_t c = 0; c < width; c++)
        partner[c] = c;
    return PE_OK;
}

/* What the waves of the values are multiplied by. */
static double gain_of(const pe_expect *expect)
{
    const double gain = expect->guess->distortion.gain;
    return gain != 0 ? gain : 1;
}

/* The first n numbers of each row of a filled block, each times so much. */
static void take_block(const pe_expect *expect, const double *from, size_t n, double times,
                       double *to)
{
    for (size_t r = 0; r < expect->n_tokens; r++)
        for (size_t i = 0; i < n; i++)
            to[r * expect->geometry.pairs + i] =
                times * from[r * expect->plan->tensors[0].unit + i];
}

/* Do frequencies or angles differ from those that the values give? */
static bool is_recomputed(const pe_expect *expect)
{
    const pe_distortion *by = &expect->guess->distortion;
    return by->frequencies != NULL || by->angles != NULL || by->inv_freq != NULL;
}

/* By which the values turned pair i of row r. Of several axes *axis is the first that is tried, and
 * the one that it was. */
static double position_of(const pe_expect *expect, const pe_wave *size, size_t r, size_t i,
                          size_t *axis)
{
    const pe_upload_view *view = expect->view;
    const size_t token = expect->first_token + r, at = r * expect->geometry.pairs + i;
    if (view->axes == 1)
        return pe_upload_view_position(view, &expect->positions, token);
    for (size_t k = 0;; k++) {
        const double p = pe_positions_at(&expect->positions, *axis * view->tokens + token);
        const double angle = p * expect->undistorted[i];
        const double off = fabs(expect->cosines[at] - size->cosine * cos(angle)) +
                           fabs(expect->sines[at] - size->sine * sin(angle));
        if (off < 1e-13 * (1 + fabs(angle)) * fabs(size->sine) || k == view->axes)
            return p;
        *axis = *axis + 1 < view->axes ? *axis + 1 : 0;
    }
}

/* Waves of the frequencies that the guess puts in, of a block. A row of padding stays one of zeros. */
static void recompute_block(pe_expect *expect)
{
    const pe_distortion *by = &expect->guess->distortion;
    const size_t pairs = expect->geometry.pairs;
    const pe_wave size = {expect->amplitude * pe_guess_cosine_sign(expect->guess),
                          expect->amplitude * pe_guess_sine_sign(expect->guess)};
    size_t axis = 0;
    for (size_t i = 0; i < pairs; i++)
        for (size_t r = 0; r < expect->n_tokens; r++) {
            const double exact = position_of(expect, &size, r, i, &axis) * expect->frequency[i];
            const double a =
                by->angles != NULL ? pe_narrow_type_round(by->angles, (double)(float)exact) : exact;
            const size_t at = r * pairs + i;
            const bool padding = expect->cosines[at] == 0 && expect->sines[at] == 0;
            expect->cosines[at] = padding ? 0 : size.cosine * cos(a);
            expect->sines[at] = padding ? 0 : size.sine * sin(a);
        }
}

/* Rows [first, first + rows) of a plan: cosines, and where *sines is all sines, or those of the first
 * row. An exchanged layout counts its columns the other way round; both counts are the same. */
static pe_status make_waves(const pe_expect *expect, const pe_plan *plan, size_t first, size_t rows,
                            double *cosines, double **sines, pe_problem *why)
{
    pe_region region = pe_plan_units(plan, 0, first, rows);
    *sines =
        cosines + (expect->two_tensors ? rows * plan->tensors[0].unit : expect->geometry.cos_n);
    PE_TRY(pe_plan_make_region(plan, &region, cosines, why));
    region.tensor = 1;
    return expect->two_tensors ? pe_plan_make_region(plan, &region, *sines, why) : PE_OK;
}

/* The tokens of the first block: most guesses are refuted by one. */
#define FIRST_BLOCK 2

static pe_status fill_block(pe_expect *expect, size_t token, pe_problem *why)
{
    const size_t block = expect->n_tokens > 0 ? PE_EXPECT_BLOCK : FIRST_BLOCK;
    const size_t first = token - token % block;
    const size_t left = expect->view->tokens - first;
    const double gain = gain_of(expect);
    double *sines;
    expect->first_token = first;
    expect->n_tokens = left < block ? left : block;
    PE_TRY(make_waves(expect, expect->plan, first, expect->n_tokens, expect->filled, &sines, why));
    take_block(expect, expect->filled, expect->geometry.cos_n,
               gain * pe_guess_cosine_sign(expect->guess), expect->cosines);
    take_block(expect, sines, expect->geometry.sin_n, gain * pe_guess_sine_sign(expect->guess),
               expect->sines);
    if (is_recomputed(expect))
        recompute_block(expect);
    return PE_OK;
}

/* ---- one row of pairs ---- */

/* How far off a column may be. */
typedef struct allowed {
    double exact, float32;
} allowed;

static void put(const pe_expected_row *row, size_t column, double value, allowed error)
{
    row->value[column] = value;
    row->exact_error[column] = error.exact;
    row->float32_error[column] = error.float32;
}

static void put_circle(const pe_expected_row *row, size_t column, size_t partner, double radius,
                       double error)
{
    row->partner[column] = partner;
    row->radius[column] = radius;
    row->radius_error[column] = error;
}

/* How far a sine or cosine may be off: that of a guess whose frequency and amplitude are products
 * of float64 numbers, and that of the float32 path. */
static allowed angle_error(const pe_expect *expect, double position, size_t i)
{
    const double a = expect->amplitude;
    if (expect->frequency == NULL)
        return (allowed){0, 0};
    const double w = expect->frequency[i];
    const bool inexact = expect->guess->distortion.values_inexact;
    const double gain = expect->guess->distortion.gain_error;
    return (allowed){inexact ? a * (0x1p-51 * (1 + fabs(position) * w) + gain) : 0,
                     a * (expect->roundings[i] * 0x1p-24 * fabs(position) * w + FLOAT32_STEPS)};
}

static void table_row(const pe_expect *expect, const double *cosines, const double *sines,
                      double position)
{
    const pe_geometry *g = &expect->geometry;
    const pe_expected_row *row = &expect->row;
    const double a = expect->amplitude, circle = a * FLOAT32_STEPS;
    for (size_t c = 0; c < g->width; c++)
        put(row, c, 0, (allowed){0, 0});
    for (size_t i = 0; i < g->pairs; i++) {
        const allowed error = angle_error(expect, position, i);
        const bool both = i < g->cos_n && i < g->sin_n;
        for (size_t copy = 0; copy <= g->copy; copy += g->copy + (g->copy == 0)) {
            const size_t c = g->cos_at + i * g->stride + copy;
            const size_t s = g->sin_at + i * g->stride + copy;
            if (i < g->cos_n) {
                put(row, c, cosines[i], error);
                put_circle(row, c, both ? s : c, a, circle);
            }
            if (i < g->sin_n) {
                put(row, s, sines[i], error);
                put_circle(row, s, both ? c : s, a, circle);
            }
        }
    }
}

/* x (|a| + |b|), which is finite more often than the sum. */
static double times_size(double x, double a, double b)
{
    return x * fabs(a) + x * fabs(b);
}

/* A cosine or a sine as it turns vectors. */
static double wave_of(const pe_expect *expect, double exact)
{
    const pe_narrow_type *waves = expect->guess->distortion.waves;
    return waves != NULL ? pe_narrow_type_round(waves, (double)(float)exact) : exact;
}

/* a' = a c - b s, b' = b c + a s; other channels pass. Tables, products and the sum may each be
 * rounded to the upload's type. */
static void vector_row(const pe_expect *expect, const double *cosines, const double *sines,
                       double position, const double *in)
{
    const pe_geometry *g = &expect->geometry;
    const pe_expected_row *row = &expect->row;
    const double u = pe_guess_roundoff(expect->guess);
    for (size_t c = 0; c < g->width; c++)
        put(row, c, in[c], (allowed){0, 0});
    for (size_t i = 0; i < g->pairs; i++) {
        const size_t a_at = g->cos_at + i * g->stride, b_at = g->sin_at + i * g->stride;
        const bool exchanged = expect->guess->distortion.exchanged;
        const double a = in[a_at], b = in[b_at];
        const double c = wave_of(expect, exchanged ? sines[i] : cosines[i]);
        const double s = wave_of(expect, exchanged ? cosines[i] : sines[i]);
        const double rounding = 3 * (1 + u) * u * hypot(c, s);
        const allowed angle = angle_error(expect, position, i);
        const allowed error = {times_size(rounding + angle.exact, a, b),
                               times_size(rounding + angle.float32, a, b)};
        const double size =
            expect->guess->distortion.waves != NULL ? hypot(c, s) : expect->amplitude;
        const double radius = size * hypot(a, b);
        const double circle = times_size(rounding + expect->amplitude * FLOAT32_STEPS, a, b);
        put(row, a_at, a * c - b * s, error);
        put(row, b_at, b * c + a * s, error);
        put_circle(row, a_at, b_at, radius, circle);
        put_circle(row, b_at, a_at, radius, circle);
    }
}

/* ---- plain numbers ---- */

/* Has the plan the upload's sizes? A bias of one row for all queries ([heads, 1, keys]) may stand for one of
 * each. */
static bool plain_fits(pe_expect *expect)
{
    const pe_plan *plan = expect->plan;
    const pe_claim *claim = expect->view->claim;
    expect->repeat = 1;
    for (size_t t = 0; t < claim->n_uploads; t++) {
        const size_t of = expect->view->plan_tensor[t];
        if (of >= plan->n_tensors)
            return false;
        const pe_tensor *tensor = &plan->tensors[of];
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

/* How many numbers the plan fills at a time, at most. */
static size_t plain_room(const pe_expect *expect)
{
    size_t unit = PE_PLAIN_ROW;
    for (size_t t = 0; t < expect->plan->n_tensors; t++)
        if (expect->plan->tensors[t].unit > unit)
            unit = expect->plan->tensors[t].unit;
    return unit;
}

/* Elements [first, first + n) of a tensor of the plan. */
typedef struct run {
    size_t tensor, first, n;
} run;

static pe_status plain_run(pe_expect *expect, run at, double *out, pe_problem *why)
{
    const pe_tensor *tensor = &expect->plan->tensors[at.tensor];
    const size_t bytes = pe_dtype_bytes(tensor->dtype);
    const double sign = expect->guess->distortion.negated ? -1 : 1;
    while (at.n > 0) {
        const size_t skip = at.first % tensor->unit;
        const size_t room = at.n < PE_PLAIN_ROW ? at.n : PE_PLAIN_ROW;
        const size_t units = skip == 0 && room > tensor->unit ? room / tensor->unit : 1;
        const size_t whole = units * tensor->unit - skip, some = whole < at.n ? whole : at.n;
        const pe_region region =
            pe_plan_units(expect->plan, at.tensor, at.first / tensor->unit, units);
        PE_TRY(pe_plan_make_region(expect->plan, &region, expect->filled, why));
        for (size_t e = 0; e < some; e++) {
            const double x =
                pe_dtype_load(tensor->dtype, (const char *)expect->filled + (skip + e) * bytes);
            *out++ = isfinite(x) ? sign * x : x; /* a mask stays one */
        }
        at.first += some;
        at.n -= some;
    }
    return PE_OK;
}

/* Where element `first` of the upload is in the plan, with up to n elements from there on. Row q of
 * every head of a repeated tensor is the head's only row. */
static run find_run(const pe_expect *expect, size_t first, size_t n)
{
    const size_t *at = expect->view->tensor_at, keys = expect->plan->tensors[0].shape.dim[2];
    size_t t = 0;
    if (expect->repeat > 1) {
        const size_t head = first / keys / expect->repeat, key = first % keys;
        return (run){0, head * keys + key, keys - key < n ? keys - key : n};
    }
    while (first >= at[t + 1])
        t++;
    return (run){expect->view->plan_tensor[t], first - at[t],
                 at[t + 1] - first < n ? at[t + 1] - first : n};
}

/* Elements [first, first + n) of the upload by the guess's law, which is computed in float64, 2^-29
 * times as coarse as float32. Its products may be kept in the upload's type on the way, as those of
 * other tables (allowance.h). */
static void take_law(const pe_expect *expect, size_t first, size_t n, const pe_expected_row *out)
{
    const pe_distortion *by = &expect->guess->distortion;
    const double u = pe_upload_view_roundoff(expect->view);
    for (size_t e = 0; e < n && by->law != NULL; e++) {
        double error = 0;
        const double x = by->law(by->law_context, first + e, out->value[e], &error);
        const double size = isfinite(x) ? fabs(x) : 0;
        out->value[e] = x;
        out->exact_error[e] = by->law_gain * out->exact_error[e] +
                              (2 * (1 + u) * u + 0x1p-50) * size + 0x1p-28 * error;
        out->float32_error[e] =
            by->law_gain * out->float32_error[e] + (2 * (1 + u) * u + 0x1p-20) * size + error;
    }
}

pe_status pe_expect_plain(pe_expect *expect, size_t first, size_t n, pe_problem *why)
{
    const pe_expected_row *out = &expect->row;
    const pe_distortion *by = &expect->guess->distortion;
    /* Some laws say what elements are, whatever the claimed ones and their errors. */
    const bool alone = by->law != NULL && by->law_gain == 0;
    const bool scaled_base = strcmp(expect->guess->claim->resource->name, "rope/scaled-base") == 0;
    const char *frequencies = scaled_base ? "scaled_inv_freq" : "inv_freq";
    pe_status status = PE_OK;
    pe_guess_count(expect->guess, n);
    for (size_t done = 0; done < n && status == PE_OK;) {
        const run at = find_run(expect, first + done, n - done);
        const pe_allowance_run of = {.tensor = at.tensor,
                                     .first = at.first,
                                     .n = at.n,
                                     .value = out->value + done,
                                     .of_all = &expect->known_of_all,
                                     .per_position = expect->per_position,
                                     .columns = expect->columns};
        status = alone ? PE_OK : plain_run(expect, at, out->value + done, why);
        if (by->inv_freq != NULL && strcmp(expect->plan->tensors[at.tensor].name, frequencies) == 0)
            memcpy(out->value + done, by->inv_freq + at.first, at.n * sizeof *out->value);
        for (size_t e = 0; e < at.n; e++)
            out->exact_error[done + e] = out->float32_error[done + e] = 0;
        if (status == PE_OK && !alone)
            status = pe_allowance_of_run(expect->guess, expect->plan, &of, out->exact_error + done,
                                         out->float32_error + done, why);
        done += at.n;
    }
    if (status == PE_OK)
        take_law(expect, first, n, out);
    return status;
}

/* ---- life ---- */

/* Plan the guess's values. What is refused has no table. */
static pe_status plan_guess(pe_expect *expect, size_t numerics, pe_problem *why)
{
    pe_values values;
    PE_TRY(copy_values(expect, numerics, &values, why));
    pe_value *positions = pe_values_find(&values, "positions");
    pe_status status = PE_OK;
    expect->fits =
        positions == NULL ||
        pe_guess_map_positions(&positions->positions, &expect->guess->distortion.positions);
    if (expect->fits) {
        expect->plan = calloc(1, sizeof *expect->plan);
        status = expect->plan == NULL ? pe_fail_memory(why)
                                      : pe_guess_plan(expect->guess, &values, expect->plan, why);
    }
    if (expect->fits && status == PE_OK && positions != NULL)
        status = pe_positions_share(&positions->positions, &expect->positions, why);
    pe_values_free(&values);
    expect->fits &= status == PE_OK;
    return pe_status_is_ours(status) ? status : PE_OK;
}

static pe_status make(pe_expect *expect, size_t numerics, pe_problem *why)
{
    const bool pairs = expect->view->layout != NULL;
    if (pairs && !pairs_fit_width(expect))
        return PE_OK;
    const pe_status status = plan_guess(expect, numerics, why);
    if (status != PE_OK || !expect->fits)
        return status;
    expect->fits = pairs ? pairs_fit_plan(expect) : plain_fits(expect);
    if (!expect->fits)
        return PE_OK;
    PE_TRY(pairs ? make_room(expect, expect->view->width, expect->geometry.pairs,
                             PE_EXPECT_BLOCK * (expect->two_tensors ? 2U : 1U) *
                                 expect->plan->tensors[0].unit,
                             why)
                 : make_room(expect, PE_PLAIN_ROW, 0, plain_room(expect), why));
    return pairs && !is_recomputed(expect) ? PE_OK : pe_expect_probe(expect, why);
}

pe_status pe_expect_make(const pe_comparison *of, size_t numerics, pe_expect *out, pe_problem *why)
{
    *out = (pe_expect){.view = of->view, .guess = of->guess, .known_of_all = nan("")};
    out->amplitude = gain_of(out);
    pe_yield_spend(MAKE_WORK);
    const pe_status status = make(out, numerics, why);
    if (status != PE_OK || !out->fits)
        pe_expect_free(out);
    return status;
}

void pe_expect_free(pe_expect *expect)
{
    if (expect->plan != NULL)
        pe_plan_free(expect->plan);
    free(expect->plan);
    pe_positions_free(&expect->positions);
    free(expect->frequency);
    free(expect->per_position);
    free(expect->row.value);
    free(expect->row.partner);
}

/* ---- frequencies and amplitude ---- */

/* The frequency that the guess puts in the place of w. Float32 precedes a narrower type. */
static double distorted(const pe_guess *guess, size_t i, double w)
{
    const pe_distortion *by = &guess->distortion;
    const double put = by->inv_freq != NULL ? by->inv_freq[i] : w;
    return by->frequencies != NULL ? pe_narrow_type_round(by->frequencies, (double)(float)put)
                                   : put;
}

static pe_status read_probe(pe_expect *expect, pe_plan *plan, double *row, pe_problem *why)
{
    const pe_geometry *g = &expect->geometry;
    double *sines;
    PE_TRY(make_waves(expect, plan, 0, 1, row, &sines, why));
    expect->frequency = calloc(3 * g->pairs, sizeof *expect->frequency);
    if (expect->frequency == NULL)
        return pe_fail_memory(why);
    expect->roundings = expect->frequency + g->pairs;
    expect->undistorted = expect->frequency + 2 * g->pairs;
    expect->amplitude = g->cos_n > 0 ? hypot(row[0], sines[0]) : 1;
    for (size_t i = 0; i < g->sin_n; i++) {
        expect->undistorted[i] = sines[i] / expect->amplitude / PROBE;
        const double w = distorted(expect->guess, i, expect->undistorted[i]);
        expect->frequency[i] = w;
        expect->roundings[i] = pe_allowance_roundings(&expect->guess->values, w, i);
    }
    expect->amplitude *= gain_of(expect);
    return PE_OK;
}

static double per_position(const pe_values *values, double w, size_t pair)
{
    return pe_allowance_roundings(values, w, pair) * fabs(w);
}

/* Cosines or sines alone, or both where a guess puts them into one tensor: of each column. */
static pe_status read_columns(pe_expect *expect, pe_plan *plan, double *row, pe_problem *why)
{
    pe_geometry g = {0};
    const pe_values *values = &expect->guess->values;
    const bool fused = plan->n_tensors == 1;
    const pe_region region = pe_plan_units(plan, fused ? 0 : 1, 0, 1);
    const size_t n = plan->tensors[region.tensor].unit;
    const size_t pairs = (size_t)pe_values_int(values, "rotary_dim") / 2;
    const bool half = strcmp(pe_geometry_choice_text(values, "pairing"), "half") == 0;
    const double unit = PROBE * plan->scalars[0].value;
    PE_TRY(pe_plan_make_region(plan, &region, row, why));
    double *out = calloc(n, sizeof *out);
    if (out == NULL)
        return pe_fail_memory(why);
    for (size_t c = 0; c < n && !fused; c++)
        out[c] = per_position(values, row[c] / unit, n == pairs || half ? c % pairs : c / 2);
    if (fused && pe_geometry_pair_layout(expect->guess->claim->resource)->geometry(values, &g))
        for (size_t i = 0; i < g.sin_n; i++) {
            const size_t c = g.cos_at + i * g.stride, s = g.sin_at + i * g.stride;
            out[c] = out[s] = per_position(values, row[s] / unit, i);
        }
    expect->per_position = out;
    expect->columns = n;
    return PE_OK;
}

static double probe(const void *of PE_UNUSED, size_t k PE_UNUSED)
{
    return PROBE;
}

pe_status pe_expect_probe(pe_expect *expect, pe_problem *why)
{
    pe_values values;
    pe_plan plan = {0};
    const pe_upload_view *view = expect->view;
    /* Of tables without pairs those that are cosines, or sines, alone. */
    const bool waves =
        view->layout != NULL || strcmp(view->claim->resource->name, "rope/table") == 0;
    if (!waves || expect->frequency != NULL || expect->per_position != NULL)
        return PE_OK;
    PE_TRY(copy_values(expect, PE_NUMERICS_EXACT, &values, why));
    pe_status status = pe_upload_positions_replace(&pe_values_find(&values, "positions")->positions,
                                                   &(pe_shape){1, {1}}, probe, NULL, why);
    if (status == PE_OK)
        status = pe_guess_plan(expect->guess, &values, &plan, why);
    if (status == PE_OK) {
        double *row = malloc(2 * plan.tensors[0].unit * sizeof *row);
        status = row == NULL            ? pe_fail_memory(why)
                 : view->layout != NULL ? read_probe(expect, &plan, row, why)
                                        : read_columns(expect, &plan, row, why);
        free(row);
    }
    pe_plan_free(&plan);
    pe_values_free(&values);
    return status;
}

pe_status pe_expect_exact(const pe_comparison *of, bool frequencies, pe_expect *out,
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

const double *pe_expect_got(pe_expect *expect, size_t row)
{
    const pe_upload_view *view = expect->view;
    if (view->got != NULL)
        return view->got + row * view->width;
    pe_upload_view_take(view, false, row, expect->taken);
    return expect->taken;
}

pe_status pe_expect_row(pe_expect *expect, size_t row, pe_expected_row *out, pe_problem *why)
{
    const pe_upload_view *view = expect->view;
    *out = expect->row;
    const size_t width = pe_upload_view_row_width(view, row);
    if (view->layout == NULL)
        return pe_expect_plain(expect, row * view->width, width, why);
    pe_guess_count(expect->guess, width);
    const size_t token = pe_upload_view_token(view, row);
    if (token < expect->first_token || token >= expect->first_token + expect->n_tokens)
        PE_TRY(fill_block(expect, token, why));
    const size_t at = (token - expect->first_token) * expect->geometry.pairs;
    const double position = pe_upload_view_position(view, &expect->positions, token);
    double *inputs = expect->taken + view->width;
    if (view->rotated) {
        pe_upload_view_take(view, true, row, inputs);
        vector_row(expect, expect->cosines + at, expect->sines + at, position, inputs);
    } else {
        table_row(expect, expect->cosines + at, expect->sines + at, position);
    }
    return PE_OK;
}
