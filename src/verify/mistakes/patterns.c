/* SPDX-License-Identifier: MIT */
/* patterns.c - elements of pairs are held against what may stand in their place. */
#include "verify/mistakes/patterns.h"

#include <math.h>

#include "verify/mistakes/pattern_rows.h"

/* Of the angle, for the slope of a pattern there. */
#define LEAST_TURN 0x1p-22

size_t pe_patterns_count(void)
{
    return pe_pattern_values_n + pe_pattern_places_n;
}

static const pe_pattern *row_of(size_t pattern)
{
    return pattern < pe_pattern_values_n ? &pe_pattern_values[pattern]
                                         : &pe_pattern_places[pattern - pe_pattern_values_n];
}

const pe_fault *pe_patterns_fault(size_t pattern)
{
    return &row_of(pattern)->fault;
}

bool pe_patterns_is_of_bytes(size_t pattern)
{
    return row_of(pattern)->reread != NULL;
}

bool pe_patterns_applies(size_t pattern, const pe_beside *b)
{
    const pe_pattern *p = row_of(pattern);
    const bool rotated = b->view->rotated;
    if ((p->of_copies && b->at.copy == 0) || (p->of_any_size && b->guess->distortion.gain != 0) ||
        (p->of == PE_TABLES && rotated) || (p->of == PE_VECTORS && !rotated))
        return false;
    return b->whole || p->from == NULL || p->of_inputs;
}

/* Relative: what 16 bits may be off by, rounded or cut. */
#define NARROW 0x1p-7

/* ---- is it so? ---- */

/* The pair's wave, of an angle that is `more` larger. */
static pe_pattern_wave wave_at(const pe_beside *b, size_t row, size_t pair, double more)
{
    const size_t at = row * b->pairs + pair;
    const double c = b->cosine[at], s = b->sine[at];
    return (pe_pattern_wave){.cosine = c - more * s,
                             .sine = s + more * c,
                             .angle = b->angle[at] + more,
                             .amplitude = b->amplitude,
                             .frequency = b->frequency[pair],
                             .step = b->pairs > 1 ? b->frequency[1] / b->frequency[0] : 1};
}

static double element_of(const pe_pattern *p, const pe_pattern_wave *x, bool second)
{
    const pe_pattern_two made = p->make(x);
    return second ? made.second : made.first;
}

/* Of vectors that of row `of` of the upload, by the wave of this row. */
static double number_at(const pe_pattern *p, const pe_beside *b, pe_pattern_place at, size_t of,
                        double more)
{
    const pe_geometry *g = &b->at;
    const size_t pair = b->pair[at.column];
    const bool second = b->second[at.column];
    pe_pattern_wave x =
        wave_at(b, at.row, p->wave_of != NULL ? p->wave_of(b, pair, second) : pair, more);
    if (b->view->rotated) {
        size_t first = g->cos_at + pair * g->stride, other = g->sin_at + pair * g->stride;
        first = p->channel_of != NULL ? p->channel_of(b, first) : first;
        other = p->channel_of != NULL ? p->channel_of(b, other) : other;
        x.a = pe_upload_view_at(b->view, true, of, first);
        x.b = pe_upload_view_at(b->view, true, of, other);
    }
    if (p->make != NULL)
        return element_of(p, &x, second);
    return second ? x.b * x.cosine + x.a * x.sine : x.a * x.cosine - x.b * x.sine;
}

static bool is_unpaired(const pe_pattern *p, const pe_beside *b, pe_pattern_place at)
{
    const double got = pe_beside_got(b, at.row, at.column);
    return p->unpaired == PE_ZERO      ? got == 0
           : p->unpaired == PE_NEGATED ? got == -pe_beside_input(b, at.row, at.column)
                                       : pe_beside_is_claimed(b, at.row, at.column);
}

