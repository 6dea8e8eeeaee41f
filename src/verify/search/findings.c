/* SPDX-License-Identifier: MIT */
/* findings.c - what explains an upload, or all of it but a part; the best first. */
#include "plan/common_params.h"
#include "verify/search/attempts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "verify/mistakes/faults.h"
#include "verify/compare/totals.h"

/* ---- their order ---- */

/* Formulas of one number may differ by some ulps of float64. */
static bool is_less(double a, double b)
{
    return a < b * (1 - 1e-6) - 0x1p-51;
}

/* What a rule names goes before numbers that were fitted, then less error before more. Equals stay
 * in the order they were found: simpler ones first. */
static bool is_better(const pe_finding *a, const pe_finding *b)
{
    if (a->fitted != b->fitted)
        return b->fitted;
    if (is_less(a->errors.max_abs, b->errors.max_abs) ||
        is_less(b->errors.max_abs, a->errors.max_abs))
        return a->errors.max_abs < b->errors.max_abs;
    return is_less(a->errors.rms, b->errors.rms);
}

void pe_findings_put(pe_report *report, pe_finding *finding)
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

/* Two ways may lead to the same explanation. */
static bool is_reported(const pe_report *report, const pe_finding *finding)
{
    size_t f = 0;
    while (f < report->n_findings && strcmp(report->findings[f].rule, finding->rule) != 0)
        f++;
    return f < report->n_findings;
}

void pe_findings_rank(pe_report *report)
{
    for (size_t f = 0; f < report->n_findings; f++) {
        pe_finding *at = &report->findings[f];
        const bool tied = f > 0 && !is_better(at - 1, at) && !is_better(at, at - 1);
        at->rank = f == 0 ? 1 : tied ? at[-1].rank : f + 1;
    }
}

/* ---- adding one ---- */

/* What was only fitted is no fact. NULL: no memory. */
static char *copy_rule(pe_guess *guess)
{
    pe_buffer rule = {0};
    const char *part = guess->context->part;
    pe_buffer_format(&rule, "%s%s%s", part != NULL ? part : "", guess->fitted ? "as if " : "",
                     pe_buffer_text(&guess->rule));
    char *copy = rule.failed ? NULL : strdup(pe_buffer_text(&rule));
    pe_buffer_free(&rule);
    return copy;
}

pe_status pe_findings_add(pe_report *report, pe_finding *finding, pe_guess *guess,
                          pe_buffer *evidence, pe_problem *why)
{
    finding->fitted = guess->fitted;
    finding->n_faults = guess->n_faults;
    for (size_t f = 0; f < guess->n_faults; f++)
        finding->faults[f] = pe_guess_fault_name(guess->faults[f]);
    finding->rule = copy_rule(guess);
    finding->remedy = strdup(pe_buffer_text(&guess->remedy));
    finding->evidence = strdup(pe_buffer_text(evidence));
    finding->parameters = pe_guess_parameters(guess);
    pe_buffer_free(evidence);
    if (finding->rule == NULL || finding->remedy == NULL || finding->evidence == NULL ||
        finding->parameters == NULL) {
        pe_verify_finding_free(finding);
        return pe_fail_memory(why);
    }
    if (is_reported(report, finding))
        pe_verify_finding_free(finding);
    else
        pe_findings_put(report, finding);
    return PE_OK;
}

pe_status pe_findings_tell(pe_report *report, const pe_guess *guess, const pe_told *told,
                           pe_problem *why, const char *evidence, ...)
{
    char text[256];
    va_list list;
    pe_guess copy;
    pe_buffer sentence = {0};
    pe_finding finding = {.exact = told->exact};
    va_start(list, evidence);
    vsnprintf(text, sizeof text, evidence, list);
    va_end(list);
    if (guess->n_faults >= PE_FAULTS_MAX)
        return PE_OK;
    PE_TRY(pe_guess_copy(guess, &copy, why));
    pe_guess_say(&copy, told->fault, pe_fault_remedy(told->fault));
    pe_guess_format(&copy, told->rule, told->a, told->b);
    copy.fitted |= told->fitted;
    pe_buffer_str(&sentence, text);
    pe_status status = pe_findings_add(report, &finding, &copy, &sentence, why);
    pe_guess_free(&copy);
    return status;
}

pe_status pe_findings_explain(pe_report *report, const pe_comparison *whole, unsigned by,
                              pe_problem *why)
{
    pe_totals totals;
    pe_errors reference = {0};
    pe_finding finding = {.exact = (by & PE_BY_EXACT) != 0};
    pe_status status = pe_totals_view(whole, PE_TOTALS_RULE | PE_TOTALS_DISTANCES, &totals, why);
    finding.errors = totals.distances.errors;
    finding.undecided = by == PE_BY_FLOAT32 ? totals.undecided : 0;
    if (status == PE_OK && (by & PE_BY_FLOAT32) != 0 && finding.errors.max_abs > 0)
        status = pe_totals_errors(whole, PE_NUMERICS_FLOAT32, &reference, why);
    if (status != PE_OK)
        return status;
    if (reference.elements > 0 && reference.max_abs < finding.errors.max_abs)
        finding.errors = reference;
    /* all that is not as claimed is undecided: it may be anything */
    const bool decided = finding.undecided == 0 || finding.undecided < report->mismatches.elements;
    whole->guess->fitted |= !decided;
    pe_buffer evidence = {0};
    pe_buffer_format(&evidence,
                     "%s%zu elements%s are as near to it as %s arithmetic; the largest "
                     "difference is %.3g",
                     pe_faults_hold_mostly(whole->guess) ? "all but one in 40 of " : "all ",
                     finding.errors.elements,
                     whole->guess->context->sampled ? " of the sample" : "",
                     finding.exact ? "exact" : "float32", finding.errors.max_abs);
    return pe_findings_add(report, &finding, whole->guess, &evidence, why);
}

