/* SPDX-License-Identifier: MIT */
/* lone_waves.c - cosines, or sines, that were uploaded alone. */
#include "verify/lone_waves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/turns.h"
#include "verify/by_reading.h"

/* Rows without which nothing is derived; rows that tell how far a pair turns. */
#define ROWS_LEAST 16
#define SAMPLES    512

/* What derived numbers may be off. */
#define TOLERANCE 1e-3

/* Numbers are 1 at most, but for an attention factor. */
#define LARGEST 16

/* A column of the upload. */
typedef struct column {
    const pe_upload_view *view; /* of plain numbers */
    size_t rows, width, at;
} column;

static double number_at(const column *x, size_t row)
{
    const size_t e = row * x->width + x->at;
    return x->view->got[e];
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

/* The cosine of the angle of `lag` rows. */
static double cosine_of_turn(const column *x, size_t lag)
{
    double sum = 0, size = 0;
    const size_t n = x->rows - 2 * lag, stride = n / SAMPLES + 1;
    for (size_t t = lag; t < lag + n; t += stride) {
        const double middle = number_at(x, t), ends = number_at(x, t - lag) + number_at(x, t + lag);
        if (!(fabs(middle) < LARGEST) || !(fabs(ends) < 2 * LARGEST))
            continue;
        sum += middle * ends;
        size += 2 * middle * middle;
    }
    return size > 0 ? fmax(-1, fmin(1, sum / size)) : 1;
}

/* The angle nearest `about` that has this cosine. */
static double nearest_angle(double cosine, double about)
{
    const double turn = 6.283185307179586, angle = acos(cosine);
    const double turns = turn * floor(about / turn), rest = about - turns;
    return turns + (fabs(rest - angle) <= fabs(rest - (turn - angle)) ? angle : turn - angle);
}

/* Radians from row to row, by ever larger lags. Which way is not told: forward. */
static double frequency_of(const column *x)
{
    double w = acos(cosine_of_turn(x, 1));
    for (size_t lag = 2; lag <= x->rows / 4; lag *= 2) {
        const double about = w * (double)lag, angle = nearest_angle(cosine_of_turn(x, lag), about);
        if (fabs(angle - about) > 0.5)
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
    for (size_t lag = 1; lag <= x->rows / 2; lag *= 2) {
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
    const bool forward = row + lag < x->rows;
    const double here = number_at(x, row) * cos(angle),
                 there = number_at(x, forward ? row + lag : row - lag);
    return (forward ? here - there : there - here) / sin(angle);
}

/* Sines that stay small: their cosines are near the amplitude. */
static double cosine_beside(double sine, double amplitude)
{
    return sqrt(fmax(0, amplitude * amplitude - sine * sine));
}

static void derive_column(const column *x, bool cosines, double amplitude, pe_array *out)
{
    const double w = frequency_of(x);
    const size_t lag = best_lag(x, w), bytes = pe_dtype_bytes(out->dtype);
    const double angle = (double)lag * w;
    const bool still = fabs(sin(angle)) < (cosines ? 1e-9 : 0.3);
    pe_turn_spend(8 * x->rows);
    for (size_t t = 0; t < x->rows; t++) {
        double y = still ? 0 : derive(x, t, lag, angle);
        if (!cosines)
            y = still ? cosine_beside(number_at(x, t), amplitude) : -y;
        pe_dtype_store(out->dtype, y, (char *)out->data + (t * x->width + x->at) * bytes);
    }
}

/* The largest number: slow sines do not tell it, but others do. */
static double amplitude_of(const pe_upload_view *view)
{
    double most = 0;
    for (size_t e = 0; e < view->elements; e++)
        if (fabs(view->got[e]) < LARGEST)
            most = fmax(most, fabs(view->got[e]));
    return most;
}

static pe_status derive_tensor(const pe_search *s, bool cosines, pe_array *out, pe_problem *why)
{
    const pe_array *sent = &s->whole->claim->uploads[0].array;
    const pe_status status = pe_array_make(sent->dtype, &sent->shape, out, why);
    if (status != PE_OK)
        return status;
    column x = {.view = s->whole, .rows = sent->shape.dim[0], .width = sent->shape.dim[1]};
    const double amplitude = amplitude_of(s->whole);
    for (; x.at < x.width; x.at++)
        derive_column(&x, cosines, amplitude, out);
    return PE_OK;
}

/* ---- both, as an upload of pairs ---- */

/* "cos_cache" for "sin_cache". */
static void name_other(const char *name, bool cosines, char *out, size_t room)
{
    snprintf(out, room, "%s%s", cosines ? "sin" : "cos", name + 3);
}

static pe_status make_claim(const pe_search *s, pe_claim *out, pe_problem *why)
{
    const pe_claim *sent = s->whole->claim;
    const bool cosines = strncmp(sent->uploads[0].name, "cos", 3) == 0;
    *out = (pe_claim){.resource = sent->resource,
                      .any_numerics = sent->any_numerics,
                      .tolerance = fmax(TOLERANCE, sent->tolerance),
                      .seq_axis = sent->seq_axis,
                      .n_uploads = 1};
    out->uploads[0] = sent->uploads[0];
    out->uploads[0].array.borrowed = true;
    name_other(sent->uploads[0].name, cosines, out->uploads[1].name, sizeof out->uploads[1].name);
    pe_status status = pe_values_copy(&sent->values, &out->values, why);
    if (status == PE_OK)
        status = derive_tensor(s, cosines, &out->uploads[1].array, why);
    out->n_uploads += status == PE_OK;
    if (status != PE_OK)
        pe_verify_claim_free(out);
    return status;
}

pe_status pe_lone_waves_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_claim claim;
    pe_upload_view pairs;
    pe_status status = make_claim(s, &claim, why);
    if (status != PE_OK)
        return status;
    status = pe_upload_view_make(&claim, guess->context, &pairs, why);
    if (status == PE_OK) {
        const pe_upload_view *view = s->view;
        s->view = s->derived = &pairs;
        status = pairs.layout != NULL ? pe_by_reading_try(s, guess, why) : PE_OK;
        s->view = view;
        s->derived = NULL;
        pe_upload_view_free(&pairs);
    }
    pe_verify_claim_free(&claim);
    return status;
}
