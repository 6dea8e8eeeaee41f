/* SPDX-License-Identifier: MIT */
/* explain.c - which readers are asked what made an upload of plain numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "plan/common_params.h"
#include "plan/resource.h"
#include "verify/mistakes/faults.h"
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

/* Elements of rounded slopes may have few bits, too. */
static bool are_asked(const pe_search *s)
{
    const pe_report *report = s->report;
    size_t rounded = 0;
    while (rounded < report->n_findings &&
           pe_faults_is_of(report->findings[rounded].faults[0],
                           "bfloat16_elements float16_elements tf32_elements float8_elements "
                           "quantised bfloat16_truncated float16_truncated"))
        rounded++;
    return report->n_findings == 0 || (rounded == report->n_findings &&
                                       strcmp(s->view->claim->resource->encoding, "alibi") == 0);
}

static double step_of(const pe_upload_view *view)
{
    const pe_dtype dtype = view->claim->uploads[0].array.dtype;
    return dtype == PE_INT32 ? 0 : pe_narrow_type_ulp(pe_narrow_type_of_dtype(dtype), 0);
}

/* ---- reading ---- */

static void read_upload(const pe_numbers *plain, pe_slips_how how)
{
    const bool looked_up = pe_lookup_is(plain->view->claim->resource);
    if (plain->frequency != NULL) {
        pe_angles_read(plain, how);
        return;
    }
    if (how == PE_SLIPS_ONE && strcmp(plain->resource, "learned") == 0)
        pe_lookup_find_rows(plain);
    if (looked_up)
        pe_lookup_read(plain, false, how);
    pe_slips_find(plain, how);
    if (looked_up && how == PE_SLIPS_ONE && pe_numbers_goes_on(plain) &&
        !pe_attempts_found(plain->search))
        pe_lookup_read(plain, true, how);
}

static void explain(pe_search *s, pe_guess *guess, pe_slips_how how)
{
    double *claimed;
    const pe_upload_view *view = s->view;
    s->work += pe_upload_view_plan_work(view) + view->elements;
    const bool made = pe_attempts_did(s, make_claimed(s, guess, &claimed, s->why));
    const pe_numbers plain = {
        .view = view,
        .claim = guess,
        .resource = view->claim->resource->name,
        .got = view->got,
        .claimed = claimed,
        .elements = view->elements,
        .roundoff = pe_guess_roundoff(guess),
        .step = step_of(view),
        .search = s,
        .frequency = view->layout != NULL && claimed != NULL ? claimed + view->elements : NULL,
        .asked = are_asked(s)};
    if (made && claimed != NULL && !pe_attempts_given_up(s))
        read_upload(&plain, how);
    free(claimed);
}

void pe_explain_one(pe_search *s, pe_guess *guess)
{
    explain(s, guess, PE_SLIPS_ONE);
}

void pe_explain_two(pe_search *s, pe_guess *guess)
{
    explain(s, guess, PE_SLIPS_TWO);
}

void pe_explain_fitted(pe_search *s, pe_guess *guess)
{
    explain(s, guess, PE_SLIPS_FITTED);
}

/* Elements may have been rounded, too. */
void pe_explain_try(pe_search *s, pe_guess *guess)
{
    pe_explain_one(s, guess);
    for (size_t f = 0; f < pe_faults_n && pe_attempts_go_on(s); f++)
        if (pe_faults_is_narrow_type(&pe_faults[f]))
            pe_attempts_with_fault(s, guess, &pe_faults[f], pe_explain_one);
}

void pe_explain_values(pe_search *s, pe_guess *guess)
{
    pe_attempts_each_value(s, guess, pe_explain_one);
}

void pe_explain_numbers(pe_search *s, pe_guess *guess)
{
    pe_fit_each(s, guess, pe_explain_one);
}
