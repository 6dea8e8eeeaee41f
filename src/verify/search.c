/* SPDX-License-Identifier: MIT */
/* search.c - the claim, then single faults, then pairs of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/attempts.h"
#include "verify/causes.h"
#include "verify/findings.h"
#include "verify/ladder.h"
#include "verify/laws.h"
#include "verify/reading.h"
#include "verify/strays.h"

/* Elements of a table of pairs that is large enough for a measurement. In a smaller one all pairs of
 * faults are tried. */
#define MEASURABLE 2048

/* ---- faults that are measured ---- */

/* Where another layout would put the pairs, or whether it exchanges them. */
static bool is_layout(const pe_fault *fault)
{
    static const char *const names[] = {"pairing", "layout", "cache_layout", "cos_sin_exchanged"};
    for (size_t n = 0; n < PE_LEN(names); n++)
        if (strcmp(names[n], fault->name) == 0)
            return true;
    return false;
}

/* A guess and what is read off the whole upload with its layout and its frequencies. */
typedef struct measured {
    pe_guess guess;
    pe_reading reading;
    pe_cause cause;
    bool made;
} measured;

static void free_measured(measured *at)
{
    pe_guess_free(&at->guess);
    pe_reading_free(&at->reading);
    pe_cause_free(&at->cause);
}

