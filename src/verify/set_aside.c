/* SPDX-License-Identifier: MIT */
/* set_aside.c - rows of a table that no angle gives are set aside; the others are searched alone. */
#include "verify/set_aside.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/turns.h"
#include "verify/findings.h"
#include "verify/median.h"
#include "verify/part.h"
#include "verify/measure.h"

#define ROWS_LEAST 8    /* that are left */
#define OFF_CIRCLE 0.05 /* of the radius: more than any arithmetic */
#define ROWS_READ  255  /* for the radius of a pair */
#define PAIR_WORK  8    /* units */

/* Rows of the view: those that are set aside, and what they hold. */
typedef struct aside {
    bool *row, *claimed; /* [tokens] owned */
    bool as_claimed;     /* all of them are */
    size_t n, first, last;
    bool zeros, no_numbers; /* all of them */
} aside;

/* ---- which rows ---- */

static double radius_at(const pe_upload_view *view, size_t row, size_t pair)
{
    const pe_geometry *g = &view->geometry;
    return pe_length(pe_upload_view_at(view, false, row, g->cos_at + pair * g->stride),
                     pe_upload_view_at(view, false, row, g->sin_at + pair * g->stride));
}

/* The median among rows that are spread over the table. 0: of too few numbers. */
static double radius_of(const double *radius, size_t rows)
{
    double list[ROWS_READ] = {0};
    size_t n = 0;
    const size_t most = rows < ROWS_READ ? rows : ROWS_READ;
    for (size_t k = 0; k < most; k++)
        if (isfinite(radius[k * rows / most]))
            list[n++] = radius[k * rows / most];
    return 2 * n > most ? pe_median(list, n) : 0;
}

static bool is_off(double radius, double by, double circle)
{
    return !(fabs(radius - circle) <= by * circle);
}

/* A pair that is off in most rows is another mistake. So is one whose radius changes from row to
 * row: where rows are off, others are nearly so. */
static void mark_pair(const double *radius, size_t rows, bool *out)
{
    size_t n = 0, nearly = 0;
    const double circle = radius_of(radius, rows);
    for (size_t r = 0; r < rows; r++) {
        n += is_off(radius[r], OFF_CIRCLE, circle);
        nearly += is_off(radius[r], OFF_CIRCLE / 4, circle);
    }
    nearly -= n;
    const bool marks = 2 * n <= rows && 4 * nearly <= n && circle > 0;
    for (size_t r = 0; r < rows && marks && n > 0; r++)
        out[r] |= is_off(radius[r], OFF_CIRCLE, circle);
    pe_turn_spend(PAIR_WORK * rows);
}

static pe_status mark_pairs(const pe_search *s, bool *out, pe_problem *why)
{
    const pe_upload_view *view = s->whole;
    const pe_geometry *g = &view->geometry;
    double *radius = malloc((view->rows + 1) * sizeof *radius);
    if (radius == NULL)
        return pe_fail_memory(why);
    for (size_t i = 0; i < g->cos_n && i < g->sin_n && !pe_attempts_given_up(s); i++) {
        for (size_t r = 0; r < view->rows; r++)
            radius[r] = radius_at(view, r, i);
        mark_pair(radius, view->rows, out);
    }
    free(radius);
    return PE_OK;
}

static void describe_row(const pe_upload_view *view, size_t row, aside *out)
{
    out->first = out->n == 0 ? row : out->first;
    out->last = row;
    out->n++;
    for (size_t c = 0; c < view->width; c++) {
        const double x = pe_upload_view_at(view, false, row, c);
        out->zeros &= x == 0;
        out->no_numbers &= !isfinite(x);
    }
}

/* Of the rows that are off, those that are as claimed: padding is zero. */
static pe_status find_claimed(pe_search *s, pe_guess *claim, aside *rows, pe_problem *why)
{
    pe_expect expect;
    pe_measure_row r;
    pe_status status =
        pe_measure_expect(&(pe_comparison){s->whole, claim, &s->work}, true, &expect, why);
    if (status != PE_OK || !expect.fits)
        return status;
    for (size_t row = 0; row < s->whole->rows && status == PE_OK; row++) {
        size_t c = 0;
        status = rows->row[row] ? pe_measure_compare(&expect, row, &r, why) : PE_OK;
        while (rows->row[row] && status == PE_OK && c < r.width &&
               pe_measure_explained_by(&r, c) != 0)
            c++;
        rows->claimed[row] = rows->row[row] && status == PE_OK && c == r.width;
    }
    pe_expect_free(&expect);
    return status;
}

