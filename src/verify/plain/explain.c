/* SPDX-License-Identifier: MIT */
/* explain.c - which readers are asked what made an upload of plain numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "plan/common_params.h"
#include "plan/resource.h"
#include "verify/mistakes/faults.h"
#include "verify/mistakes/lookup.h"
#include "verify/plain/plain_slips.h"
#include "verify/search/attempts.h"

/* ---- the claimed numbers ---- */

/* Between two looks at whether anybody waits. */
#define ROWS_AT_ONCE 64

/* Of making an element and what it may be off, in units. */
#define ELEMENT_WORK 8

/* All rows, one behind the other; fewer where nobody waits for them any more. */
static pe_status fill_claimed(const pe_search *s, pe_expect *expect, double *out, pe_problem *why)
{
    pe_expected_row row;
    const pe_upload_view *view = expect->view;
    for (size_t r = 0; r < view->rows; r++) {
        if (r % ROWS_AT_ONCE == 0 && pe_attempts_given_up(s))
            return PE_OK;
        if (pe_expect_row(expect, r, &row, why) != PE_OK)
            return why->status;
        const size_t width = pe_upload_view_row_width(view, r);
        memcpy(out + r * view->width, row.value, width * sizeof *out);
        pe_yield_spend(ELEMENT_WORK * width);
    }
    return PE_OK;
}

