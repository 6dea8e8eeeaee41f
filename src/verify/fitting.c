/* SPDX-License-Identifier: MIT */
/* fitting.c - a number that is looked for, and where in the upload. */
#include "verify/fitting.h"

#include <math.h>
#include <stdlib.h>

#include "base/turns.h"

pe_bracket pe_fitting_around(double value, double error)
{
    return (pe_bracket){value / (1 + 4 * error), value * (1 + 4 * error), value, error};
}

pe_status pe_fitting_expect(const pe_fitting *fit, double value, pe_expect *out, pe_problem *why)
{
    *fit->on.work += pe_upload_view_plan_work(fit->on.view);
    pe_values_set_real(&fit->on.guess->values, fit->param, value);
    return pe_expect_make(&fit->on, PE_NUMERICS_EXACT, out, why);
}

pe_status pe_fitting_frequencies(const pe_fitting *fit, double value, double **out, pe_problem *why)
{
    pe_expect expect;
    *out = NULL;
    pe_status status = pe_fitting_expect(fit, value, &expect, why);
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

#define TURN 6.283185307179586

/* Measured frequencies may be so far off, in part of themselves and in radians over their span; full
 * turns from row to row are not seen, nor then the direction. A number that is known worse than that
 * contradicts nothing. */
#define TURN_PART   0.02
#define TURN_ANGLE  0.2
#define KNOWN_BADLY 0.1

pe_status pe_fitting_contradicts(const pe_fitting *fit, const pe_bracket *at, bool *out,
                                 pe_problem *why)
{
    double *w = NULL;
    size_t known = 0, off = 0;
    const pe_known_turns *turns = fit->known;
    *out = false;
    if (turns == NULL || turns->pairs != fit->geometry.pairs || !(at->error < KNOWN_BADLY))
        return PE_OK;
    const pe_status status = pe_fitting_frequencies(fit, at->value, &w, why);
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

double pe_fitting_farthest(const pe_fitting *fit, double most, size_t *token)
{
    double best = 0;
    pe_turn_spend(fit->on.view->tokens);
    for (size_t t = 0; t < fit->on.view->tokens; t++) {
        const double p = fabs(pe_upload_view_position(fit->on.view, fit->positions, t));
        if (p > best && p <= most) {
            best = p;
            *token = t;
        }
    }
    return best;
}
