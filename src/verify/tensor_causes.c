/* SPDX-License-Identifier: MIT */
/* tensor_causes.c - some tensors of an upload are as claimed: the others are searched alone. */
#include "verify/tensor_causes.h"

#include <stdlib.h>
#include <string.h>

#include "verify/findings.h"
#include "verify/part.h"

/* Which tensors of the claim, and whether the first of them holds the last one's numbers. */
typedef struct choice {
    bool of[PE_UPLOADS_MAX];
    size_t n;
    bool exchanged;
} choice;

/* A claim of some tensors, whose numbers are borrowed. Only its values are to be freed. */
static pe_status make_part(const pe_search *s, const choice *which, pe_claim *out, pe_problem *why)
{
    const pe_claim *all = s->whole->claim;
    pe_part_begin(s, out);
    for (size_t u = 0; u < all->n_uploads; u++)
        if (which->of[u])
            out->uploads[out->n_uploads++] = all->uploads[u];
    if (which->exchanged) {
        const pe_array first = out->uploads[0].array;
        out->uploads[0].array = out->uploads[which->n - 1].array;
        out->uploads[which->n - 1].array = first;
    }
    return pe_values_copy(&all->values, &out->values, why);
}

static pe_status do_match(const pe_search *s, const choice *which, bool *out, pe_problem *why)
{
    pe_claim part;
    *out = false;
    pe_status status = make_part(s, which, &part, why);
    if (status == PE_OK)
        status = pe_part_matches(s, &part, out, why);
    pe_values_free(&part.values);
    return status;
}

/* The tensors that are not as claimed by themselves. */
static pe_status find_others(pe_search *s, choice *others, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t u = 0; u < s->whole->claim->n_uploads && status == PE_OK; u++) {
        bool matches;
        choice one = {.n = 1};
        one.of[u] = true;
        status = do_match(s, &one, &matches, why);
        others->of[u] = status == PE_OK && !matches;
        others->n += others->of[u] ? 1 : 0;
    }
    s->work += s->whole->elements;
    return status;
}

/* One number was written everywhere: they are no waves of position 0. */
static bool are_constant(const pe_upload_view *view, const choice *which)
{
    bool same = true;
    for (size_t u = 0; u < view->claim->n_uploads; u++) {
        const pe_array *array = &view->claim->uploads[u].array;
        const char *at = array->data;
        const size_t bytes = pe_dtype_bytes(array->dtype);
        for (size_t e = 1; e < array->elements && which->of[u] && same; e++)
            same = memcmp(at, at + e * bytes, bytes) == 0;
    }
    return same;
}

/* "tensor sin: " */
static void name_tensors(const pe_claim *claim, const choice *which, pe_buffer *out)
{
    size_t told = 0;
    pe_buffer_str(out, which->n > 1 ? "tensors " : "tensor ");
    for (size_t u = 0; u < claim->n_uploads; u++)
        if (which->of[u])
            pe_buffer_format(out, "%s%s", told++ > 0 ? " and " : "", claim->uploads[u].name);
    pe_buffer_str(out, ": ");
}

/* The finding is moved from one report to the other. */
static pe_status tell(pe_search *s, pe_finding *found, const choice *which, pe_problem *why)
{
    pe_buffer rule = {0};
    name_tensors(s->whole->claim, which, &rule);
    pe_buffer_str(&rule, found->rule);
    if (which->n == 1 && strcmp(found->faults[0], "cos_sin_exchanged") == 0)
        pe_buffer_str(&rule, " there alone: both tensors hold the same waves");
    char *copy = rule.failed ? NULL : strdup(pe_buffer_text(&rule));
    pe_buffer_free(&rule);
    if (copy == NULL)
        return pe_fail_memory(why);
    free(found->rule);
    found->rule = copy;
    pe_findings_put(s->report, found);
    *found = (pe_finding){0};
    return PE_OK;
}