static pe_status read_guess(pe_search *s, const pe_guess *guess, measured *out, pe_problem *why)
{
    *out = (measured){0};
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
static double goodness(const measured *at)
{
    return at->made ? at->reading.quality * (at->reading.own ? 0.8 : 1) : 0;
}

/* The better of two readings stays. */
static pe_status read_better(pe_search *s, const pe_guess *guess, measured *best, pe_problem *why)
{
    measured other;
    const pe_status status = read_guess(s, guess, &other, why);
    if (status != PE_OK)
        return status;
    const bool better = goodness(&other) > goodness(best) + 0.1;
    measured *worse = better ? best : &other;
    free_measured(worse);
    if (better)
        *best = other;
    return PE_OK;
}

/* Read the upload as claimed, or where that makes no sense in another layout. */
static pe_status read_best(pe_search *s, measured *best, pe_problem *why)
{
    pe_status status = read_guess(s, &s->claim, best, why);
    if (status != PE_OK)
        return status;
    for (size_t f = 0; f < pe_faults_n && goodness(best) < 0.8 && status == PE_OK; f++) {
        pe_guess guess;
        if (!is_layout(&pe_faults[f]))
            continue;
        status = pe_guess_copy(&s->claim, &guess, why);
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

/* How many pairs of a guess turn as measured, and whether its amplitude is the measured one. */
static pe_status count_agreeing(pe_search *s, pe_guess *guess, const pe_reading *r, size_t *out,
                                pe_problem *why)
{
    pe_expect expect;
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

/* Do most pairs turn evenly, so that numbers can be fitted? */
static bool turns(const pe_reading *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->pairs; i++)
        n += isfinite(r->turned[i]) ? 1 : 0;
    return 4 * n > 3 * r->pairs;
}

/* Does a first fault bring the guess nearer to what was measured? A layout does where rows have
 * positions in it. */
static pe_status is_nearer(pe_search *s, pe_guess *guess, const pe_reading *r, bool *out,
                           pe_problem *why)
{
    const pe_fault *fault = guess->faults[guess->n_faults - 1];
    size_t agree = 0;
    measured other;
    pe_status status = PE_OK;
    *out = false;
    if (!is_layout(fault)) {
        if (!turns(r))
            return PE_OK;
        status = count_agreeing(s, guess, r, &agree, why);
        *out = agree > s->agreeing;
        return status;
    }
    status = read_guess(s, guess, &other, why);
    *out = status == PE_OK && other.made && other.reading.quality >= 0.5;
    if (status == PE_OK)
        free_measured(&other);
    return status;
}

/* A first fault, and second ones behind it. */
static pe_status peel_one(pe_search *s, pe_guess *guess, const pe_reading *r, pe_problem *why)
{
    bool nearer;
    pe_status status = is_nearer(s, guess, r, &nearer, why);
    if (status != PE_OK || !nearer)
        return status;
    status = pe_attempts_with_each_fault(s, guess, 0, pe_attempts_try, why);
    return status == PE_OK && !pe_attempts_found(s) ? pe_attempts_fits(s, guess, why) : status;
}

/* Pairs of faults of which the first brings the guess nearer to what was measured. */
static pe_status peel(pe_search *s, measured *at, pe_problem *why)
{
    pe_status status = pe_attempts_set_positions(s, s->view, &at->guess, why);
    if (status == PE_OK)
        status = count_agreeing(s, &at->guess, &at->reading, &s->agreeing, why);
    for (size_t f = 0; f < pe_faults_n && status == PE_OK && !pe_attempts_spent(s); f++) {
        pe_guess guess;
        status = pe_guess_copy(&at->guess, &guess, why);
        if (status != PE_OK)
            return status;
        if (!pe_faults[f].mostly && pe_faults_apply(&pe_faults[f], &guess))
            status = peel_one(s, &guess, &at->reading, why);
        pe_guess_free(&guess);
    }
    return status;
}

/* ---- frequencies that follow a law ---- */

static pe_ladder ladder_of(const pe_reading *r)
{
    const double step = r->tokens > 1 ? r->claimed[1] - r->claimed[0] : 0;
    return (pe_ladder){.n = r->pairs,
                       .claimed = r->frequency,
                       .measured = r->turned,
                       .step = step,
                       .span = fabs(step) * floor((double)r->tokens / 2)};
}

/* Values of scaling say nothing where a law gives the frequencies. */
static pe_status try_beside_law(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_fault *last = guess->faults[guess->n_faults - 1];
    return last->param == NULL || is_layout(last) ? pe_attempts_try(s, guess, why) : PE_OK;
}

/* One law after the other, each alone and then with each single fault. */
static pe_status try_ladder(pe_search *s, const pe_guess *from, pe_ladder *ladder, pe_problem *why)
{
    size_t law = 0;
    pe_status status = pe_ladder_make(&s->claim, ladder, why);
    for (bool more = true; more && status == PE_OK && pe_attempts_go_on(s);) {
        pe_guess guess;
        status = pe_guess_copy(from, &guess, why);
        if (status != PE_OK)
            break;
        more = pe_ladder_next(ladder, &law, &guess);
        if (more)
            status = pe_attempts_set_positions(s, s->view, &guess, why);
        if (more && status == PE_OK)
            status = pe_attempts_copy(s, &guess, pe_attempts_try, why);
        if (more && status == PE_OK && pe_attempts_go_on(s))
            status = pe_attempts_with_each_fault(s, &guess, 0, try_beside_law, why);
        pe_guess_free(&guess);
    }
    pe_ladder_free(ladder);
    return status;
}

/* Frequencies that are the upload need not be measured. */
static pe_status try_frequencies(pe_search *s, pe_problem *why)
{
    pe_expect expect;
    pe_expected_row row;
    const pe_upload_view *view = s->view;
    if (strcmp(view->claim->resource->name, "rope/frequencies") != 0 ||
        strcmp(view->claim->uploads[0].name, "inv_freq") != 0)
        return PE_OK;
    pe_status status = pe_expect_make(&(pe_comparison){view, &s->claim, &s->work},
                                      PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    status = pe_expect_row(&expect, 0, &row, why);
    pe_ladder ladder = {.n = view->claim->uploads[0].array.elements,
                        .claimed = row.value,
                        .measured = view->got,
                        .roundoff = pe_upload_view_roundoff(view)};
    if (status == PE_OK && ladder.n <= PE_PLAIN_ROW)
        status = try_ladder(s, &s->claim, &ladder, why);
    pe_expect_free(&expect);
    return status;
}

/* Numbers are fitted only where no named fault explains the upload. */
static pe_status try_numbers(pe_search *s, const measured *at, pe_problem *why)
{
    pe_status status = PE_OK;
    if (at->guess.n_faults > 0)
        status = pe_attempts_copy(s, &at->guess, pe_attempts_fits, why);
    return status == PE_OK ? pe_attempts_fits(s, &s->claim, why) : status;
}

/* Laws that the measurement follows, where no fault explains the elements. */
static pe_status try_laws(pe_search *s, const measured *at, pe_problem *why)
{
    pe_guess guess;
    pe_ladder ladder = ladder_of(&at->reading);
    pe_buffer evidence = {0};
    pe_finding finding = {.exact = false};
    pe_status status = pe_guess_copy(&at->guess, &guess, why);
    if (status != PE_OK)
        return status;
    const size_t before = guess.n_faults;
    size_t law = 0;
    status = pe_ladder_make(&s->claim, &ladder, why);
    if (status == PE_OK && at->reading.tokens >= 8)
        guess.fitted |= pe_ladder_next(&ladder, &law, &guess);
    if (status == PE_OK && pe_laws_find(&at->reading, &guess) + guess.n_faults > before) {
        pe_buffer_format(&evidence,
                         "measured: frequencies from row to row, the median amplitude, and "
                         "positions of %.0f of %zu rows; no element was compared",
                         at->reading.quality * (double)at->reading.tokens, at->reading.tokens);
        status = pe_findings_add(s->report, &finding, &guess, &evidence, why);
    }
    pe_guess_free(&guess);
    pe_ladder_free(&ladder);
    return status;
}

/* A number that explains the upload alone goes before those that do so beside a fault. */
static pe_status try_number_then_pairs(pe_search *s, const measured *at, pe_problem *why)
{
    pe_status status = turns(&at->reading) ? PE_OK : pe_attempts_fits(s, &s->claim, why);
    return status == PE_OK && pe_attempts_go_on(s) ? pe_attempts_pairs(s, &s->claim, why) : status;
}

/* Positions are read off; then single faults, pairs of them, and elements that stand alone. */
static pe_status try_causes(pe_search *s, measured *at, pe_problem *why)
{
    bool clear;
    pe_status status = pe_causes_find(&at->reading, s->whole->rotated, &at->cause, &clear, why);
    if (status != PE_OK)
        return status;
    const pe_guess *from = &at->guess;
    const bool multiple = clear && pe_causes_is_multiple(&at->cause);
    pe_ladder ladder = ladder_of(&at->reading);
    if (multiple)
        status = try_ladder(s, from, &ladder, why);
    if (status == PE_OK && multiple && pe_attempts_go_on(s))
        status = pe_attempts_copy(s, from, pe_attempts_fits, why);
    if (clear && at->cause.fault != NULL) {
        pe_causes_apply(&at->cause, &at->guess);
        if (pe_causes_is_list(&at->cause))
            s->view = s->whole;
    }
    if (status == PE_OK && pe_attempts_go_on(s) && from->n_faults > 0)
        status = pe_attempts_copy(s, from, pe_attempts_try, why);
    if (status == PE_OK && pe_attempts_go_on(s) && from->n_faults > 0)
        status = pe_attempts_copy(s, from, pe_attempts_singles, why);
    if (status == PE_OK && pe_attempts_go_on(s) && at->reading.own && at->reading.tokens >= 8)
        status = try_ladder(s, from, &ladder, why);
    if (status == PE_OK && pe_attempts_go_on(s) && turns(&at->reading))
        status = try_numbers(s, at, why);
    if (status == PE_OK && pe_attempts_go_on(s))
        status = peel(s, at, why);
    if (status == PE_OK && pe_attempts_go_on(s) && s->whole->elements <= MEASURABLE)
        status = try_number_then_pairs(s, at, why);
    if (status == PE_OK && pe_attempts_go_on(s))
        status = try_laws(s, at, why);
    if (status == PE_OK && pe_attempts_go_on(s))
        status = pe_attempts_copy(s, &s->claim, pe_strays_try, why);
    return status == PE_OK && pe_attempts_go_on(s) ? pe_strays_try(s, &at->guess, why) : status;
}

static pe_status try_measured(pe_search *s, pe_problem *why)
{
    measured best;
    const pe_upload_view *view = s->view;
    pe_status status = read_best(s, &best, why);
    if (status != PE_OK || !best.made) {
        if (status == PE_OK)
            free_measured(&best);
        return status;
    }
    if (pe_attempts_go_on(s))
        status = try_causes(s, &best, why);
    s->view = view;
    s->report->pairs_tried = true;
    s->report->has_reading = true;
    s->report->reading = best.reading;
    best.reading = (pe_reading){0};
    free_measured(&best);
    return status;
}

static pe_status search_faults(pe_search *s, pe_problem *why)
{
    const pe_strays *strays = &s->report->strays;
    const bool numbers = strays->elements == 0 || strays->not_finite < strays->elements;
    pe_status status = numbers ? pe_attempts_singles(s, &s->claim, why) : PE_OK;
    if (status == PE_OK && numbers && !pe_attempts_found(s) && s->view->layout == NULL)
        status = try_frequencies(s, why);
    if (status == PE_OK && numbers && !pe_attempts_found(s) && s->view->layout == NULL)
        status = pe_attempts_values(s, &s->claim, why);
    if (status == PE_OK && numbers && s->view->layout != NULL && !pe_attempts_spent(s))
        status = try_measured(s, why);
    if (status == PE_OK && numbers && !pe_attempts_found(s) && !s->report->has_reading &&
        !pe_attempts_spent(s))
        status = pe_attempts_pairs(s, &s->claim, why);
    if (status == PE_OK && !pe_attempts_found(s) && !s->whole->width_differs &&
        (!numbers || s->whole->layout == NULL))
        status = pe_attempts_copy(s, &s->claim, pe_strays_try, why);
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