/* ==== guesses that explain all of an upload but a part ==== */

static const pe_fault strays_of_memory = {.name = PE_NAME(corrupted_elements)};
static const pe_fault zeros = {
    .name = PE_NAME(corrupted_elements),
    .remedy = "look for rows that were not written, or that were zeroed on purpose: padding_idx, "
              "masks, class tokens, buffers of zeros"};
static const pe_fault not_finite = {.name = PE_NAME(not_finite)};

static void tell_range(size_t first, size_t last, pe_buffer *out)
{
    pe_buffer_format(out, first < last ? " (%zu to %zu)" : " (%zu)", first, last);
}

static void describe_mismatches(const pe_mismatches *at, bool sampled, pe_buffer *out)
{
    pe_buffer_format(out, "%zu of %zu elements%s are something else, in %zu of %zu rows",
                     at->elements, at->compared, sampled ? " of the sample" : "", at->rows,
                     at->all_rows);
    if (!sampled)
        tell_range(at->first_row, at->last_row, out);
    pe_buffer_format(out, " and %zu of %zu columns", at->columns, at->all_columns);
    tell_range(at->first_column, at->last_column, out);
    if (at->not_finite > 0)
        pe_buffer_format(out, "; %zu of them are NaN or infinite", at->not_finite);
    if (at->zeros == at->elements)
        pe_buffer_str(out, "; all of them are 0");
}

/* Few rows, few pairs, few elements, or only such as are no numbers. */
static bool is_few(const pe_mismatches *at, bool of_pairs)
{
    if (at->elements == 0)
        return false;
    const size_t rows = at->last_row - at->first_row + 1;
    if (at->rows == rows && rows * 3 <= 2 * at->all_rows)
        return true; /* one block of rows */
    return at->not_finite == at->elements || at->elements * 8 <= at->compared ||
           (of_pairs && (at->rows * 4 <= at->all_rows || at->columns * 16 <= at->all_columns));
}

/* Memory goes bad in a few rows or single elements; in the same columns of most rows, or in a part
 * of most, a computation does. */
static bool is_of_memory(const pe_mismatches *at)
{
    return at->not_finite == at->elements || at->rows * 4 <= at->all_rows ||
           at->elements * 64 <= at->compared;
}

/* Errors of many elements that are all small are those of an arithmetic. */
#define SMALL 0x1p-6

bool pe_mismatches_is_fault(const char *name)
{
    return strcmp(name, strays_of_memory.name->text) == 0 ||
           strcmp(name, not_finite.name->text) == 0;
}

pe_status pe_mismatches_tell(pe_report *report, const pe_guess *guess,
                             const pe_mismatches *mismatches, bool of_pairs, pe_problem *why)
{
    pe_buffer rule = {0};
    if (!is_few(mismatches, of_pairs))
        return PE_OK;
    describe_mismatches(mismatches, guess->context->sampled, &rule);
    const pe_told told = {.fault = mismatches->not_finite == mismatches->elements ? &not_finite
                                   : mismatches->zeros == mismatches->elements    ? &zeros
                                                                               : &strays_of_memory,
                          .rule = pe_buffer_text(&rule),
                          .fitted = !is_of_memory(mismatches),
                          .exact = pe_measure_allowed(guess) == PE_BY_EXACT};
    const pe_status status =
        pe_findings_tell(report, guess, &told, why, "all other elements are as they should be");
    pe_buffer_free(&rule);
    return status;
}

/* Elements of the view that are not as the guess says. False: they could not be counted. */
static bool count(pe_search *s, const pe_upload_view *view, pe_guess *guess, pe_mismatches *out)
{
    pe_totals totals = {0};
    const pe_comparison of = {view, guess, &s->work};
    const bool counted = pe_attempts_set_positions(s, view, guess) &&
                         pe_attempts_did(s, pe_totals_view(&of, PE_TOTALS_RULE, &totals, s->why));
    *out = totals.mismatches;
    return counted;
}

/* In a sample of the rows: are so many off that they are not few in the whole? */
static bool are_most(const pe_mismatches *at)
{
    return at->elements * 4 > at->compared && at->rows * 8 > 7 * at->all_rows &&
           at->columns * 4 > at->all_columns && at->not_finite < at->elements;
}

#define FEW_OF 1024 /* elements */

bool pe_mismatches_are_many(const pe_search *s)
{
    const pe_mismatches *at = &s->report->mismatches;
    return at->elements * FEW_OF > at->compared || at->compared == 0;
}

void pe_mismatches_try(pe_search *s, pe_guess *guess)
{
    pe_mismatches mismatches;
    const bool pairs = s->whole->layout != NULL;
    if (s->view != s->whole && (!count(s, s->view, guess, &mismatches) || are_most(&mismatches)))
        return;
    if (!count(s, s->whole, guess, &mismatches) ||
        (pairs && guess->n_faults == 0 && !is_of_memory(&mismatches) &&
         s->report->distances.errors.max_abs < SMALL))
        return;
    pe_attempts_did(s, pe_mismatches_tell(s->report, guess, &mismatches, pairs, s->why));
}