/* Rows as claimed are set aside by themselves, but not with others: only those are told. */
static void describe_rows(const pe_upload_view *view, aside *out)
{
    size_t n = 0, claimed = 0;
    for (size_t r = 0; r < view->rows; r++) {
        n += out->row[r];
        claimed += out->claimed[r];
    }
    out->as_claimed = n == claimed;
    for (size_t r = 0; r < view->rows; r++) {
        out->row[r] &= out->as_claimed || !out->claimed[r];
        if (out->row[r])
            describe_row(view, r, out);
    }
}

static pe_status find_rows(pe_search *s, pe_guess *claim, aside *out, pe_problem *why)
{
    const pe_upload_view *view = s->whole;
    *out = (aside){.row = calloc(2 * view->rows, sizeof(bool)), .zeros = true, .no_numbers = true};
    if (out->row == NULL)
        return pe_fail_memory(why);
    out->claimed = out->row + view->rows;
    pe_status status = mark_pairs(s, out->row, why);
    s->work += view->elements;
    if (status != PE_OK || memchr(out->row, 1, view->rows) == NULL)
        return status;
    status = pe_attempts_set_positions(s, view, claim, why);
    if (status == PE_OK)
        status = find_claimed(s, claim, out, why);
    describe_rows(view, out);
    return status;
}

/* ---- the others, as a claim of their own ---- */

static pe_status take_positions(const pe_upload_view *view, const aside *rows, pe_positions *out,
                                pe_problem *why)
{
    pe_array list;
    size_t n = 0;
    const size_t left = view->tokens - rows->n;
    const pe_positions *all = &pe_values_find(&view->claim->values, "positions")->positions;
    const pe_shape one = {1, {left}}, several = {2, {view->axes, left}};
    pe_status status = pe_array_make(PE_FLOAT64, view->axes == 1 ? &one : &several, &list, why);
    if (status != PE_OK)
        return status;
    for (size_t a = 0; a < view->axes; a++)
        for (size_t t = 0; t < view->tokens; t++)
            if (!rows->row[t])
                ((double *)list.data)[n++] = pe_positions_at(all, a * view->tokens + t);
    pe_positions_free(out);
    status = pe_positions_from_list(&list, "positions", out, why);
    pe_array_free(&list);
    return status;
}

static pe_status take_rows(const pe_array *from, const aside *rows, pe_array *out, pe_problem *why)
{
    pe_shape shape = from->shape;
    const size_t all = shape.dim[0], bytes = from->elements / all * pe_dtype_bytes(from->dtype);
    shape.dim[0] = all - rows->n;
    const pe_status status = pe_array_make(from->dtype, &shape, out, why);
    char *to = out->data;
    for (size_t r = 0; r < all && status == PE_OK; r++)
        if (!rows->row[r]) {
            memcpy(to, (const char *)from->data + r * bytes, bytes);
            to += bytes;
        }
    return status;
}

static pe_status make_claim(const pe_search *s, const aside *rows, pe_claim *out, pe_problem *why)
{
    const pe_upload_view *view = s->whole;
    const pe_claim *all = view->claim;
    pe_part_begin(s, out);
    pe_status status = pe_values_copy(&all->values, &out->values, why);
    if (status == PE_OK)
        status =
            take_positions(view, rows, &pe_values_find(&out->values, "positions")->positions, why);
    for (size_t u = 0; u < all->n_uploads && status == PE_OK; u++) {
        memcpy(out->uploads[u].name, all->uploads[u].name, sizeof out->uploads[u].name);
        status = take_rows(&all->uploads[u].array, rows, &out->uploads[u].array, why);
        out->n_uploads = u + 1;
    }
    return status;
}

/* ---- telling ---- */

static const pe_fault rows_off = {
    .name = "corrupted_elements",
    .remedy = "look at what writes these rows: a slice, a mask, memory that is written twice"};

static void describe(const aside *rows, size_t all, pe_buffer *out)
{
    pe_buffer_str(out, "beside that, ");
    if (rows->n == 1)
        pe_buffer_format(out, "row %zu of %zu is ", rows->first, all);
    else
        pe_buffer_format(out, "rows %zu to %zu of %zu ", rows->first, rows->last, all);
    if (rows->n > 1 && rows->last - rows->first + 1 > rows->n)
        pe_buffer_format(out, "(%zu of them) ", rows->n);
    pe_buffer_format(out, "%s%s", rows->n > 1 ? "are " : "",
                     rows->zeros        ? "zero, or not written"
                     : rows->no_numbers ? "NaN or infinite"
                                        : "something else, which no angle gives: elements that "
                                          "were overwritten, NaN or infinite");
}

