/* SPDX-License-Identifier: MIT */
/* measured.c - an upload of pairs, read with a guess. */
#include "verify/search/measured.h"

#include <math.h>

#include "verify/reading/reading.h"

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
