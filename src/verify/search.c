/* SPDX-License-Identifier: MIT */
/* search.c - an upload is held against its claim; then what is tried of it, in order. */
#include <string.h>

#include "plan/plan.h"
#include "verify/search/attempts.h"
#include "verify/plain/plain_slips.h"
#include "verify/compare/totals.h"
#include "verify/upload/upload_view.h"
#include "verify/verify.h"

/* ---- what is tried ---- */

static bool is_unread(const pe_search *s)
{
    return !s->report->has_reading && !s->report->in_parts;
}

static bool has_other_width(const pe_search *s)
{
    return s->whole->width_differs;
}

static bool was_permuted(const pe_search *s)
{
    return s->whole->permuted;
}

/* It may be right, of other layers of the model. */
static const pe_fault of_other_layers = {.name = PE_NAME(layer_type)};

/* Planning settles values that follow from others; of those that make no table nothing is tried. */
static void try_of_layers(pe_search *s, const pe_claim_layers *layers, pe_guess *guess)
{
    pe_plan plan = {0};
    pe_values_free(&guess->values);
    if (!pe_attempts_did(s, pe_values_copy(&layers->values, &guess->values, s->why)) ||
        !pe_attempts_set_positions(s, s->view, guess))
        return;
    pe_guess_say(guess, &of_other_layers, pe_fault_remedy(&of_other_layers));
    pe_buffer_format(&guess->rule, "this is the table of %s", layers->name);
    const pe_status status = pe_guess_plan(guess, &guess->values, &plan, s->why);
    pe_plan_free(&plan);
    if (status == PE_OK)
        pe_attempts_try(s, guess);
    else if (pe_status_is_ours(status))
        (void)pe_attempts_did(s, status);
}

static void try_layers(pe_search *s, pe_guess *claim)
{
    const pe_claim *of = s->whole->claim;
    for (size_t o = 0; o < of->n_others && s->failed == PE_OK; o++) {
        pe_guess guess;
        if (!pe_attempts_did(s, pe_guess_copy(claim, &guess, s->why)))
            return;
        try_of_layers(s, &of->others[o], &guess);
        pe_guess_free(&guess);
    }
}

/* Measured, too, where a single fault explains them: the reading is told beside it. */
static const pe_attempt of_pairs[] = {
    {.try = try_layers},
    {.try = pe_attempts_try, .applies = was_permuted},
    {.try = pe_attempts_singles},
    {.try = pe_parts_try, .applies = pe_mismatches_are_many},
    {.try = pe_by_reading_try, .applies = is_unread, .even_found = true},
    {.try = pe_axes_try},
    {.try = pe_attempts_pairs, .applies = is_unread},
    {0},
};

/* Of other models: what exchanges two axes may be that of another one, too. */
static bool has_conventions(const pe_search *s)
{
    return pe_values_find(&s->claim.values, "convention") != NULL;
}

/* So few, that no two mistakes at once are looked for. */
static bool has_few_strays(const pe_search *s)
{
    return !has_other_width(s) && !pe_mismatches_are_many(s);
}

/* A value that makes the claim as wide, and what else is mistaken. */
static void explain_values(pe_search *s, pe_guess *guess)
{
    pe_attempts_each_value(s, guess, pe_explain_try);
}

/* Compared element by element. What they are is told in any case. Where conventions differ, what
 * they do goes before their names; both are told. */
static const pe_attempt of_plain_numbers[] = {
    {.try = try_layers},
    {.try = pe_attempts_try, .applies = was_permuted},
    {.try = pe_attempts_singles},
    {.try = pe_attempts_values, .applies = pe_attempts_is_scaled},
    {.try = pe_by_laws_uploaded},
    {.try = pe_lone_waves_try, .applies = pe_lone_waves_are, .even_found = true},
    {.try = pe_explain_try, .applies = has_conventions, .even_found = true},
    {.try = pe_attempts_values, .applies = has_conventions, .even_found = true},
    {.try = pe_attempts_values, .unless = has_conventions},
    {.try = explain_values, .applies = has_other_width},
    {.try = pe_explain_try, .unless = has_conventions, .even_found = true},
    {.try = pe_mismatches_try, .applies = has_few_strays},
    {.try = pe_explain_numbers},
    {.try = pe_explain_two},
    {.try = pe_explain_values},
    {.try = pe_explain_fitted},
    {.try = pe_parts_try},
    {.try = pe_attempts_pairs},
    {.try = pe_mismatches_try, .unless = has_other_width, .even_spent = true},
    {0},
};

static const pe_attempt of_no_numbers[] = {
    {.try = pe_mismatches_try, .unless = has_other_width, .even_spent = true},
    {0},
};

static const pe_attempt *attempts_of(const pe_search *s)
{
    const pe_mismatches *mismatches = &s->report->mismatches;
    if (mismatches->elements > 0 && mismatches->not_finite == mismatches->elements)
        return of_no_numbers;
    return s->view->layout != NULL ? of_pairs : of_plain_numbers;
}

/* What is cut short tells what it has found. */
static void cut_short(pe_search *s)
{
    s->failed = pe_attempts_given_up(s) ? PE_OK : s->failed;
}

static void search_faults(pe_search *s, pe_guess *claim)
{
    pe_attempts_in_order(s, claim, attempts_of(s));
    s->report->complete = !pe_attempts_spent(s);
    s->report->work = s->work;
    pe_findings_rank(s->report);
    cut_short(s);
}

/* ---- the claim ---- */

