/* SPDX-License-Identifier: MIT */
/* fit.c - numbers that are wrong, read off the upload. */
#include "verify/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/scan.h"
#include "verify/measure.h"

static bool set_number(pe_guess *guess, const pe_fault *fault)
{
    pe_values_set_real(&guess->values, fault->param, fault->value);
    return true;
}

/* Scaling that the claim does not tell. */
static bool add_scaling(pe_guess *guess, const pe_fault *fault)
{
    return pe_faults_retype(guess, fault->text) && set_number(guess, fault);
}

#define FIT(row, low, high)                                                                        \
    {                                                                                              \
        .name = (row), .change = set_number, .param = (row), .value = (low), .and_value = (high)   \
    }

const pe_fault pe_fits[] = {
    FIT("rope_theta", 100, 1e12),
    FIT("base", 100, 1e12),
    FIT("factor", 1, 1e6),
    FIT("scale", 1e-6, 1e4),
    {.name = "scaling_added",
     .change = add_scaling,
     .param = "factor",
     .text = "linear", /* that of ntk is another base */
     .value = 1,
     .and_value = 1e6,
     .retypes = true},
};
const size_t pe_fits_n = PE_LEN(pe_fits);

/* One number of a guess; the row and the columns of the pair it is read from. */
typedef struct fitting {
    const pe_upload_view *view;
    pe_guess *guess;
    const char *param;
    size_t row, c, s;
    unsigned by; /* the arithmetic that has to explain the upload */
    size_t *work;
} fitting;

/* Shares that are worth having: numbers of 8 bits may tell no more than a base's order of
 * magnitude. */
#define WELL     0.5
#define A_LITTLE 8.0

/* What is known of the number. */
typedef struct bracket {
    double low, high, value;
    double share; /* value may be off by this part of itself */
} bracket;

/* ---- the angle between guess
 * and upload --------------------------------------------------------- */

static pe_status expect_value(const fitting *fit, double value, pe_expect *out, bool *made,
                              pe_problem *why)
{
    *fit->work += pe_upload_view_plan_work(fit->view);
    pe_values_set_real(&fit->guess->values, fit->param, value);
    return pe_expect_make(fit->view, fit->guess, PE_NUMERICS_EXACT, out, made, why);
}

/* Its sine times lengths; false where there is no such table. */
static pe_status lag(const fitting *fit, double value, double *out, bool *made, pe_problem *why)
{
    pe_expect expect;
    pe_expected_row expected;
    pe_status status = expect_value(fit, value, &expect, made, why);
    if (status != PE_OK || !*made)
        return status;
    status = pe_expect_row(&expect, fit->row, &expected, why);
    if (status == PE_OK) {
        const double *got = fit->view->got + fit->row * fit->view->width;
        const double *x = expected.value;
        *out = got[fit->s] * x[fit->c] - got[fit->c] * x[fit->s];
    }
    pe_expect_free(&expect);
    return status;
}

/* Halve the bracket, in logarithms, down to where the lag changes its sign; well below the share
 * that is known. */
static pe_status bisect(const fitting *fit, double share, bracket *at, bool *made, pe_problem *why)
{
    double at_low, at_high, at_middle, low = at->low, high = at->high;
    pe_status status = lag(fit, low, &at_low, made, why);
    if (status == PE_OK && *made)
        status = lag(fit, high, &at_high, made, why);
    if (status != PE_OK || !*made)
        return status;
    *made = (at_low < 0) != (at_high < 0);
    for (int step = 0; step < 60 && *made && high / low > 1 + share / 16; step++) {
        const double middle = sqrt(low) * sqrt(high);
        status = lag(fit, middle, &at_middle, made, why);
        if (status != PE_OK || !*made)
            return status;
        *((at_middle < 0) == (at_low < 0) ? &low : &high) = middle;
    }
    at->value = sqrt(low) * sqrt(high);
    return status;
}

/* ---- where to
 * read it --------------------------------------------------------------------------- */

/* Frequencies of the guess with this value; [pairs], the caller's. */
static pe_status frequencies(const fitting *fit, double value, double **out, bool *made,
                             pe_problem *why)
{
    pe_expect expect;
    pe_status status = expect_value(fit, value, &expect, made, why);
    if (status != PE_OK || !*made)
        return status;
    status = pe_expect_probe(&expect, why);
    *out = expect.frequency;
    expect.frequency = NULL;
    if (status != PE_OK) {
        free(*out);
        *out = NULL;
    }
    pe_expect_free(&expect);
    return status;
}

/* Where the guess puts pairs and tokens. */
typedef struct places {
    pe_geometry geometry;
    const pe_positions *positions;
} places;

