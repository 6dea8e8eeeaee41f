/* SPDX-License-Identifier: MIT */
/* verify.c - the claim, then single faults, then pairs of them. */
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

#include "verify/faults.h"
#include "verify/fit.h"
#include "verify/measure.h"

/* ---- life ---- */

void pe_verify_claim_free(pe_claim *claim)
{
    pe_values_free(&claim->values);
    for (size_t u = 0; u < claim->n_uploads; u++)
        pe_array_free(&claim->uploads[u].array);
    pe_array_free(&claim->inputs);
    *claim = (pe_claim){0};
}

static void free_finding(pe_finding *finding)
{
    free(finding->rule);
    free(finding->parameters);
}

void pe_verify_report_free(pe_report *report)
{
    for (size_t f = 0; f < report->n_findings; f++)
        free_finding(&report->findings[f]);
    free(report->parameters);
    *report = (pe_report){0};
}

/* ---- findings ---- */

typedef struct search {
    const pe_upload_view *whole;
    const pe_upload_view *view; /* what is searched: the whole, or a sample of it */
    pe_guess claim;             /* of the same positions */
    const pe_verify_limits *bounds;
    size_t work;
    pe_report *report;
} search;

/* Distances from what explains the upload best: the exact numbers, or the float32 path's. */
static pe_status remaining(const search *s, const pe_guess *guess, unsigned by, pe_errors *out,
                           pe_problem *why)
{
    pe_errors reference;
    pe_status status = pe_measure(s->whole, guess, PE_NUMERICS_EXACT, out, NULL, 0, why);
    if (status != PE_OK || (by & PE_BY_FLOAT32) == 0 || out->max_abs == 0)
        return status;
    status = pe_measure(s->whole, guess, PE_NUMERICS_FLOAT32, &reference, NULL, 0, why);
    if (status == PE_OK && reference.elements > 0 && reference.max_abs < out->max_abs)
        *out = reference;
    return status;
}

/* Less error first; equals in the order they were found, simpler ones first. */
static bool before(const pe_finding *a, const pe_finding *b)
{
    if (a->errors.max_abs != b->errors.max_abs)
        return a->errors.max_abs < b->errors.max_abs;
    return a->errors.rms < b->errors.rms;
}

static void insert(pe_report *report, pe_finding *finding)
{
    size_t at = report->n_findings;
    while (at > 0 && before(finding, &report->findings[at - 1]))
        at--;
    if (at == PE_FINDINGS_MAX) {
        free_finding(finding);
        return;
    }
    if (report->n_findings == PE_FINDINGS_MAX)
        free_finding(&report->findings[--report->n_findings]);
    memmove(&report->findings[at + 1], &report->findings[at],
            (report->n_findings - at) * sizeof report->findings[0]);
    report->findings[at] = *finding;
    report->n_findings++;
}

static pe_status keep(search *s, pe_guess *guess, unsigned by, pe_problem *why)
{
    pe_finding finding = {.n_faults = guess->n_faults, .exact = (by & PE_BY_EXACT) != 0};
    s->work += 3 * s->whole->elements;
    for (size_t f = 0; f < guess->n_faults; f++)
        finding.faults[f] = guess->faults[f]->name;
    pe_status status = remaining(s, guess, by, &finding.errors, why);
    if (status == PE_OK && by == PE_BY_FLOAT32)
        status = pe_measure_undecided(s->whole, guess, &finding.undecided, why);
    if (status != PE_OK)
        return status;
    finding.rule = strdup(pe_buffer_text(&guess->rule));
    finding.parameters = pe_guess_parameters(guess);
    if (finding.rule == NULL || finding.parameters == NULL) {
        free_finding(&finding);
        return pe_fail_memory(why);
    }
    insert(s->report, &finding);
    return PE_OK;
}

static void rank(pe_report *report)
{
    for (size_t f = 0; f < report->n_findings; f++) {
        pe_finding *at = &report->findings[f];
        const bool tied = f > 0 && !before(at - 1, at) && !before(at, at - 1);
        at->rank = f == 0 ? 1 : tied ? at[-1].rank : f + 1;
    }
}

