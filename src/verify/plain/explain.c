/* SPDX-License-Identifier: MIT */
/* explain.c - which readers are asked what made an upload of plain numbers. */
#include "verify/plain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "verify/axes/axis_reading.h"
#include "verify/mistakes/faults.h"
#include "verify/plain/lookup_reading.h"
#include "verify/plain/plain_slips.h"
#include "verify/plain/plain_rows.h"
#include "verify/plain/resize_causes.h"
#include "verify/mistakes/value_faults.h"
#include "verify/plain/wave_causes.h"

/* What reads the numbers of a resource beside the rows of plain_slips.h. */
static const struct reader {
    const char *resources;
    pe_status (*read)(const pe_numbers *plain, pe_problem *why);
} readers[] = {
    {"learned", pe_plain_rows_find},
    {"rope/grid sinusoidal/grid sinusoidal/timing sinusoidal/relative", pe_wave_causes_find},
    {"rope/mrope-positions", pe_axis_positions_of_ids},
    {"learned/interpolate", pe_resize_causes_find},
};

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
        pe_turn_spend(ELEMENT_WORK * width);
    }
    return PE_OK;
}

/* NULL where the claim has not the upload's shape. */
static pe_status make_claimed(pe_search *s, pe_guess *guess, double **out, pe_problem *why)
{
    const pe_comparison comparison = {s->view, guess, &s->work}, *of = &comparison;
    pe_expect expect;
    *out = NULL;
    pe_status status = pe_expect_make(of, PE_NUMERICS_EXACT, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    *out = malloc((of->view->elements + 1) * sizeof **out);
    status = *out == NULL ? pe_fail_memory(why) : fill_claimed(s, &expect, *out, why);
    pe_expect_free(&expect);
    return status;
}

/* ---- reading ---- */

static pe_status read_upload(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = PE_OK;
    const char *name = pe_numbers_resource(plain);
    for (size_t r = 0; r < PE_LEN(readers) && status == PE_OK; r++)
        if (pe_slip_is_of(name, readers[r].resources))
            status = readers[r].read(plain, why);
    if (status == PE_OK)
        status = pe_lookup_read(plain, read_upload, why);
    if (status == PE_OK)
        status = pe_slips_find(plain, why);
    return status == PE_OK ? pe_lookup_read_changed(plain, read_upload, why) : status;
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
                pe_faults_is_grain(&pe_faults[g]);
    return report->n_findings == 0 || (rounded >= report->n_findings &&
                                       strcmp(s->view->claim->resource->encoding, "alibi") == 0);
}

static double roundoff_of(const pe_upload_view *view, const pe_guess *guess)
{
    const pe_grain *stored = guess->distortion.stored;
    if (view->claim->uploads[0].array.dtype == PE_INT32)
        return 0;
    return stored != NULL ? ldexp(1, -stored->bits) : pe_upload_view_roundoff(view);
}

static double step_of(const pe_upload_view *view)
{
    const pe_dtype dtype = view->claim->uploads[0].array.dtype;
    return dtype == PE_INT32 ? 0 : pe_grain_ulp(pe_grain_of_dtype(dtype), 0);
}

/* Do `next` with the upload beside the numbers of the guess. */
static pe_status with_numbers(pe_search *s, pe_guess *guess,
                              pe_status (*next)(const pe_numbers *, pe_problem *), pe_problem *why)
{
    double *claimed;
    const pe_upload_view *view = s->view;
    s->work += pe_upload_view_plan_work(view) + view->elements;
    pe_status status = make_claimed(s, guess, &claimed, why);
    const pe_numbers plain = {.view = view,
                              .claim = guess,
                              .got = view->got,
                              .claimed = claimed,
                              .elements = view->elements,
                              .roundoff = roundoff_of(view, guess),
                              .step = step_of(view),
                              .search = s,
                              .asked = are_asked(s),
                              .behind = pe_explain_behind};
    if (status == PE_OK && claimed != NULL && !pe_attempts_given_up(s))
        status = next(&plain, why);
    free(claimed);
    return status;
}

static pe_status try_readers(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return with_numbers(s, guess, read_upload, why);
}

/* What is read behind a fault takes the place of what was read before, where it explains
 * something. */
pe_status pe_explain_behind(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_facts before = s->report->facts;
    s->report->facts = (pe_facts){0};
    const pe_status status = try_readers(s, guess, why);
    const bool found = pe_attempts_found(s);
    pe_facts *worse = found ? &before : &s->report->facts;
    pe_buffer_free(&worse->text);
    pe_buffer_free(&worse->json);
    s->report->facts = found ? s->report->facts : before;
    return status;
}

pe_status pe_explain_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_status status = try_readers(s, guess, why);
    for (size_t f = 0; f < pe_faults_n && status == PE_OK && pe_attempts_go_on(s); f++)
        if (pe_faults_is_grain(&pe_faults[f]))
            status = pe_attempts_with_fault(s, guess, &pe_faults[f], pe_explain_behind, why);
    return status;
}

pe_status pe_explain_ignored(pe_search *s, pe_guess *guess, pe_problem *why)
{
    pe_fault fault;
    pe_status status = PE_OK;
    for (size_t i = 0; i < guess->values.n && status == PE_OK && pe_attempts_go_on(s); i++)
        if (pe_value_faults_ignored(guess, i, &fault))
            status = pe_attempts_with_fault(s, guess, &fault, pe_explain_behind, why);
    return status;
}

/* Rows, and the same of indices that were looked up. */
static pe_status read_two(const pe_numbers *plain, pe_problem *why)
{
    const pe_status status = pe_slips_find_two(plain, why);
    return status == PE_OK ? pe_lookup_read(plain, pe_slips_find_two, why) : status;
}

static pe_status read_fitted(const pe_numbers *plain, pe_problem *why)
{
    const pe_status status = pe_slips_find_fitted(plain, why);
    return status == PE_OK ? pe_lookup_read(plain, pe_slips_find_fitted, why) : status;
}

pe_status pe_explain_two(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return with_numbers(s, guess, read_two, why);
}

pe_status pe_explain_fitted(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return with_numbers(s, guess, read_fitted, why);
}

pe_status pe_explain_values(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return pe_attempts_each_value(s, guess, pe_explain_behind, why);
}
