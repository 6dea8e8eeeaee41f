/* SPDX-License-Identifier: MIT */
/* lone_waves.c - cosines, or sines, that were uploaded alone. */
#include "plan/common_params.h"
#include "plan/resource.h"
#include "verify/search/attempts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"

/* Rows without which nothing is derived; rows that tell how far a pair turns, or whether rows are
 * of claimed frequencies. */
#define ROWS_LEAST 16
#define SAMPLES    512
#define LOOKED_AT  64

#define QUARTER 1.5707963267948966 /* of a turn, radians */

/* Numbers are 1 at most, but for an attention factor. */
#define LARGEST 16

/* The upload, and what is claimed of it. */
typedef struct source {
    const double *got; /* [rows][width] */
    size_t rows, width;
    bool cosines;
    double amplitude;
    const pe_expect *claimed;
    const pe_positions *positions; /* as claimed */
    double step;                   /* of most rows: the first one */
} source;

/* A column of it. */
typedef struct column {
    const source *of;
    size_t at;
} column;

static double number_at(const column *x, size_t row)
{
    return x->of->got[row * x->of->width + x->at];
}

/* Is row t + lag claimed to be so many steps ahead? */
static bool is_ahead(const source *of, size_t t, size_t lag)
{
    return t + lag < of->rows &&
           pe_positions_at(of->positions, t + lag) - pe_positions_at(of->positions, t) ==
               (double)lag * of->step;
}

bool pe_lone_waves_are(const pe_search *s)
{
    const pe_claim *claim = s->whole->claim;
    const pe_value *positions = pe_values_find(&claim->values, "positions");
    const char *name = claim->uploads[0].name;
    const pe_array *array = &claim->uploads[0].array;
    return s->whole->layout == NULL && strcmp(claim->resource->name, "rope/table") == 0 &&
           claim->n_uploads == 1 &&
           (strncmp(name, "cos", 3) == 0 || strncmp(name, "sin", 3) == 0) &&
           array->shape.ndim == 2 && array->shape.dim[0] >= ROWS_LEAST && positions != NULL &&
           positions->positions.shape.ndim == 1 && s->whole->got != NULL;
}

/* ---- how far a pair turns ---- */

/* The cosine of the angle of `lag` rows; NAN: no row has such neighbours. Zeros do not turn. */
static double cosine_of_turn(const column *x, size_t lag)
{
    double sum = 0, size = 0;
    size_t looked_at = 0;
    const size_t n = x->of->rows - 2 * lag, stride = n / SAMPLES + 1;
    for (size_t t = lag; t < lag + n; t += stride) {
        const double middle = number_at(x, t), ends = number_at(x, t - lag) + number_at(x, t + lag);
        if (!(fabs(middle) < LARGEST) || !(fabs(ends) < 2 * LARGEST) ||
            !is_ahead(x->of, t - lag, 2 * lag))
            continue;
        looked_at++;
        sum += middle * ends;
        size += 2 * middle * middle;
    }
    if (looked_at == 0)
        return (double)NAN;
    return size > 0 ? fmax(-1, fmin(1, sum / size)) : 1;
}

/* The angle nearest `about` that has this cosine. */
static double nearest_angle(double cosine, double about)
{
    const double turn = 4 * QUARTER, angle = acos(cosine);
    const double turns = turn * floor(about / turn), rest = about - turns;
    const double up = fmin(fabs(rest - angle), fabs(rest - turn - angle)),
                 down = fabs(rest - (turn - angle));
    if (down < up)
        return turns + turn - angle;
    return turns + angle + (fabs(rest - angle) <= up ? 0 : turn);
}

/* Radians from row to row, by ever larger lags. Which way is not told: forward. */
static double frequency_of(const column *x)
{
    double w = acos(cosine_of_turn(x, 1));
    for (size_t lag = 2; lag <= x->of->rows / 4; lag *= 2) {
        const double about = w * (double)lag, angle = nearest_angle(cosine_of_turn(x, lag), about);
        if (!(fabs(angle - about) <= 0.5))
            break;
        w = angle / (double)lag;
    }
    return w;
}

/* ---- the other numbers ---- */

/* Rows after which a pair has turned enough to tell its two numbers apart; of a slow pair those
 * after which it has turned most. */
static size_t best_lag(const column *x, double w)
{
    size_t best = 1;
    for (size_t lag = 1; lag <= x->of->rows / 2; lag *= 2) {
        if (fabs(sin((double)lag * w)) > fabs(sin((double)best * w)))
            best = lag;
        if (fabs(sin((double)best * w)) > 0.7)
            break;
    }
    return best;
}

/* Of cosines the sine in that row. Of sines it is the cosine, negative. */
static double derive(const column *x, size_t row, size_t lag, double angle)
{
    const bool forward = is_ahead(x->of, row, lag);
    if (!forward && (row < lag || !is_ahead(x->of, row - lag, lag)))
        return 0; /* it has no such neighbours */
    const double here = number_at(x, row) * cos(angle),
                 there = number_at(x, forward ? row + lag : row - lag);
    return (forward ? here - there : there - here) / sin(angle);
}

