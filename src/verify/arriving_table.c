/* SPDX-License-Identifier: MIT */
/* arriving_table.c - a table that is held against its claim while its rows arrive. */
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "verify/arriving_state.h"
#include "verify/findings.h"
#include "verify/reading.h"
#include "verify/strays.h"
#include "verify/upload_names.h"
#include "verify/upload_shape.h"

/* Elements of the rows in which faults are looked for. */
#define KEPT_ELEMENTS 262144

/* ---- the beginning ---- */

/* With fewer rows some band has none. */
#define ROWS_LEAST 64

/* Tensors of rows, each of one position. */
static bool has_rows(const pe_claim *claim, const pe_verify_context *context)
{
    const pe_value *positions = pe_values_find(&claim->values, "positions");
    bool has = claim->next == NULL && claim->n_uploads <= PE_ARRIVING_TENSORS_MAX &&
               claim->inputs.elements == 0 && !pe_upload_names_may_be_others(claim) &&
               positions != NULL && positions->present && positions->positions.shape.ndim == 1;
    for (size_t t = 0; t < pe_arriving_tensors(claim) && has; t++) {
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

/* Do the first rows have the width of the claim? Plain numbers have one tensor. */
static pe_status look_at_first(pe_arriving *a, size_t n, const pe_verify_context *context,
                               bool *fits, pe_problem *why)
{
    pe_arriving_part first;
    pe_plan plan = {0};
    pe_arriving_data rows;
    pe_status status = pe_upload_view_plan(&a->claim, context, &plan, why); /* of all rows */
    pe_plan_free(&plan);
    for (size_t t = 0; t < pe_arriving_tensors(&a->claim); t++)
        rows.of[t] = data_of(&a->claim, t);
    if (status == PE_OK)
        status = pe_arriving_part_make(a, &rows, n, context, &first, why);
    if (status != PE_OK)
        return status;
    a->pairs = first.view.layout != NULL;
    *fits =
        !first.view.width_differs && !first.view.permuted && (a->pairs || a->claim.n_uploads == 1);
    if (a->claim.n_uploads == 1) /* planning names a lone tensor, and sorts others */
        memcpy(a->claim.uploads[0].name, first.claim.uploads[0].name,
               sizeof a->claim.uploads[0].name);
    pe_upload_view all = first.view;
    all.claim = &a->claim;
    pe_measure_set_bands(&all, &a->report.distances);
    pe_arriving_part_free(&first);
    return PE_OK;
}

static bool make_room(pe_arriving *a)
{
    bool made = true;
    a->kept = (KEPT_ELEMENTS / a->width / PE_READING_BLOCKS + 4) * PE_READING_BLOCKS;
    a->kept = a->kept < a->rows ? a->kept : a->rows;
    for (size_t t = 0; t < pe_arriving_tensors(&a->claim); t++) {
        a->sample[t] = malloc(a->kept * a->row_bytes[t]);
        made &= a->sample[t] != NULL;
    }
    a->columns = calloc(a->width, sizeof *a->columns);
    return made && a->columns != NULL;
}

static pe_status make(const pe_claim *claim, pe_arriving **out, pe_problem *why)
{
    pe_arriving *a = calloc(1, sizeof *a);
    if (a == NULL)
        return pe_fail_memory(why);
    a->claim = *claim;
    a->rows = claim->uploads[0].array.shape.dim[0];
    for (size_t t = 0; t < pe_arriving_tensors(claim); t++) {
        const pe_array *array = &claim->uploads[t].array;
        a->width += array->shape.dim[1];
        a->row_bytes[t] = array->shape.dim[1] * pe_dtype_bytes(array->dtype);
        a->last = data_of(claim, t) > data_of(claim, a->last) ? t : a->last;
    }
    a->by = PE_BY_EXACT | PE_BY_FLOAT32;
    a->farthest = a->allowed[0].max_abs = a->allowed[1].max_abs = -1;
    *out = a;
    return make_room(a) ? PE_OK : pe_fail_memory(why);
}

/* Rows of all tensors that are there; 0 where they are not one behind the other. */
static size_t rows_there(const pe_arriving *a, pe_slice there, size_t *skip)
{
    const unsigned char *body = (const unsigned char *)there.text;
    const unsigned char *last = data_of(&a->claim, a->last);
    const size_t held = pe_arriving_held_bytes(a), at = (size_t)(last - body);
    if (at >= there.bytes || (held > 0 && data_of(&a->claim, 1 - a->last) + held != last))
        return 0;
    *skip = at - held;
    return (there.bytes - at) / a->row_bytes[a->last];
}

static void forget_numbers(pe_claim *claim)
{
    for (size_t t = 0; t < pe_arriving_tensors(claim); t++)
        claim->uploads[t].array.data = NULL;
}

pe_status pe_arriving_begin(pe_claim *claim, pe_slice there, size_t *skip,
                            const pe_verify_context *context, pe_arriving **out, pe_problem *why)
{
    bool fits = false;
    pe_arriving *a = NULL;
    *out = NULL;
    pe_upload_shape_drop_ones(claim);
    if (!has_rows(claim, context))
        return PE_OK;
    pe_status status = make(claim, &a, why);
    const size_t n = status == PE_OK ? rows_there(a, there, skip) : 0;
    if (n > 0)
        status = look_at_first(a, n < a->rows ? n : a->rows, context, &fits, why);
    if (status == PE_OK && fits) {
        *claim = (pe_claim){0};
        forget_numbers(&a->claim);
        *out = a;
        return PE_OK;
    }
    if (a != NULL) {
        *claim = a->claim;
        a->claim = (pe_claim){0};
    }
    pe_arriving_free(a);
    return status;
}

void pe_arriving_free(pe_arriving *arriving)
{
    if (arriving == NULL)
        return;
    pe_verify_claim_free(&arriving->claim);
    pe_verify_report_free(&arriving->report);
    for (size_t t = 0; t < PE_ARRIVING_TENSORS_MAX; t++)
        free(arriving->sample[t]);
    free(arriving->columns);
    free(arriving);
}

const pe_claim *pe_arriving_claim(const pe_arriving *arriving)
{
    return &arriving->claim;
}

size_t pe_arriving_row_bytes(const pe_arriving *arriving)
{
    return arriving->row_bytes[arriving->last];
}

size_t pe_arriving_held_bytes(const pe_arriving *arriving)
{
    const pe_arriving *a = arriving;
    return a->claim.n_uploads > 1 ? a->rows * a->row_bytes[1 - a->last] : 0;
}

static void keep_sample(pe_arriving *a, const pe_arriving_data *rows, size_t n)
{
    for (; a->taken < a->kept; a->taken++) {
        const size_t row = pe_arriving_row(a, true, a->taken);
        if (row >= a->done + n)
            return;
        for (size_t t = 0; t < pe_arriving_tensors(&a->claim); t++)
            memcpy(a->sample[t] + a->taken * a->row_bytes[t],
                   rows->of[t] + (row - a->done) * a->row_bytes[t], a->row_bytes[t]);
    }
}

pe_status pe_arriving_rows(pe_arriving *arriving, const void *held, const void *rows, size_t n,
                           const pe_verify_context *context, pe_problem *why)
{
    pe_arriving *a = arriving;
    const unsigned char *at = rows;
    pe_status status = PE_OK;
    size_t left = n < a->rows - a->done ? n : a->rows - a->done;
    while (left > 0 && status == PE_OK) {
        pe_arriving_part p;
        const size_t most = pe_arriving_end_of_eighth(a, a->done) - a->done,
                     some = left < most ? left : most;
        pe_arriving_data data = {{at, at}};
        if (a->claim.n_uploads > 1)
            data.of[1 - a->last] =
                (const unsigned char *)held + a->done * a->row_bytes[1 - a->last];
        status = pe_arriving_part_make(a, &data, some, context, &p, why);
        if (status != PE_OK)
            break;
        status = pe_arriving_add(a, &p, why);
        pe_arriving_part_free(&p);
        keep_sample(a, &data, some);
        at += some * a->row_bytes[a->last];
        left -= some;
        a->done += some;
    }
    return status;
}

/* ---- the end ---- */

static pe_status finish(pe_arriving *a, const pe_verify_context *context, pe_problem *why)
{
    pe_guess guess;
    pe_report *report = &a->report;
    pe_status status = pe_guess_make(&a->claim, context, &guess, why);
    if (status != PE_OK)
        return status;
    const unsigned allowed = pe_measure_allowed(&guess);
    report->parameters = pe_guess_parameters(&guess);
    report->matches = a->by != 0;
    report->numerics = (a->by & PE_BY_EXACT) != 0 ? "exact" : a->by != 0 ? "float32" : NULL;
    const bool loose = report->matches ? a->by == PE_BY_FLOAT32 : allowed != PE_BY_EXACT;
    report->allowed = a->allowed[loose];
    report->undecided = a->by == PE_BY_FLOAT32 ? report->undecided : 0;
    report->bands_of = a->pairs ? "pairs" : "rows";
    pe_arriving_finish_errors(&report->distances.errors);
    for (size_t b = 0; b < report->distances.n_bands; b++)
        pe_arriving_finish_errors(&report->distances.bands[b].errors);
    report->has_strays = !report->matches;
    report->strays.all_rows = a->rows;
    report->strays.all_columns = a->width;
    for (size_t c = 0; c < a->width; c++)
        report->strays.columns += a->columns[c];
    if (!report->matches && !report->n_findings)
        status = pe_strays_tell(report, &guess, &report->strays, a->pairs, why);
    pe_findings_rank(report);
    pe_guess_free(&guess);
    return status == PE_OK && report->parameters == NULL ? pe_fail_memory(why) : status;
}

/* What was looked for in the sample, and found. */
static void take_search(pe_report *of, size_t of_rows, pe_report *to)
{
    to->blind = of->blind;
    to->hypotheses = of->hypotheses;
    to->pairs_tried = of->pairs_tried;
    to->work = of->work;
    to->complete = of->complete;
    to->has_reading = of->has_reading;
    to->reading = of->reading;
    to->reading.of_rows = of_rows;
    of->reading = (pe_reading){0};
    to->facts = of->facts;
    of->facts = (pe_facts){0};
    for (size_t f = 0; f < of->n_findings; f++) {
        pe_finding *finding = &of->findings[f];
        if (finding->n_faults == 1 && pe_strays_is_fault(finding->faults[0]))
            continue; /* of the sample alone */
        to->findings[to->n_findings++] = *finding;
        *finding = (pe_finding){0};
    }
}

static pe_status search(pe_arriving *a, const pe_verify_context *context, pe_problem *why)
{
    pe_claim claim;
    pe_report report;
    pe_verify_context of_sample = *context;
    of_sample.draws = false;
    of_sample.sampled = true;
    const pe_arriving_data sample = {{a->sample[0], a->sample[1]}};
    pe_status status = pe_arriving_claim_rows(a, true, &sample, a->kept, &claim, why);
    if (status != PE_OK)
        return status;
    status = pe_verify(&claim, &of_sample, &report, why);
    pe_verify_claim_free(&claim);
    if (status != PE_OK)
        return status;
    take_search(&report, a->rows, &a->report);
    pe_verify_report_free(&report);
    a->report.sampled = a->kept;
    a->report.sampled_of = a->rows;
    return PE_OK;
}

pe_status pe_arriving_end(pe_arriving *arriving, const pe_verify_context *context, pe_report *out,
                          pe_problem *why)
{
    pe_status status = search(arriving, context, why);
    pe_turn_finish();
    if (status == PE_OK)
        status = finish(arriving, context, why);
    if (status == PE_OK) {
        *out = arriving->report;
        arriving->report = (pe_report){0};
    }
    return status;
}
