/* SPDX-License-Identifier: MIT */
/* reading_pairs.c - the pairs of an upload as complex numbers: their phases, sizes and roundings. */
#include "verify/reading/reading_pairs.h"

#include "base/turns.h"
#include "verify/upload/grain.h"
#include "verify/mistakes/median.h"

pe_complex pe_reading_pair(const pe_reading_source *s, size_t token, size_t i)
{
    const pe_upload_view *view = s->view;
    const size_t c = s->at.cos_at + i * s->at.stride, d = s->at.sin_at + i * s->at.stride;
    const size_t rows = view->rotated ? pe_upload_view_token_rows(view) : 1;
    pe_complex sum = {0, 0};
    double size = 0;
    for (size_t o = 0; o < rows; o++) {
        const size_t row = pe_upload_view_row(view, token, o);
        const pe_complex got = {pe_upload_view_at(view, false, row, c),
                                pe_upload_view_at(view, false, row, d)};
        if (!view->rotated)
            return (pe_complex){s->cosine * got.re, s->sine * got.im};
        const pe_complex in = {pe_upload_view_at(view, true, row, c),
                               pe_upload_view_at(view, true, row, d)};
        const pe_complex turned = pe_times_conjugate(got, in);
        sum = (pe_complex){sum.re + turned.re, sum.im + turned.im};
        size += in.re * in.re + in.im * in.im;
    }
    const pe_complex wave = s->exchanged ? (pe_complex){sum.im, sum.re} : sum;
    return size > 0 ? (pe_complex){s->cosine * wave.re / size, s->sine * wave.im / size} : sum;
}

void pe_reading_phases(const pe_reading_source *s, size_t token, double *row)
{
    for (size_t i = 0; i < s->pairs; i++) {
        const pe_complex z = pe_reading_pair(s, token, i);
        row[i] = fabs(z.re) + fabs(z.im) > 0 ? pe_phase_of(z) : PE_NOWHERE;
    }
}

/* ---- amplitude ---- */

enum { SIZES = 1024 };

/* How much longer a vector has become. */
static double growth(const pe_reading_source *s, size_t row)
{
    const pe_upload_view *view = s->view;
    double in = 0, out = 0;
    for (size_t i = 0; i < s->pairs; i++)
        for (size_t second = 0; second < 2; second++) {
            const size_t c = (second ? s->at.sin_at : s->at.cos_at) + i * s->at.stride;
            const double x = pe_upload_view_at(view, true, row, c);
            const double y = pe_upload_view_at(view, false, row, c);
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
        pe_turn_spend(PE_VECTOR_WORK * s->pairs);
        if (isfinite(at))
            size[n++] = at;
    }
    return pe_median(size, n);
}

double pe_reading_size(const pe_reading_source *s, const pe_reading *r)
{
    double size[SIZES];
    size_t n = 0;
    if (s->view->rotated)
        return median_growth(s);
    const size_t pairs = s->pairs, all = r->tokens * pairs, stride = all / SIZES + 1;
    for (size_t k = 0; k < all && n < SIZES && pairs > 0; k += stride) {
        const pe_complex z = pe_reading_pair(s, k / pairs, k % pairs);
        const double at = pe_length(z.re, z.im);
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
        const pe_complex z = pe_reading_pair(s, row, pair);
        good += fabs(pe_length(z.re, z.im) - r->amplitude) <= slack && is_copied(s, row, pair);
        n++;
    }
    return n > 0 ? good / n : 1;
}

/* ---- roundoff ---- */

/* Are some elements, spread over the upload, all numbers of the type? */
static bool is_stored_as(const pe_upload_view *view, const pe_grain *grain)
{
    const size_t stride = view->elements / SIZES + 1;
    size_t e = 0;
    double x = 0;
    for (; e < view->elements && pe_grain_round(grain, x) == x; e += stride)
        x = pe_upload_view_at(view, false, e / view->width, e % view->width);
    return e >= view->elements;
}

double pe_reading_roundoff(const pe_upload_view *view)
{
    double most = pe_upload_view_roundoff(view);
    for (pe_grain_of k = PE_GRAIN_BFLOAT16; k <= PE_GRAIN_FLOAT16; k++) {
        const double roundoff = ldexp(1, -pe_grains[k].bits);
        if (roundoff > most && is_stored_as(view, &pe_grains[k]))
            most = roundoff;
    }
    return most;
}
