/* SPDX-License-Identifier: MIT */
/* search.c - the claim, then single faults, then pairs of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/causes.h"
#include "verify/explain.h"
#include "verify/faults.h"
#include "verify/fit.h"
#include "verify/ladder.h"
#include "verify/laws.h"
#include "verify/measure.h"
#include "verify/mrope_causes.h"
#include "verify/reading.h"

/* ---- findings ---- */

typedef struct search {
    const pe_upload_view *whole;
    const pe_upload_view *view; /* what is searched: the whole, or a sample of it */
    pe_guess claim;             /* of the same positions */
    const pe_verify_limits *bounds;
    size_t work;     /* elements computed */
    size_t agreeing; /* pairs that turn as measured, without any first fault */
    pe_report *report;
} search;

/* Distances of what explains the upload best: the exact numbers, or those of the float32 path. */
static pe_status remaining_errors(const pe_comparison *of, unsigned by, pe_errors *out,
                                  pe_problem *why)
{
    pe_distances exact = {0}, reference = {0};
    pe_status status = pe_measure_distances(of, PE_NUMERICS_EXACT, &exact, why);
    if (status != PE_OK)
        return status;
    *out = exact.errors;
    if ((by & PE_BY_FLOAT32) == 0 || out->max_abs == 0)
        return PE_OK;
    status = pe_measure_distances(of, PE_NUMERICS_FLOAT32, &reference, why);
    if (status == PE_OK && reference.errors.elements > 0 && reference.errors.max_abs < out->max_abs)
        *out = reference.errors;
    return status;
}

/* What a rule names before numbers that were fitted; less error first; equals in the order they were found, simpler ones first. */
static bool is_better(const pe_finding *a, const pe_finding *b)
{
    if (a->fitted != b->fitted)
        return b->fitted;
    if (a->errors.max_abs != b->errors.max_abs)
        return a->errors.max_abs < b->errors.max_abs;
    return a->errors.rms < b->errors.rms;
}

static void insert(pe_report *report, pe_finding *finding)
{
    size_t at = report->n_findings;
    while (at > 0 && is_better(finding, &report->findings[at - 1]))
        at--;
    if (at == PE_FINDINGS_MAX) {
        pe_verify_finding_free(finding);
        return;
    }
    if (report->n_findings == PE_FINDINGS_MAX)
        pe_verify_finding_free(&report->findings[--report->n_findings]);
    memmove(&report->findings[at + 1], &report->findings[at],
            (report->n_findings - at) * sizeof report->findings[0]);
    report->findings[at] = *finding;
    report->n_findings++;
}

/* Sentences and values of a guess. */
static pe_status tell(pe_finding *finding, pe_guess *guess, pe_buffer *evidence, pe_problem *why)
{
    finding->fitted = guess->fitted;
    finding->n_faults = guess->n_faults;
    for (size_t f = 0; f < guess->n_faults; f++)
        finding->faults[f] = guess->faults[f]->name;
    finding->rule = strdup(pe_buffer_text(&guess->rule));
    finding->remedy = strdup(pe_buffer_text(&guess->remedy));
    finding->evidence = strdup(pe_buffer_text(evidence));
    finding->parameters = pe_guess_parameters(guess);
    pe_buffer_free(evidence);
    if (finding->rule != NULL && finding->remedy != NULL && finding->evidence != NULL &&
        finding->parameters != NULL)
        return PE_OK;
    pe_verify_finding_free(finding);
    return pe_fail_memory(why);
}

static bool is_mostly(const pe_guess *guess)
{
    return guess->n_faults > 0 && guess->faults[guess->n_faults - 1]->mostly;
}

