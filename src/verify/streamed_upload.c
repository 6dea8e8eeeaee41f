/* SPDX-License-Identifier: MIT */
/* streamed_upload.c - a table that is held against its claim while its rows arrive. */
#include "verify/streamed_upload.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "plan/plan.h"
#include "verify/compare/guess.h"
#include "verify/reading/reading.h"
#include "verify/search/attempts.h"
#include "verify/compare/totals.h"
#include "verify/upload/upload_view.h"

#define TENSORS_MAX 2

/* Elements of the rows in which faults are looked for. */
#define KEPT_ELEMENTS 262144

/* With fewer rows some band has none. */
#define ROWS_LEAST 64

struct pe_streamed {
    pe_claim claim; /* owned; its arrays have shapes alone */
    size_t rows, width;
    size_t row_bytes[TENSORS_MAX];
    size_t last;                        /* the tensor that comes last */
    bool pairs;                         /* the rows hold pairs, not plain numbers */
    size_t kept, taken;                 /* rows of the sample, and those that are there */
    unsigned char *sample[TENSORS_MAX]; /* owned */
    pe_totals totals;                   /* owned: of the rows so far */
};

/* Rows [first, first + n) of each tensor, or the sample, where they are. */
typedef struct some_rows {
    const pe_streamed *table;
    bool sampled;
    size_t first, n;
    const unsigned char *of[TENSORS_MAX];
} some_rows;

static size_t tensors_of(const pe_claim *claim)
{
    return claim->n_uploads < TENSORS_MAX ? claim->n_uploads : TENSORS_MAX;
}

static pe_positions *positions_of(const pe_claim *claim)
{
    return &pe_values_find(&claim->values, "positions")->positions;
}

/* ---- some rows as a claim of their own ---- */

static double position_at(const void *of, size_t k)
{
    const some_rows *rows = of;
    const pe_streamed *a = rows->table;
    const size_t row = rows->sampled ? pe_reading_sampled(k, a->kept, a->rows) : rows->first + k;
    return pe_positions_at(positions_of(&a->claim), row);
}

/* It borrows the rows. */
static pe_status claim_rows(const some_rows *rows, pe_claim *out, pe_problem *why)
{
    const pe_claim *all = &rows->table->claim;
    *out = (pe_claim){.resource = all->resource,
                      .any_numerics = all->any_numerics,
                      .tolerance = all->tolerance,
                      .seq_axis = all->seq_axis,
                      .n_uploads = all->n_uploads};
    for (size_t t = 0; t < tensors_of(all); t++) {
        const pe_array *array = &all->uploads[t].array;
        const size_t width = array->shape.dim[1];
        memcpy(out->uploads[t].name, all->uploads[t].name, sizeof all->uploads[t].name);
        out->uploads[t].array = (pe_array){.dtype = array->dtype,
                                           .shape = {2, {rows->n, width}},
                                           .elements = rows->n * width,
                                           .data = (void *)(uintptr_t)rows->of[t], /* read only */
                                           .borrowed = true};
    }
    pe_status status = pe_values_copy(&all->values, &out->values, why);
    if (status == PE_OK)
        status = pe_upload_positions_replace(positions_of(out), &(pe_shape){1, {rows->n}},
                                             position_at, rows, why);
    if (status != PE_OK)
        pe_verify_claim_free(out);
    return status;
}

/* What is done with the rows that are laid out. */
typedef pe_status with_rows(pe_streamed *a, pe_claim *claim, const pe_comparison *of,
                            pe_problem *why);

static pe_status lay_out(pe_streamed *a, const some_rows *rows, const pe_verify_context *context,
                         with_rows *next, pe_problem *why)
{
    pe_claim claim;
    pe_upload_view view = {0};
    pe_guess guess = {0};
    size_t work = 0; /* is not counted as that of a search */
    PE_TRY(claim_rows(rows, &claim, why));
    pe_status status = pe_upload_view_make(&claim, context, &view, why);
    if (status == PE_OK)
        status = pe_guess_make(&claim, context, &guess, why);
    if (status == PE_OK)
        status = next(a, &claim, &(pe_comparison){&view, &guess, &work}, why);
    pe_guess_free(&guess);
    pe_upload_view_free(&view);
    pe_verify_claim_free(&claim);
    return status;
}

/* ---- the beginning ---- */

/* Tensors of rows, each of one position. */
static bool has_rows(const pe_claim *claim, const pe_verify_context *context)
{
    const pe_value *positions = pe_values_find(&claim->values, "positions");
    bool has = claim->next == NULL && claim->n_uploads <= TENSORS_MAX &&
               claim->inputs.elements == 0 && !pe_upload_names_may_be_others(claim) &&
               positions != NULL && positions->present && positions->positions.shape.ndim == 1;
    for (size_t t = 0; t < tensors_of(claim) && has; t++) {
        const pe_array *array = &claim->uploads[t].array;
        has = array->shape.ndim == 2 && array->shape.dim[0] >= ROWS_LEAST &&
              array->elements <= context->bounds->max_elements &&
              positions->positions.count == array->shape.dim[0];
    }
    return has;
}