/* The other number on the circle, or its negative. Sines that stay small have such cosines. */
static double beside(double x, double amplitude)
{
    return sqrt(fmax(0, amplitude * amplitude - x * x));
}

/* ---- the other numbers of rows that turn as claimed ---- */

static double frequency_at(const source *of, size_t pair)
{
    return fabs(of->claimed->frequency[pair]);
}

static size_t column_of(const source *of, size_t pair)
{
    const pe_geometry *g = &of->claimed->geometry;
    return (g->cos_at + pair * g->stride) % of->width;
}

static double row_at(const source *of, size_t row, size_t pair)
{
    return of->got[row * of->width + column_of(of, pair)] / of->amplitude;
}

/* The angle nearest `about` at which a wave has this value. */
static double angle_at(const source *of, double value, double about)
{
    const double ahead = of->cosines ? 0 : QUARTER;
    return nearest_angle(fmax(-1, fmin(1, value)), about - ahead) + ahead;
}

/* From the slowest pair, whose angle is less than a turn off, to the fastest, as they stand in
 * ladders. Near the ends of its range a wave tells little. */
static double position_from(const source *of, size_t row, double position)
{
    bool begun = false;
    for (size_t i = of->claimed->geometry.pairs; i-- > 0;) {
        const double w = frequency_at(of, i), about = position * w;
        const double angle = angle_at(of, row_at(of, row, i), about);
        const double slope = of->cosines ? sin(angle) : cos(angle);
        if (w > 0 && (!begun || (fabs(angle - about) < 0.5 && fabs(slope) > 0.1)))
            position = angle / w;
        begun |= w > 0;
    }
    return position;
}

static double wave(const source *of, double angle, bool cosine)
{
    return of->amplitude * (cosine ? cos(angle) : sin(angle));
}

/* Do most pairs of a row say this position? */
static bool is_of_position(const source *of, size_t row, double position)
{
    size_t agree = 0;
    const size_t pairs = of->claimed->geometry.pairs;
    for (size_t i = 0; i < pairs; i++)
        agree += fabs(row_at(of, row, i) * of->amplitude -
                      wave(of, position * frequency_at(of, i), of->cosines)) < 0.02 * of->amplitude;
    return 4 * agree > 3 * pairs;
}

/* Near the claimed one, or else near 0. */
static double position_of(const source *of, size_t row)
{
    const double near = position_from(of, row, pe_positions_at(of->positions, row));
    return is_of_position(of, row, near) ? near : position_from(of, row, 0);
}

static bool turns_as_claimed(const source *of)
{
    size_t n = 0, agree = 0;
    for (size_t t = 0; t < of->rows; t += of->rows / LOOKED_AT + 1, n++)
        agree += is_of_position(of, t, position_of(of, t));
    return 4 * agree > 3 * n;
}