/* A guess that explains the whole upload becomes a finding. */
static pe_status add_finding(search *s, pe_guess *guess, unsigned by, pe_problem *why)
{
    const pe_comparison whole = {s->whole, guess, &s->work};
    pe_finding finding = {.exact = (by & PE_BY_EXACT) != 0};
    s->work += 3 * s->whole->elements;
    pe_status status = remaining_errors(&whole, by, &finding.errors, why);
    if (status == PE_OK && by == PE_BY_FLOAT32)
        status = pe_measure_undecided(&whole, &finding.undecided, why);
    if (status != PE_OK)
        return status;
    pe_buffer evidence = {0};
    pe_buffer_format(&evidence,
                     "%s%zu elements are as near to it as %s arithmetic; the largest "
                     "difference is %.3g",
                     is_mostly(guess) ? "all but one in 40 of " : "all ", finding.errors.elements,
                     finding.exact ? "exact" : "float32", finding.errors.max_abs);
    status = tell(&finding, guess, &evidence, why);
    if (status != PE_OK)
        return status;
    insert(s->report, &finding);
    return PE_OK;
}

static void rank(pe_report *report)
{
    for (size_t f = 0; f < report->n_findings; f++) {
        pe_finding *at = &report->findings[f];
        const bool tied = f > 0 && !is_better(at - 1, at) && !is_better(at, at - 1);
        at->rank = f == 0 ? 1 : tied ? at[-1].rank : f + 1;
    }
}

/* ---- the search ---- */

static bool is_spent(const search *s)
{
    const pe_verify_limits *bounds = s->bounds;
    return s->work > bounds->max_work ||
           (bounds->given_up != NULL && bounds->given_up(bounds->context));
}

/* Give a guess the positions of a view: the whole, or the one that is searched. */
static pe_status set_positions(const search *s, const pe_upload_view *view, pe_guess *guess,
                               pe_problem *why)
{
    const pe_values *from = view == s->whole ? &s->whole->claim->values : &s->claim.values;
    pe_value *positions = pe_values_find(&guess->values, "positions");
    if (positions == NULL || !positions->present)
        return PE_OK;
    pe_positions_free(&positions->positions);
    return pe_positions_share(&pe_values_find(from, "positions")->positions, &positions->positions,
                              why);
}

/* Which arithmetics explain the whole upload by the guess, at all positions. */
static pe_status confirm(search *s, pe_guess *guess, unsigned *by, pe_problem *why)
{
    const pe_status status = set_positions(s, s->whole, guess, why);
    if (status != PE_OK)
        return status;
    return pe_measure_explain(&(pe_comparison){s->whole, guess, &s->work}, by, why);
}

/* Of elements that a rounding may have moved to either side, one in so many is let go. */
#define MOSTLY 40

/* Do all but a few elements of the view follow, and far fewer where angles are not rounded? */
static pe_status explain_most(search *s, pe_guess *guess, unsigned *by, pe_problem *why)
{
    pe_strays strays, others;
    const pe_grain *angles = guess->distortion.angles;
    const pe_comparison of = {s->view, guess, &s->work};
    *by = pe_measure_allowed(guess) == PE_BY_EXACT ? PE_BY_EXACT : PE_BY_FLOAT32;
    pe_status status = pe_measure_strays(&of, *by, &strays, why);
    if (status != PE_OK || strays.compared == 0 || strays.elements * MOSTLY > strays.compared) {
        *by = 0;
        return status;
    }
    guess->distortion.angles = NULL;
    status = pe_measure_strays(&of, *by, &others, why);
    guess->distortion.angles = angles;
    *by = strays.elements * 8 <= others.elements ? *by : 0;
    return status;
}

static pe_status try_guess(search *s, pe_guess *guess, pe_problem *why)
{
    unsigned by;
    s->report->hypotheses++;
    if (is_mostly(guess)) {
        pe_status done = explain_most(s, guess, &by, why);
        if (done == PE_OK && by != 0)
            done = set_positions(s, s->whole, guess, why);
        return done == PE_OK && by != 0 ? add_finding(s, guess, by, why) : done;
    }
    pe_status status = pe_measure_explain(&(pe_comparison){s->view, guess, &s->work}, &by, why);
    if (status == PE_OK && by != 0 && s->view != s->whole)
        status = confirm(s, guess, &by, why);
    return status == PE_OK && by != 0 ? add_finding(s, guess, by, why) : status;
}