static pe_status compare(const pe_comparison *of, pe_report *report, pe_problem *why)
{
    pe_totals totals;
    PE_TRY(pe_totals_make(of->view, 0, of->guess->context->draws, &totals, why));
    pe_status status = pe_totals_add(&totals, of, PE_TOTALS_RULE | PE_TOTALS_DISTANCES, why);
    totals.by = of->guess->n_faults == 0 ? totals.by : 0;
    pe_totals_report(&totals, pe_measure_loosest(of->guess), report);
    pe_totals_free(&totals);
    return status;
}

/* A claim of another width is not compared; only faults can explain the upload. */
static void compare_and_diagnose(pe_search *s, pe_upload_view *whole)
{
    size_t work = 0; /* is not counted as that of a search */
    const pe_comparison claim = {s->view, &s->claim, &work};
    if (!whole->width_differs && !pe_attempts_did(s, compare(&claim, s->report, s->why)))
        return;
    const bool fits = !whole->width_differs && !pe_totals_are_most(&s->report->mismatches);
    if (s->report->matches) {
        pe_indistinguishable_find(s);
        cut_short(s);
    } else if (s->claim.context->glances && !fits) {
        s->report->complete = false;
    } else if (pe_attempts_did(s, pe_upload_view_hold(whole, s->why))) {
        pe_attempts_of_whole(s, whole, search_faults);
    }
}

/* A size that neither the claim nor a fault explains: nothing of it was compared. */
static const pe_fault other_size = {.name = PE_NAME(size_other)};

static pe_status tell_size(const pe_search *s, pe_problem *why)
{
    const pe_upload *first = &s->whole->claim->uploads[0];
    const pe_told told = {.fault = &other_size, .rule = pe_fault_rule(&other_size), .exact = true};
    PE_TRY(pe_findings_tell(s->report, &s->claim, &told, why, "%s has %zu elements", first->name,
                            first->array.elements));
    pe_findings_rank(s->report);
    return PE_OK;
}

/* The sizes of the axes say so; whatever else is found comes with it. */
static const pe_fault permuted = {
    .name = PE_NAME(axes_transposed),
    .rule = "the axes of the upload are in another order than claimed: it is transposed (its shape "
            "is a permutation of the claimed one, as with heads last)"};

static pe_status verify(pe_upload_view *view, const pe_verify_context *context, pe_report *report,
                        pe_problem *why)
{
    pe_problem of_step;
    pe_verify_context counted = *context;
    counted.computed = &report->computed;
    pe_search s = {.whole = view,
                   .view = view,
                   .bounds = context->bounds,
                   .report = report,
                   .why = &of_step,
                   .failure = why};
    PE_TRY(pe_guess_make(view->claim, &counted, &s.claim, why));
    if (view->permuted)
        pe_guess_tell(&s.claim, &permuted, 0, 0);
    report->bands_of = view->layout != NULL ? "pairs" : "rows";
    report->complete = true;
    report->parameters = pe_guess_parameters(&s.claim);
    if (report->parameters == NULL)
        pe_attempts_did(&s, pe_fail_memory(&of_step));
    else
        compare_and_diagnose(&s, view);
    if (s.failed == PE_OK && view->width_differs && report->n_findings == 0)
        pe_attempts_did(&s, tell_size(&s, &of_step));
    pe_guess_free(&s.claim);
    return s.failed;
}

static pe_status verify_as_named(pe_claim *claim, const pe_verify_context *context, pe_report *out,
                                 pe_problem *why)
{
    pe_upload_view view;
    pe_report report = {0};
    PE_TRY(pe_upload_view_make(claim, context, &view, why));
    pe_status status = verify(&view, context, &report, why);
    pe_upload_view_free(&view);
    if (status == PE_OK)
        *out = report;
    else
        pe_verify_report_free(&report);
    return status;
}

/* ---- cosines or sines ---- */

/* Cosines become sines, and the other way round. */
static void rename_waves(char *name)
{
    memcpy(name, strncmp(name, "cos", 3) == 0 ? "sin" : "cos", 3);
}

size_t pe_report_faults(const pe_report *report)
{
    const pe_finding *first = &report->findings[0];
    if (report->matches)
        return 0;
    return report->n_findings == 0 ? SIZE_MAX
                                   : first->n_faults + (first->fitted ? PE_FAULTS_ROOM : 0);
}

static pe_status verify_as_others(pe_claim *claim, const pe_verify_context *context, pe_report *out,
                                  pe_problem *why)
{
    pe_report report;
    char *name = claim->uploads[0].name;
    rename_waves(name);
    const pe_verify_limits *bounds = context->bounds;
    const pe_status status = verify_as_named(claim, context, &report, why);
    if (status != PE_OK && bounds->given_up != NULL && bounds->given_up(bounds->context)) {
        rename_waves(name);
        out->complete = false;
        return PE_OK;
    }
    if (status == PE_OK && pe_report_faults(&report) < pe_report_faults(out)) {
        const pe_report worse = *out;
        *out = report;
        report = worse;
        pe_buffer_format(&claim->reported, "the claimed positions tell that it is %.3s\n", name);
    } else {
        rename_waves(name);
    }
    out->work += status == PE_OK ? report.work : 0;
    out->computed += status == PE_OK ? report.computed : 0;
    pe_verify_report_free(status == PE_OK ? &report : out);
    return status;
}

pe_status pe_verify(pe_claim *claim, const pe_verify_context *context, pe_report *out,
                    pe_problem *why)
{
    PE_TRY(verify_as_named(claim, context, out, why));
    return !out->matches && pe_upload_names_may_be_others(claim)
               ? verify_as_others(claim, context, out, why)
               : PE_OK;
}