static pe_status search_others(pe_search *s, const choice *others, pe_problem *why)
{
    pe_claim part;
    pe_report report = {0};
    pe_status status = make_part(s, others, &part, why);
    if (status == PE_OK)
        status = pe_part_verify(s, &part, s->claim.context, &report, why);
    for (size_t f = 0; f < report.n_findings && status == PE_OK; f++)
        if (report.findings[f].errors.elements > 0) /* it was compared */
            status = tell(s, &report.findings[f], others, why);
    pe_verify_report_free(&report);
    pe_values_free(&part.values);
    return status;
}

static bool have_one_shape(const pe_claim *claim, size_t u, size_t v)
{
    const pe_shape *a = &claim->uploads[u].array.shape, *b = &claim->uploads[v].array.shape;
    return a->ndim == b->ndim && memcmp(a->dim, b->dim, a->ndim * sizeof *a->dim) == 0;
}

/* Does each of the two hold the other's numbers? */
static pe_status are_exchanged(pe_search *s, size_t u, size_t v, bool *out, pe_problem *why)
{
    choice two = {.n = 2, .exchanged = true};
    two.of[u] = two.of[v] = true;
    *out = false;
    return have_one_shape(s->whole->claim, u, v) ? do_match(s, &two, out, why) : PE_OK;
}

/* The names of those that are exchanged, two by two; they are no longer among the others. */
static pe_status find_exchanged(pe_search *s, choice *others, pe_buffer *rule, pe_problem *why)
{
    pe_status status = PE_OK;
    const pe_claim *claim = s->whole->claim;
    for (size_t u = 0; u < claim->n_uploads; u++)
        for (size_t v = u + 1; v < claim->n_uploads && others->of[u] && status == PE_OK; v++) {
            bool exchanged = false;
            if (others->of[v])
                status = are_exchanged(s, u, v, &exchanged, why);
            if (!exchanged)
                continue;
            pe_buffer_format(rule, "%stensors %s and %s: their numbers are exchanged",
                             rule->bytes > 0 ? "; " : "", claim->uploads[u].name,
                             claim->uploads[v].name);
            others->of[u] = others->of[v] = false;
            others->n -= 2;
        }
    return status;
}

/* Layouts of cosines and sines have faults of their own. */
static pe_status try_exchange(pe_search *s, const choice *which, pe_problem *why)
{
    static const pe_fault fault = {.name = "tensors_exchanged",
                                   .remedy = "send each tensor under its own name"};
    choice others = *which;
    pe_buffer rule = {0};
    if (s->whole->layout != NULL && others.n == s->whole->claim->n_uploads)
        return PE_OK;
    pe_status status = find_exchanged(s, &others, &rule, why);
    if (status == PE_OK && rule.bytes > 0 && others.n > 0) {
        pe_buffer_str(&rule, "; ");
        name_tensors(s->whole->claim, &others, &rule);
        pe_buffer_str(&rule, "something else");
    }
    if (status == PE_OK && rule.bytes > 0)
        status = pe_findings_tell(s->report, &s->claim,
                                  &(pe_told){&fault, pe_buffer_text(&rule), .exact = true}, why,
                                  "all elements of these match when they are exchanged");
    pe_buffer_free(&rule);
    return status;
}

static bool applies(const pe_search *s)
{
    const pe_upload_view *view = s->whole;
    return view->claim->n_uploads > 1 && view->got != NULL && !view->rotated && !view->permuted &&
           !view->width_differs;
}

pe_status pe_tensor_causes_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    choice others = {0};
    (void)guess;
    if (!applies(s))
        return PE_OK;
    pe_status status = find_others(s, &others, why);
    s->some_match = others.n > 0 && others.n < s->whole->claim->n_uploads;
    if (status == PE_OK && others.n > 1)
        status = try_exchange(s, &others, why);
    return status == PE_OK && s->some_match && !pe_attempts_found(s) &&
                   !are_constant(s->whole, &others)
               ? search_others(s, &others, why)
               : status;
}