/* The token farthest from position 0 but not beyond `most`, and how far it is; 0: none. */
static double farthest(const pe_upload_view *view, const places *where, double most, size_t *token)
{
    double best = 0;
    for (size_t t = 0; t < view->tokens; t++) {
        const double p = fabs(pe_positions_at(where->positions, t));
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
    for (size_t o = 0; o < view->rest * view->inner; o++) {
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
static double known(const pe_upload_view *view, double angle)
{
    static const double unit[PE_DTYPES] = {[PE_FLOAT32] = 0x1p-24,
                                           [PE_FLOAT64] = 0x1p-53,
                                           [PE_FLOAT16] = 0x1p-11,
                                           [PE_BFLOAT16] = 0x1p-8};
    const double u = unit[view->claim->uploads[0].array.dtype];
    return 0x1p-22 + 2 * u * (view->rotated || angle > 1 ? 1 : angle);
}

/*
 * The pair and token that tell the value best, of those whose angle changes by less than 3 over the
 * whole bracket: there the sign of the lag tells on which side the upload is. *share is how well it
 * will be known.
 */
static void choose(fitting *fit, const places *where, double *const w[4], double *share)
{
    const pe_geometry *g = &where->geometry;
    size_t best_token = 0;
    *share = HUGE_VAL;
    for (size_t i = 0; i < g->cos_n && i < g->sin_n; i++) {
        size_t token = 0;
        const double range = fabs(w[0][i] - w[1][i]), change = fabs(w[2][i] - w[3][i]);
        const double far = farthest(fit->view, where, range > 0 ? 3 / range : 0, &token);
        const double off = 2 * known(fit->view, far * w[2][i]) / (far * change);
        if (far * change > 0 && off < *share) {
            *share = off;
            best_token = token;
            fit->c = g->cos_at + i * g->stride;
            fit->s = g->sin_at + i * g->stride;
        }
    }
    fit->row = longest_row(fit->view, best_token);
}

static pe_status place(fitting *fit, const places *where, const bracket *at, double *share,
                       bool *made, pe_problem *why)
{
    const double values[4] = {at->low, at->high, at->value, 2 * at->value};
    double *w[4] = {NULL, NULL, NULL, NULL};
    pe_status status = PE_OK;
    *made = true;
    for (size_t v = 0; v < PE_LEN(values) && *made && status == PE_OK; v++)
        status = frequencies(fit, values[v], &w[v], made, why);
    if (status == PE_OK && *made)
        choose(fit, where, w, share);
    for (size_t v = 0; v < PE_LEN(values); v++)
        free(w[v]);
    return status;
}

/* ----
 * the value ---------------------------------------------------------------------------------- */

/* A bracket in which no angle is open by less than 3 is halved from both ends, down to where one
 * is, and tells the value well. Where none ever does, one that tells a little is better than
 * that. */
static pe_status open_up(fitting *fit, const places *where, bracket *at, double *share, bool *made,
                         pe_problem *why)
{
    pe_status status = PE_OK;
    bracket poor = *at;
    *share = HUGE_VAL;
    poor.share = HUGE_VAL;
    for (int round = 0; round < 12 && status == PE_OK && !(*share < WELL); round++) {
        if (round > 0) {
            at->low = 2 * at->low < at->value ? 2 * at->low : at->low;
            at->high = at->high > 2 * at->value ? at->high / 2 : at->high;
        }
        status = place(fit, where, at, share, made, why);
        if (!*made)
            break;
        if (*share < A_LITTLE && poor.share == HUGE_VAL) {
            poor = *at;
            poor.share = *share;
        }
    }
    if (status != PE_OK || !*made || *share < WELL || poor.share == HUGE_VAL)
        return status;
    *at = (bracket){poor.low, poor.high, poor.value, HUGE_VAL};
    return place(fit, where, at, share, made, why);
}

/* Each stage knows the value better, so that the next may read where it matters more. */
static pe_status narrow(fitting *fit, const places *where, const pe_fault *row, bracket *at,
                        bool *made, pe_problem *why)
{
    pe_status status = PE_OK;
    *at = (bracket){row->value, row->and_value, pe_values_real(&fit->guess->values, fit->param),
                    HUGE_VAL};
    for (int stage = 0; stage < 6; stage++) {
        double share = HUGE_VAL;
        bool better = false;
        status = stage == 0 ? open_up(fit, where, at, &share, &better, why)
                            : place(fit, where, at, &share, &better, why);
        if (status != PE_OK || !better || share > A_LITTLE || share > at->share / 2)
            break;
        status = bisect(fit, share, at, &better, why);
        if (status != PE_OK || !better)
            break;
        at->share = share;
        at->low = at->value / (1 + 4 * share);
        at->high = at->value * (1 + 4 * share);
    }
    *made = at->share < HUGE_VAL;
    return status;
}

/* How far the upload is off, among tokens up to `most` from position 0. */
typedef struct distance {
    double value, strain, squares;
} distance;

static pe_status look(const fitting *fit, double value, double most, distance *out, pe_problem *why)
{
    out->value = value;
    pe_values_set_real(&fit->guess->values, fit->param, value);
    return pe_measure_strain(fit->view, fit->guess, fit->by, most, &out->strain, &out->squares,
                             fit->work, why);
}

static pe_status explains(const fitting *fit, double value, bool *out, pe_problem *why)
{
    unsigned by = 0;
    pe_values_set_real(&fit->guess->values, fit->param, value);
    const pe_status status = pe_measure_explain(fit->view, fit->guess, &by, fit->work, why);
    *out = (by & fit->by) != 0;
    return status;
}

/* Golden sections down to the least squares, or to what is no strain. */
static pe_status descend(const fitting *fit, double low, double high, double most, distance *out,
                         pe_problem *why)
{
    static const double golden = 0.6180339887498949;
    distance at[2];
    pe_status status = look(fit, high - golden * (high - low), most, &at[0], why);
    if (status == PE_OK)
        status = look(fit, low + golden * (high - low), most, &at[1], why);
    for (int step = 0; step < 30 && status == PE_OK; step++) {
        const bool first = at[0].squares <= at[1].squares;
        *out = at[first ? 0 : 1];
        if (out->strain <= 1)
            break;
        *(first ? &high : &low) = at[first ? 1 : 0].value;
        at[first ? 1 : 0] = *out;
        status = look(fit, first ? high - golden * (high - low) : low + golden * (high - low), most,
                      &at[first ? 0 : 1], why);
    }
    return status;
}

/* The least of some values on both sides of one. */
static pe_status scan(const fitting *fit, double around, double step, double most, distance *best,
                      pe_problem *why)
{
    enum { SIDE = 16 };
    pe_status status = PE_OK;
    for (int k = -SIDE; k <= SIDE && best->strain > 1 && status == PE_OK; k++) {
        distance at;
        status = look(fit, around + k * step, most, &at, why);
        if (status == PE_OK && at.strain < best->strain)
            *best = at;
    }
    return status;
}

/*
 * Least squares fall towards the value from both sides, and show whether there is one. The strain
 * tells it more precisely in types of few bits, whose small numbers are precise too, but has peaks
 * where numbers pass through 0: it is looked at in steps, ever smaller.
 */
static pe_status relax(const fitting *fit, bracket *at, double most, double *least, pe_problem *why)
{
    distance end, best = {0};
    pe_status status = look(fit, at->low, most, &end, why);
    *least = HUGE_VAL;
    if (status == PE_OK)
        status = descend(fit, at->low, at->high, most, &best, why);
    if (status != PE_OK || (best.strain > 1 && best.squares > end.squares / 4))
        return status;
    double step = best.value * fmin(at->share, 1) / 32;
    for (int level = 0; level < 3 && status == PE_OK; level++) {
        if (best.strain <= 1)
            break;
        status = scan(fit, best.value, step, most, &best, why);
        step /= 12;
    }
    at->value = best.value;
    *least = best.strain;
    return status;
}

/* The end of the values that explain the upload, between one that does and one beyond. */
static pe_status find_end(const fitting *fit, double inside, double beyond, double *out,
                          pe_problem *why)
{
    pe_status status = PE_OK;
    for (int step = 0; step < 24 && status == PE_OK; step++) {
        bool good;
        const double middle = inside + (beyond - inside) / 2;
        status = explains(fit, middle, &good, why);
        *(good ? &inside : &beyond) = middle;
    }
    *out = inside;
    return status;
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
    for (int digits = 1; digits <= 17 && !*made && status == PE_OK; digits++) {
        bool good;
        status = explains(fit, decimal(value, digits), &good, why);
        *made = status == PE_OK && good;
    }
    return status;
}

/* Of the values around at->value that explain the upload, one of the fewest digits. */
static pe_status shorten(const fitting *fit, const bracket *at, pe_problem *why)
{
    double low = at->value, high = low;
    pe_status status = find_end(fit, at->value, at->low, &low, why);
    if (status == PE_OK)
        status = find_end(fit, at->value, at->high, &high, why);
    const double middle = low + (high - low) / 2;
    double shorter = at->value;
    for (int digits = 1; digits <= 17; digits++) {
        const double value = decimal(middle, digits);
        if (value >= low && value <= high) {
            shorter = value;
            break;
        }
    }
    pe_values_set_real(&fit->guess->values, fit->param, shorter);
    return status;
}

/* The largest distance from position 0 at which no pair's angle is open by more than a radian. */
static pe_status safe_reach(const fitting *fit, const places *where, const bracket *at, double *out,
                            bool *made, pe_problem *why)
{
    double *w[2] = {NULL, NULL}, most = 0;
    const pe_geometry *g = &where->geometry;
    pe_status status = frequencies(fit, at->low, &w[0], made, why);
    if (status == PE_OK && *made)
        status = frequencies(fit, at->high, &w[1], made, why);
    for (size_t i = 0; status == PE_OK && *made && i < g->pairs; i++)
        most = fmax(most, fabs(w[0][i] - w[1][i]));
    *out = most > 0 ? 1 / most : HUGE_VAL;
    free(w[0]);
    free(w[1]);
    return status;
}

/* Tokens farther and farther from position 0 say it ever more precisely. */
static pe_status refine(const fitting *fit, const places *where, bracket *at, bool *made,
                        pe_problem *why)
{
    pe_status status = PE_OK;
    double reached = 0;
    for (int stage = 0; stage < 4; stage++) {
        double most, strain = HUGE_VAL;
        status = safe_reach(fit, where, at, &most, made, why);
        size_t token;
        const double reach = *made ? farthest(fit->view, where, most, &token) : 0;
        if (status != PE_OK || reach <= reached)
            break;
        status = relax(fit, at, most, &strain, why);
        if (status != PE_OK || strain > 1)
            break;
        /* elsewhere than at the value the strain grows as the angle: what is open now is less */
        const double share = at->share * (reached > 0 ? reached / reach : 1);
        at->share = share;
        at->low = at->value / (1 + 4 * share);
        at->high = at->value * (1 + 4 * share);
        reached = reach;
    }
    return status;
}

/* The number as a client would have written it. */
static pe_status settle(const fitting *fit, const bracket *at, bool *made, pe_problem *why)
{
    const pe_status status = explains(fit, at->value, made, why);
    if (status != PE_OK)
        return status;
    return *made ? shorten(fit, at, why) : try_decimals(fit, at->value, made, why);
}

/* Exact numbers tell the value best; then those of the reference path. */
static pe_status find_value(fitting *fit, const pe_fault *row, bool *made, pe_problem *why)
{
    static const unsigned rules[] = {PE_BY_EXACT, PE_BY_FLOAT32};
    pe_expect expect;
    bracket at;
    const double claimed = pe_values_real(&fit->guess->values, fit->param);
    pe_status status = expect_value(fit, claimed, &expect, made, why);
    if (status != PE_OK || !*made)
        return status;
    const places where = {expect.geometry, &expect.positions};
    status = narrow(fit, &where, row, &at, made, why);
    bool found = *made;
    *made = false;
    for (size_t r = 0; r < PE_LEN(rules) && found && !*made && status == PE_OK; r++) {
        bracket finer = at;
        fit->by = rules[r] & pe_measure_allowed(fit->guess);
        if (fit->by == 0)
            continue;
        status = refine(fit, &where, &finer, &found, why);
        if (status == PE_OK && found)
            status = settle(fit, &finer, made, why);
    }
    pe_expect_free(&expect);
    return status;
}

static bool is_default(const pe_values *values)
{
    return strcmp(pe_geometry_choice_text(values, "rope_type"), "default") == 0;
}

/* Is there a number to find, which no fault before found? */
static bool applies(const pe_fault *fit, const pe_guess *guess)
{
    /* alone, or with moved positions: in more pairs it would cost more work than it finds */
    if (fit->retypes)
        return is_default(&guess->claim->values) && is_default(&guess->values) &&
               (guess->n_faults == 0 || !pe_guess_map_is_identity(&guess->distortion.positions)) &&
               !guess->distortion.positions.rounded;
    return pe_values_present(&guess->values, fit->param) &&
           !(guess->n_faults > 0 && guess->faults[0]->param != NULL &&
             strcmp(guess->faults[0]->param, fit->param) == 0);
}

pe_status pe_fit_apply(const pe_fault *fit, const pe_upload_view *view, pe_guess *guess, bool *made,
                       size_t *work, pe_problem *why)
{
    pe_guess found;
    *made = false;
    if (view->waves == NULL || !applies(fit, guess))
        return PE_OK;
    pe_status status = pe_guess_copy(guess, &found, why);
    if (status != PE_OK)
        return status;
    fitting at = {.view = view, .guess = &found, .param = fit->param, .work = work};
    pe_fault first = *fit;
    first.value = 2;
    if (!fit->retypes || fit->change(&found, &first))
        status = find_value(&at, fit, made, why);
    if (status == PE_OK && *made) {
        pe_fault fitted = *fit;
        fitted.value = pe_values_real(&found.values, fit->param);
        *made = pe_fault_apply(&fitted, guess);
        if (*made)
            guess->faults[guess->n_faults - 1] = fit;
    }
    pe_guess_free(&found);
    return status;
}
