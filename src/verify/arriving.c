/* SPDX-License-Identifier: MIT */
/* arriving.c - a table that is held against its claim while its rows arrive. */
#include "verify/arriving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/findings.h"
#include "verify/reading.h"
#include "verify/strays.h"

/* Elements of the rows in which faults are looked for. */
#define KEPT_ELEMENTS 262144

#define TENSORS_MAX 2

struct pe_arriving {
    pe_claim claim; /* owned; its arrays have shapes alone */
    size_t rows, width, done;
    size_t row_bytes[TENSORS_MAX]; /* of each tensor */
    size_t last;                   /* the tensor that comes last */
    bool pairs;                    /* the rows hold pairs, not plain numbers */
    unsigned by;                   /* arithmetics that explain all rows so far */
    size_t kept;                   /* rows of the sample; `taken` of them are there */
    size_t taken;
    unsigned char *sample[TENSORS_MAX]; /* owned */
    bool *columns;                      /* [width] owned: which hold strays */
    double farthest;                    /* position so far */
    pe_allowed allowed[2];              /* of each arithmetic */
    pe_report report; /* of the rows so far; until the end rms are sums of squares */
};

/* Where rows of each tensor are. */
typedef struct row_data {
    const unsigned char *of[TENSORS_MAX];
} row_data;

/* Some rows of the table, as a claim of their own. */
typedef struct part {
    pe_claim claim;
    pe_upload_view view;
    pe_guess guess;
    size_t rows, work;
} part;

/* ---- claims of some rows ---- */

static size_t tensors_of(const pe_claim *claim)
{
    return claim->n_uploads < TENSORS_MAX ? claim->n_uploads : TENSORS_MAX;
}

static pe_positions *positions_of(const pe_claim *claim)
{
    return &pe_values_find(&claim->values, "positions")->positions;
}

/* Row k of those that come next, or of the sample. */
static size_t row_of(const pe_arriving *a, bool sampled, size_t k)
{
    return sampled ? pe_reading_sampled(k, a->kept, a->rows) : a->done + k;
}

static pe_status list_positions(const pe_arriving *a, bool sampled, size_t n, pe_positions *out,
                                pe_problem *why)
{
    pe_array list;
    pe_status status = pe_array_make(PE_FLOAT64, &(pe_shape){1, {n}}, &list, why);
    if (status != PE_OK)
        return status;
    for (size_t k = 0; k < n; k++)
        ((double *)list.data)[k] = pe_positions_at(positions_of(&a->claim), row_of(a, sampled, k));
    status = pe_positions_from_list(&list, "positions", out, why);
    pe_array_free(&list);
    return status;
}

static pe_status claim_rows(const pe_arriving *a, bool sampled, const row_data *rows, size_t n,
                            pe_claim *out, pe_problem *why)
{
    const pe_claim *all = &a->claim;
    *out = (pe_claim){.resource = all->resource,
                      .any_numerics = all->any_numerics,
                      .tolerance = all->tolerance,
                      .seq_axis = all->seq_axis,
                      .n_uploads = all->n_uploads};
    for (size_t t = 0; t < tensors_of(all); t++) {
        const pe_upload *of = &all->uploads[t];
        const size_t width = of->array.shape.dim[1];
        pe_upload *some = &out->uploads[t];
        memcpy(some->name, of->name, sizeof some->name);
        some->array = (pe_array){.dtype = of->array.dtype,
                                 .shape = {2, {n, width}},
                                 .elements = n * width,
                                 .data = (void *)(uintptr_t)rows->of[t], /* read only: borrowed */
                                 .borrowed = true};
    }
    pe_status status = pe_values_copy(&all->values, &out->values, why);
    if (status == PE_OK) {
        pe_positions_free(positions_of(out));
        *positions_of(out) = (pe_positions){0};
        status = list_positions(a, sampled, n, positions_of(out), why);
    }
    if (status != PE_OK)
        pe_verify_claim_free(out);
    return status;
}

static void part_free(part *p)
{
    pe_guess_free(&p->guess);
    pe_upload_view_free(&p->view);
    pe_verify_claim_free(&p->claim);
}

static pe_status part_make(const pe_arriving *a, const row_data *rows, size_t n,
                           const pe_verify_context *context, part *out, pe_problem *why)
{
    *out = (part){.rows = n};
    pe_status status = claim_rows(a, false, rows, n, &out->claim, why);
    if (status != PE_OK)
        return status;
    status = pe_upload_view_make(&out->claim, context, &out->view, why);
    if (status == PE_OK)
        status = pe_guess_make(&out->claim, context, &out->guess, why);
    if (status != PE_OK)
        part_free(out);
    return status;
}

