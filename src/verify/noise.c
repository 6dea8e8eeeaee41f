/* SPDX-License-Identifier: MIT */
/* noise.c - tables of pairs that no waves make exactly.
 *
 * A cosine and a sine of any angle are as long as the amplitude. Each rounding moves that length by a
 * half unit at most, wherever the wave is and however its angle was rounded. */
#include "verify/noise.h"

#include <math.h>

#include "verify/geometry.h"
#include "verify/grain.h"
#include "verify/median.h"

#define SAMPLES    128  /* rows that are looked at */
#define LEAST      32   /* rows that tell noise */
#define ROUNDINGS  3    /* of the cosine, of a factor, of their product */
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

bool pe_noise_is_everywhere(const pe_search *s)
{
    lengths l = {.view = s->whole};
    size_t noisy = 0;
    if (l.view->rotated || l.view->tokens < LEAST || l.view->unsent_n > 0 ||
        !l.view->layout->geometry(&s->measured->guess.values, &l.at))
        return false;
    const size_t pairs = l.at.cos_n < l.at.sin_n ? l.at.cos_n : l.at.sin_n;
    for (size_t i = 0; i < pairs; i++)
        noisy += is_noisy(&l, i);
    return pairs > 0 && noisy * 4 > 3 * pairs;
}
