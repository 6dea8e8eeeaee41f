/* SPDX-License-Identifier: MIT */
/* reading_pairs.c - the pairs of an upload as complex numbers: their phases, sizes and roundings. */
#include "verify/reading/reading.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/yield.h"
#include "verify/mistakes/sequence.h"
#include "verify/upload/upload.h"

pe_reading_source pe_reading_source_of(const pe_upload_view *view, const pe_guess *guess,
                                       const pe_geometry *at)
{
    const bool lone = view->unsent_n > 0;
    const double roundoff = pe_upload_view_roundoff(view);
    return (pe_reading_source){.view = view,
                               .at = *at,
                               .pairs = at->cos_n < at->sin_n ? at->cos_n : at->sin_n,
                               .roundoff = lone ? sqrt(2 * roundoff) : roundoff,
                               .lone = lone,
                               .cosines = pe_upload_view_is_sent(view, at->cos_at),
                               .cosine = pe_guess_cosine_sign(guess),
                               .sine = pe_guess_sine_sign(guess),
                               .exchanged = view->rotated && guess->distortion.exchanged};
}

pe_wave pe_reading_pair(const pe_reading_source *s, size_t token, size_t i)
{
    const pe_wave z = pe_upload_view_wave(s->view, &s->at, token, i);
    return s->exchanged ? (pe_wave){s->cosine * z.sine, s->sine * z.cosine}
                        : (pe_wave){s->cosine * z.cosine, s->sine * z.sine};
}

double pe_reading_phase(const pe_reading_source *s, size_t token, size_t i)
{
    const pe_wave z = pe_reading_pair(s, token, i);
    if (!s->lone)
        return fabs(z.cosine) + fabs(z.sine) > 0 ? atan2(z.sine, z.cosine) : PE_NOWHERE;
    const double x = fmax(-1, fmin(1, (z.cosine + z.sine) / s->amplitude));
    return s->cosines ? acos(x) : asin(x);
}

/* A cosine is that of the opposite angle, too; a sine that of what is left to half a turn. */
double pe_reading_off(const pe_reading_source *s, double phase, double angle)
{
    const double off = pe_reading_wrap(phase - angle);
    if (!s->lone)
        return off;
    const double other = pe_reading_wrap((s->cosines ? 0 : PE_TURN / 2) - phase - angle);
    return fabs(other) < fabs(off) ? other : off;
}

/* ---- amplitude ---- */

enum { SIZES = 1024 };

static double length_of(pe_wave z)
{
    return sqrt(z.cosine * z.cosine + z.sine * z.sine);
}

/* How much longer a vector has become. */
static double growth(const pe_reading_source *s, size_t row)
{
    double in = 0, out = 0;
    for (size_t i = 0; i < s->pairs; i++)
        for (size_t second = 0; second < 2; second++) {
            const size_t c = (second ? s->at.sin_at : s->at.cos_at) + i * s->at.stride;
            const double x = pe_upload_view_at(s->view, true, row, c);
            const double y = pe_upload_view_at(s->view, false, row, c);
            in += x * x;
            out += y * y;
        }
    return in > 0 ? sqrt(out / in) : PE_NOWHERE;
}

static double median_growth(const pe_reading_source *s)
{
    double size[SIZES];
    size_t n = 0;
    for (size_t row = 0; row < s->view->rows && n < SIZES; row += s->view->rows / SIZES + 1) {
        const double at = growth(s, row);
        pe_yield_spend(PE_VECTOR_WORK * s->pairs);
        if (isfinite(at))
            size[n++] = at;
    }
    return pe_median(size, n);
}

/* The claimed amplitude, where it is near. */
static double median_most(const pe_reading_source *s, const pe_reading *r)
{
    double most[SIZES];
    size_t n = 0;
    for (size_t t = 0; t < r->tokens && n < SIZES; t += r->tokens / SIZES + 1, n++) {
        most[n] = 0;
        for (size_t i = 0; i < s->pairs; i++) {
            const pe_wave z = pe_reading_pair(s, t, i);
            most[n] = fmax(most[n], length_of(z));
        }
    }
    const double found = pe_median(most, n), claimed = r->claimed_amplitude;
    return found == 0 || fabs(found - claimed) < 0.02 * claimed ? claimed : found;
}

double pe_reading_size(const pe_reading_source *s, const pe_reading *r)
{
    double size[SIZES];
    size_t n = 0;
    if (s->view->rotated || s->lone)
        return s->lone ? median_most(s, r) : median_growth(s);
    const size_t pairs = s->pairs, all = r->tokens * pairs, stride = all / SIZES + 1;
    for (size_t k = 0; k < all && n < SIZES && pairs > 0; k += stride) {
        const pe_wave z = pe_reading_pair(s, k / pairs, k % pairs);
        const double at = length_of(z);
        if (isfinite(at))
            size[n++] = at;
    }
    return pe_median(size, n);
}

/* Do both copies of a row's numbers agree? */
static bool is_copied(const pe_reading_source *s, size_t row, size_t i)
{
    const pe_upload_view *view = s->view;
    const size_t c = s->at.cos_at + i * s->at.stride, d = s->at.sin_at + i * s->at.stride;
    const size_t copy = s->at.copy;
    return pe_upload_view_at(view, false, row, c) ==
               pe_upload_view_at(view, false, row, c + copy) &&
           pe_upload_view_at(view, false, row, d) == pe_upload_view_at(view, false, row, d + copy);
}

