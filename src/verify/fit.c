/* SPDX-License-Identifier: MIT */
/* fit.c - faults that are wrong numbers, which are read off the upload. */
#include "verify/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/scan.h"
#include "verify/changes.h"
#include "verify/measure.h"

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
    {"rope_theta", NULL, .change = set_number, .param = "rope_theta", .value = 100,
     .and_value = 1e12},
    {"base", NULL, .change = set_number, .param = "base", .value = 100, .and_value = 1e12},
    {"factor", NULL, .change = set_number, .param = "factor", .value = 1, .and_value = 1e6},
    {"scale", NULL, .change = set_number, .param = "scale", .value = 1e-6, .and_value = 1e4},
    /* a factor of ntk would be another base */
    {"scaling_added", NULL, .change = add_scaling, .param = "factor", .text = "linear", .value = 1,
     .and_value = 1e6, .sets_rope_type = true},
};
const size_t pe_fits_n = PE_LEN(pe_fits);

/* One number of a guess, and where it is looked at. */
typedef struct fitting {
    pe_comparison on; /* its guess has the value that is tried */
    const char *param;
    pe_geometry geometry;          /* where the guess puts pairs */
    const pe_positions *positions; /* and tokens */
    size_t row, cos_at, sin_at;    /* the pair whose angle is bisected */
    double reach;                  /* tokens farther from position 0 do not count in residuals */
    unsigned by;                   /* the arithmetic that has to explain the upload */
} fitting;

/* What is known of the number. */
typedef struct bracket {
    double low, high, value;
    double error; /* value may be off by this part of itself; HUGE_VAL: it is not known */
} bracket;

/* Errors worth having: elements of 8 bits may tell no more than a base's order of magnitude. */
#define GOOD_ERROR   0.5
#define USABLE_ERROR 8.0

static bracket around(double value, double error)
{
    return (bracket){value / (1 + 4 * error), value * (1 + 4 * error), value, error};
}

/* ---- the angle between guess and upload ---- */

static pe_status expect_value(const fitting *fit, double value, pe_expect *out, pe_problem *why)
{
    *fit->on.work += pe_upload_view_plan_work(fit->on.view);
    pe_values_set_real(&fit->on.guess->values, fit->param, value);
    return pe_expect_make(&fit->on, PE_NUMERICS_EXACT, out, why);
}

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
        const double *got = fit->on.view->got + fit->row * fit->on.view->width;
        const double *x = expected.value;
        *out = got[fit->sin_at] * x[fit->cos_at] - got[fit->cos_at] * x[fit->sin_at];
    }
    pe_expect_free(&expect);
    return status;
}

/* Halve the bracket, in logarithms, where the angle changes its sign, down to a part of the error
 * that is known. */
static pe_status bisect(const fitting *fit, double error, bracket *at, bool *made, pe_problem *why)
{
    double at_low, at_high, at_middle, low = at->low, high = at->high;
    pe_status status = cross_product(fit, low, &at_low, made, why);
    if (status != PE_OK || !*made)
        return status;
    status = cross_product(fit, high, &at_high, made, why);
    if (status != PE_OK || !*made)
        return status;
    *made = (at_low < 0) != (at_high < 0);
    for (int step = 0; step < 60 && *made && high / low > 1 + error / 16; step++) {
        const double middle = sqrt(low) * sqrt(high);
        status = cross_product(fit, middle, &at_middle, made, why);
        if (status != PE_OK || !*made)
            return status;
        *((at_middle < 0) == (at_low < 0) ? &low : &high) = middle;
    }
    at->value = sqrt(low) * sqrt(high);
    return status;
}

/* ---- which pair, at which token ---- */

/* Frequencies of the guess with this value: [pairs], the caller's; NULL: there is no such table. */
static pe_status frequencies(const fitting *fit, double value, double **out, pe_problem *why)
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

/* The token farthest from position 0 but not beyond `most`, and how far it is; 0: none. */
static double farthest(const fitting *fit, double most, size_t *token)
{
    double best = 0;
    for (size_t t = 0; t < fit->on.view->tokens; t++) {
        const double p = fabs(pe_upload_view_position(fit->on.view, fit->positions, t));
        if (p > best && p <= most) {
            best = p;
            *token = t;
        }
    }
    return best;
}

