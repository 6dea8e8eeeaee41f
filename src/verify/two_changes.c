/* SPDX-License-Identifier: MIT */
/* two_changes.c - two changes of values, of which frequencies that were measured tell the first. */
#include "verify/two_changes.h"

#include <math.h>

#include "verify/amplitude.h"
#include "verify/by_laws.h"
#include "verify/fit.h"
#include "verify/laws.h"
#include "verify/measure.h"
#include "verify/measured.h"
#include "verify/reading.h"

/* Changes that measured frequencies follow but for one number. */
#define MOST_NUMBERS 4

static pe_status keep_nearest(pe_search *s, const pe_expect *expect, size_t agreeing,
                              pe_problem *why)
{
    const pe_guess *guess = expect->guess;
    pe_guess copy;
    pe_nearest *best = s->nearest;
    const pe_status status = pe_guess_copy(guess, &copy, why);
    if (status != PE_OK)
        return status;
    pe_guess_free(&best->guess);
    best->guess = copy;
    best->fault = *guess->faults[guess->n_faults - 1];
    best->agreeing = agreeing;
    best->amplitude = expect->amplitude;
    best->guess.faults[guess->n_faults - 1] = &best->fault;
    return PE_OK;
}

/* A number that all frequencies tell, or that positions were multiplied by. */
static pe_status number_behind(pe_search *s, pe_guess *guess, pe_problem *why)
{
    if (s->nearest->numbers == 0)
        return PE_OK;
    s->nearest->numbers--;
    const pe_status status = pe_attempts_fits(s, guess, why);
    return status == PE_OK && pe_attempts_go_on(s) ? pe_measured_behind(s, guess, why) : status;
}

/* The measured frequencies, as finely as the upload's type tells them. */
static pe_ladder fine_ladder(const pe_search *s)
{
    pe_ladder ladder = pe_ladder_of_reading(&s->measured->reading);
    ladder.slack = fmin(ladder.slack, 16 * s->measured->reading.roundoff + 0x1p-17);
    return ladder;
}

/* Does the change bring more pairs to what was measured, or leave one law between both? */
static pe_status weigh(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_expect expect;
    pe_ladder ladder = fine_ladder(s);
    s->work += pe_upload_view_plan_work(s->view);
    pe_status status =
        pe_measure_expect(&(pe_comparison){s->view, guess, &s->work}, true, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    if (expect.geometry.pairs == ladder.n &&
        !pe_measured_is_seen(&s->seen, pe_measured_print(&expect))) {
        ladder.claimed = expect.frequency;
        const size_t near = pe_ladder_count_near(&ladder);
        if (near > s->nearest->agreeing)
            status = keep_nearest(s, &expect, near, why);
        if (status == PE_OK && near < ladder.n)
            status = pe_by_laws_behind(s, guess, &ladder, number_behind, why);
        else if (status == PE_OK) /* far rows tell more */
            status = number_behind(s, guess, why);
    }
    pe_expect_free(&expect);
    return status;
}

/* Faults that change a value, any value, and linear scaling that makes pair 0 turn as measured. */
static pe_status weigh_changes(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const double ratio = pe_reading_ratio(&s->measured->reading, 0);
    pe_fault linear = *pe_fits_linear;
    linear.value = round(2 / ratio) / 2;
    pe_status status =
        ratio < 0.9 && ratio > 1e-3 ? pe_attempts_with_fault(s, guess, &linear, weigh, why) : PE_OK;
    for (size_t f = 0; f < pe_faults_n && status == PE_OK && pe_attempts_go_on(s); f++)
        if (pe_faults[f].param != NULL && !pe_faults_is_layout(&pe_faults[f]))
            status = pe_attempts_with_fault(s, guess, &pe_faults[f], weigh, why);
    return status == PE_OK ? pe_attempts_each_value(s, guess, weigh, why) : status;
}

/* Another type of scaling may have left the claimed attention factor as it was. */
static void keep_amplitude(const pe_search *s, pe_nearest *nearest)
{
    const pe_reading *r = &s->measured->reading;
    const double claimed = r->claimed_amplitude, near = 4e-3 * claimed;
    if (!(fabs(r->amplitude - claimed) < near) || fabs(nearest->amplitude - claimed) < near)
        return;
    nearest->guess.distortion.gain = claimed / nearest->amplitude;
    nearest->guess.distortion.values_inexact = true;
    pe_buffer_str(&nearest->guess.rule, ", while the attention factor stayed");
}

/* Or waves were multiplied by a number. */
static pe_status multiply_nearest(pe_search *s, pe_nearest *nearest, pe_problem *why)
{
    return nearest->guess.distortion.gain == 0 &&
                   pe_amplitude_set(s, &nearest->guess, s->measured->reading.amplitude,
                                    nearest->amplitude)
               ? pe_attempts_copy(s, &nearest->guess, pe_attempts_try, why)
               : PE_OK;
}

/* Values behind the nearest change of one. */
pe_status pe_two_changes_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_ladder ladder = fine_ladder(s);
    const size_t agreeing = pe_ladder_count_near(&ladder);
    pe_nearest nearest = {.agreeing = agreeing,
                          .amplitude = s->measured->reading.claimed_amplitude};
    if (agreeing == ladder.n && s->measured->reading.quality > 0.5)
        return PE_OK;
    pe_status status = pe_ladder_make(&s->claim, &ladder, why);
    if (status == PE_OK && !pe_laws_is_one_number(&ladder))
        nearest.numbers = MOST_NUMBERS;
    pe_ladder_free(&ladder);
    s->nearest = &nearest;
    s->seen.n = 0;
    if (status == PE_OK)
        status = weigh_changes(s, guess, why);
    s->nearest = NULL;
    keep_amplitude(s, &nearest);
    if (status == PE_OK && nearest.agreeing > agreeing && pe_attempts_go_on(s))
        status = pe_attempts_copy(s, &nearest.guess, pe_attempts_try, why);
    if (status == PE_OK && nearest.agreeing > agreeing && pe_attempts_go_on(s))
        status = pe_attempts_singles(s, &nearest.guess, why);
    if (status == PE_OK && nearest.agreeing > agreeing && pe_attempts_go_on(s))
        status = pe_attempts_values(s, &nearest.guess, why);
    if (status == PE_OK && nearest.agreeing > agreeing && pe_attempts_go_on(s))
        status = multiply_nearest(s, &nearest, why);
    pe_guess_free(&nearest.guess);
    return status;
}