/* Both places of a pair get the number on its circle. */
static void derive_row(const source *of, size_t row, double *out)
{
    const pe_geometry *g = &of->claimed->geometry;
    const double position = position_of(of, row);
    pe_yield_spend(16 * of->width);
    for (size_t i = 0; i < g->pairs; i++) {
        const size_t at = column_of(of, i);
        const double other = wave(of, position * frequency_at(of, i), !of->cosines);
        const double y = copysign(beside(of->got[row * of->width + at], of->amplitude), other);
        out[row * of->width + at] = out[row * of->width + at + g->copy] = y;
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The largest number of most rows: that of the claim, where it is near. */
static double amplitude_of(const source *of)
{
    double most[LOOKED_AT] = {0};
    size_t n = 0;
    for (size_t t = 0; t < of->rows && n < LOOKED_AT; t += of->rows / LOOKED_AT + 1, n++)
        for (size_t c = 0; c < of->width; c++) {
            const double x = fabs(of->got[t * of->width + c]);
            most[n] = x < LARGEST && x > most[n] ? x : most[n];
        }
    qsort(most, n, sizeof *most, by_size);
    const double found = most[n * 3 / 4], claimed = of->claimed->amplitude;
    return fabs(found - claimed) < 0.02 * claimed || found == 0 ? claimed : found;
}

/* ---- the other numbers of a pair ---- */

static void derive_by_neighbours(const column *x, double *out)
{
    const source *of = x->of;
    const double w = frequency_of(x);
    const size_t lag = best_lag(x, w);
    const double angle = (double)lag * w;
    const bool still = fabs(sin(angle)) < (of->cosines ? 1e-9 : 0.3);
    for (size_t t = 0; t < of->rows; t++) {
        const double y = still ? 0 : derive(x, t, lag, angle), here = number_at(x, t);
        out[t * of->width + x->at] = of->cosines ? y : still ? beside(here, of->amplitude) : -y;
    }
}

/* Both places of a pair get the same. */
static void derive_pair(const source *of, size_t pair, double *out)
{
    const size_t at = column_of(of, pair);
    pe_yield_spend(8 * of->rows);
    derive_by_neighbours(&(column){of, at}, out);
    for (size_t t = 0; t < of->rows; t++)
        out[t * of->width + at + of->claimed->geometry.copy] = out[t * of->width + at];
}

/* ---- both, as an upload of pairs ---- */

static bool sent_cosines(const pe_search *s)
{
    return strncmp(s->whole->claim->uploads[0].name, "cos", 3) == 0;
}

/* The same with the other tensor, whose numbers are 0 so far. "cos_cache" for "sin_cache". */
static pe_status make_claim(const pe_search *s, pe_claim *out, pe_problem *why)
{
    const pe_claim *sent = s->whole->claim;
    pe_upload *other = &out->uploads[1];
    *out = (pe_claim){.resource = sent->resource,
                      .any_numerics = sent->any_numerics,
                      .tolerance = sent->tolerance,
                      .seq_axis = sent->seq_axis,
                      .n_uploads = 1};
    out->uploads[0] = sent->uploads[0];
    out->uploads[0].array.borrowed = true;
    snprintf(other->name, sizeof other->name, "%s%s", sent_cosines(s) ? "sin" : "cos",
             sent->uploads[0].name + 3);
    pe_status status = pe_values_copy(&sent->values, &out->values, why);
    if (status == PE_OK)
        status = pe_array_make(PE_FLOAT64, &sent->uploads[0].array.shape, &other->array, why);
    if (status != PE_OK) {
        pe_verify_claim_free(out);
        return status;
    }
    memset(other->array.data, 0, other->array.elements * sizeof(double));
    out->n_uploads = 2;
    return PE_OK;
}

/* False: the rows do not turn as claimed. */
static bool derive_all(source *of, bool by_rows, double *out)
{
    of->amplitude = amplitude_of(of);
    if (by_rows && !turns_as_claimed(of))
        return false;
    for (size_t t = 0; t < of->rows && by_rows; t++)
        derive_row(of, t, out);
    for (size_t i = 0; i < of->claimed->geometry.pairs && !by_rows; i++)
        derive_pair(of, i, out);
    return true;
}

/* Frequencies of the claim are asked for as those of pairs. False: it was not made. */
static bool derive_other(pe_search *s, pe_guess *guess, pe_claim *claim, bool by_rows)
{
    pe_expect claimed = {.fits = false};
    pe_upload_view pairs;
    bool made = false;
    const pe_comparison of = {&pairs, guess, &s->work};
    if (!pe_attempts_did(s, pe_upload_view_make(claim, guess->context, &pairs, s->why)))
        return false;
    pe_array *other = &claim->uploads[sent_cosines(s) ? 1 : 0].array;
    const pe_positions *positions = &pe_values_find(&claim->values, "positions")->positions;
    if (pairs.layout != NULL && !pairs.width_differs &&
        pe_attempts_did(s, pe_expect_make(&of, PE_NUMERICS_EXACT, &claimed, s->why)) &&
        claimed.fits) {
        source from = {.got = s->whole->got,
                       .rows = other->shape.dim[0],
                       .width = other->shape.dim[1],
                       .cosines = sent_cosines(s),
                       .claimed = &claimed,
                       .positions = positions,
                       .step = pe_positions_at(positions, 1) - pe_positions_at(positions, 0)};
        made = pe_attempts_did(s, pe_expect_probe(&claimed, s->why)) &&
               derive_all(&from, by_rows, other->data);
        pe_expect_free(&claimed);
    }
    pe_upload_view_free(&pairs);
    return made;
}

static void try_reading(pe_search *s, pe_guess *claim)
{
    pe_attempts_copy(s, claim, pe_by_reading_try);
}

static void try_pairs(pe_search *s, pe_claim *claim)
{
    pe_upload_view pairs;
    if (!pe_attempts_did(s, pe_upload_view_make(claim, s->claim.context, &pairs, s->why)))
        return;
    pairs.unsent_at = pairs.tensor_at[sent_cosines(s) ? 1 : 0];
    pairs.unsent_n = pairs.width / 2;
    pe_attempts_of_whole(s, &pairs, try_reading);
    pe_upload_view_free(&pairs);
}

/* A reading stays until another one explains more. */
static void try_derived(pe_search *s, pe_guess *guess, pe_claim *claim, bool by_rows)
{
    pe_report *report = s->report;
    if (!derive_other(s, guess, claim, by_rows))
        return;
    pe_reading first = report->reading;
    const bool had = report->has_reading;
    report->reading = (pe_reading){0}; /* of which the next one knows nothing */
    try_pairs(s, claim);
    if (had && !pe_attempts_found(s)) {
        const pe_reading second = report->reading;
        report->reading = first;
        first = second;
    }
    pe_reading_free(&first);
}

void pe_lone_waves_try(pe_search *s, pe_guess *guess)
{
    pe_claim claim;
    const pe_report *report = s->report;
    if (!pe_attempts_did(s, make_claim(s, &claim, s->why)))
        return;
    try_derived(s, guess, &claim, true);
    const bool read = report->has_reading && report->reading.quality > 0.95;
    if (s->failed == PE_OK && !read && !pe_attempts_found(s))
        try_derived(s, guess, &claim, false);
    pe_verify_claim_free(&claim);
}