/* ---- the beginning ---- */

/* With fewer rows some band has none. */
#define ROWS_LEAST 64

/* Tensors of rows, each of one position. */
static bool has_rows(const pe_claim *claim, const pe_verify_context *context)
{
    const pe_value *positions = pe_values_find(&claim->values, "positions");
    bool has = claim->next == NULL && claim->n_uploads <= TENSORS_MAX &&
               claim->inputs.elements == 0 && positions != NULL && positions->present &&
               positions->positions.shape.ndim == 1;
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

/* Do the first rows have the width of the claim? Plain numbers have one tensor. */
static pe_status look_at_first(pe_arriving *a, size_t n, const pe_verify_context *context,
                               bool *fits, pe_problem *why)
{
    part first;
    pe_plan plan = {0};
    row_data rows;
    pe_status status = pe_upload_view_plan(&a->claim, context, &plan, why); /* of all rows */
    pe_plan_free(&plan);
    for (size_t t = 0; t < tensors_of(&a->claim); t++)
        rows.of[t] = data_of(&a->claim, t);
    if (status == PE_OK)
        status = part_make(a, &rows, n, context, &first, why);
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
    part_free(&first);
    return PE_OK;
}

static bool make_room(pe_arriving *a)
{
    bool made = true;
    a->kept = (KEPT_ELEMENTS / a->width / PE_READING_BLOCKS + 4) * PE_READING_BLOCKS;
    a->kept = a->kept < a->rows ? a->kept : a->rows;
    for (size_t t = 0; t < tensors_of(&a->claim); t++) {
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
    for (size_t t = 0; t < tensors_of(claim); t++) {
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
    for (size_t t = 0; t < tensors_of(claim); t++)
        claim->uploads[t].array.data = NULL;
}

pe_status pe_arriving_begin(pe_claim *claim, pe_slice there, size_t *skip,
                            const pe_verify_context *context, pe_arriving **out, pe_problem *why)
{
    bool fits = false;
    pe_arriving *a = NULL;
    *out = NULL;
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
    for (size_t t = 0; t < TENSORS_MAX; t++)
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

/* ---- some rows ---- */

/* Parts end where bands of rows and cells of maps do. */
static size_t eighth_of(const pe_arriving *a, size_t row)
{
    return row * PE_BANDS_MAX / a->rows;
}

static size_t end_of_eighth(const pe_arriving *a, size_t row)
{
    return ((eighth_of(a, row) + 1) * a->rows + PE_BANDS_MAX - 1) / PE_BANDS_MAX;
}

static void add_errors(const pe_errors *of, pe_errors *to)
{
    to->elements += of->elements;
    to->max_abs = fmax(to->max_abs, of->max_abs);
    to->max_ulp = fmax(to->max_ulp, of->max_ulp);
    to->rms += of->rms * of->rms * (double)of->elements;
    to->has_phase |= of->has_phase;
    to->max_phase = fmax(to->max_phase, of->max_phase);
}

static void finish_errors(pe_errors *errors)
{
    errors->rms = errors->elements > 0 ? sqrt(errors->rms / (double)errors->elements) : 0;
}

/* Bands are of pairs, which all parts have, or of rows. */
static pe_status add_distances(pe_arriving *a, const pe_comparison *of, pe_problem *why)
{
    pe_distances one = {0}, *all = &a->report.distances;
    const bool float32 = pe_measure_allowed(of->guess) == PE_BY_FLOAT32;
    if (a->pairs)
        pe_measure_set_bands(of->view, &one);
    const pe_status status =
        pe_measure_distances(of, float32 ? PE_NUMERICS_FLOAT32 : PE_NUMERICS_EXACT, &one, why);
    if (status != PE_OK)
        return status;
    add_errors(&one.errors, &all->errors);
    for (size_t b = 0; b < one.n_bands; b++)
        add_errors(&one.bands[b].errors, &all->bands[b].errors);
    if (!a->pairs)
        add_errors(&one.errors, &all->bands[eighth_of(a, a->done)].errors);
    return PE_OK;
}

/* As pe_measure_allowance: of pairs at the farthest position, else the largest. */
static pe_status add_allowance(pe_arriving *a, const pe_comparison *of, unsigned by, bool farther,
                               pe_problem *why)
{
    pe_allowed one, *all = &a->allowed[by == PE_BY_FLOAT32];
    if (a->pairs && !farther)
        return PE_OK;
    const pe_status status = pe_measure_allowance(of, by, &one, why);
    if (status == PE_OK && (a->pairs || one.max_abs > all->max_abs))
        *all = one;
    return status;
}

static pe_status add_allowances(pe_arriving *a, const pe_comparison *of, pe_problem *why)
{
    double least, most;
    pe_status status = PE_OK;
    pe_positions_bounds(positions_of(of->view->claim), &least, &most);
    const double farthest = fmax(fabs(least), fabs(most));
    const bool farther = farthest > a->farthest;
    a->farthest = fmax(a->farthest, farthest);
    if ((a->by & PE_BY_EXACT) != 0 || pe_measure_allowed(of->guess) == PE_BY_EXACT)
        status = add_allowance(a, of, PE_BY_EXACT, farther, why);
    if (status == PE_OK && pe_measure_allowed(of->guess) != PE_BY_EXACT)
        status = add_allowance(a, of, PE_BY_FLOAT32, farther, why);
    return status;
}

static void add_strays(pe_arriving *a, const pe_strays *of, pe_strays *to)
{
    const size_t at = a->done, row = eighth_of(a, at);
    const bool none = to->elements == 0;
    to->compared += of->compared;
    if (of->elements == 0)
        return;
    to->first_row = none ? at + of->first_row : to->first_row;
    to->last_row = at + of->last_row;
    to->first_column =
        none || of->first_column < to->first_column ? of->first_column : to->first_column;
    to->last_column = of->last_column > to->last_column ? of->last_column : to->last_column;
    to->elements += of->elements;
    to->rows += of->rows;
    to->not_finite += of->not_finite;
    for (size_t r = 0; r < PE_MAP_CELLS; r++)
        for (size_t c = 0; c < PE_MAP_CELLS; c++)
            to->map[row][c] += of->map[r][c];
}

/* What is not as claimed, and the first of it. */
static pe_status look_for_strays(pe_arriving *a, const pe_comparison *of, pe_problem *why)
{
    pe_strays strays;
    pe_bad *bad = &a->report.first_bad;
    const unsigned by = pe_measure_allowed(of->guess) == PE_BY_EXACT ? PE_BY_EXACT : PE_BY_FLOAT32;
    const pe_status status = pe_measure_strays(of, by, a->columns, &strays, why);
    if (status != PE_OK)
        return status;
    add_strays(a, &strays, &a->report.strays);
    if (bad->any || strays.elements == 0)
        return PE_OK;
    const pe_status looked = pe_measure_first_bad(of, by, bad, why);
    for (size_t t = tensors_of(&a->claim); bad->tensor != NULL && t-- > 0;)
        if (t == 0 || strcmp(bad->tensor, a->claim.uploads[t].name) == 0) {
            bad->tensor = a->claim.uploads[t].name; /* the part's goes */
            break;
        }
    bad->index[0] += a->done;
    return looked;
}

static pe_status compare(pe_arriving *a, part *p, pe_problem *why)
{
    unsigned by;
    size_t undecided = 0;
    const pe_comparison of = {&p->view, &p->guess, &p->work};
    pe_status status = pe_measure_explain(&of, &by, why);
    a->by &= by;
    if (status == PE_OK && by == PE_BY_FLOAT32)
        status = pe_measure_undecided(&of, &undecided, why);
    a->report.undecided += undecided;
    if (status == PE_OK)
        status = add_distances(a, &of, why);
    if (status == PE_OK)
        status = add_allowances(a, &of, why);
    if (status == PE_OK && by == 0)
        status = look_for_strays(a, &of, why);
    else
        a->report.strays.compared += p->view.elements;
    return status;
}

static void keep_sample(pe_arriving *a, const row_data *rows, size_t n)
{
    for (; a->taken < a->kept; a->taken++) {
        const size_t row = row_of(a, true, a->taken);
        if (row >= a->done + n)
            return;
        for (size_t t = 0; t < tensors_of(&a->claim); t++)
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
        part p;
        const size_t most = end_of_eighth(a, a->done) - a->done, some = left < most ? left : most;
        row_data data = {{at, at}};
        if (a->claim.n_uploads > 1)
            data.of[1 - a->last] =
                (const unsigned char *)held + a->done * a->row_bytes[1 - a->last];
        status = part_make(a, &data, some, context, &p, why);
        if (status != PE_OK)
            break;
        status = compare(a, &p, why);
        part_free(&p);
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
    finish_errors(&report->distances.errors);
    for (size_t b = 0; b < report->distances.n_bands; b++)
        finish_errors(&report->distances.bands[b].errors);
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
    const row_data sample = {{a->sample[0], a->sample[1]}};
    pe_status status = claim_rows(a, true, &sample, a->kept, &claim, why);
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
    if (status == PE_OK)
        status = finish(arriving, context, why);
    if (status == PE_OK) {
        *out = arriving->report;
        arriving->report = (pe_report){0};
    }
    return status;
}
