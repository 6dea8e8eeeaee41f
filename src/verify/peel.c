/* SPDX-License-Identifier: MIT */
/* peel.c - two faults, of which the first brings the guess to what was measured. */
#include "verify/peel.h"

#include <math.h>
#include <stdlib.h>

#include "verify/measure_rows.h"
#include "verify/measured.h"
#include "verify/reading.h"

/* The part of the rows that have a position by a layout that is nearer. */
#define LEAST_NEARER 0.5

/* Pairs of a row that agree with any frequencies. */
#define FEW_BY_CHANCE 3

/* Relative: what frequencies of 8 bits are off by, with a margin. */
#define AS_ROUNDED 0x1p-6

/* Where rows are nowhere, as of rounded angles, slow pairs of the middle row tell frequencies. */
static bool agrees_by_phases(const pe_search *s, const double *w)
{
    const pe_reading *r = &s->measured->reading;
    size_t known = 0, near = 0;
    for (size_t i = 0; i < r->pairs && r->quality < 0.5; i++) {
        const double angle = w[i] * r->claimed[r->tokens / 2];
        const bool tells = fabs(angle) > 0.01 && fabs(angle) < 3;
        known += tells;
        near += tells && fabs(r->phase[i] - angle) < 0.01 * fabs(angle);
    }
    return near > FEW_BY_CHANCE && near + known / 16 >= known;
}

/* slack: relative, beside a fifth of a radian from the first row to the last one. */
static bool agrees_by_turns(const pe_search *s, const double *w, double slack)
{
    const pe_reading *r = &s->measured->reading;
    const double span = pe_reading_span(r);
    size_t known = 0, near = 0;
    for (size_t i = 0; i < r->pairs && pe_attempts_turns(s); i++)
        if (isfinite(r->turned[i])) {
            known++;
            near += (fabs(w[i] - r->turned[i]) - slack * fabs(w[i])) * span < 0.2;
        }
    return near > 0 && near + known / 16 >= known;
}

/* Does a guess turn and size the pairs as measured? */
static pe_status find_agreement(pe_search *s, pe_guess *guess, pe_agreement *out, pe_problem *why)
{
    pe_expect expect;
    const pe_reading *r = &s->measured->reading;
    *out = (pe_agreement){.turned = false};
    s->work += pe_upload_view_plan_work(s->view);
    const pe_status status =
        pe_measure_expect(&(pe_comparison){s->view, guess, &s->work}, true, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    if (expect.geometry.pairs >= r->pairs)
        out->turned =
            agrees_by_turns(s, expect.frequency, 0) || agrees_by_phases(s, expect.frequency);
    out->print = pe_measured_print(&expect);
    out->sized = expect.geometry.pairs >= r->pairs &&
                 agrees_by_turns(s, expect.frequency, AS_ROUNDED) &&
                 fabs(expect.amplitude - r->amplitude) < 4e-3 * r->amplitude;
    pe_expect_free(&expect);
    return status;
}

/* Does the fault bring the pairs to what was measured, or a layout sense into the rows? */
static pe_status is_nearer(pe_search *s, pe_guess *guess, bool *out, pe_problem *why)
{
    pe_measured other;
    pe_agreement agrees = s->agrees;
    const pe_fault *last = guess->faults[guess->n_faults - 1];
    *out = pe_faults_is_grain(last);
    if (*out) /* elements themselves say so */
        return PE_OK;
    if (guess->distortion.positions.round != NULL && !s->whole->rotated)
        return pe_measured_repeats(s, guess, out, why);
    if (!pe_faults_is_layout(last)) {
        const pe_status found = find_agreement(s, guess, &agrees, why);
        *out = ((agrees.turned && !s->agrees.turned) || (agrees.sized && !s->agrees.sized)) &&
               !pe_measured_is_seen(&s->seen, agrees.print);
        return found;
    }
    if (pe_faults_is_of_waves(last) ? pe_measured_makes_sense(s->measured)
                                    : pe_attempts_has_pairs_as_read(s, guess))
        return PE_OK;
    const pe_status status =
        pe_measured_read(s, guess, (pe_reading_least){.quality = LEAST_NEARER}, &other, why);
    if (status != PE_OK)
        return status;
    *out = other.reading.quality >= LEAST_NEARER &&
           pe_measured_goodness(&other) >= pe_measured_goodness(s->measured) - 0.1;
    pe_measured_free(&other);
    return PE_OK;
}

/* Which fault of the list is the last one of the guess. */
static size_t number_of(const pe_guess *guess)
{
    return (size_t)(guess->faults[guess->n_faults - 1] - pe_faults);
}

/* A first fault, and second ones behind it. */
static pe_status peel_one(pe_search *s, pe_guess *guess, pe_problem *why)
{
    bool *nearer = &s->nearer[number_of(guess)];
    if (pe_faults_hold_mostly(guess))
        return PE_OK;
    pe_status status = is_nearer(s, guess, nearer, why);
    if (status == PE_OK && *nearer)
        status = pe_attempts_singles(s, guess, why);
    return status == PE_OK && *nearer && !pe_attempts_found(s) &&
                   !pe_measured_makes_sense(s->measured)
               ? pe_measured_behind(s, guess, why)
               : status;
}

/* Numbers behind it. Those behind another value follow from measured frequencies. */
static pe_status fit_behind(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_fault *last = guess->faults[guess->n_faults - 1];
    return s->nearer[number_of(guess)] && !pe_attempts_found(s) &&
                   (last->param == NULL || pe_faults_is_layout(last))
               ? pe_attempts_fits(s, guess, why)
               : PE_OK;
}

/* Named faults go before numbers that are fitted. */
pe_status pe_peel_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_status status = find_agreement(s, guess, &s->agrees, why);
    s->seen.n = 0;
    s->nearer = calloc(pe_faults_n, sizeof *s->nearer);
    if (status == PE_OK && s->nearer == NULL)
        status = pe_fail_memory(why);
    if (status == PE_OK)
        status = pe_attempts_with_each_fault(s, guess, 0, peel_one, why);
    if (status == PE_OK && !pe_attempts_found(s))
        status = pe_attempts_with_each_fault(s, guess, 0, fit_behind, why);
    free(s->nearer);
    s->nearer = NULL;
    return status;
}
