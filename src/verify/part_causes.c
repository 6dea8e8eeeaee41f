/* SPDX-License-Identifier: MIT */
/* part_causes.c - tensors or heads that are as claimed, beside others that are not. */
#include "verify/search/attempts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/verify.h"

#define PARTS_MAX 256

/* What an upload is divided into, and the parts that do not hold what belongs there: what part[k] holds is
 * that of part from[k]. */
typedef struct division {
    const pe_claim *whole;
    const char *one, *several; /* "head", "heads" */
    size_t n;
    size_t axis; /* of the heads, in the upload's array; not of tensors */
    bool of_heads;
    size_t others, part[PARTS_MAX], from[PARTS_MAX];
} division;

/* ---- a claim of some parts ---- */

/* Slices of an axis, one behind the other. */
static pe_status take_slices(const pe_array *from, size_t axis, const size_t *slice, size_t n,
                             pe_array *out, pe_problem *why)
{
    size_t before = 1, bytes = pe_dtype_bytes(from->dtype);
    pe_shape shape = from->shape;
    const size_t all = shape.dim[axis];
    for (size_t d = 0; d < axis; d++)
        before *= shape.dim[d];
    for (size_t d = axis + 1; d < shape.ndim; d++)
        bytes *= shape.dim[d];
    shape.dim[axis] = n;
    const pe_status status = pe_array_make(from->dtype, &shape, out, why);
    char *to = out->data;
    for (size_t b = 0; b < before && status == PE_OK; b++)
        for (size_t k = 0; k < n; k++, to += bytes)
            memcpy(to, (const char *)from->data + (b * all + slice[k]) * bytes, bytes);
    return status;
}

/* Of n parts; numbers of tensors are borrowed. */
static pe_status make_claim(const division *of, const size_t *part, const size_t *from, size_t n,
                            pe_claim *out, pe_problem *why)
{
    const pe_claim *whole = of->whole;
    *out = (pe_claim){.resource = whole->resource,
                      .any_numerics = whole->any_numerics,
                      .tolerance = whole->tolerance,
                      .seq_axis = whole->seq_axis,
                      .items = whole->items};
    PE_TRY(pe_values_copy(&whole->values, &out->values, why));
    for (size_t k = 0; k < n && !of->of_heads; k++) {
        pe_upload *to = &out->uploads[out->n_uploads++];
        *to = whole->uploads[from[k]];
        to->array = whole->uploads[part[k]].array;
        to->array.borrowed = true;
    }
    if (!of->of_heads)
        return PE_OK;
    const pe_upload *upload = &whole->uploads[0];
    memcpy(out->uploads[0].name, upload->name, sizeof upload->name);
    PE_TRY(take_slices(&upload->array, of->axis, part, n, &out->uploads[0].array, why));
    out->n_uploads = 1;
    return take_slices(&whole->inputs, of->axis, from, n, &out->inputs, why);
}

/* ---- which do not match ---- */

/* Does part k hold what belongs to part `from`? */
static bool holds(pe_search *s, const division *of, size_t k, size_t from)
{
    pe_claim part;
    pe_upload_view view;
    pe_guess guess;
    unsigned by = 0;
    size_t work = 0; /* is counted by who asks */
    const pe_verify_context *context = s->claim.context;
    pe_status status = make_claim(of, &k, &from, 1, &part, s->why);
    if (status == PE_OK)
        status = pe_upload_view_make(&part, context, &view, s->why);
    const bool made = status == PE_OK;
    if (made && !view.width_differs && !view.permuted) {
        status = pe_guess_make(&part, context, &guess, s->why);
        if (status == PE_OK)
            status = pe_measure_explain(&(pe_comparison){&view, &guess, &work}, false, &by, s->why);
        pe_guess_free(&guess);
    }
    if (made)
        pe_upload_view_free(&view);
    pe_verify_claim_free(&part);
    return (status == PE_INVALID_PARAMETER || pe_attempts_did(s, status)) && by != 0;
}

static void find_others(pe_search *s, division *of)
{
    for (size_t k = 0; k < of->n && !pe_attempts_spent(s); k++)
        if (!holds(s, of, k, k))
            of->part[of->others++] = k;
    s->work += s->whole->elements;
}

/* Does each of them hold what belongs to another one? */
static bool find_order(pe_search *s, division *of)
{
    size_t found = 0;
    for (size_t k = 0; k < of->others && found == k; k++)
        for (size_t from = 0; from < of->n && found == k && !pe_attempts_spent(s); from++)
            if (from != of->part[k] && holds(s, of, of->part[k], from)) {
                of->from[k] = from;
                found++;
            }
    s->work += s->whole->elements;
    return of->others > 1 && found == of->others;
}

/* ---- telling ---- */

/* "heads 1, 3 of 8: ", "tensor sin: " */
static void name_parts(const division *of, const size_t *part, pe_buffer *out)
{
    pe_buffer_str(out, of->others > 1 ? of->several : of->one);
    for (size_t k = 0; k < of->others; k++) {
        pe_buffer_str(out, k > 0 ? ", " : " ");
        if (of->of_heads)
            pe_buffer_format(out, "%zu", part[k]);
        else
            pe_buffer_str(out, of->whole->uploads[part[k]].name);
    }
    if (of->of_heads)
        pe_buffer_format(out, " of %zu", of->n);
    pe_buffer_str(out, ": ");
}

