/* SPDX-License-Identifier: MIT */
/* strays.c - guesses that explain all of an upload but a part. */
#include "verify/search/attempts.h"

#include <string.h>

#include "verify/compare/totals.h"

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

static void describe_strays(const pe_strays *at, bool sampled, pe_buffer *out)
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
static bool is_few(const pe_strays *at, bool of_pairs)
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
static bool is_of_memory(const pe_strays *at)
{
    return at->not_finite == at->elements || at->rows * 4 <= at->all_rows ||
           at->elements * 64 <= at->compared;
}

/* Errors of many elements that are all small are those of an arithmetic. */
#define SMALL 0x1p-6

bool pe_strays_is_fault(const char *name)
{
    return strcmp(name, strays_of_memory.name->text) == 0 ||
           strcmp(name, not_finite.name->text) == 0;
}

pe_status pe_strays_tell(pe_report *report, const pe_guess *guess, const pe_strays *strays,
                         bool of_pairs, pe_problem *why)
{
    pe_buffer rule = {0};
    if (!is_few(strays, of_pairs))
        return PE_OK;
    describe_strays(strays, guess->context->sampled, &rule);
    const pe_told told = {.fault = strays->not_finite == strays->elements ? &not_finite
                                   : strays->zeros == strays->elements    ? &zeros
                                                                          : &strays_of_memory,
                          .rule = pe_buffer_text(&rule),
                          .fitted = !is_of_memory(strays),
                          .exact = pe_measure_allowed(guess) == PE_BY_EXACT};
    const pe_status status =
        pe_findings_tell(report, guess, &told, why, "all other elements are as they should be");
    pe_buffer_free(&rule);
    return status;
}

/* Elements of the view that are not as the guess says. False: they could not be counted. */
static bool count(pe_search *s, const pe_upload_view *view, pe_guess *guess, pe_strays *out)
{
    pe_totals totals = {0};
    const pe_comparison of = {view, guess, &s->work};
    const bool counted = pe_attempts_set_positions(s, view, guess) &&
                         pe_attempts_did(s, pe_totals_view(&of, PE_TOTALS_RULE, &totals, s->why));
    *out = totals.strays;
    return counted;
}

/* In a sample of the rows: are so many off that they are not few in the whole? */
static bool are_most(const pe_strays *at)
{
    return at->elements * 4 > at->compared && at->rows * 8 > 7 * at->all_rows &&
           at->columns * 4 > at->all_columns && at->not_finite < at->elements;
}

#define FEW_OF 1024 /* elements */

bool pe_strays_are_many(const pe_search *s)
{
    const pe_strays *at = &s->report->strays;
    return at->elements * FEW_OF > at->compared || at->compared == 0;
}

void pe_strays_try(pe_search *s, pe_guess *guess)
{
    pe_strays strays;
    const bool pairs = s->whole->layout != NULL;
    if (s->view != s->whole && (!count(s, s->view, guess, &strays) || are_most(&strays)))
        return;
    if (!count(s, s->whole, guess, &strays) ||
        (pairs && guess->n_faults == 0 && !is_of_memory(&strays) &&
         s->report->distances.errors.max_abs < SMALL))
        return;
    pe_attempts_did(s, pe_strays_tell(s->report, guess, &strays, pairs, s->why));
}
