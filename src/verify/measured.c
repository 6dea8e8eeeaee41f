/* SPDX-License-Identifier: MIT */
/* measured.c - an upload of pairs, read with a guess. */
#include "verify/measured.h"

#include <math.h>

#include "verify/reading.h"

void pe_measured_free(pe_measured *at)
{
    pe_guess_free(&at->guess);
    pe_reading_free(&at->reading);
    pe_cause_free(&at->cause);
}

pe_status pe_measured_read(pe_search *s, const pe_guess *guess, pe_reading_least least,
                           pe_measured *out, pe_problem *why)
{
    *out = (pe_measured){0};
    pe_status status = pe_guess_copy(guess, &out->guess, why);
    if (status != PE_OK)
        return status;
    status = pe_attempts_set_positions(s, s->whole, &out->guess, why);
    if (status == PE_OK)
        status = pe_reading_make(&(pe_comparison){s->whole, &out->guess, &s->work}, &least,
                                 &out->reading, &out->made, why);
    if (status != PE_OK)
        pe_measured_free(out);
    return status;
}

static double goodness_of(const pe_measured *at)
{
    return at->made ? pe_reading_goodness(&at->reading) : 0;
}

/* The better of two readings stays. */
static pe_status read_better(pe_search *s, const pe_guess *guess, pe_measured *best,
                             pe_problem *why)
{
    pe_measured other;
    const double least = goodness_of(best) + 0.1;
    const pe_status status =
        pe_measured_read(s, guess, (pe_reading_least){.goodness = least}, &other, why);
    if (status != PE_OK)
        return status;
    const bool better = goodness_of(&other) > least;
    pe_measured *worse = better ? best : &other;
    pe_measured_free(worse);
    if (better)
        *best = other;
    return PE_OK;
}

/* Read the upload as claimed, or where that makes no sense in another layout. */
pe_status pe_measured_best(pe_search *s, const pe_guess *claim, pe_measured *best, pe_problem *why)
{
    pe_status status = pe_measured_read(s, claim, (pe_reading_least){0}, best, why);
    if (status != PE_OK)
        return status;
    for (size_t f = 0; f < pe_faults_n && goodness_of(best) < 0.8 && status == PE_OK; f++) {
        pe_guess guess;
        if (!pe_faults_is_layout(&pe_faults[f]))
            continue;
        status = pe_guess_copy(claim, &guess, why);
        if (status != PE_OK)
            break;
        if (pe_faults_apply(&pe_faults[f], &guess))
            status = read_better(s, &guess, best, why);
        pe_guess_free(&guess);
    }
    if (status != PE_OK)
        pe_measured_free(best);
    return status;
}

/* Are rows of a table equal where, and only where, the positions of a guess are? */
pe_status pe_measured_repeats(pe_search *s, pe_guess *guess, bool *out, pe_problem *why)
{
    pe_expect expect;
    size_t equal = 0, t = 0;
    const pe_upload_view *view = s->view;
    const pe_status status =
        pe_expect_make(&(pe_comparison){view, guess, &s->work}, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    for (; t + 1 < view->tokens; t++) {
        const bool same = pe_upload_view_position(view, &expect.positions, t) ==
                          pe_upload_view_position(view, &expect.positions, t + 1);
        size_t c = 0;
        while (c < view->width &&
               pe_upload_view_at(view, false, t, c) == pe_upload_view_at(view, false, t + 1, c))
            c++;
        if (same != (c == view->width))
            break;
        equal += same;
    }
    pe_expect_free(&expect);
    *out = equal > 0 && t + 1 == view->tokens;
    return PE_OK;
}

#define LEAST_BEHIND 0.9 /* the part of the rows that have a position */

/* With the first fault, positions may have a cause that they had not as claimed. */
pe_status pe_measured_behind(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_measured at;
    bool clear = false;
    if (guess->n_faults + 2 > PE_FAULTS_MAX) /* a cause may be two faults */
        return PE_OK;
    pe_status status =
        pe_measured_read(s, guess, (pe_reading_least){.quality = LEAST_BEHIND}, &at, why);
    if (status == PE_OK && at.made && at.reading.quality > LEAST_BEHIND)
        status = pe_causes_find(&at.reading, s->whole->rotated, &at.cause, &clear, why);
    if (status == PE_OK && clear && at.cause.fault != NULL && !pe_causes_is_list(&at.cause)) {
        pe_causes_apply(&at.cause, &at.guess);
        status = pe_attempts_copy(s, &at.guess, pe_attempts_try, why);
    }
    pe_measured_free(&at);
    return status;
}

/* A number that other frequencies, or another amplitude, hardly have. */
double pe_measured_print(const pe_expect *expect)
{
    double sum = expect->amplitude;
    for (size_t i = 0; i < expect->geometry.pairs; i++)
        sum += expect->frequency[i] * (1 + 0.618 * (double)i);
    return sum;
}

/* Was such a guess looked at before? Now it was. */
bool pe_measured_is_seen(pe_seen *seen, double print)
{
    for (size_t k = 0; k < seen->n; k++)
        if (fabs(seen->print[k] - print) <= 1e-13 * fabs(print))
            return true;
    if (seen->n < PE_LEN(seen->print))
        seen->print[seen->n++] = print;
    return false;
}
