/* SPDX-License-Identifier: MIT */
/* noise.c - tables of pairs that no frequencies and positions make.
 *
 * A cosine and a sine of any angle are as long as the amplitude. Each rounding moves that length by a
 * half unit at most, wherever the wave is and however its angle was rounded. And all pairs begin at
 * the angle 0, at one position. */
#include "verify/noise.h"

#include <math.h>

#include "verify/geometry.h"
#include "verify/grain.h"
#include "verify/median.h"
#include "verify/reading.h"

#define SAMPLES    128 /* rows that are looked at */
#define LEAST      32  /* rows that tell noise */
#define ROUNDINGS  3   /* of the cosine, of a factor, of their product */
#define TURN       6.283185307179586
#define EVEN       0.04 /* radians: elements of 8 bits */
#define SLIGHT     0.05 /* of a length: what is off by more is something else */
#define ARITHMETIC 0x1p-20

/* Of a pair: how long it is in some rows. */
typedef struct lengths {
    const pe_upload_view *view;
    pe_geometry at;
    double is[SAMPLES];
    size_t n;
} lengths;

static void take_lengths(lengths *l, size_t pair)
{
    const size_t c = l->at.cos_at + pair * l->at.stride, d = l->at.sin_at + pair * l->at.stride;
    l->n = l->view->tokens < SAMPLES ? l->view->tokens : SAMPLES;
    for (size_t k = 0; k < l->n; k++) {
        const size_t row = k * l->view->tokens / l->n;
        l->is[k] = pe_length(pe_upload_view_at(l->view, false, row, c),
                             pe_upload_view_at(l->view, false, row, d));
    }
}

/* Are elements of the pair, or these over the amplitude, numbers of the type? */
static bool is_of_type(const lengths *l, size_t pair, const pe_grain *type, double amplitude)
{
    const size_t c = l->at.cos_at + pair * l->at.stride;
    size_t good = 0;
    for (size_t k = 0; k < l->n; k++) {
        const double x = pe_upload_view_at(l->view, false, k * l->view->tokens / l->n, c);
        const double wave = x / amplitude;
        good += pe_grain_round(type, x) == x ||
                fabs(pe_grain_round(type, wave) - wave) < ARITHMETIC * fabs(wave) / 4;
    }
    return good * 8 > 7 * l->n;
}

/* By how much the types that elements of the pair passed through may round. */
static double roundoff_of(const lengths *l, size_t pair, double amplitude)
{
    double most = pe_upload_view_roundoff(l->view);
    for (pe_grain_of k = PE_GRAIN_BFLOAT16; k < PE_GRAINS; k++) {
        const double roundoff = ldexp(1, -pe_grains[k].bits);
        if (roundoff > most && is_of_type(l, pair, &pe_grains[k], amplitude))
            most = roundoff;
    }
    return most;
}

static bool is_noisy(lengths *l, size_t pair)
{
    double sorted[SAMPLES];
    size_t off = 0, far = 0;
    take_lengths(l, pair);
    for (size_t k = 0; k < l->n; k++)
        if (!isfinite(sorted[k] = l->is[k]))
            return false;
    const double usual = pe_median(sorted, l->n);
    const double near = ROUNDINGS * roundoff_of(l, pair, usual) + ARITHMETIC;
    for (size_t k = 0; k < l->n; k++) {
        const double by = fabs(l->is[k] - usual);
        off += by > near * usual;
        far += by > SLIGHT * usual;
    }
    return off * 16 > l->n && far * 64 < l->n;
}

/* ---- phases ---- */

static double phase_at(const pe_search *s, const pe_geometry *g, size_t row, size_t pair)
{
    const pe_guess *guess = &s->measured->guess;
    const size_t c = g->cos_at + pair * g->stride, d = g->sin_at + pair * g->stride;
    return atan2(pe_guess_sine_sign(guess) * pe_upload_view_at(s->whole, false, row, d),
                 pe_guess_cosine_sign(guess) * pe_upload_view_at(s->whole, false, row, c));
}

/* The phase of a pair that turns evenly in the first rows; NaN: it does not. */
static double phase_of(const pe_search *s, const pe_geometry *g, size_t pair)
{
    size_t near = 0;
    const pe_reading *r = &s->measured->reading;
    const double first = phase_at(s, g, 0, pair), w = r->turned[pair];
    for (size_t t = 1; t <= LEAST; t++) {
        const double turned = w * (r->claimed[t] - r->claimed[0]);
        near += fabs(remainder(phase_at(s, g, t, pair) - first - turned, TURN)) < EVEN;
    }
    return 10 * near > 9 * LEAST ? remainder(first - w * r->claimed[0], TURN) : nan("");
}

/* Do pairs turn evenly from phases of their own? Where rows have positions they do not; those far
 * from the first position are not known so well. */
static bool has_phases(const pe_search *s, const pe_geometry *g, size_t pairs)
{
    const pe_reading *r = &s->measured->reading;
    size_t phased = 0, others = 0;
    double last = 0;
    if (r->quality > 0.5 || r->tokens <= LEAST || fabs(r->claimed[0]) > pe_reading_span(r))
        return false;
    for (size_t i = 0; i < pairs; i++) {
        const double phase = phase_of(s, g, i);
        phased += fabs(phase) > 2 * EVEN;
        others += fabs(remainder(phase - last, TURN)) > 2 * EVEN;
        last = isnan(phase) ? last : phase;
    }
    return phased * 4 > 3 * pairs && others * 4 > 3 * pairs;
}

bool pe_noise_hides_waves(const pe_search *s)
{
    lengths l = {.view = s->whole};
    size_t noisy = 0;
    if (l.view->rotated || l.view->tokens < LEAST || l.view->unsent_n > 0 ||
        !l.view->layout->geometry(&s->measured->guess.values, &l.at))
        return false;
    const size_t pairs = l.at.cos_n < l.at.sin_n ? l.at.cos_n : l.at.sin_n;
    for (size_t i = 0; i < pairs; i++)
        noisy += is_noisy(&l, i);
    return pairs > 0 && (noisy * 4 > 3 * pairs || has_phases(s, &l.at, pairs));
}