/* NULL where the claim has not the upload's shape. Frequencies of pairs are behind the elements. */
static pe_status make_claimed(pe_search *s, pe_guess *guess, double **out, pe_problem *why)
{
    const pe_comparison comparison = {s->view, guess, &s->work}, *of = &comparison;
    pe_expect expect;
    *out = NULL;
    pe_status status = pe_expect_make(of, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    const size_t n = of->view->elements, pairs = expect.geometry.pairs;
    *out = malloc((n + pairs + 1) * sizeof **out);
    status = *out == NULL ? pe_fail_memory(why) : fill_claimed(s, &expect, *out, why);
    if (status == PE_OK && of->view->layout != NULL)
        status = pe_expect_probe(&expect, why);
    if (status == PE_OK && expect.frequency != NULL)
        memcpy(*out + n, expect.frequency, pairs * sizeof **out);
    pe_expect_free(&expect);
    return status;
}

/* ---- reading ---- */

static void read_upload(const pe_numbers *plain)
{
    if (strcmp(pe_numbers_resource(plain), "learned") == 0)
        pe_plain_rows_find(plain);
    pe_lookup_read(plain, read_upload);
    pe_slips_find(plain);
    pe_lookup_read_changed(plain, read_upload);
}

/* Elements of rounded slopes may have few bits, too. */
static bool are_asked(const pe_search *s)
{
    const pe_report *report = s->report;
    size_t rounded = 0;
    for (size_t f = 0; f < report->n_findings; f++)
        for (size_t g = 0; g < pe_faults_n; g++)
            rounded +=
                strcmp(report->findings[f].faults[0], pe_guess_fault_name(&pe_faults[g])) == 0 &&
                pe_faults_is_narrow_type(&pe_faults[g]);
    return report->n_findings == 0 || (rounded >= report->n_findings &&
                                       strcmp(s->view->claim->resource->encoding, "alibi") == 0);
}

static double step_of(const pe_upload_view *view)
{
    const pe_dtype dtype = view->claim->uploads[0].array.dtype;
    return dtype == PE_INT32 ? 0 : pe_narrow_type_ulp(pe_narrow_type_of_dtype(dtype), 0);
}

void pe_explain_with(pe_search *s, pe_guess *guess, pe_numbers_use *next)
{
    double *claimed;
    const pe_upload_view *view = s->view;
    s->work += pe_upload_view_plan_work(view) + view->elements;
    const bool made = pe_attempts_did(s, make_claimed(s, guess, &claimed, s->why));
    const pe_numbers plain = {
        .view = view,
        .claim = guess,
        .got = view->got,
        .claimed = claimed,
        .elements = view->elements,
        .roundoff = pe_guess_roundoff(guess),
        .step = step_of(view),
        .search = s,
        .frequency = view->layout != NULL && claimed != NULL ? claimed + view->elements : NULL,
        .asked = are_asked(s)};
    if (made && claimed != NULL && !pe_attempts_given_up(s))
        next(&plain);
    free(claimed);
}

static void try_readers(pe_search *s, pe_guess *guess)
{
    pe_explain_with(s, guess, read_upload);
}

/* What is read behind a fault takes the place of what was read before, where it explains
 * something. */
void pe_explain_behind(pe_search *s, pe_guess *guess)
{
    pe_facts before = s->report->facts;
    s->report->facts = (pe_facts){0};
    try_readers(s, guess);
    const bool found = pe_attempts_found(s);
    pe_facts *worse = found ? &before : &s->report->facts;
    pe_buffer_free(&worse->text);
    pe_buffer_free(&worse->json);
    s->report->facts = found ? s->report->facts : before;
}

/* Elements may have been rounded, too. */
void pe_explain_try(pe_search *s, pe_guess *guess)
{
    try_readers(s, guess);
    for (size_t f = 0; f < pe_faults_n && pe_attempts_go_on(s); f++)
        if (pe_faults_is_narrow_type(&pe_faults[f]))
            pe_attempts_with_fault(s, guess, &pe_faults[f], pe_explain_behind);
}

/* Rows, and the same of indices that were looked up. */
static void read_two(const pe_numbers *plain)
{
    pe_slips_find_two(plain);
    pe_lookup_read(plain, pe_slips_find_two);
}

static void read_fitted(const pe_numbers *plain)
{
    pe_slips_find_fitted(plain);
    pe_lookup_read(plain, pe_slips_find_fitted);
}

void pe_explain_two(pe_search *s, pe_guess *guess)
{
    pe_explain_with(s, guess, read_two);
}

void pe_explain_fitted(pe_search *s, pe_guess *guess)
{
    pe_explain_with(s, guess, read_fitted);
}

void pe_explain_values(pe_search *s, pe_guess *guess)
{
    pe_attempts_each_value(s, guess, pe_explain_behind);
}

void pe_explain_numbers(pe_search *s, pe_guess *guess)
{
    pe_fit_each(s, guess, pe_explain_behind);
}

/* ==== learned biases, whose rows tell by which index each was looked up ==== */

/* False: some pair has no row. */
static bool read_indices(const pe_numbers *plain, const pe_lookup *l, const double *numbers,
                         double *out)
{
    size_t p = 0;
    for (; p < l->pairs && (p == 0 || !isnan(out[p - 1])); p++)
        out[p] = pe_lookup_find(l, numbers + p, l->pairs, plain->roundoff);
    pe_numbers_spend(plain, p * (l->heads + 8));
    return !isnan(out[p - 1]);
}

static void read_with(const pe_numbers *plain, const pe_lookup *l, const pe_numbers_cause *before,
                      pe_numbers_use *next)
{
    pe_numbers indices = *plain;
    indices.got = l->got;
    indices.claimed = l->claimed;
    indices.elements = l->pairs;
    indices.roundoff = 0;
    indices.lookup = l;
    indices.before = before;
    next(&indices);
}

/* The table of the claim. False: it was not made. */
static bool make_lookup(const pe_numbers *plain, pe_lookup *out)
{
    pe_search *s = plain->search;
    return pe_attempts_did(s, pe_lookup_make(plain->claim, plain->elements, out, s->why));
}

void pe_lookup_read(const pe_numbers *plain, pe_numbers_use *next)
{
    pe_lookup lookup = {0};
    if (plain->lookup != NULL || !pe_lookup_is(plain->view->claim->resource))
        return;
    if (make_lookup(plain, &lookup) &&
        read_indices(plain, &lookup, plain->claimed, lookup.claimed) &&
        read_indices(plain, &lookup, plain->got, lookup.got))
        read_with(plain, &lookup, NULL, next);
    pe_lookup_free(&lookup);
}

/* ---- tables that are changed ---- */

static const struct change {
    pe_fault fault;
    pe_lookup_edit edit;
    bool alone; /* no other reader names it where indices are as claimed */
} changes[] = {
    {{.name = PE_NAME(weights_transposed)}, {.times = 1, .reshaped = true}, true},
    {{.name = PE_NAME(head_order)}, {.times = 1, .reversed = true}, false},
    {{.name = PE_NAME(doubled)}, {.times = 2}, false},
    {{.name = PE_NAME(sign_reversed)}, {.times = -1}, false},
};

static double at_claimed(const void *context PE_UNUSED, size_t pair PE_UNUSED, double claimed,
                         double *error PE_UNUSED)
{
    return claimed;
}

/* The table itself is what is wrong. */
static void try_alone(const pe_numbers *indices)
{
    pe_numbers alone = *indices;
    alone.before = NULL;
    pe_numbers_try(&alone, indices->before, &(pe_numbers_law){.at = at_claimed});
}

static void try_change(const pe_numbers *plain, const struct change *by, pe_numbers_use *next)
{
    pe_lookup l = {0};
    pe_search *s = plain->search;
    const pe_numbers_cause cause = {.fault = &by->fault};
    if (make_lookup(plain, &l) && read_indices(plain, &l, plain->claimed, l.claimed) &&
        pe_attempts_did(s, pe_lookup_change(&l, &by->edit, s->why)) &&
        read_indices(plain, &l, plain->got, l.got)) {
        const bool same = memcmp(l.got, l.claimed, l.pairs * sizeof *l.got) == 0;
        if (!same || by->alone)
            read_with(plain, &l, &cause, same ? try_alone : next);
    }
    pe_lookup_free(&l);
}

void pe_lookup_read_changed(const pe_numbers *plain, pe_numbers_use *next)
{
    if (plain->lookup != NULL || !pe_lookup_is(plain->view->claim->resource))
        return;
    for (size_t c = 0; c < PE_LEN(changes); c++)
        if (pe_numbers_goes_on(plain) && !pe_attempts_found(plain->search))
            try_change(plain, &changes[c], next);
}
