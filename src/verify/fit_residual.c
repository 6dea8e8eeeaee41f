/* SPDX-License-Identifier: MIT */
/* fit_residual.c - a number from the residual of all pairs. */
#include "verify/fit_residual.h"

#include <math.h>
#include <stdlib.h>

#include "verify/measure.h"

/* A value that was tried. */
typedef struct trial {
    double value;
    pe_residual residual;
} trial;

static const pe_residual no_bound = {HUGE_VAL, HUGE_VAL};

/* Beyond `most` the residual is only known to be more. */
static pe_status try_value(const pe_fitting *fit, double value, const pe_residual *most, trial *out,
                           pe_problem *why)
{
    out->value = value;
    pe_values_set_real(&fit->on.guess->values, fit->param, value);
    return pe_measure_residual(&fit->on, fit->by, fit->reach, most, &out->residual, why);
}

/* Does the bracket hold a value, as the squares at its end and near the value tell? Angles grow with
 * the distance from the value, of which the middle has a third of the end's at most. NaN have no
 * squares, and no value gives them. */
static bool is_hopeful(const trial *near, const trial *end, double part)
{
    return near->residual.ratio <= 1 || near->residual.squares <= part * end->residual.squares;
}

/* Golden sections of the bracket down to the least squares, or to what explains the upload. */
static pe_status golden_section(const pe_fitting *fit, const pe_bracket *at, trial *out,
                                pe_problem *why)
{
    static const double golden = 0.6180339887498949;
    trial left, right;
    double low = at->low, high = at->high;
    pe_residual most = no_bound; /* that of the other value */
    pe_status status = try_value(fit, high - golden * (high - low), &most, &left, why);
    most.squares = left.residual.squares;
    if (status == PE_OK)
        status = try_value(fit, low + golden * (high - low), &most, &right, why);
    for (int step = 0; step < 30 && status == PE_OK; step++) {
        const bool is_left = left.residual.squares <= right.residual.squares;
        *out = is_left ? left : right;
        if (out->residual.ratio <= 1)
            break;
        most.squares = out->residual.squares;
        if (is_left) {
            high = right.value;
            right = left;
            status = try_value(fit, high - golden * (high - low), &most, &left, why);
        } else {
            low = left.value;
            left = right;
            status = try_value(fit, low + golden * (high - low), &most, &right, why);
        }
    }
    return status;
}

/* A ratio as small as peaks may leave at the value: steps need not halve it any more. */
#define NOISE 4.0

/* Steps of a scan to each side, and which part of a ratio is no difference. */
#define SIDE 16
#define SAME (1.0 / 64)

/* Is the ratio at both ends of a scan that of its middle? Then some element has it at any value. */
static pe_status is_level(const pe_fitting *fit, double step, const trial *middle, bool *out,
                          pe_problem *why)
{
    const pe_residual same = {(1 + SAME) * middle->residual.ratio, HUGE_VAL};
    *out = true;
    for (int side = -SIDE; side <= SIDE && *out; side += 2 * SIDE) {
        trial at;
        const pe_status status = try_value(fit, middle->value + side * step, &same, &at, why);
        if (status != PE_OK)
            return status;
        *out = fabs(at.residual.ratio - middle->residual.ratio) <= SAME * middle->residual.ratio;
    }
    return PE_OK;
}

/* The least ratio of some values on both sides of the best so far, from there outwards. */
static pe_status scan(const pe_fitting *fit, double step, trial *best, pe_problem *why)
{
    bool level;
    const double middle = best->value;
    pe_status status = is_level(fit, step, best, &level, why);
    for (int k = 1; k <= 2 * SIDE && !level && best->residual.ratio > 1; k++) {
        trial at;
        const int steps = k % 2 != 0 ? (k + 1) / 2 : -k / 2;
        if (status == PE_OK)
            status = try_value(fit, middle + steps * step,
                               &(pe_residual){best->residual.ratio, HUGE_VAL}, &at, why);
        if (status != PE_OK)
            return status;
        if (at.residual.ratio < best->residual.ratio)
            *best = at;
    }
    return status;
}

/*
 * Least squares fall towards the value from both sides, and show whether there is one. The ratio
 * tells it more precisely in types of few bits, whose small numbers are precise too, but has peaks
 * where numbers pass through 0: it is looked at in steps, ever smaller. *least is the ratio in the
 * end. *made is false where there is no value.
 */
static pe_status minimise(const pe_fitting *fit, pe_bracket *at, double *least, bool *made,
                          pe_problem *why)
{
    trial end, best = {0};
    *least = HUGE_VAL;
    pe_status status = try_value(fit, at->low, &no_bound, &end, why);
    if (status == PE_OK)
        status = try_value(fit, at->value, &no_bound, &best, why);
    *made = status == PE_OK && is_hopeful(&best, &end, 1.0 / 4);
    if (*made && best.residual.ratio > 1)
        status = golden_section(fit, at, &best, why);
    *made = *made && status == PE_OK && is_hopeful(&best, &end, 1.0 / 16);
    if (!*made)
        return status;
    double step = best.value * fmin(at->error, 1) / 32;
    for (int level = 0; level < 3 && best.residual.ratio > 1; level++) {
        const double before = best.residual.ratio;
        status = scan(fit, step, &best, why);
        if (status != PE_OK)
            return status;
        if (best.residual.ratio > fmax(before / 2, NOISE))
            break;
        step /= 12;
    }
    at->value = best.value;
    *least = best.residual.ratio;
    return PE_OK;
}

/* Set the reach: the largest distance from position 0 at which no pair's angle changes by more than
 * a radian over the bracket. */
static pe_status set_reach(pe_fitting *fit, const pe_bracket *at, bool *made, pe_problem *why)
{
    double *low = NULL, *high = NULL, most = 0;
    pe_status status = pe_fitting_frequencies(fit, at->low, &low, why);
    if (low != NULL)
        status = pe_fitting_frequencies(fit, at->high, &high, why);
    *made = high != NULL;
    for (size_t i = 0; *made && i < fit->geometry.pairs; i++)
        most = fmax(most, fabs(low[i] - high[i]));
    fit->reach = most > 0 ? 1 / most : HUGE_VAL;
    free(low);
    free(high);
    return status;
}

pe_status pe_fit_residual_refine(pe_fitting *fit, pe_bracket *at, bool *made, pe_problem *why)
{
    double reached = 0;
    for (int stage = 0; stage < 4; stage++) {
        double ratio;
        size_t token;
        pe_status status = set_reach(fit, at, made, why);
        const double reach = *made ? pe_fitting_farthest(fit, fit->reach, &token) : 0;
        if (status != PE_OK || reach <= reached)
            return status;
        status = minimise(fit, at, &ratio, made, why);
        if (status != PE_OK || !*made || ratio > 1)
            return status;
        /* elsewhere than at the value the ratio grows as the angle: the error is less now */
        *at = pe_fitting_around(at->value, at->error * (reached > 0 ? reached / reach : 1));
        reached = reach;
    }
    return PE_OK;
}
