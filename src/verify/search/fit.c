/* SPDX-License-Identifier: MIT */
/* fit.c - faults that are wrong numbers, which are read off the upload. */
#include "verify/search/fit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "text/scan.h"
#include "verify/mistakes/changes.h"
#include "verify/compare/measure.h"

static bool set_number(pe_guess *guess, const pe_fault *fault)
{
    pe_values_set_real(&guess->values, fault->param, fault->value);
    return true;
}

/* Scaling that the claim does not tell. */
static bool add_scaling(pe_guess *guess, const pe_fault *fault)
{
    const pe_fault type = {.param = "rope_type", .text = fault->text};
    return pe_changes_choice(guess, &type) && set_number(guess, fault);
}

const pe_fault pe_fits[] = {
    {NULL, NULL, .change = set_number, .param = "rope_theta", .value = 100, .and_value = 1e12},
    {NULL, NULL, .change = set_number, .param = "base", .value = 100, .and_value = 1e12},
    {NULL, NULL, .change = set_number, .param = "factor", .value = 1, .and_value = 1e6},
    {NULL, NULL, .change = set_number, .param = "scale", .value = 1e-6, .and_value = 1e4},
    /* a factor of ntk would be another base */
    {PE_NAME(scaling_added), NULL, .change = add_scaling, .param = "factor", .text = "linear",
     .value = 1, .and_value = 1e6, .sets_rope_type = true},
};
const size_t pe_fits_n = PE_LEN(pe_fits);
const pe_fault *const pe_fits_linear = &pe_fits[PE_LEN(pe_fits) - 1];

/* ---- a number that is looked for ---- */

/* One number of a guess, and where it is looked at. */
typedef struct fitting {
    pe_comparison on; /* its guess has the value that is tried */
    const char *param;
    pe_geometry geometry;        /* where the guess puts pairs */
    pe_positions positions;      /* borrowed */
    size_t row, cos_at, sin_at;  /* the pair whose angle is bisected */
    const pe_known_turns *known; /* NULL: nothing is */
} fitting;

/* What is known of the number. */
typedef struct bracket {
    double low, high, value;
    double error; /* value may be off by this part of itself; HUGE_VAL: it is not known */
} bracket;

/* The guess with this value. */
static pe_status expect_value(const fitting *fit, double value, pe_expect *out, pe_problem *why)
{
    *fit->on.work += pe_upload_view_plan_work(fit->on.view);
    pe_values_set_real(&fit->on.guess->values, fit->param, value);
    return pe_expect_make(&fit->on, PE_NUMERICS_EXACT, out, why);
}

