/* SPDX-License-Identifier: MIT */
/* fit_angle.c - a number from the angles of single pairs. */
#include "verify/fit_angle.h"

#include <math.h>
#include <stdlib.h>

/* Errors worth having: elements of 8 bits may tell no more than a base's order of magnitude. */
#define GOOD_ERROR   0.5
#define USABLE_ERROR 8.0

/* Halvings of the range: of a few far tokens only a narrow one tells the side. */
#define ROUNDS 24

/* ---- the angle between guess and upload ---- */

/* The angle's sine times lengths. *made is false where there is no such table. */
static pe_status cross_product(const pe_fitting *fit, double value, double *out, bool *made,
                               pe_problem *why)
{
    pe_expect expect;
    pe_expected_row expected;
    pe_status status = pe_fitting_expect(fit, value, &expect, why);
    *made = status == PE_OK && expect.fits;
    if (!*made)
        return status;
    status = pe_expect_row(&expect, fit->row, &expected, why);
    if (status == PE_OK) {
        const double *got = pe_expect_got(&expect, fit->row);
        const double *x = expected.value;
        *out = got[fit->sin_at] * x[fit->cos_at] - got[fit->cos_at] * x[fit->sin_at];
    }
    pe_expect_free(&expect);
    return status;
}

/* An end of the bracket, with the angle's sine there. */
typedef struct end {
    double value, sine;
} end;

/* Brackets of a larger quotient are halved: the sine is no line there. */
#define WIDE 4.0

/* Between the ends, in logarithms: the middle, or where the line through both sines is 0. */
static double between(const end *low, const end *high)
{
    const double wide = high->value / low->value;
    return low->value * pow(wide, wide > WIDE ? 0.5 : low->sine / (low->sine - high->sine));
}

/* Narrow the bracket where the angle changes its sign, until a step is a part of the error that is
 * known. An end that stays counts half (the Illinois algorithm), so that the other side is met. */
static pe_status narrow(const pe_fitting *fit, double error, pe_bracket *at, bool *made,
                        pe_problem *why)
{
    end low = {.value = at->low}, high = {.value = at->high}, next = low, *last = NULL;
    pe_status status = cross_product(fit, low.value, &low.sine, made, why);
    if (status == PE_OK && *made)
        status = cross_product(fit, high.value, &high.sine, made, why);
    if (status != PE_OK || !*made)
        return status;
    *made = low.sine * high.sine < 0;
    for (int step = 0; step < 60 && *made; step++) {
        at->value = between(&low, &high);
        if (fabs(at->value - next.value) <= error / 16 * at->value)
            break;
        next.value = at->value;
        status = cross_product(fit, next.value, &next.sine, made, why);
        if (status != PE_OK || !*made)
            return status;
        end *moved = (next.sine < 0) == (low.sine < 0) ? &low : &high;
        if (moved == last)
            (moved == &low ? &high : &low)->sine /= 2;
        *moved = next;
        last = moved;
    }
    return status;
}

/* ---- which pair, at which token ---- */

/* The token's row with the longest vectors: some may be zero. */
static size_t longest_row(const pe_upload_view *view, size_t token)
{
    double longest = -1;
    size_t best = 0;
    for (size_t o = 0; o < pe_upload_view_token_rows(view); o++) {
        const size_t row = pe_upload_view_row(view, token, o);
        double length = 0;
        for (size_t c = 0; c < view->width; c++)
            length += fabs(pe_upload_view_at(view, false, row, c));
        if (length > longest) {
            longest = length;
            best = row;
        }
    }
    return best;
}

/* How well an angle of the upload is known: the reference path's errors near position 0, and the
 * rounding of the type, which is less for small sines. */
static double angle_error(const pe_comparison *on, double angle)
{
    const pe_upload_view *view = on->view;
    const pe_grain *stored = on->guess->distortion.stored;
    const double u = stored != NULL ? ldexp(1, -stored->bits) : pe_upload_view_roundoff(view);
    return 0x1p-22 + 2 * u * (view->rotated || angle > 1 ? 1 : angle);
}