/* The numbers of two tensors come one after the other. */
static const unsigned char *data_of(const pe_claim *claim, size_t t)
{
    return claim->uploads[t].array.data;
}

/* Have the first rows the width of the claim? Plain numbers have one tensor. Then there are totals.
 * Planning names a lone tensor, and sorts others. */
static pe_status look_at_first(pe_streamed *a, pe_claim *claim, const pe_comparison *of,
                               pe_problem *why)
{
    const pe_upload_view *view = of->view;
    a->pairs = view->layout != NULL;
    if (a->claim.n_uploads == 1)
        memcpy(a->claim.uploads[0].name, claim->uploads[0].name, sizeof claim->uploads[0].name);
    if (view->width_differs || view->permuted || (!a->pairs && a->claim.n_uploads > 1))
        return PE_OK;
    return pe_totals_make(view, a->rows, false, &a->totals, why);
}

/* Rows of all tensors that are there; 0 where they are not one behind the other. */
static size_t rows_there(const pe_streamed *a, pe_slice there, size_t *skip)
{
    const unsigned char *body = (const unsigned char *)there.text;
    const unsigned char *last = data_of(&a->claim, a->last);
    const size_t held = pe_streamed_held_bytes(a), at = (size_t)(last - body);
    if (at >= there.bytes || (held > 0 && data_of(&a->claim, 1 - a->last) + held != last))
        return 0;
    *skip = at - held;
    const size_t n = (there.bytes - at) / a->row_bytes[a->last];
    return n < a->rows ? n : a->rows;
}

/* The claim is copied; totals.seen_rows is NULL where it is not compared by rows. */
static pe_status make(pe_streamed *a, pe_slice there, size_t *skip,
                      const pe_verify_context *context, pe_problem *why)
{
    pe_plan plan = {0};
    some_rows rows = {.table = a};
    for (size_t t = 0; t < tensors_of(&a->claim); t++) {
        const pe_array *array = &a->claim.uploads[t].array;
        a->rows = array->shape.dim[0];
        a->width += array->shape.dim[1];
        a->row_bytes[t] = array->shape.dim[1] * pe_dtype_bytes(array->dtype);
        rows.of[t] = data_of(&a->claim, t);
        a->last = rows.of[t] > rows.of[a->last] ? t : a->last;
    }
    rows.n = rows_there(a, there, skip);
    a->kept = (KEPT_ELEMENTS / a->width / PE_READING_BLOCKS + 4) * PE_READING_BLOCKS;
    a->kept = a->kept < a->rows ? a->kept : a->rows;
    for (size_t t = 0; t < tensors_of(&a->claim); t++) {
        a->sample[t] = malloc(a->kept * a->row_bytes[t] + 1); /* an empty row has no bytes */
        if (a->sample[t] == NULL)
            return pe_fail_memory(why);
    }
    if (rows.n == 0)
        return PE_OK;
    const pe_status status = pe_upload_view_plan(&a->claim, context, &plan, why); /* of all rows */
    pe_plan_free(&plan);
    return status == PE_OK ? lay_out(a, &rows, context, look_at_first, why) : status;
}

pe_status pe_streamed_begin(pe_claim *claim, pe_slice there, size_t *skip,
                            const pe_verify_context *context, pe_streamed **out, pe_problem *why)
{
    *out = NULL;
    pe_upload_shape_drop_ones(claim);
    if (!has_rows(claim, context))
        return PE_OK;
    pe_streamed *a = calloc(1, sizeof *a);
    if (a == NULL)
        return pe_fail_memory(why);
    a->claim = *claim;
    const pe_status status = make(a, there, skip, context, why);
    if (status == PE_OK && a->totals.seen_rows != NULL) {
        *claim = (pe_claim){0};
        for (size_t t = 0; t < tensors_of(&a->claim); t++)
            a->claim.uploads[t].array.data = NULL;
        *out = a;
        return PE_OK;
    }
    *claim = a->claim;
    a->claim = (pe_claim){0};
    pe_streamed_free(a);
    return status;
}

void pe_streamed_free(pe_streamed *streamed)
{
    if (streamed == NULL)
        return;
    pe_verify_claim_free(&streamed->claim);
    pe_totals_free(&streamed->totals);
    for (size_t t = 0; t < TENSORS_MAX; t++)
        free(streamed->sample[t]);
    free(streamed);
}

const pe_claim *pe_streamed_claim(const pe_streamed *streamed)
{
    return &streamed->claim;
}