static pe_status try_fit(search *s, const pe_guess *from, const pe_fault *fit, pe_problem *why)
{
    pe_guess guess;
    bool made;
    pe_status status = pe_guess_copy(from, &guess, why);
    if (status != PE_OK)
        return status;
    status = pe_fit_apply(fit, &(pe_comparison){s->view, &guess, &s->work}, &made, why);
    if (status == PE_OK && made)
        status = try_guess(s, &guess, why);
    pe_guess_free(&guess);
    return status;
}

/* Each number of a row that can be read off the upload, with the faults of `from`. */
static pe_status try_fits(search *s, pe_guess *from, pe_problem *why)
{
    pe_status status = PE_OK;
    if (is_mostly(from))
        return PE_OK;
    for (size_t f = 0; f < pe_fits_n && status == PE_OK && !is_spent(s); f++)
        status = try_fit(s, from, &pe_fits[f], why);
    return status;
}

typedef pe_status attempt(search *s, pe_guess *guess, pe_problem *why);

/* Add each fault from `first` on to the faults of `from`, where it applies, and do `next`. */
static pe_status with_each_fault(search *s, const pe_guess *from, size_t first, attempt *next,
                                 pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t f = first; f < pe_faults_n && status == PE_OK && !is_spent(s); f++) {
        pe_guess guess;
        status = pe_guess_copy(from, &guess, why);
        if (status != PE_OK)
            return status;
        if (pe_faults_apply(&pe_faults[f], &guess))
            status = next(s, &guess, why);
        pe_guess_free(&guess);
    }
    return status;
}

/* Where nothing is measured: the resource's own values, one by one. */
static pe_status try_values(search *s, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t i = 0; i < s->claim.values.n && status == PE_OK; i++) {
        pe_fault fault;
        for (size_t k = 0;
             status == PE_OK && !is_spent(s) && pe_faults_of_value(&s->claim, i, k, &fault); k++) {
            pe_guess guess;
            status = pe_guess_copy(&s->claim, &guess, why);
            if (status != PE_OK)
                return status;
            if (pe_faults_apply(&fault, &guess))
                status = try_guess(s, &guess, why);
            pe_guess_free(&guess);
        }
    }
    return status;
}

/* Each fault behind the one of the guess, as a second one. */
static pe_status try_second_faults(search *s, pe_guess *one, pe_problem *why)
{
    if (one->faults[0]->mostly)
        return PE_OK;
    return with_each_fault(s, one, (size_t)(one->faults[0] - pe_faults) + 1, try_guess, why);
}

static pe_status try_singles(search *s, pe_guess *from, pe_problem *why)
{
    return with_each_fault(s, from, 0, try_guess, why);
}

/* Elements of a table of pairs that is large enough for a measurement. In a smaller one all pairs of
 * faults are tried. */
#define MEASURABLE 2048

static pe_status try_pairs(search *s, pe_problem *why)
{
    s->report->pairs_tried = true;
    const pe_status status = with_each_fault(s, &s->claim, 0, try_second_faults, why);
    if (status != PE_OK || s->report->n_findings > 0 || s->view->layout == NULL)
        return status;
    return with_each_fault(s, &s->claim, 0, try_fits, why);
}

/* ---- plain numbers ---- */

static bool is_unspent(void *context)
{
    return !is_spent(context);
}

static pe_status try_asked(void *context, pe_guess *guess, pe_problem *why)
{
    return try_guess(context, guess, why);
}

/* What they are is read in any case; why, where no fault explains them. */
static pe_status read_plain(search *s, pe_problem *why)
{
    const pe_numbers_asker asker = {try_asked, is_unspent, s};
    return pe_explain_numbers(&(pe_comparison){s->whole, &s->claim, &s->work}, &s->report->facts,
                              s->report->n_findings == 0 ? &asker : NULL, why);
}

