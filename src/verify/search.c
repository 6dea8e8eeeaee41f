/* SPDX-License-Identifier: MIT */
/* search.c - the claim, then single faults, then pairs of them. */
#include <string.h>

#include "verify/faults.h"
#include "verify/fit.h"
#include "verify/measure.h"

/* ---- findings ---- */

typedef struct search {
    const pe_upload_view *whole;
    const pe_upload_view *view; /* what is searched: the whole, or a sample of it */
    pe_guess claim;             /* of the same positions */
    const pe_verify_limits *bounds;
    size_t work; /* elements computed */
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

/* Less error first; equals in the order they were found, simpler ones first. */
static bool is_better(const pe_finding *a, const pe_finding *b)
{
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

/* A guess that explains the whole upload becomes a finding. */
static pe_status add_finding(search *s, pe_guess *guess, unsigned by, pe_problem *why)
{
    const pe_comparison whole = {s->whole, guess, &s->work};
    pe_finding finding = {.n_faults = guess->n_faults, .exact = (by & PE_BY_EXACT) != 0};
    s->work += 3 * s->whole->elements;
    for (size_t f = 0; f < guess->n_faults; f++)
        finding.faults[f] = guess->faults[f]->name;
    pe_status status = remaining_errors(&whole, by, &finding.errors, why);
    if (status == PE_OK && by == PE_BY_FLOAT32)
        status = pe_measure_undecided(&whole, &finding.undecided, why);
    if (status != PE_OK)
        return status;
    finding.rule = strdup(pe_buffer_text(&guess->rule));
    finding.parameters = pe_guess_parameters(guess);
    if (finding.rule == NULL || finding.parameters == NULL) {
        pe_verify_finding_free(&finding);
        return pe_fail_memory(why);
    }
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

/* Which arithmetics explain the whole upload by the guess, at all positions. */
static pe_status confirm(search *s, pe_guess *guess, unsigned *by, pe_problem *why)
{
    pe_value *positions = pe_values_find(&guess->values, "positions");
    const pe_value *all = pe_values_find(&s->whole->claim->values, "positions");
    pe_positions_free(&positions->positions);
    const pe_status status = pe_positions_share(&all->positions, &positions->positions, why);
    if (status != PE_OK)
        return status;
    return pe_measure_explain(&(pe_comparison){s->whole, guess, &s->work}, by, why);
}

static pe_status try_guess(search *s, pe_guess *guess, pe_problem *why)
{
    unsigned by;
    s->report->hypotheses++;
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

/* Each fault behind the one of the guess, as a second one. */
static pe_status try_second_faults(search *s, pe_guess *one, pe_problem *why)
{
    return with_each_fault(s, one, (size_t)(one->faults[0] - pe_faults) + 1, try_guess, why);
}

static pe_status try_singles(search *s, pe_problem *why)
{
    const pe_status status = with_each_fault(s, &s->claim, 0, try_guess, why);
    bool exactly = false;
    for (size_t f = 0; f < s->report->n_findings; f++)
        exactly |= s->report->findings[f].exact;
    return status != PE_OK || exactly ? status : try_fits(s, &s->claim, why);
}

/* Pairs of faults first; numbers are fitted only where those fail. */
static pe_status try_pairs(search *s, pe_problem *why)
{
    s->report->pairs_tried = true;
    const pe_status status = with_each_fault(s, &s->claim, 0, try_second_faults, why);
    if (status != PE_OK || s->report->n_findings > 0)
        return status;
    return with_each_fault(s, &s->claim, 0, try_fits, why);
}

static pe_status search_faults(search *s, pe_problem *why)
{
    pe_status status = try_singles(s, why);
    if (status == PE_OK && s->report->n_findings == 0 && !is_spent(s))
        status = try_pairs(s, why);
    s->report->complete = !is_spent(s);
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
    return pe_measure_first_bad(of, allowed == PE_BY_EXACT ? PE_BY_EXACT : PE_BY_FLOAT32,
                                &report->first_bad, why);
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