/* In the layout of another table pairs are of two angles. */
double pe_reading_steady(const pe_reading_source *s, const pe_reading *r)
{
    const size_t all = r->tokens * s->pairs, stride = all / SIZES + 1;
    const double slack = (4 * s->roundoff + 1e-3) * r->amplitude;
    double good = 0, n = 0;
    for (size_t k = 0; k < all && !s->view->rotated; k += stride) {
        const size_t row = k % r->tokens, pair = k / r->tokens;
        const pe_wave z = pe_reading_pair(s, row, pair);
        const double more = length_of(z) - r->amplitude;
        good += (s->lone ? more : fabs(more)) <= slack && is_copied(s, row, pair);
        n++;
    }
    return n > 0 ? good / n : 1;
}

/* ==== at which position each row of an upload of pairs is ==== */

#define SLOW          (4 * PE_PHASE_ERROR)
#define GOOD_PAIRS    0.7 /* the part of the pairs that agree on a row's position */
#define FLOAT32_ANGLE 0x1p-20

/* Units of work: a pair of a row, whose position is sought. */
#define PAIR_WORK 24

/* Pairs whose angle float32 arithmetic cannot tell say nothing; nor do those that do not turn. */
static bool tells(double w, double position)
{
    return isfinite(w) && w != 0 && fabs(w * position) * FLOAT32_ANGLE < 1;
}

/* A pair that has hardly turned agrees with every frequency. It counts only where nothing else
 * does. */
static bool slow_pairs_count(const pe_reading_source *s, const double *w, double position)
{
    size_t turned = 0;
    for (size_t i = 0; i < s->pairs; i++)
        turned += tells(w[i], position) && fabs(w[i] * position) >= SLOW;
    return turned < 3 && turned < s->pairs;
}

/* The part of the pairs whose phase agrees with the position, and how they would move it. */
static double agreement(const pe_reading_source *s, const double *w, const double *row,
                        double position, double *better)
{
    double good = 0, all = 0, up = 0, down = 0;
    const double least = slow_pairs_count(s, w, position) ? 0 : SLOW;
    for (size_t i = 0; i < s->pairs; i++) {
        if (!tells(w[i], position) || fabs(w[i] * position) < least || isnan(row[i]))
            continue;
        const double off = pe_reading_off(s, row[i], position * w[i]);
        all++;
        if (!(fabs(off) < PE_PHASE_ERROR + FLOAT32_ANGLE * fabs(w[i] * position)))
            continue;
        good++;
        up += off * w[i];
        down += w[i] * w[i];
    }
    *better = position + (down > 0 ? up / down : 0);
    return all > 0 ? good / all : 0;
}

/* From the slowest pair, whose turn is longer than most tables, to the fastest: each knows the
 * position better, and well enough to count the turns of the next. */
static double follow_phases(const pe_reading_source *s, const double *w, const double *row,
                            double start)
{
    double position = start;
    for (size_t k = 0; k < s->pairs; k++) {
        const size_t i = s->order[k];
        if (!tells(w[i], position) || isnan(row[i]))
            continue;
        position += pe_reading_off(s, row[i], position * w[i]) / w[i];
    }
    return position;
}

/* Farther off than the slowest pair can tell: positions begin anew. */
static double measure_afar(const pe_reading_source *s, const double *w, const double *row,
                           double claimed)
{
    double better;
    if (fabs(w[s->order[0]] * claimed) < PE_TURN / 2)
        return PE_NOWHERE;
    pe_yield_spend(PAIR_WORK * s->pairs);
    const double position = follow_phases(s, w, row, 0);
    return agreement(s, w, row, position, &better) < GOOD_PAIRS ? PE_NOWHERE : better;
}

/* PE_NOWHERE: no position makes such a row. Of positions that explain it the claimed one is
 * taken. */
static double measure_position(const pe_reading_source *s, const double *w, const double *row,
                               double claimed)
{
    double better;
    if (agreement(s, w, row, claimed, &better) >= GOOD_PAIRS && fabs(better - claimed) < 0.25)
        return better;
    double position = follow_phases(s, w, row, claimed);
    if (agreement(s, w, row, position, &better) < GOOD_PAIRS)
        return measure_afar(s, w, row, claimed);
    return better;
}

/* A whole number where it may be one. */
static double settled(double position, double claimed)
{
    const double whole = fabs(position - claimed) < 0.02 ? claimed : round(position);
    return fabs(position - whole) < 0.02 ? whole : position;
}

double pe_reading_positions(const pe_reading_source *s, const double *w, size_t stride,
                            pe_reading *r)
{
    double good = 0, all = 0;
    double *row = malloc((s->pairs + 1) * sizeof *row);
    for (size_t t = 0; t < r->tokens && row != NULL; t += stride) {
        pe_yield_spend((PAIR_WORK + PE_VECTOR_WORK * pe_upload_view_token_rows(s->view)) *
                       s->pairs);
        for (size_t i = 0; i < s->pairs; i++)
            row[i] = pe_reading_phase(s, t, i);
        r->position[t] = settled(measure_position(s, w, row, r->claimed[t]), r->claimed[t]);
        good += isfinite(r->position[t]);
        all++;
    }
    free(row);
    return all > 0 ? good / all : 0;
}