/* Positions of several axes, at all tokens. */
static pe_status try_axes(search *s, pe_problem *why)
{
    pe_guess guess;
    const pe_upload_view *view = s->view;
    const pe_numbers_asker asker = {try_asked, is_unspent, s};
    pe_status status = pe_guess_copy(&s->claim, &guess, why);
    if (status != PE_OK)
        return status;
    s->view = s->whole;
    status = set_positions(s, s->whole, &guess, why);
    if (status == PE_OK)
        status = pe_mrope_causes_find(&(pe_comparison){s->whole, &guess, &s->work}, &asker, why);
    s->view = view;
    pe_guess_free(&guess);
    return status;
}

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

static pe_status read_guess(search *s, const pe_guess *guess, measured *out, pe_problem *why)
{
    *out = (measured){0};
    pe_status status = pe_guess_copy(guess, &out->guess, why);
    if (status != PE_OK)
        return status;
    status = set_positions(s, s->whole, &out->guess, why);
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
static pe_status read_better(search *s, const pe_guess *guess, measured *best, pe_problem *why)
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
static pe_status read_best(search *s, measured *best, pe_problem *why)
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
static pe_status count_agreeing(search *s, pe_guess *guess, const pe_reading *r, size_t *out,
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
static pe_status is_nearer(search *s, pe_guess *guess, const pe_reading *r, bool *out,
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
static pe_status peel_one(search *s, pe_guess *guess, const pe_reading *r, pe_problem *why)
{
    bool nearer;
    pe_status status = is_nearer(s, guess, r, &nearer, why);
    if (status != PE_OK || !nearer)
        return status;
    status = with_each_fault(s, guess, 0, try_guess, why);
    return status == PE_OK && s->report->n_findings == 0 ? try_fits(s, guess, why) : status;
}

/* Pairs of faults of which the first brings the guess nearer to what was measured. */
static pe_status peel(search *s, measured *at, pe_problem *why)
{
    pe_status status = set_positions(s, s->view, &at->guess, why);
    if (status == PE_OK)
        status = count_agreeing(s, &at->guess, &at->reading, &s->agreeing, why);
    for (size_t f = 0; f < pe_faults_n && status == PE_OK && !is_spent(s); f++) {
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

static bool found(const search *s)
{
    return s->report->n_findings > 0;
}

/* Is there no finding, and time for more? */
static bool goes_on(const search *s)
{
    return !found(s) && !is_spent(s);
}

static const pe_fault strays_of_memory = {
    .name = "corrupted_elements",
    .remedy = "look at the memory: buffers that are written twice, padding, copies under way"};
static const pe_fault not_finite = {
    .name = "not_finite", .remedy = "look for divisions by zero, overflow and masks of -inf"};

static void describe_strays(const pe_strays *at, pe_buffer *out)
{
    pe_buffer_format(out,
                     "%zu of %zu elements are something else, in %zu of %zu rows (%zu to %zu) "
                     "and %zu of %zu columns (%zu to %zu)",
                     at->elements, at->compared, at->rows, at->all_rows, at->first_row,
                     at->last_row, at->columns, at->all_columns, at->first_column, at->last_column);
    if (at->not_finite > 0)
        pe_buffer_format(out, "; %zu of them are NaN or infinite", at->not_finite);
}

/* Few rows, few pairs, few elements, or only such as are no numbers. */
static bool is_few(const pe_strays *at, const pe_upload_view *view)
{
    if (at->elements == 0)
        return false;
    return at->not_finite == at->elements || at->elements * 8 <= at->compared ||
           (view->layout != NULL &&
            (at->rows * 4 <= at->all_rows || at->columns * 16 <= at->all_columns));
}

/* Memory goes bad in a few rows or single elements; in the same columns of most rows, or in a part
 * of most, a computation does. */
static bool is_of_memory(const pe_strays *at)
{
    return at->not_finite == at->elements || at->rows * 4 <= at->all_rows ||
           at->elements * 64 <= at->compared;
}

/* A guess that explains all but a part of the upload: few rows, few columns or few elements. */
static pe_status try_strays(search *s, pe_guess *guess, pe_problem *why)
{
    pe_strays strays;
    pe_buffer evidence = {0};
    const pe_comparison whole = {s->whole, guess, &s->work};
    const bool exact = pe_measure_allowed(guess) == PE_BY_EXACT;
    pe_status status = pe_measure_strays(&whole, exact ? PE_BY_EXACT : PE_BY_FLOAT32, &strays, why);
    if (status != PE_OK)
        return status;
    const bool few = is_few(&strays, s->whole);
    if (!few || guess->n_faults == PE_FAULTS_MAX)
        return PE_OK;
    pe_finding finding = {.exact = exact};
    const pe_fault *fault = strays.not_finite == strays.elements ? &not_finite : &strays_of_memory;
    pe_guess_say(guess, fault, fault->remedy);
    describe_strays(&strays, &guess->rule);
    guess->fitted |= !is_of_memory(&strays);
    pe_buffer_str(&evidence, "all other elements are as they should be");
    status = tell(&finding, guess, &evidence, why);
    if (status == PE_OK)
        insert(s->report, &finding);
    return status;
}

/* Do `next` with a copy that has the positions of the view that is searched. */
static pe_status try_copy(search *s, const pe_guess *from, attempt *next, pe_problem *why)
{
    pe_guess guess;
    pe_status status = pe_guess_copy(from, &guess, why);
    if (status != PE_OK)
        return status;
    status = set_positions(s, s->view, &guess, why);
    if (status == PE_OK)
        status = next(s, &guess, why);
    pe_guess_free(&guess);
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
static pe_status try_beside_law(search *s, pe_guess *guess, pe_problem *why)
{
    const pe_fault *last = guess->faults[guess->n_faults - 1];
    return last->param == NULL || is_layout(last) ? try_guess(s, guess, why) : PE_OK;
}

/* One law after the other, each alone and then with each single fault. */
static pe_status try_ladder(search *s, const pe_guess *from, pe_ladder *ladder, pe_problem *why)
{
    size_t law = 0;
    pe_status status = pe_ladder_make(&s->claim, ladder, why);
    for (bool more = true; more && status == PE_OK && goes_on(s);) {
        pe_guess guess;
        status = pe_guess_copy(from, &guess, why);
        if (status != PE_OK)
            break;
        more = pe_ladder_next(ladder, &law, &guess);
        if (more)
            status = set_positions(s, s->view, &guess, why);
        if (more && status == PE_OK)
            status = try_copy(s, &guess, try_guess, why);
        if (more && status == PE_OK && goes_on(s))
            status = with_each_fault(s, &guess, 0, try_beside_law, why);
        pe_guess_free(&guess);
    }
    pe_ladder_free(ladder);
    return status;
}

/* Frequencies that are the upload need not be measured. */
static pe_status try_frequencies(search *s, pe_problem *why)
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
static pe_status try_numbers(search *s, const measured *at, pe_problem *why)
{
    pe_status status = PE_OK;
    if (at->guess.n_faults > 0)
        status = try_copy(s, &at->guess, try_fits, why);
    return status == PE_OK ? try_fits(s, &s->claim, why) : status;
}

/* Laws that the measurement follows, where no fault explains the elements. */
static pe_status try_laws(search *s, const measured *at, pe_problem *why)
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
        status = tell(&finding, &guess, &evidence, why);
        if (status == PE_OK)
            insert(s->report, &finding);
    }
    pe_guess_free(&guess);
    pe_ladder_free(&ladder);
    return status;
}

/* A number that explains the upload alone goes before those that do so beside a fault. */
static pe_status try_number_then_pairs(search *s, const measured *at, pe_problem *why)
{
    pe_status status = turns(&at->reading) ? PE_OK : try_fits(s, &s->claim, why);
    return status == PE_OK && goes_on(s) ? try_pairs(s, why) : status;
}

/* Positions are read off; then single faults, pairs of them, and elements that stand alone. */
static pe_status try_causes(search *s, measured *at, pe_problem *why)
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
    if (status == PE_OK && multiple && goes_on(s))
        status = try_copy(s, from, try_fits, why);
    if (clear && at->cause.fault != NULL) {
        pe_causes_apply(&at->cause, &at->guess);
        if (pe_causes_is_list(&at->cause))
            s->view = s->whole;
    }
    if (status == PE_OK && goes_on(s) && from->n_faults > 0)
        status = try_copy(s, from, try_guess, why);
    if (status == PE_OK && goes_on(s) && from->n_faults > 0)
        status = try_copy(s, from, try_singles, why);
    if (status == PE_OK && goes_on(s) && at->reading.own && at->reading.tokens >= 8)
        status = try_ladder(s, from, &ladder, why);
    if (status == PE_OK && goes_on(s) && turns(&at->reading))
        status = try_numbers(s, at, why);
    if (status == PE_OK && goes_on(s))
        status = peel(s, at, why);
    if (status == PE_OK && goes_on(s) && s->whole->elements <= MEASURABLE)
        status = try_number_then_pairs(s, at, why);
    if (status == PE_OK && goes_on(s))
        status = try_laws(s, at, why);
    if (status == PE_OK && goes_on(s))
        status = try_copy(s, &s->claim, try_strays, why);
    return status == PE_OK && goes_on(s) ? try_strays(s, &at->guess, why) : status;
}

static pe_status try_measured(search *s, pe_problem *why)
{
    measured best;
    const pe_upload_view *view = s->view;
    pe_status status = read_best(s, &best, why);
    if (status != PE_OK || !best.made) {
        if (status == PE_OK)
            free_measured(&best);
        return status;
    }
    if (goes_on(s))
        status = try_causes(s, &best, why);
    s->view = view;
    s->report->pairs_tried = true;
    s->report->has_reading = true;
    s->report->reading = best.reading;
    best.reading = (pe_reading){0};
    free_measured(&best);
    return status;
}

static pe_status search_faults(search *s, pe_problem *why)
{
    const pe_strays *strays = &s->report->strays;
    const bool numbers = strays->elements == 0 || strays->not_finite < strays->elements;
    pe_status status = numbers ? try_singles(s, &s->claim, why) : PE_OK;
    if (status == PE_OK && numbers && !found(s) && s->view->layout == NULL)
        status = try_frequencies(s, why);
    if (status == PE_OK && numbers && !found(s) && s->view->layout == NULL)
        status = try_values(s, why);
    if (status == PE_OK && numbers && s->view->layout == NULL)
        status = read_plain(s, why);
    if (status == PE_OK && numbers && s->view->layout != NULL && !is_spent(s))
        status = try_measured(s, why);
    if (status == PE_OK && numbers && !found(s) && s->view->axes > 1)
        status = try_axes(s, why);
    if (status == PE_OK && numbers && !found(s) && !s->report->has_reading && !is_spent(s))
        status = try_pairs(s, why);
    if (status == PE_OK && !found(s) && !s->whole->width_differs &&
        (!numbers || s->whole->layout == NULL))
        status = try_copy(s, &s->claim, try_strays, why);
    s->report->complete = !is_spent(s);
    s->report->work = s->work;
    rank(s->report);
    return status;
}

/* Faults of a large upload are looked for in a sample of it. */
static pe_status diagnose(search *s, pe_problem *why)
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
static pe_status compare_and_diagnose(search *s, pe_problem *why)
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
    search s = {.whole = view, .view = view, .bounds = context->bounds, .report = report};
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