/* ----
 * the search --------------------------------------------------------------------------------- */

static bool spent(const search *s)
{
    const pe_verify_limits *bounds = s->bounds;
    return s->work > bounds->max_work ||
           (bounds->given_up != NULL && bounds->given_up(bounds->context));
}

/* The guess at all positions, and whether it explains the whole upload. */
static pe_status confirm(search *s, pe_guess *guess, unsigned *by, pe_problem *why)
{
    pe_value *positions = pe_values_find(&guess->values, "positions");
    const pe_value *all = pe_values_find(&s->whole->claim->values, "positions");
    pe_positions_free(&positions->positions);
    const pe_status status = pe_positions_copy(&all->positions, &positions->positions, why);
    return status == PE_OK ? pe_measure_explain(s->whole, guess, by, &s->work, why) : status;
}

static pe_status try_guess(search *s, pe_guess *guess, pe_problem *why)
{
    unsigned by;
    s->report->hypotheses++;
    pe_status status = pe_measure_explain(s->view, guess, &by, &s->work, why);
    if (status == PE_OK && by != 0 && s->view != s->whole)
        status = confirm(s, guess, &by, why);
    return status == PE_OK && by != 0 ? keep(s, guess, by, why) : status;
}

/* The guess with fault f worked in; *made tells whether there is one. */
static pe_status derive(const pe_guess *from, const pe_fault *fault, pe_guess *out, bool *made,
                        pe_problem *why)
{
    const pe_status status = pe_guess_copy(from, out, why);
    *made = status == PE_OK && pe_fault_apply(fault, out);
    if (status == PE_OK && !*made)
        pe_guess_free(out);
    return status;
}

/* What numbers of a row explain the upload, on top of `from`. */
static pe_status try_fits(search *s, const pe_guess *from, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t f = 0; f < pe_fits_n && status == PE_OK && !spent(s); f++) {
        pe_guess guess;
        bool made;
        status = pe_guess_copy(from, &guess, why);
        if (status != PE_OK)
            return status;
        status = pe_fit_apply(&pe_fits[f], s->view, &guess, &made, &s->work, why);
        if (status == PE_OK && made)
            status = try_guess(s, &guess, why);
        pe_guess_free(&guess);
    }
    return status;
}

/* Each fault from `first` on added to `from`. */
static pe_status try_faults(search *s, const pe_guess *from, size_t first, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t f = first; f < pe_faults_n && status == PE_OK && !spent(s); f++) {
        pe_guess guess;
        bool made;
        status = derive(from, &pe_faults[f], &guess, &made, why);
        if (status != PE_OK || !made)
            continue;
        status = try_guess(s, &guess, why);
        pe_guess_free(&guess);
    }
    return status;
}

static pe_status try_singles(search *s, pe_problem *why)
{
    const pe_status status = try_faults(s, &s->claim, 0, why);
    bool exactly = false;
    for (size_t f = 0; f < s->report->n_findings; f++)
        exactly |= s->report->findings[f].exact;
    return status != PE_OK || exactly ? status : try_fits(s, &s->claim, why);
}

/* Pairs of rows first; numbers that have to be fitted only where those fail. */
static pe_status try_pairs(search *s, pe_problem *why)
{
    pe_status status = PE_OK;
    for (int fitting = 0; fitting < 2 && s->report->n_findings == 0; fitting++)
        for (size_t f = 0; f < pe_faults_n && status == PE_OK && !spent(s); f++) {
            pe_guess guess;
            bool made;
            status = derive(&s->claim, &pe_faults[f], &guess, &made, why);
            if (status != PE_OK || !made)
                continue;
            status = fitting != 0 ? try_fits(s, &guess, why) : try_faults(s, &guess, f + 1, why);
            pe_guess_free(&guess);
        }
    return status;
}

static pe_status search_sheet(search *s, pe_problem *why)
{
    pe_status status = try_singles(s, why);
    if (status == PE_OK && s->report->n_findings == 0 && !spent(s)) {
        s->report->pairs_tried = true;
        status = try_pairs(s, why);
    }
    s->report->complete = !spent(s);
    rank(s->report);
    return status;
}