/* Its frequencies: [pairs], the caller's; NULL: there is no such table. */
static pe_status find_frequencies(const fitting *fit, double value, double **out, pe_problem *why)
{
    pe_expect expect;
    *out = NULL;
    pe_status status = expect_value(fit, value, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = pe_expect_probe(&expect, why);
    if (status == PE_OK) {
        *out = expect.frequency;
        expect.frequency = NULL;
    }
    pe_expect_free(&expect);
    return status;
}

/* ---- the number as a client would have written it ---- */

/* The decimal of so many digits nearest to the value. */
static double decimal(double value, int digits)
{
    char text[48];
    double result = value;
    size_t used;
    const int bytes = snprintf(text, sizeof text, "%.*e", digits - 1, value);
    if (bytes < 0 || pe_scan_number(text, (size_t)bytes, &result, &used) != PE_SCAN_OK)
        return value;
    return result;
}

/* The decimal of so many digits on the other side of the value. */
static double decimal_beyond(double value, double nearest, int digits)
{
    const double unit = pow(10, floor(log10(fmin(nearest, value))) - digits + 1);
    return decimal(nearest < value ? nearest + unit : nearest - unit, digits);
}

/* Of the values around this one that explain the upload, one of the fewest digits: values that
 * explain it are an interval, so the decimals on both sides tell whether any does. Exact numbers
 * tell the value best. */
static pe_status write_as_decimal(const fitting *fit, const bracket *at, bool *made,
                                  pe_problem *why)
{
    double found = at->value;
    const double known = fmax(at->error, DBL_EPSILON);
    const int most = (int)fmin(DBL_DECIMAL_DIG, 3 - log10(fmin(known, 1)));
    unsigned by = 0;
    *made = false;
    for (int k = 0; k < 2 * most && (by & PE_BY_EXACT) == 0; k++) {
        const int digits = k / 2 + 1;
        const double nearest = decimal(at->value, digits);
        const double value = k % 2 == 0 ? nearest : decimal_beyond(at->value, nearest, digits);
        if (!(value > 0))
            continue;
        pe_values_set_real(&fit->on.guess->values, fit->param, value);
        const pe_status status = pe_measure_explain(&fit->on, &by, why);
        if (status != PE_OK)
            return status;
        found = (by & PE_BY_EXACT) != 0 || (by != 0 && !*made) ? value : found;
        *made |= by != 0;
    }
    pe_values_set_real(&fit->on.guess->values, fit->param, found);
    return PE_OK;
}

/* ---- an angle ---- */

/* Errors worth having: elements of 8 bits may tell no more than a base's order of magnitude. */
#define GOOD_ERROR   0.5
#define USABLE_ERROR 8.0

/* Halvings of the range: of a few far tokens only a narrow one tells the side. */
#define ROUNDS 24

/* ---- the angle between guess and upload ---- */

/* The angle's sine times lengths. *made is false where there is no such table. */
static pe_status cross_product(const fitting *fit, double value, double *out, bool *made,
                               pe_problem *why)
{
    pe_expect expect;
    pe_expected_row expected;
    pe_status status = expect_value(fit, value, &expect, why);
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
static pe_status narrow(const fitting *fit, double error, bracket *at, bool *made, pe_problem *why)
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

/* The token farthest from position 0 but not beyond `most`, and how far it is; 0: none. */
static double farthest(const fitting *fit, double most, size_t *token)
{
    double best = 0;
    pe_turn_spend(fit->on.view->tokens);
    for (size_t t = 0; t < fit->on.view->tokens; t++) {
        const double p = fabs(pe_upload_view_position(fit->on.view, &fit->positions, t));
        if (p > best && p <= most) {
            best = p;
            *token = t;
        }
    }
    return best;
}

/* Choose from frequencies at the bracket's low, high, value and 2 value. */
static double choose(fitting *fit, double *const w[4])
{
    const pe_geometry *g = &fit->geometry;
    size_t best_token = 0;
    double best = HUGE_VAL;
    for (size_t i = 0; i < g->cos_n && i < g->sin_n; i++) {
        size_t token = 0;
        const double range = fabs(w[0][i] - w[1][i]), change = fabs(w[2][i] - w[3][i]);
        const double far = farthest(fit, range > 0 ? 3 / range : 0, &token);
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

/*
 * The pair and token that tell the value best, of those whose angle changes by less than 3 over the
 * whole bracket: there the angle's sign tells on which side the upload is. *error is how well the
 * value will be known; HUGE_VAL where there is no such table.
 */
static pe_status choose_pair(fitting *fit, const bracket *at, double *error, pe_problem *why)
{
    const double values[4] = {at->low, at->high, at->value, 2 * at->value};
    double *w[4] = {NULL};
    pe_status status = PE_OK;
    for (size_t v = 0; v < PE_LEN(values) && status == PE_OK; v++)
        status = find_frequencies(fit, values[v], &w[v], why);
    *error =
        w[0] != NULL && w[1] != NULL && w[2] != NULL && w[3] != NULL ? choose(fit, w) : HUGE_VAL;
    for (size_t v = 0; v < PE_LEN(values); v++)
        free(w[v]);
    return status;
}

/* Halve the range from both ends, down to where a pair can be chosen that tells the value well.
 * Where there is never one, the first that tells a little is chosen. */
static pe_status shrink(fitting *fit, bracket *at, double *error, pe_problem *why)
{
    bracket usable = *at;
    *error = HUGE_VAL;
    for (int round = 0; round < ROUNDS && !(*error < GOOD_ERROR); round++) {
        if (round > 0) {
            at->low = 2 * at->low < at->value ? 2 * at->low : at->low;
            at->high = at->high > 2 * at->value ? at->high / 2 : at->high;
        }
        const pe_status status = choose_pair(fit, at, error, why);
        if (status != PE_OK)
            return status;
        if (*error < USABLE_ERROR && usable.error == HUGE_VAL) {
            usable = *at;
            usable.error = *error;
        }
    }
    if (*error < GOOD_ERROR || usable.error == HUGE_VAL)
        return PE_OK;
    *at = (bracket){usable.low, usable.high, usable.value, HUGE_VAL};
    return choose_pair(fit, at, error, why);
}

/* Each stage knows the value better, so that the next may read where it matters more. */
static pe_status bisect(fitting *fit, bracket *at, pe_problem *why)
{
    bool better = true;
    for (int stage = 0; stage < 6 && better; stage++) {
        double error;
        pe_status status =
            stage == 0 ? shrink(fit, at, &error, why) : choose_pair(fit, at, &error, why);
        if (status != PE_OK || !(error <= USABLE_ERROR && error <= at->error / 2))
            return status;
        status = narrow(fit, error, at, &better, why);
        if (status != PE_OK)
            return status;
        if (better)
            *at = (bracket){at->value / (1 + 4 * error), at->value * (1 + 4 * error), at->value,
                            error};
    }
    return PE_OK;
}

/* ---- what was measured ---- */

#define TURN 6.283185307179586

/* Measured frequencies may be so far off, in part of themselves and in radians over their span; full
 * turns from row to row are not seen, nor then the direction. A number that is known worse than that
 * contradicts nothing. */
#define TURN_PART   0.02
#define TURN_ANGLE  0.2
#define KNOWN_BADLY 0.1

/* Are the frequencies of the number in the bracket far from what was measured of many pairs? */
static pe_status contradicts(const fitting *fit, const bracket *at, bool *out, pe_problem *why)
{
    double *w = NULL;
    size_t known = 0, off = 0;
    const pe_known_turns *turns = fit->known;
    *out = false;
    if (turns == NULL || turns->pairs != fit->geometry.pairs || !(at->error < KNOWN_BADLY))
        return PE_OK;
    const pe_status status = find_frequencies(fit, at->value, &w, why);
    for (size_t i = 0; w != NULL && i < turns->pairs; i++) {
        const double turned = turns->turned[i], turn = TURN / turns->step;
        const double far =
            fmin(fabs(remainder(w[i] - turned, turn)), fabs(remainder(w[i] + turned, turn)));
        known += isfinite(far) ? 1 : 0;
        off += far > (TURN_PART + at->error) * fabs(w[i]) + TURN_ANGLE / turns->span;
    }
    *out = off * 4 > known;
    free(w);
    return status;
}

/* ---- the value ---- */

static pe_status find_value(fitting *fit, const pe_fault *row, bool *made, pe_problem *why)
{
    pe_expect expect;
    const double claimed = pe_values_real(&fit->on.guess->values, fit->param);
    bracket at = {row->value, row->and_value, claimed, HUGE_VAL};
    bool contradicted = false;
    pe_status status = expect_value(fit, claimed, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    fit->geometry = expect.geometry;
    fit->positions = expect.positions;
    status = bisect(fit, &at, why);
    if (status == PE_OK && at.error < HUGE_VAL)
        status = contradicts(fit, &at, &contradicted, why);
    if (status == PE_OK && at.error < HUGE_VAL && !contradicted)
        status = write_as_decimal(fit, &at, made, why);
    pe_expect_free(&expect);
    return status;
}

/* Nobody scales by less; a range reduction of low precision looks so. */
#define LEAST_FACTOR 1.0001

/* Is there a number to find, which no fault before found? */
static bool applies(const pe_fault *fit, const pe_guess *guess)
{
    const pe_position_map *map = &guess->distortion.positions;
    /* alone, or with moved positions: in more pairs it would cost more work than it finds */
    if (fit->sets_rope_type)
        return pe_geometry_has_rope_type(&guess->claim->values, "default") &&
               pe_geometry_has_rope_type(&guess->values, "default") &&
               (guess->n_faults == 0 || !pe_guess_map_is_identity(map));
    return pe_values_present(&guess->values, fit->param) &&
           !(guess->n_faults > 0 && guess->faults[0]->param != NULL &&
             strcmp(guess->faults[0]->param, fit->param) == 0);
}

/* Is it the base of so many pairs, in which the exponents of these were divided by another number?
 * The claimed base, or one of few digits. */
static bool is_power(double base, double claimed, double *near)
{
    *near = fabs(base / claimed - 1) < 5e-5 ? claimed : decimal(base, 1);
    return fabs(base / *near - 1) < 5e-5;
}

/* A base of many digits that is a power of one of few: exponents were divided by d - 2 or d + 2, or
 * by the d of another head. */
static void tell_denominator(const pe_fault *fit, pe_guess *guess, double pairs, double found)
{
    static const double heads[] = {32, 48, 64, 72, 80, 96, 112, 128, 160, 192, 256};
    double near;
    const pe_value *value = pe_values_find(&guess->claim->values, fit->param);
    const double claimed = value->present ? value->real : 1;
    const bool base = strcmp(fit->param, "rope_theta") == 0 || strcmp(fit->param, "base") == 0;
    if (!base || pairs <= 2 || found == decimal(found, 3))
        return;
    for (int step = -1; step <= 1; step += 2)
        if (is_power(pow(found, (pairs + step) / pairs), claimed, &near))
            pe_buffer_format(&guess->rule,
                             ", which is %.7g^(d/(d %c 2)): exponents are divided by d %c 2, "
                             "not by d (freq_shift)",
                             near, step < 0 ? '-' : '+', step < 0 ? '-' : '+');
    size_t k = 0;
    while (k < PE_LEN(heads) &&
           (heads[k] == 2 * pairs || !is_power(pow(found, heads[k] / 2 / pairs), claimed, &near)))
        k++;
    if (k < PE_LEN(heads))
        pe_buffer_format(&guess->rule,
                         ", which is %.7g^(%g/%g): exponents are divided by %g, as those of "
                         "another head_dim, not by %g",
                         near, 2 * pairs, heads[k], heads[k], 2 * pairs);
}

pe_status pe_fit_apply(const pe_fault *fit, const pe_comparison *to, const pe_known_turns *known,
                       bool *made, pe_problem *why)
{
    pe_guess found;
    *made = false;
    if (to->view->layout == NULL || !applies(fit, to->guess))
        return PE_OK;
    pe_status status = pe_guess_copy(to->guess, &found, why);
    if (status != PE_OK)
        return status;
    fitting at = {.on = {to->view, &found, to->work}, .param = fit->param, .known = known};
    pe_fault fault = *fit;
    fault.value = 2;
    if (!fit->sets_rope_type || fit->change(&found, &fault))
        status = find_value(&at, fit, made, why);
    if (status == PE_OK && *made) {
        fault.value = pe_values_real(&found.values, fit->param);
        *made = fault.value > LEAST_FACTOR || !fit->sets_rope_type;
    }
    if (status == PE_OK && *made) {
        *made = pe_faults_apply(&fault, to->guess);
        if (*made) {
            to->guess->faults[to->guess->n_faults - 1] = fit;
            tell_denominator(fit, to->guess, (double)at.geometry.pairs, fault.value);
        }
        to->guess->fitted |= *made;
    }
    pe_guess_free(&found);
    return status;
}