size_t pe_streamed_row_bytes(const pe_streamed *streamed)
{
    return streamed->row_bytes[streamed->last];
}

size_t pe_streamed_held_bytes(const pe_streamed *streamed)
{
    const pe_streamed *a = streamed;
    return a->claim.n_uploads > 1 ? a->rows * a->row_bytes[1 - a->last] : 0;
}

/* ---- rows ---- */

static pe_status compare(pe_streamed *a, pe_claim *claim PE_UNUSED, const pe_comparison *of,
                         pe_problem *why)
{
    pe_bad *bad = &a->totals.first_bad;
    const bool had = bad->any;
    PE_TRY(pe_totals_add(&a->totals, of, PE_TOTALS_RULE | PE_TOTALS_DISTANCES, why));
    if (had || !bad->any)
        return PE_OK;
    /* Where it is in the whole table. */
    size_t t = tensors_of(&a->claim) - 1;
    while (t > 0 && strcmp(bad->tensor, a->claim.uploads[t].name) != 0)
        t--;
    const pe_upload *upload = &a->claim.uploads[t];
    const size_t row = a->totals.done + bad->index[0];
    pe_upload_view_place(upload, row * upload->array.shape.dim[1] + bad->index[1], bad);
    return PE_OK;
}

static void keep_sample(pe_streamed *a, const some_rows *rows)
{
    for (; a->taken < a->kept; a->taken++) {
        const size_t row = pe_reading_sampled(a->taken, a->kept, a->rows);
        if (row >= rows->first + rows->n)
            return;
        for (size_t t = 0; t < tensors_of(&a->claim); t++)
            memcpy(a->sample[t] + a->taken * a->row_bytes[t],
                   rows->of[t] + (row - rows->first) * a->row_bytes[t], a->row_bytes[t]);
    }
}

pe_status pe_streamed_rows(pe_streamed *streamed, const void *held, const void *rows, size_t n,
                           const pe_verify_context *context, pe_problem *why)
{
    pe_streamed *a = streamed;
    const size_t done = a->totals.done, left = a->rows - done;
    some_rows next = {.table = a, .first = done, .n = n < left ? n : left, .of = {rows, rows}};
    if (a->claim.n_uploads > 1)
        next.of[1 - a->last] = (const unsigned char *)held + done * a->row_bytes[1 - a->last];
    if (next.n == 0)
        return PE_OK;
    const pe_status status = lay_out(a, &next, context, compare, why);
    keep_sample(a, &next);
    a->totals.done += next.n;
    return status;
}

/* ---- the end ---- */

static pe_status search(const pe_streamed *a, const pe_verify_context *context, pe_report *out,
                        pe_problem *why)
{
    pe_claim claim;
    pe_verify_context of_sample = *context;
    of_sample.draws = false;
    of_sample.sampled = true;
    const some_rows sample = {
        .table = a, .sampled = true, .n = a->kept, .of = {a->sample[0], a->sample[1]}};
    PE_TRY(claim_rows(&sample, &claim, why));
    pe_status status = pe_verify(&claim, &of_sample, out, why);
    pe_verify_claim_free(&claim);
    if (status != PE_OK)
        return status;
    size_t kept = 0;
    for (size_t f = 0; f < out->n_findings; f++) { /* what is of the sample alone is not told */
        const pe_finding finding = out->findings[f];
        if (finding.n_faults == 1 && pe_mismatches_is_fault(finding.faults[0]))
            pe_verify_finding_free(&out->findings[f]);
        else
            out->findings[kept++] = finding;
    }
    out->n_findings = kept;
    out->reading.of_rows = a->rows;
    out->sampled = a->kept;
    out->sampled_of = a->rows;
    return PE_OK;
}

pe_status pe_streamed_end(pe_streamed *streamed, const pe_verify_context *context, pe_report *out,
                          pe_problem *why)
{
    pe_guess guess;
    pe_report report = {0};
    pe_streamed *a = streamed;
    pe_status status = search(a, context, &report, why);
    pe_yield_finish();
    if (status == PE_OK)
        status = pe_guess_make(&a->claim, context, &guess, why);
    if (status != PE_OK) {
        pe_verify_report_free(&report);
        return status;
    }
    pe_totals_report(&a->totals, pe_measure_loosest(&guess), &report);
    free(report.parameters);
    report.parameters = pe_guess_parameters(&guess);
    if (!report.matches && report.n_findings == 0)
        status = pe_mismatches_tell(&report, &guess, &report.mismatches, a->pairs, why);
    pe_findings_rank(&report);
    pe_guess_free(&guess);
    if (status == PE_OK && report.parameters == NULL)
        status = pe_fail_memory(why);
    if (status == PE_OK)
        *out = report;
    else
        pe_verify_report_free(&report);
    return status;
}