/* In a sample of a large upload. */
static pe_status diagnose(search *s, pe_problem *why)
{
    bool sampled;
    pe_upload_view sample;
    pe_positions positions;
    pe_status status = pe_upload_view_sample(s->whole, &sample, &positions, &sampled, why);
    if (status != PE_OK || !sampled)
        return status != PE_OK ? status : search_sheet(s, why);
    pe_value *value = pe_values_find(&s->claim.values, "positions");
    pe_positions_free(&value->positions);
    value->positions = positions;
    s->view = &sample;
    s->report->sampled = sample.tokens;
    status = search_sheet(s, why);
    s->view = s->whole;
    pe_upload_view_free(&sample);
    return status;
}

/* ----
 * the claim ---------------------------------------------------------------------------------- */

static pe_status describe(search *s, pe_problem *why)
{
    pe_report *report = s->report;
    const unsigned allowed = pe_measure_allowed(&s->claim);
    const size_t numerics = allowed == PE_BY_FLOAT32 ? PE_NUMERICS_FLOAT32 : PE_NUMERICS_EXACT;
    report->n_bands = pe_measure_bands(s->view, report->bands);
    pe_status status = pe_measure(s->view, &s->claim, numerics, &report->errors, report->bands,
                                  report->n_bands, why);
    if (status == PE_OK && !report->matches)
        status = pe_measure_first_bad(s->view, &s->claim,
                                      allowed == PE_BY_EXACT ? PE_BY_EXACT : PE_BY_FLOAT32,
                                      &report->first_bad, why);
    return status;
}

static pe_status compare(search *s, pe_problem *why)
{
    unsigned by = 0;
    size_t work = 0;
    pe_report *report = s->report;
    report->bands_of = s->view->waves != NULL ? "pairs" : "rows";
    report->parameters = pe_guess_parameters(&s->claim);
    if (report->parameters == NULL)
        return pe_fail_memory(why);
    pe_status status = PE_OK;
    if (!s->view->misfit)
        status = pe_measure_explain(s->view, &s->claim, &by, &work, why);
    report->matches = by != 0;
    if ((by & PE_BY_EXACT) != 0)
        report->numerics = "exact";
    else if (by != 0)
        report->numerics = "float32";
    if (status == PE_OK && by == PE_BY_FLOAT32)
        status = pe_measure_undecided(s->view, &s->claim, &report->undecided, why);
    if (status == PE_OK && !s->view->misfit)
        status = describe(s, why);
    report->complete = true;
    if (status == PE_OK && !report->matches)
        status = diagnose(s, why);
    return status;
}

/* A width that neither the claim nor a fault explains is no table of these parameters at all. */
static pe_status check_width(const pe_upload_view *view, const pe_report *report, pe_problem *why)
{
    if (!view->misfit || report->n_findings > 0)
        return PE_OK;
    const pe_array *array = &view->claim->uploads[0].array;
    return pe_fail(why, PE_INVALID_PARAMETER, "table",
                   "the table is not as wide as its parameters say (%s has %zu elements), and no "
                   "known fault makes it so",
                   view->claim->uploads[0].name, array->elements);
}

pe_status pe_verify(pe_claim *claim, struct pe_tables *tables, const pe_limits *limits,
                    const pe_verify_limits *bounds, pe_report *out, pe_problem *why)
{
    pe_upload_view view;
    pe_report report = {0};
    pe_status status = pe_upload_view_make(claim, tables, limits, bounds, &view, why);
    if (status != PE_OK)
        return status;
    search s = {.whole = &view, .view = &view, .bounds = bounds, .report = &report};
    status = pe_guess_of_claim(claim, tables, limits, &s.claim, why);
    if (status == PE_OK) {
        status = compare(&s, why);
        pe_guess_free(&s.claim);
    }
    if (status == PE_OK)
        status = check_width(&view, &report, why);
    pe_upload_view_free(&view);
    if (status == PE_OK)
        *out = report;
    else
        pe_verify_report_free(&report);
    return status;
}