/* Choose from frequencies at the bracket's low, high, value and 2 value. */
static double choose(pe_fitting *fit, double *const w[4])
{
    const pe_geometry *g = &fit->geometry;
    size_t best_token = 0;
    double best = HUGE_VAL;
    for (size_t i = 0; i < g->cos_n && i < g->sin_n; i++) {
        size_t token = 0;
        const double range = fabs(w[0][i] - w[1][i]), change = fabs(w[2][i] - w[3][i]);
        const double far = pe_fitting_farthest(fit, range > 0 ? 3 / range : 0, &token);
        const double error = 2 * angle_error(&fit->on, far * w[2][i]) / (far * change);
        if (far * change > 0 && error < best) {
            best = error;
            best_token = token;
            fit->cos_at = g->cos_at + i * g->stride;
            fit->sin_at = g->sin_at + i * g->stride;
        }
    }
    fit->row = longest_row(fit->on.view, best_token);
    return best;
}

/* Frequencies at the bracket's low, high, value and 2 value, each with the value it is of. */
typedef struct choices {
    double of[4], *w[4]; /* w: [pairs] owned, NULL before */
} choices;

static void choices_free(choices *held)
{
    for (size_t v = 0; v < PE_LEN(held->w); v++)
        free(held->w[v]);
}

/*
 * The pair and token that tell the value best, of those whose angle changes by less than 3 over the
 * whole bracket: there the angle's sign tells on which side the upload is. *error is how well the
 * value will be known. What is held from the bracket before is not computed again.
 */
static pe_status choose_pair(pe_fitting *fit, const pe_bracket *at, choices *held, double *error,
                             bool *made, pe_problem *why)
{
    const double values[4] = {at->low, at->high, at->value, 2 * at->value};
    *made = true;
    for (size_t v = 0; v < PE_LEN(values); v++) {
        if (held->w[v] != NULL && held->of[v] == values[v])
            continue;
        free(held->w[v]);
        held->of[v] = values[v];
        const pe_status status = pe_fitting_frequencies(fit, values[v], &held->w[v], why);
        *made = held->w[v] != NULL;
        if (status != PE_OK || !*made)
            return status;
    }
    *error = choose(fit, held->w);
    return PE_OK;
}

/* ---- one stage after the other ---- */

/* Halve the range from both ends, down to where a pair can be chosen that tells the value well.
 * Where there is never one, the first that tells a little is chosen. */
static pe_status shrink(pe_fitting *fit, pe_bracket *at, choices *held, double *error, bool *made,
                        pe_problem *why)
{
    pe_bracket usable = *at;
    *error = usable.error = HUGE_VAL;
    for (int round = 0; round < ROUNDS && !(*error < GOOD_ERROR); round++) {
        if (round > 0) {
            at->low = 2 * at->low < at->value ? 2 * at->low : at->low;
            at->high = at->high > 2 * at->value ? at->high / 2 : at->high;
        }
        const pe_status status = choose_pair(fit, at, held, error, made, why);
        if (status != PE_OK || !*made)
            return status;
        if (*error < USABLE_ERROR && usable.error == HUGE_VAL) {
            usable = *at;
            usable.error = *error;
        }
    }
    if (*error < GOOD_ERROR || usable.error == HUGE_VAL)
        return PE_OK;
    *at = (pe_bracket){usable.low, usable.high, usable.value, HUGE_VAL};
    return choose_pair(fit, at, held, error, made, why);
}

/* One stage: choose a pair and narrow. *better: the value is known better than before. */
static pe_status bisect_better(pe_fitting *fit, bool first, pe_bracket *at, bool *better,
                               pe_problem *why)
{
    double error = HUGE_VAL;
    choices held = {.w = {NULL}};
    pe_status status = first ? shrink(fit, at, &held, &error, better, why)
                             : choose_pair(fit, at, &held, &error, better, why);
    choices_free(&held);
    *better &= error <= USABLE_ERROR && error <= at->error / 2;
    if (status != PE_OK || !*better)
        return status;
    status = narrow(fit, error, at, better, why);
    if (status == PE_OK && *better)
        *at = pe_fitting_around(at->value, error);
    return status;
}

/* Each stage knows the value better, so that the next may read where it matters more. */
pe_status pe_fit_angle_bisect(pe_fitting *fit, pe_bracket *at, pe_problem *why)
{
    bool better = true;
    for (int stage = 0; stage < 6 && better; stage++) {
        const pe_status status = bisect_better(fit, stage == 0, at, &better, why);
        if (status != PE_OK)
            return status;
    }
    return PE_OK;
}