static void tell_order(pe_search *s, const division *of)
{
    static const pe_fault heads = {
        .name = PE_NAME(head_order),
        .remedy = "keep the order of heads: check how weights were split and axes reshaped, and "
                  "which keys are repeated for groups of queries"};
    static const pe_fault tensors = {.name = PE_NAME(tensors_exchanged)};
    pe_buffer rule = {0};
    name_parts(of, of->part, &rule);
    pe_buffer_str(&rule, "they hold the numbers of ");
    name_parts(of, of->from, &rule);
    pe_buffer_str(&rule, "they are permuted");
    const pe_told told = {
        .fault = of->of_heads ? &heads : &tensors, .rule = pe_buffer_text(&rule), .exact = true};
    pe_attempts_did(s, pe_findings_tell(s->report, &s->claim, &told, s->why,
                                        "all elements match when they are in order"));
    pe_buffer_free(&rule);
}

/* What was measured is that of these heads. */
static void take_reading(pe_search *s, const division *of, pe_report *from)
{
    pe_buffer *json = &s->report->facts.json;
    s->report->has_reading = true;
    s->report->reading = from->reading;
    from->has_reading = false;
    from->reading = (pe_reading){0};
    for (size_t k = 0; k < of->others; k++)
        pe_buffer_format(json, "%s%zu", k > 0 ? "," : "\"heads\":[", of->part[k]);
    pe_buffer_str(json, "]");
}

/* They are verified as a claim of their own; what is told of elements that were compared is moved from one
 * report to the other. */
static void verify_others(pe_search *s, const division *of, pe_claim *part, const char *name)
{
    pe_report report = {0};
    pe_verify_limits left = *s->bounds;
    pe_verify_context context = *s->claim.context;
    left.max_work -= s->work < left.max_work ? s->work : left.max_work;
    context.bounds = &left;
    context.draws = false;
    context.part = name;
    const pe_status status = pe_verify(part, &context, &report, s->why);
    if (status != PE_INVALID_PARAMETER && !pe_attempts_did(s, status))
        return;
    s->work += report.work;
    s->report->computed += report.computed;
    s->report->hypotheses += report.hypotheses;
    for (size_t f = 0; f < report.n_findings; f++)
        if (report.findings[f].errors.elements > 0) {
            pe_findings_put(s->report, &report.findings[f]);
            report.findings[f] = (pe_finding){0};
        }
    s->report->in_parts = of->of_heads && pe_attempts_found(s);
    if (s->report->in_parts && report.has_reading)
        take_reading(s, of, &report);
    pe_verify_report_free(&report);
}

static void search_others(pe_search *s, const division *of)
{
    pe_claim part;
    pe_buffer name = {0};
    name_parts(of, of->part, &name);
    if (pe_attempts_did(s, make_claim(of, of->part, of->part, of->others, &part, s->why)))
        verify_others(s, of, &part, pe_buffer_text(&name));
    pe_verify_claim_free(&part);
    pe_buffer_free(&name);
}

/* ---- what is divided ---- */

/* Cosines and sines of each row side by side, as tensors of their own. */
static bool are_side_by_side(const pe_upload_view *view)
{
    return view->claim->n_uploads == 1 && !view->rotated && view->layout != NULL &&
           strcmp(pe_geometry_choice_text(&view->claim->values, "cache_layout"), "vllm") == 0;
}

static pe_status part_halves(const pe_claim *whole, pe_claim *out, pe_problem *why)
{
    static const char *const names[] = {"cos", "sin"};
    const division of = {.whole = whole};
    pe_array halves = whole->uploads[0].array;
    const size_t width = halves.shape.dim[halves.shape.ndim - 1];
    halves.shape = (pe_shape){3, {halves.elements / width, 2, width / 2}};
    PE_TRY(make_claim(&of, NULL, NULL, 0, out, why));
    (void)pe_geometry_set_choice(&out->values, "cache_layout", "pairs");
    for (size_t h = 0; h < PE_LEN(names); h++) {
        pe_upload *half = &out->uploads[out->n_uploads++];
        snprintf(half->name, sizeof half->name, "%s", names[h]);
        PE_TRY(take_slices(&halves, 1, &h, 1, &half->array, why));
        half->array.shape = (pe_shape){2, {halves.shape.dim[0], halves.shape.dim[2]}};
    }
    return PE_OK;
}

/* False: it has no parts that can be told apart. */
static bool divide(const pe_upload_view *view, division *out)
{
    const pe_claim *claim = view->claim;
    const pe_shape *shape = &claim->uploads[0].array.shape;
    *out = (division){.whole = claim, .one = "tensor", .several = "tensors", .n = claim->n_uploads};
    if (view->got == NULL || view->permuted || view->width_differs)
        return false;
    if (view->rotated) {
        const size_t tokens = (size_t)((int64_t)shape->ndim + claim->seq_axis);
        out->axis = view->inner > 1 ? tokens + 1 : tokens - 1;
        out->of_heads = true;
        out->one = "head";
        out->several = "heads";
        out->n = view->heads;
        return out->n > 1 && out->n <= PARTS_MAX && out->axis < shape->ndim &&
               shape->dim[out->axis] == out->n;
    }
    return out->n > 1;
}

static void try_parts(pe_search *s, division *of)
{
    find_others(s, of);
    const bool some_match = of->others < of->n;
    /* layouts of cosines and sines have faults of their own */
    if ((some_match || of->of_heads || s->whole->layout == NULL) && find_order(s, of))
        tell_order(s, of);
    else if (s->failed == PE_OK && some_match && of->others > 0 && !pe_attempts_found(s))
        search_others(s, of);
}

void pe_parts_try(pe_search *s, pe_guess *guess PE_UNUSED)
{
    division of;
    pe_claim halves = {0};
    if (divide(s->whole, &of)) {
        try_parts(s, &of);
        return;
    }
    if (!are_side_by_side(s->whole))
        return;
    of = (division){.whole = &halves, .one = "half", .several = "halves", .n = 2};
    if (pe_attempts_did(s, part_halves(s->whole->claim, &halves, s->why)))
        try_parts(s, &of);
    pe_verify_claim_free(&halves);
}
