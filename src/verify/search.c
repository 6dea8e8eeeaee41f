/* SPDX-License-Identifier: MIT */
/* search.c - the claim, then single faults, then pairs of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/attempts.h"
#include "verify/by_laws.h"
#include "verify/findings.h"
#include "verify/reading.h"
#include "verify/strays.h"

/* ---- faults that are measured ---- */

static void free_measured(pe_measured *at)
{
    pe_guess_free(&at->guess);
    pe_reading_free(&at->reading);
    pe_cause_free(&at->cause);
}

static pe_status read_guess(pe_search *s, const pe_guess *guess, pe_measured *out, pe_problem *why)
{
    *out = (pe_measured){0};
    pe_status status = pe_guess_copy(guess, &out->guess, why);
    if (status != PE_OK)
        return status;
    status = pe_attempts_set_positions(s, s->whole, &out->guess, why);
    if (status == PE_OK)
        status = pe_reading_make(&(pe_comparison){s->whole, &out->guess, &s->work}, &out->reading,
                                 &out->made, why);
    if (status != PE_OK)
        free_measured(out);
    return status;
}

/* How well a reading explains the rows; frequencies of its own explain less. */
static double goodness(const pe_measured *at)
{
    return at->made ? at->reading.quality * (at->reading.own ? 0.8 : 1) : 0;
}

/* The better of two readings stays. */
static pe_status read_better(pe_search *s, const pe_guess *guess, pe_measured *best,
                             pe_problem *why)
{
    pe_measured other;
    const pe_status status = read_guess(s, guess, &other, why);
    if (status != PE_OK)
        return status;
    const bool better = goodness(&other) > goodness(best) + 0.1;
    pe_measured *worse = better ? best : &other;
    free_measured(worse);
    if (better)
        *best = other;
    return PE_OK;
}