static bool is_apart(const pe_pattern *p, const pe_beside *b, pe_pattern_place at)
{
    pe_pattern_turn turn;
    const double got = pe_beside_got(b, at.row, at.column);
    const double own = pe_beside_input(b, at.row, at.column);
    if (!p->turn_of(b, at.column, &turn))
        return got == own;
    const pe_pattern_wave w = wave_at(b, at.row, turn.pair, 0);
    const double other = pe_beside_input(b, at.row, turn.partner);
    const double x = own * w.cosine + (turn.second ? other : -other) * w.sine;
    const double size = fabs(own) + fabs(other);
    return fabs(got - x) <= 0x1p-16 * size + 4 * pe_beside_rounding(b, size);
}

static bool is_made(const pe_pattern *p, const pe_beside *b, pe_pattern_place at)
{
    const double got = pe_beside_got(b, at.row, at.column);
    if (b->pair[at.column] == SIZE_MAX)
        return is_unpaired(p, b, at);
    const size_t of = b->row[at.row];
    const double x = number_at(p, b, at, of, 0);
    const double turn =
        b->slack[at.row * b->width + at.column] / (b->amplitude > 0 ? b->amplitude : 1);
    const double gain = fabs(number_at(p, b, at, of, LEAST_TURN) - x) / LEAST_TURN;
    return fabs(got - x) <= turn * (1 + gain) + 2 * pe_beside_rounding(b, x);
}

/* The columns of a tensor, or of the channels that are turned. */
static bool tensor_of(const pe_beside *b, size_t column, size_t *first, size_t *n)
{
    const pe_upload_view *view = b->view;
    if (view->rotated) {
        *first = 0;
        *n = 2 * b->pairs;
        return column < *n;
    }
    const size_t t = pe_upload_view_tensor(view, column);
    *first = view->tensor_at[t];
    *n = view->tensor_at[t + 1] - *first;
    return *n > 1;
}

static bool is_from(const pe_pattern *p, const pe_beside *b, pe_pattern_place at)
{
    size_t first, n;
    const double got = pe_beside_got(b, at.row, at.column);
    pe_pattern_place of = at;
    if (p->of_inputs) {
        of.row = b->row[at.row];
        if (!p->from(b, b->width, &of))
            return false;
        const double x = b->pair[at.column] == SIZE_MAX
                             ? pe_upload_view_at(b->view, true, of.row, at.column)
                             : number_at(p, b, at, of.row, 0);
        return fabs(got - x) <=
               4 * (b->slack[at.row * b->width + at.column] + pe_beside_rounding(b, x));
    }
    if (p->of_rows) {
        first = 0;
        n = b->width;
    } else if (!tensor_of(b, at.column, &first, &n)) {
        return pe_beside_is_claimed(b, at.row, at.column);
    }
    of.column -= first;
    if (!p->from(b, n, &of))
        return got == 0;
    if (of.row >= b->rows || of.column >= n)
        return false;
    const size_t e = of.row * b->width + first + of.column;
    /* a copy of the same number says nothing of its place */
    if (b->want[e] == b->want[at.row * b->width + at.column])
        return pe_beside_is_claimed(b, at.row, at.column);
    return fabs(got - b->want[e]) <= 2 * (b->slack[e] + pe_beside_rounding(b, b->want[e]));
}

bool pe_patterns_is_near(size_t pattern, const pe_beside *b, size_t row, size_t column)
{
    const pe_pattern *p = row_of(pattern);
    const pe_pattern_place at = {row, column};
    if (p->reread != NULL) {
        const size_t e = row * b->width + column;
        const double got = pe_beside_got(b, row, column);
        const double x = p->reread(b->view->claim->uploads[0].array.dtype, got);
        const double slack =
            b->slack[e] + 16 * pe_beside_rounding(b, b->want[e]) + NARROW * fabs(b->want[e]);
        return isnan(got) || fabs(x - b->want[e]) <= slack; /* of a NaN bits are lost */
    }
    return p->is_so != NULL     ? p->is_so(b, at)
           : p->from != NULL    ? is_from(p, b, at)
           : p->turn_of != NULL ? is_apart(p, b, at)
                                : is_made(p, b, at);
}
