/* SPDX-License-Identifier: MIT */
/* indistinguishable.c - other parameters that an upload which matches cannot exclude. */
#include "plan/common_params.h"
#include "plan/resource.h"
#include "verify/search/attempts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verify/mistakes/faults.h"
#include "verify/compare/measure.h"

/* Positions that are asked for, at most. */
#define FARTHEST ((uint64_t)1 << 20)

static bool is_in(const char *const *list, const char *name)
{
    while (*list != NULL && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

/* What is scaled otherwise: the rows of faults.h with these parameters, which the claim has, of types in
 * wide use. */
static bool is_alternative(const pe_claim *claim, const pe_fault *fault)
{
    static const char *const params[] = {
        "rope_theta", "base", "rope_type", "seq_len", "original_max_position_embeddings", NULL};
    static const char *const types[] = {"default", "linear", "ntk",      "dynamic",
                                        "yarn",    "llama3", "longrope", NULL};
    if (fault->param == NULL || !is_in(params, fault->param) ||
        pe_values_find(&claim->values, fault->param) == NULL ||
        !pe_faults_is_of(claim->resource->name, fault->text) ||
        fault->name == PE_NAME(original_scaled))
        return false;
    return strcmp(fault->param, "rope_type") != 0 || is_in(types, fault->op);
}

/* ---- from where on ---- */

static double allowed(const pe_expect *e, unsigned by, double p, size_t i, double tolerance)
{
    const double roundoff = pe_upload_view_roundoff(e->view), w = e->frequency[i];
    if (tolerance >= 0)
        return tolerance;
    if (by == PE_BY_EXACT)
        return 2 * e->amplitude * roundoff;
    return e->amplitude * (e->roundings[i] * 0x1p-24 * p * w + 0x1p-22 + roundoff);
}

static bool differ_at(const pe_expect *a, const pe_expect *b, unsigned by, double p)
{
    const double tolerance = a->view->claim->tolerance;
    const size_t pairs =
        a->geometry.pairs < b->geometry.pairs ? a->geometry.pairs : b->geometry.pairs;
    for (size_t i = 0; i < pairs; i++) {
        const double x = p * a->frequency[i], y = p * b->frequency[i];
        const double most =
            2 * fmax(allowed(a, by, p, i, tolerance), allowed(b, by, p, i, tolerance));
        if (fabs(a->amplitude * cos(x) - b->amplitude * cos(y)) > most ||
            fabs(a->amplitude * sin(x) - b->amplitude * sin(y)) > most)
            return true;
    }
    return false;
}

static double first_difference(const pe_expect *a, const pe_expect *b, unsigned by)
{
    for (uint64_t p = 1; p <= FARTHEST; p += (p + 9) / 10)
        if (differ_at(a, b, by, (double)p))
            return (double)p;
    return 0;
}

/* ---- alternatives ---- */

/* "rope_type=yarn" */
static void label(const pe_fault *fault, const pe_guess *guess, bool changed, char *out,
                  size_t room)
{
    pe_buffer text = {0};
    const pe_value *value = pe_values_find(&guess->values, fault->param);
    if (fault->name == PE_NAME(short_factor)) {
        snprintf(out, room, "%s", changed ? "short_factor" : "long_factor");
        return;
    }
    pe_value_print(value, &text);
    snprintf(out, room, "%.24s=%.36s", fault->param, pe_buffer_text(&text));
    pe_buffer_free(&text);
}

static void note(pe_search *s, const pe_fault *fault, const pe_guess *other, double rows_from)
{
    pe_indistinguishable *indistinguishable = &s->report->indistinguishable;
    if (indistinguishable->n == PE_LEN(indistinguishable->other))
        return;
    pe_indistinguishable_other *to = &indistinguishable->other[indistinguishable->n++];
    label(fault, &s->claim, false, to->claimed, sizeof to->claimed);
    label(fault, other, true, to->instead, sizeof to->instead);
    to->rows_from = rows_from;
}

/* How the claim and the other differ where there are no rows. A type that scales long sequences
 * alone is the unscaled one up to them, however many rows are sent; other equals are no mistake. */
static void compare(pe_search *s, const pe_fault *fault, pe_guess *other)
{
    pe_expect a, b;
    const unsigned by = pe_measure_loosest(&s->claim);
    const bool by_length = pe_geometry_has_rope_type(&s->claim.values, "dynamic");
    const pe_comparison of_claim = {s->view, &s->claim, &s->work},
                        of_other = {s->view, other, &s->work};
    if (!pe_attempts_did(s, pe_expect_exact(&of_claim, true, &a, s->why)) || !a.fits)
        return;
    if (pe_attempts_did(s, pe_expect_exact(&of_other, true, &b, s->why)) && b.fits) {
        const double from = first_difference(&a, &b, by);
        if (by_length || from > 0)
            note(s, fault, other, from);
        pe_expect_free(&b);
    }
    pe_expect_free(&a);
}

/* A claim without scaling says no factor that another type could have. */
static void set_usual(pe_guess *guess)
{
    if (!pe_geometry_has_rope_type(&guess->values, "default"))
        return;
    pe_values_set_real(&guess->values, "factor", 8);
    pe_values_set_int(&guess->values, "original_max_position_embeddings", 4096);
    pe_values_set_int(&guess->values, "max_position_embeddings", 4096);
}

static void try(pe_search *s, const pe_fault *fault)
{
    pe_guess other;
    unsigned by = 0;
    const pe_comparison of = {s->view, &other, &s->work};
    if (!pe_attempts_did(s, pe_guess_copy(&s->claim, &other, s->why)))
        return;
    if (strcmp(fault->param, "rope_type") == 0)
        set_usual(&other);
    if (pe_faults_apply(fault, &other) &&
        pe_attempts_did(s, pe_measure_explain(&of, false, &by, s->why)) && by != 0)
        compare(s, fault, &other);
    pe_guess_free(&other);
}

void pe_indistinguishable_find(pe_search *s)
{
    if (s->view->layout == NULL || s->view->axes > 1)
        return;
    for (size_t f = 0; f < pe_faults_n && !pe_attempts_spent(s); f++)
        if (is_alternative(s->claim.claim, &pe_faults[f]))
            try(s, &pe_faults[f]);
    s->report->work += s->work;
}