/* Read the upload as claimed, or where that makes no sense in another layout. */
static pe_status read_best(pe_search *s, const pe_guess *claim, pe_measured *best, pe_problem *why)
{
    pe_status status = read_guess(s, claim, best, why);
    if (status != PE_OK)
        return status;
    for (size_t f = 0; f < pe_faults_n && goodness(best) < 0.8 && status == PE_OK; f++) {
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
        free_measured(best);
    return status;
}

/* Do most pairs turn evenly, so that numbers can be fitted? */
static bool turns(const pe_search *s)
{
    size_t n = 0;
    const pe_reading *r = &s->measured->reading;
    for (size_t i = 0; i < r->pairs; i++)
        n += isfinite(r->turned[i]) ? 1 : 0;
    return 4 * n > 3 * r->pairs;
}

/* ---- pairs of faults, of which the first brings the guess nearer to what was measured ---- */

/* How many pairs of a guess turn as measured, and whether its amplitude is the measured one. */
static pe_status count_agreeing(pe_search *s, pe_guess *guess, size_t *out, pe_problem *why)
{
    pe_expect expect;
    const pe_reading *r = &s->measured->reading;
    const double span = fabs(r->claimed[r->tokens / 2] - r->claimed[0]);
    *out = 0;
    s->work += pe_upload_view_plan_work(s->view);
    pe_status status =
        pe_expect_make(&(pe_comparison){s->view, guess, &s->work}, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = pe_expect_probe(&expect, why);
    for (size_t i = 0; i < r->pairs && i < expect.geometry.pairs && status == PE_OK; i++)
        *out += fabs(expect.frequency[i] - r->turned[i]) * span < 0.2;
    if (fabs(expect.amplitude - r->amplitude) < 4e-3 * r->amplitude)
        *out += 1 + r->pairs / 8;
    pe_expect_free(&expect);
    return status;
}

/* Does the fault bring more pairs to what was measured, or a layout sense into the rows? */
static pe_status is_nearer(pe_search *s, pe_guess *guess, bool *out, pe_problem *why)
{
    pe_measured other;
    size_t agree = 0;
    *out = false;
    if (!pe_faults_is_layout(guess->faults[guess->n_faults - 1])) {
        const pe_status counted = turns(s) ? count_agreeing(s, guess, &agree, why) : PE_OK;
        *out = agree > s->agreeing;
        return counted;
    }
    const pe_status status = read_guess(s, guess, &other, why);
    if (status != PE_OK)
        return status;
    *out = other.made && other.reading.quality >= 0.5;
    free_measured(&other);
    return PE_OK;
}

/* A first fault, and second ones behind it. */
static pe_status peel_one(pe_search *s, pe_guess *guess, pe_problem *why)
{
    bool nearer;
    if (pe_faults_hold_mostly(guess))
        return PE_OK;
    pe_status status = is_nearer(s, guess, &nearer, why);
    if (status != PE_OK || !nearer)
        return status;
    status = pe_attempts_singles(s, guess, why);
    return status == PE_OK && !pe_attempts_found(s) ? pe_attempts_fits(s, guess, why) : status;
}

static pe_status peel(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_status status = count_agreeing(s, guess, &s->agreeing, why);
    return status == PE_OK ? pe_attempts_with_each_fault(s, guess, 0, peel_one, why) : status;
}

/* ---- what is tried of an upload that was measured ---- */

static bool has_faults(const pe_search *s)
{
    return s->measured->guess.n_faults > 0;
}

/* Those of positions that are only multiplied have been held against the laws. */
static bool has_own_frequencies(const pe_search *s)
{
    const pe_measured *at = s->measured;
    return at->reading.own && at->reading.tokens >= 8 && !at->multiplied;
}

/* Elements of a table of pairs that is large enough for a measurement. In a smaller one all pairs of
 * faults are tried. */
#define MEASURABLE 2048

static bool is_small(const pe_search *s)
{
    return s->whole->elements <= MEASURABLE;
}

static bool is_small_and_uneven(const pe_search *s)
{
    return is_small(s) && !turns(s);
}

static pe_status try_numbers(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_status status = has_faults(s) ? pe_attempts_fits(s, guess, why) : PE_OK;
    return status == PE_OK ? pe_attempts_fits(s, &s->claim, why) : status;
}

/* Before a cause is taken: as scaled frequencies, positions may be multiplied. */
static const pe_attempt of_multiples[] = {
    {.try = pe_by_laws_measured},
    {.try = pe_attempts_fits},
    {0},
};

/* Numbers are fitted only where no named fault explains the upload; one that explains it alone goes
 * before those that do so beside a fault. */
static const pe_attempt of_readings[] = {
    {.try = pe_attempts_try, .applies = has_faults},
    {.try = pe_attempts_singles, .applies = has_faults},
    {.try = pe_by_laws_measured, .applies = has_own_frequencies},
    {.try = try_numbers, .applies = turns},
    {.try = peel},
    {.try = pe_attempts_fits, .applies = is_small_and_uneven, .of_claim = true},
    {.try = pe_attempts_pairs, .applies = is_small, .of_claim = true},
    {.try = pe_by_laws_alone},
    {.try = pe_strays_try, .of_claim = true},
    {.try = pe_strays_try},
    {0},
};

/* The guess takes the cause of its positions, where there is a clear one. */
static pe_status try_reading(pe_search *s, pe_measured *at, pe_problem *why)
{
    bool clear;
    pe_status status = pe_causes_find(&at->reading, s->whole->rotated, &at->cause, &clear, why);
    if (status != PE_OK)
        return status;
    at->multiplied = clear && pe_causes_is_multiple(&at->cause);
    if (at->multiplied)
        status = pe_attempts_in_order(s, &at->guess, of_multiples, why);
    if (status != PE_OK)
        return status;
    if (clear)
        pe_causes_apply(&at->cause, &at->guess);
    if (clear && pe_causes_is_list(&at->cause))
        s->view = s->whole;
    return pe_attempts_in_order(s, &at->guess, of_readings, why);
}

static pe_status try_measured(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_measured best;
    const pe_upload_view *view = s->view;
    pe_status status = read_best(s, guess, &best, why);
    if (status != PE_OK)
        return status;
    if (best.made) {
        s->measured = &best;
        status = pe_attempts_go_on(s) ? try_reading(s, &best, why) : PE_OK;
        s->measured = NULL;
        s->view = view;
        s->report->pairs_tried = true;
        s->report->has_reading = true;
        s->report->reading = best.reading;
        best.reading = (pe_reading){0};
    }
    free_measured(&best);
    return status;
}

/* ---- what is tried of any upload ---- */

static bool is_unread(const pe_search *s)
{
    return !s->report->has_reading;
}

static bool has_width(const pe_search *s)
{
    return !s->whole->width_differs;
}

/* A reading is told beside any finding. */
static const pe_attempt of_pairs[] = {
    {.try = pe_attempts_singles},
    {.try = try_measured, .even_found = true},
    {.try = pe_attempts_pairs, .applies = is_unread},
    {0},
};

static const pe_attempt of_plain_numbers[] = {
    {.try = pe_attempts_singles},
    {.try = pe_by_laws_uploaded},
    {.try = pe_attempts_values},
    {.try = pe_attempts_pairs},
    {.try = pe_strays_try, .applies = has_width, .even_spent = true},
    {0},
};

static const pe_attempt of_no_numbers[] = {
    {.try = pe_strays_try, .applies = has_width, .even_spent = true},
    {0},
};

static const pe_attempt *attempts_of(const pe_search *s)
{
    const pe_strays *strays = &s->report->strays;
    if (strays->elements > 0 && strays->not_finite == strays->elements)
        return of_no_numbers;
    return s->view->layout != NULL ? of_pairs : of_plain_numbers;
}

static pe_status search_faults(pe_search *s, pe_problem *why)
{
    const pe_status status = pe_attempts_in_order(s, &s->claim, attempts_of(s), why);
    s->report->complete = !pe_attempts_spent(s);
    s->report->work = s->work;
    pe_findings_rank(s->report);
    return status;
}

/* Faults of a large upload are looked for in a sample of it. */
static pe_status diagnose(pe_search *s, pe_problem *why)
{
    bool sampled;
    pe_upload_view sample;
    pe_positions positions;
    pe_status status = pe_upload_view_sample(s->whole, &sample, &positions, &sampled, why);
    if (status != PE_OK || !sampled)
        return status != PE_OK ? status : search_faults(s, why);
    pe_value *value = pe_values_find(&s->claim.values, "positions");
    pe_positions_free(&value->positions);
    value->positions = positions;
    s->view = &sample;
    s->report->sampled = sample.tokens;
    status = search_faults(s, why);
    s->view = s->whole;
    pe_upload_view_free(&sample);
    return status;
}

/* ---- the claim ---- */

static pe_status describe(const pe_comparison *of, pe_report *report, pe_problem *why)
{
    const unsigned allowed = pe_measure_allowed(of->guess);
    const size_t numerics = allowed == PE_BY_FLOAT32 ? PE_NUMERICS_FLOAT32 : PE_NUMERICS_EXACT;
    pe_measure_set_bands(of->view, &report->distances);
    const pe_status status = pe_measure_distances(of, numerics, &report->distances, why);
    if (status != PE_OK || report->matches)
        return status;
    const unsigned by = allowed == PE_BY_EXACT ? PE_BY_EXACT : PE_BY_FLOAT32;
    report->has_strays = true;
    const pe_status counted = pe_measure_strays(of, by, &report->strays, why);
    return counted == PE_OK ? pe_measure_first_bad(of, by, &report->first_bad, why) : counted;
}

static pe_status compare(const pe_comparison *of, pe_report *report, pe_problem *why)
{
    unsigned by;
    pe_status status = pe_measure_explain(of, &by, why);
    if (status != PE_OK)
        return status;
    report->matches = by != 0;
    report->numerics = (by & PE_BY_EXACT) != 0 ? "exact" : by != 0 ? "float32" : NULL;
    if (by == PE_BY_FLOAT32)
        status = pe_measure_undecided(of, &report->undecided, why);
    return status == PE_OK ? describe(of, report, why) : status;
}

/* A claim of another width is not compared; only faults can explain the upload. */
static pe_status compare_and_diagnose(pe_search *s, pe_problem *why)
{
    size_t work = 0; /* is not counted as that of a search */
    pe_report *report = s->report;
    report->bands_of = s->view->layout != NULL ? "pairs" : "rows";
    report->complete = true;
    report->parameters = pe_guess_parameters(&s->claim);
    if (report->parameters == NULL)
        return pe_fail_memory(why);
    if (!s->view->width_differs) {
        const pe_comparison claim = {s->view, &s->claim, &work};
        const pe_status status = compare(&claim, report, why);
        if (status != PE_OK || report->matches)
            return status;
    }
    return diagnose(s, why);
}

/* A width that neither the claim nor a fault explains is no table of these parameters at all. */
static pe_status check_width(const pe_upload_view *view, const pe_report *report, pe_problem *why)
{
    if (!view->width_differs || report->n_findings > 0)
        return PE_OK;
    const pe_array *array = &view->claim->uploads[0].array;
    return pe_fail(why, PE_INVALID_PARAMETER, "table",
                   "the table is not as wide as its parameters say (%s has %zu elements), and no "
                   "known fault makes it so",
                   view->claim->uploads[0].name, array->elements);
}

static pe_status verify(const pe_upload_view *view, const pe_verify_context *context,
                        pe_report *report, pe_problem *why)
{
    pe_search s = {.whole = view, .view = view, .bounds = context->bounds, .report = report};
    pe_status status = pe_guess_make(view->claim, context, &s.claim, why);
    if (status != PE_OK)
        return status;
    status = compare_and_diagnose(&s, why);
    pe_guess_free(&s.claim);
    return status == PE_OK ? check_width(view, report, why) : status;
}

pe_status pe_verify(pe_claim *claim, const pe_verify_context *context, pe_report *out,
                    pe_problem *why)
{
    pe_upload_view view;
    pe_report report = {0};
    pe_status status = pe_upload_view_make(claim, context, &view, why);
    if (status != PE_OK)
        return status;
    status = verify(&view, context, &report, why);
    pe_upload_view_free(&view);
    if (status == PE_OK)
        *out = report;
    else
        pe_verify_report_free(&report);
    return status;
}