/* What was read off alone, and explains nothing, is found without this. Rows are counted among
 * those that are left: a sentence on them is true where the others stand behind. */
static bool may_be_told(const pe_finding *found, const aside *rows, size_t all)
{
    const bool behind = rows->last + 1 == all && rows->last - rows->first + 1 == rows->n;
    const bool of_rows = strstr(found->rule, "row") != NULL;
    return found->n_faults < PE_FAULTS_MAX && (behind || !of_rows) &&
           (!found->fitted || found->errors.elements > 0 ||
            strcmp(found->faults[0], "amplitude") == 0);
}

/* text; more */
static pe_status append(char **text, const char *more, pe_problem *why)
{
    pe_buffer both = {0};
    pe_buffer_format(&both, "%s; %s", *text, more);
    char *copy = both.failed ? NULL : strdup(pe_buffer_text(&both));
    pe_buffer_free(&both);
    if (copy == NULL)
        return pe_fail_memory(why);
    free(*text);
    *text = copy;
    return PE_OK;
}

static pe_status add_rows(pe_finding *found, const aside *rows, size_t all, pe_problem *why)
{
    pe_buffer rule = {0};
    describe(rows, all, &rule);
    pe_status status = append(&found->rule, pe_buffer_text(&rule), why);
    pe_buffer_free(&rule);
    if (status == PE_OK)
        status = append(&found->remedy, rows_off.remedy, why);
    found->faults[found->n_faults++] = rows_off.name;
    return status;
}

/* The finding is moved from one report to the other. */
static pe_status tell(pe_search *s, pe_finding *found, const aside *rows, pe_problem *why)
{
    const pe_status status =
        rows->as_claimed ? PE_OK : add_rows(found, rows, s->whole->tokens, why);
    if (status != PE_OK)
        return status;
    pe_findings_put(s->report, found);
    *found = (pe_finding){0};
    return PE_OK;
}

/* Where the others match, nothing is found: the rows are the only mistake. */
static pe_status search_others(pe_search *s, const aside *rows, pe_problem *why)
{
    pe_claim others;
    pe_report report = {0};
    pe_verify_context context = *s->claim.context;
    context.sampled = true;
    pe_status status = make_claim(s, rows, &others, why);
    if (status == PE_OK)
        status = pe_part_verify(s, &others, &context, &report, why);
    for (size_t f = 0; f < report.n_findings && status == PE_OK; f++)
        if (may_be_told(&report.findings[f], rows, s->whole->tokens))
            status = tell(s, &report.findings[f], rows, why);
    pe_verify_report_free(&report);
    pe_verify_claim_free(&others);
    return status;
}

/* A table of which each tensor has a row for each token, and both numbers of each pair. */
static bool applies(const pe_search *s)
{
    const pe_upload_view *view = s->whole;
    const pe_claim *claim = view->claim;
    bool rows = view->got != NULL && !view->rotated && view->unsent_n == 0 && !view->permuted &&
                !view->width_differs && view->rows == view->tokens && view->tokens > ROWS_LEAST &&
                !s->some_match && !s->claim.context->sampled;
    for (size_t u = 0; u < claim->n_uploads && rows; u++)
        rows = claim->uploads[u].array.shape.ndim > 1 &&
               claim->uploads[u].array.shape.dim[0] == view->tokens;
    return rows && pe_values_find(&claim->values, "positions") != NULL;
}

/* More of them than a quarter are waves of another kind, unless nothing was written there. */
static bool are_exceptions(const aside *rows, size_t all)
{
    const size_t part = rows->zeros || rows->no_numbers ? 2 : 4;
    return rows->n > 0 && part * rows->n <= all && all - rows->n >= ROWS_LEAST;
}

pe_status pe_set_aside_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    aside rows;
    if (!applies(s))
        return PE_OK;
    pe_status status = find_rows(s, guess, &rows, why);
    if (status == PE_OK && are_exceptions(&rows, s->whole->tokens))
        status = search_others(s, &rows, why);
    free(rows.row);
    return status;
}