/* The token's row with the longest vectors: some may be zero. */
static size_t longest_row(const pe_upload_view *view, size_t token)
{
    double longest = -1;
    size_t best = 0;
    for (size_t o = 0; o < pe_upload_view_token_rows(view); o++) {
        const size_t row = pe_upload_view_row(view, token, o);
        double length = 0;
        for (size_t c = 0; c < view->width; c++)
            length += fabs(view->got[row * view->width + c]);
        if (length > longest) {
            longest = length;
            best = row;
        }
    }
    return best;
}

/* How well an angle of the upload is known: the reference path's errors near position 0, and the
 * rounding of the type, which is less for small sines. */
static double angle_error(const pe_upload_view *view, double angle)
{
    const double u = pe_upload_view_roundoff(view);
    return 0x1p-22 + 2 * u * (view->rotated || angle > 1 ? 1 : angle);
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
        const double error = 2 * angle_error(fit->on.view, far * w[2][i]) / (far * change);
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
 * value will be known.
 */
static pe_status choose_pair(fitting *fit, const bracket *at, double *error, bool *made,
                             pe_problem *why)
{
    const double values[4] = {at->low, at->high, at->value, 2 * at->value};
    double *w[4] = {NULL, NULL, NULL, NULL};
    pe_status status = PE_OK;
    *made = true;
    for (size_t v = 0; v < PE_LEN(values) && *made; v++) {
        status = frequencies(fit, values[v], &w[v], why);
        *made = w[v] != NULL;
    }
    if (*made)
        *error = choose(fit, w);
    for (size_t v = 0; v < PE_LEN(values); v++)
        free(w[v]);
    return status;
}

/* ---- from the angle of one pair ---- */

/* Halve the range from both ends, down to where a pair can be chosen that tells the value well.
 * Where there is never one, the first that tells a little is chosen. */
static pe_status shrink(fitting *fit, bracket *at, double *error, bool *made, pe_problem *why)
{
    bracket usable = *at;
    *error = usable.error = HUGE_VAL;
    for (int round = 0; round < 12 && !(*error < GOOD_ERROR); round++) {
        if (round > 0) {
            at->low = 2 * at->low < at->value ? 2 * at->low : at->low;
            at->high = at->high > 2 * at->value ? at->high / 2 : at->high;
        }
        const pe_status status = choose_pair(fit, at, error, made, why);
        if (status != PE_OK || !*made)
            return status;
        if (*error < USABLE_ERROR && usable.error == HUGE_VAL) {
            usable = *at;
            usable.error = *error;
        }
    }
    if (*error < GOOD_ERROR || usable.error == HUGE_VAL)
        return PE_OK;
    *at = (bracket){usable.low, usable.high, usable.value, HUGE_VAL};
    return choose_pair(fit, at, error, made, why);
}

/* One stage: choose a pair and bisect. *better: the value is known better than before. */
static pe_status bisect_better(fitting *fit, bool first, bracket *at, bool *better, pe_problem *why)
{
    double error = HUGE_VAL;
    pe_status status =
        first ? shrink(fit, at, &error, better, why) : choose_pair(fit, at, &error, better, why);
    *better &= error <= USABLE_ERROR && error <= at->error / 2;
    if (status != PE_OK || !*better)
        return status;
    status = bisect(fit, error, at, better, why);
    if (status == PE_OK && *better)
        *at = around(at->value, error);
    return status;
}

/* Each stage knows the value better, so that the next may read where it matters more. */
static pe_status bisect_all(fitting *fit, bracket *at, pe_problem *why)
{
    bool better = true;
    for (int stage = 0; stage < 6 && better; stage++) {
        const pe_status status = bisect_better(fit, stage == 0, at, &better, why);
        if (status != PE_OK)
            return status;
    }
    return PE_OK;
}

/* ---- from the residual of all pairs ---- */

/* A value that was tried. */
typedef struct trial {
    double value;
    pe_residual residual;
} trial;

static pe_status try_value(const fitting *fit, double value, trial *out, pe_problem *why)
{
    out->value = value;
    pe_values_set_real(&fit->on.guess->values, fit->param, value);
    return pe_measure_residual(&fit->on, fit->by, fit->reach, &out->residual, why);
}

/* Golden sections of the bracket down to the least squares, or to what explains the upload. */
static pe_status golden_section(const fitting *fit, const bracket *at, trial *out, pe_problem *why)
{
    static const double golden = 0.6180339887498949;
    trial left, right;
    double low = at->low, high = at->high;
    pe_status status = try_value(fit, high - golden * (high - low), &left, why);
    if (status == PE_OK)
        status = try_value(fit, low + golden * (high - low), &right, why);
    for (int step = 0; step < 30 && status == PE_OK; step++) {
        const bool is_left = left.residual.squares <= right.residual.squares;
        *out = is_left ? left : right;
        if (out->residual.ratio <= 1)
            break;
        if (is_left) {
            high = right.value;
            right = left;
            status = try_value(fit, high - golden * (high - low), &left, why);
        } else {
            low = left.value;
            left = right;
            status = try_value(fit, low + golden * (high - low), &right, why);
        }
    }
    return status;
}

/* The least ratio of some values on both sides of the best so far. */
static pe_status scan(const fitting *fit, double step, trial *best, pe_problem *why)
{
    enum { SIDE = 16 };
    const double middle = best->value;
    for (int k = -SIDE; k <= SIDE && best->residual.ratio > 1; k++) {
        trial at;
        const pe_status status = try_value(fit, middle + k * step, &at, why);
        if (status != PE_OK)
            return status;
        if (at.residual.ratio < best->residual.ratio)
            *best = at;
    }
    return PE_OK;
}

/*
 * Least squares fall towards the value from both sides, and show whether there is one. The ratio
 * tells it more precisely in types of few bits, whose small numbers are precise too, but has peaks
 * where numbers pass through 0: it is looked at in steps, ever smaller. *least is the ratio in the
 * end.
 */
static pe_status minimise(const fitting *fit, bracket *at, double *least, pe_problem *why)
{
    trial end, best = {0};
    *least = HUGE_VAL;
    pe_status status = try_value(fit, at->low, &end, why);
    if (status == PE_OK)
        status = golden_section(fit, at, &best, why);
    if (status != PE_OK ||
        (best.residual.ratio > 1 && best.residual.squares > end.residual.squares / 4))
        return status;
    double step = best.value * fmin(at->error, 1) / 32;
    for (int level = 0; level < 3 && best.residual.ratio > 1; level++) {
        status = scan(fit, step, &best, why);
        if (status != PE_OK)
            return status;
        step /= 12;
    }
    at->value = best.value;
    *least = best.residual.ratio;
    return PE_OK;
}

/* Set the reach: the largest distance from position 0 at which no pair's angle changes by more than
 * a radian over the bracket. */
static pe_status set_reach(fitting *fit, const bracket *at, bool *made, pe_problem *why)
{
    double *low = NULL, *high = NULL, most = 0;
    pe_status status = frequencies(fit, at->low, &low, why);
    if (low != NULL)
        status = frequencies(fit, at->high, &high, why);
    *made = high != NULL;
    for (size_t i = 0; *made && i < fit->geometry.pairs; i++)
        most = fmax(most, fabs(low[i] - high[i]));
    fit->reach = most > 0 ? 1 / most : HUGE_VAL;
    free(low);
    free(high);
    return status;
}

/* Tokens farther and farther from position 0 tell the value ever more precisely. */
static pe_status refine(fitting *fit, bracket *at, bool *made, pe_problem *why)
{
    double reached = 0;
    for (int stage = 0; stage < 4; stage++) {
        double ratio;
        size_t token;
        pe_status status = set_reach(fit, at, made, why);
        const double reach = *made ? farthest(fit, fit->reach, &token) : 0;
        if (status != PE_OK || reach <= reached)
            return status;
        status = minimise(fit, at, &ratio, why);
        if (status != PE_OK || ratio > 1)
            return status;
        /* elsewhere than at the value the ratio grows as the angle: the error is less now */
        *at = around(at->value, at->error * (reached > 0 ? reached / reach : 1));
        reached = reach;
    }
    return PE_OK;
}

/* ---- the number as a client would have written it ---- */

static pe_status explains(const fitting *fit, double value, bool *out, pe_problem *why)
{
    unsigned by = 0;
    pe_values_set_real(&fit->on.guess->values, fit->param, value);
    const pe_status status = pe_measure_explain(&fit->on, &by, why);
    *out = (by & fit->by) != 0;
    return status;
}

/* The end of the values that explain the upload, between one that does and one beyond. */
static pe_status find_end(const fitting *fit, double inside, double beyond, double *out,
                          pe_problem *why)
{
    for (int step = 0; step < 24; step++) {
        bool good;
        const double middle = inside + (beyond - inside) / 2;
        const pe_status status = explains(fit, middle, &good, why);
        if (status != PE_OK)
            return status;
        *(good ? &inside : &beyond) = middle;
    }
    *out = inside;
    return PE_OK;
}

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

/* A decimal of few digits may be what no search among doubles meets. */
static pe_status try_decimals(const fitting *fit, double value, bool *made, pe_problem *why)
{
    pe_status status = PE_OK;
    *made = false;
    for (int digits = 1; digits <= 17 && !*made && status == PE_OK; digits++)
        status = explains(fit, decimal(value, digits), made, why);
    return status;
}

/* Of the values around at->value that explain the upload, one of the fewest digits. */
static pe_status shorten(const fitting *fit, const bracket *at, pe_problem *why)
{
    double low, high, shorter = at->value;
    pe_status status = find_end(fit, at->value, at->low, &low, why);
    if (status != PE_OK)
        return status;
    status = find_end(fit, at->value, at->high, &high, why);
    if (status != PE_OK)
        return status;
    const double middle = low + (high - low) / 2;
    for (int digits = 17; digits >= 1; digits--) {
        const double value = decimal(middle, digits);
        if (value >= low && value <= high)
            shorter = value;
    }
    pe_values_set_real(&fit->on.guess->values, fit->param, shorter);
    return PE_OK;
}

static pe_status write_as_decimal(const fitting *fit, const bracket *at, bool *made,
                                  pe_problem *why)
{
    const pe_status status = explains(fit, at->value, made, why);
    if (status != PE_OK)
        return status;
    return *made ? shorten(fit, at, why) : try_decimals(fit, at->value, made, why);
}

/* ---- the value ---- */

/* Exact numbers tell the value best; then those of the reference path. */
static pe_status refine_by_each(fitting *fit, const bracket *at, bool *made, pe_problem *why)
{
    static const unsigned arithmetics[] = {PE_BY_EXACT, PE_BY_FLOAT32};
    const unsigned allowed = pe_measure_allowed(fit->on.guess);
    for (size_t a = 0; a < PE_LEN(arithmetics); a++) {
        bracket finer = *at;
        fit->by = arithmetics[a] & allowed;
        if (fit->by == 0)
            continue;
        pe_status status = refine(fit, &finer, made, why);
        if (status != PE_OK || !*made)
            return status;
        status = write_as_decimal(fit, &finer, made, why);
        if (status != PE_OK || *made)
            return status;
    }
    return PE_OK;
}

static pe_status find_value(fitting *fit, const pe_fault *row, bool *made, pe_problem *why)
{
    pe_expect expect;
    const double claimed = pe_values_real(&fit->on.guess->values, fit->param);
    bracket at = {row->value, row->and_value, claimed, HUGE_VAL};
    pe_status status = expect_value(fit, claimed, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    fit->geometry = expect.geometry;
    fit->positions = &expect.positions;
    status = bisect_all(fit, &at, why);
    if (status == PE_OK && at.error < HUGE_VAL)
        status = refine_by_each(fit, &at, made, why);
    fit->positions = NULL;
    pe_expect_free(&expect);
    return status;
}

/* Is there a number to find, which no fault before found? */
static bool applies(const pe_fault *fit, const pe_guess *guess)
{
    const pe_position_map *map = &guess->distortion.positions;
    /* alone, or with moved positions: in more pairs it would cost more work than it finds */
    if (fit->sets_rope_type)
        return pe_geometry_has_rope_type(&guess->claim->values, "default") &&
               pe_geometry_has_rope_type(&guess->values, "default") &&
               (guess->n_faults == 0 || !pe_guess_map_is_identity(map)) && !map->rounded;
    return pe_values_present(&guess->values, fit->param) &&
           !(guess->n_faults > 0 && guess->faults[0]->param != NULL &&
             strcmp(guess->faults[0]->param, fit->param) == 0);
}

pe_status pe_fit_apply(const pe_fault *fit, const pe_comparison *to, bool *made, pe_problem *why)
{
    pe_guess found;
    *made = false;
    if (to->view->layout == NULL || !applies(fit, to->guess))
        return PE_OK;
    pe_status status = pe_guess_copy(to->guess, &found, why);
    if (status != PE_OK)
        return status;
    fitting at = {.on = {to->view, &found, to->work}, .param = fit->param};
    pe_fault fault = *fit;
    fault.value = 2;
    if (!fit->sets_rope_type || fit->change(&found, &fault))
        status = find_value(&at, fit, made, why);
    if (status == PE_OK && *made) {
        fault.value = pe_values_real(&found.values, fit->param);
        *made = pe_faults_apply(&fault, to->guess);
        if (*made)
            to->guess->faults[to->guess->n_faults - 1] = fit;
        to->guess->fitted |= *made;
    }
    pe_guess_free(&found);
    return status;
}
