/* SPDX-License-Identifier: MIT */
/* plain_slips.c - mistakes in plain numbers: one that explains an upload, or two. */
#include "verify/plain/plain_slips.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "plan/real.h"

/* Of more elements two mistakes at once would take seconds. */
#define TWO_MOST 0x20000

/* Slopes that begin elsewhere may be doubled elements, too. */
static const pe_slip_stage *const stages[] = {&pe_slip_waves,  &pe_slip_padding,   &pe_slip_slopes,
                                              &pe_slip_values, &pe_slip_distances, &pe_slip_places,
                                              &pe_slip_axes};
static const pe_slips *const tables[] = {&pe_mistakes_of_waves,  &pe_mistakes_of_tokens,
                                         &pe_mistakes_of_values, &pe_mistakes_of_padding,
                                         &pe_mistakes_of_slopes, &pe_mistakes_of_distances,
                                         &pe_mistakes_of_places};

/* ---- numbers ---- */

/* A row's function of an element: a quotient, a logarithm or a few comparisons. */
#define ELEMENT_UNITS 2

void pe_numbers_spend(const pe_numbers *plain, size_t work)
{
    pe_yield_spend(ELEMENT_UNITS * work);
    plain->search->work += work;
}

bool pe_numbers_goes_on(const pe_numbers *plain)
{
    return plain->asked && !pe_attempts_spent(plain->search);
}

bool pe_numbers_is_near(const pe_numbers *plain, double got, double x)
{
    const double size = (4 * plain->roundoff + 0x1p-18) * fabs(x) + plain->step;
    return got == x || (isfinite(x) && fabs(got - x) <= size);
}

bool pe_numbers_change(const pe_numbers *plain, const double *numbers, size_t times)
{
    size_t n = 0;
    for (size_t e = 1; e < plain->elements && n < times; e++)
        n += isfinite(numbers[e]) && numbers[e] != numbers[e - 1];
    return n == times;
}

void pe_numbers_list(const pe_numbers *plain, const char *name, const double *list, size_t n)
{
    enum { MOST = 64 };
    pe_buffer *out = &plain->search->report->facts.json, begin = {0};
    pe_buffer_format(&begin, "\"%s\":[", name);
    const bool told = out->bytes > 0 && strstr(pe_buffer_text(out), pe_buffer_text(&begin)) != NULL;
    if (!told && out->bytes > 0)
        pe_buffer_str(out, ",");
    if (!told)
        pe_buffer_str(out, pe_buffer_text(&begin));
    pe_buffer_free(&begin);
    if (told)
        return;
    for (size_t i = 0; i < n && i < MOST; i++) {
        pe_buffer_str(out, i == 0 ? "" : ",");
        if (isfinite(list[i]))
            pe_real_print(list[i], out);
        else
            pe_buffer_str(out, "null");
    }
    pe_buffer_str(out, "]");
}

/* ---- what a mistake makes ---- */

/* Tensors that it does not have are as `others` says. */
static double made_at(const pe_sequence *p, size_t e, double others, double *error)
{
    return e >= p->from && e < p->end ? p->by->stage->at(p, e, p->of->claimed[e], error) : others;
}

/* A finding's own parameters may give other numbers than the claim's, but not those that a mistake before
 * has made, nor indices. */
static double at_law(const void *context, size_t e, double claimed, double *error)
{
    const pe_sequence *p = context;
    const pe_numbers *of = p->of;
    const size_t at = e % of->elements;
    const bool own = of->first != NULL || of->lookup != NULL;
    return pe_lookup_at(of->lookup, e, made_at(p, at, own ? of->claimed[at] : claimed, error));
}

/* Does it give the upload, and something else than the claim? */
static bool follows(const pe_sequence *p)
{
    const pe_numbers *of = p->of;
    size_t e = p->from, counted = e;
    bool same = true, differs = false;
    for (; e < p->end && same; e++) {
        double error = 0;
        const double made = p->by->stage->at(p, e, of->claimed[e], &error);
        const double x = pe_lookup_row(of->lookup, made), got = of->got[e];
        const double size = fmax(fabs(x), 0x1p-8);
        same = got == x || fabs(got - x) <= (4 * of->roundoff + 0x1p-16) * size + of->step + error;
        differs |= !(fabs(x - of->claimed[e]) <= 0x1p-18 * size);
        if (e - counted == PE_YIELD_ITEMS) {
            pe_numbers_spend(of, e - counted);
            counted = e;
        }
    }
    pe_numbers_spend(of, e - counted);
    pe_guess_count(of->claim, e - p->from);
    return same && differs;
}

/* The parameters of a finding tell the number of a mistake that is one of them. A table that is looked
 * up has rows for the claimed ones alone. */
static void say(const pe_sequence *p, pe_guess *guess)
{
    const pe_fault *fault = &p->by->fault;
    pe_value *value = fault->param != NULL ? pe_values_find(&guess->values, fault->param) : NULL;
    pe_guess_tell(guess, fault, p->a, p->b);
    pe_buffer_str(&guess->rule, p->more);
    guess->fitted |= p->fitted;
    if (value != NULL && p->of->lookup == NULL && value->param->kind == PE_KIND_INT)
        value->integer = (int64_t)p->a;
    else if (value != NULL && p->of->lookup == NULL)
        value->real = p->a;
}

void pe_slips_try(const pe_sequence *p)
{
    pe_guess guess;
    const pe_numbers *of = p->of;
    const size_t mistakes = of->first != NULL ? 2 : 1;
    if (of->claim->n_faults + mistakes > PE_FAULTS_MAX ||
        !pe_attempts_did(of->search, pe_guess_copy(of->claim, &guess, of->search->why)))
        return;
    if (of->frequency == NULL) {
        guess.distortion.law = at_law;
        guess.distortion.law_context = p;
        guess.distortion.law_gain = of->lookup != NULL ? 0 : p->gain;
    }
    if (of->first != NULL)
        say(of->first, &guess);
    say(p, &guess);
    if (of->frequency == NULL || p->by->stage->apply(p, &guess))
        pe_attempts_try(of->search, &guess);
    pe_guess_free(&guess);
}

/* ---- rows ---- */

/* What is done with a row whose numbers are read. */
typedef void use_of(const pe_sequence *p);

/* The tensor of a row. False: the upload has none such. */
static bool find_tensor(pe_sequence *p, const pe_slip *row)
{
    const pe_upload_view *view = p->of->view;
    const char *name = row->tensor;
    size_t u = 0;
    while (name != NULL && u < view->n_tensors && strcmp(name, view->claim->uploads[u].name) != 0)
        u++;
    if (u == view->n_tensors)
        return false;
    const pe_shape *shape = &view->claim->uploads[u].array.shape;
    p->columns = shape->ndim > 1 ? shape->dim[shape->ndim - 1] : 1;
    p->from = name != NULL ? view->tensor_at[u] : 0;
    p->end = name != NULL ? view->tensor_at[u + 1] : p->of->elements;
    if (row->stage == &pe_slip_values) {
        p->n = p->end - p->from;
        p->claimed = p->of->claimed + p->from;
        p->measured = p->of->got + p->from;
    }
    return p->end > p->from;
}

/* What reads numbers of a mistake looks at all that were measured. */
static bool read_row(pe_sequence *p, const pe_slip *row)
{
    p->gain = 1;
    p->fitted = row->fault.fitted;
    if (row->stage->begin != NULL)
        row->stage->begin(p);
    if (row->solve != NULL)
        pe_numbers_spend(p->of, p->n);
    if (!find_tensor(p, row) || !pe_sequence_read(p, row))
        return false;
    if (row->multiplies)
        p->gain = fmax(fabs(p->a), 1);
    return true;
}

static void each_row(const pe_sequence *measured, const pe_slip_stage *stage, bool fitted,
                     use_of *use)
{
    const char *name = measured->of->resource;
    for (size_t t = 0; t < PE_LEN(tables); t++)
        for (size_t r = 0; r < tables[t]->n; r++) {
            pe_sequence p = *measured;
            const pe_slip *row = &tables[t]->row[r];
            const bool alone = row->fault.if_alone && pe_attempts_found(p.of->search);
            if (row->stage == stage && row->fault.fitted == fitted && !alone &&
                pe_faults_is_of(name, row->of) && pe_numbers_goes_on(p.of) && read_row(&p, row))
                use(&p);
        }
}

static void each_stage(const pe_numbers *plain, bool fitted, use_of *use)
{
    const char *name = plain->resource;
    for (size_t s = 0; s < (plain->frequency != NULL ? 1 : PE_LEN(stages)); s++) {
        const size_t n = !pe_faults_is_of(name, stages[s]->of) ? 0
                         : stages[s]->variants != NULL         ? stages[s]->variants(plain)
                                                               : 1;
        for (size_t v = 0; v < n && pe_numbers_goes_on(plain); v++) {
            pe_sequence p = {.of = plain,
                             .values = &plain->claim->values,
                             .terms = stages[s]->terms,
                             .variant = v,
                             .end = plain->elements,
                             .state = calloc(1, stages[s]->state + 1)};
            const pe_status status = p.state != NULL ? stages[s]->measure(&p, plain->search->why)
                                                     : pe_fail_memory(plain->search->why);
            const bool has = pe_attempts_did(plain->search, status) && p.n > 0;
            if (has && plain->first == NULL && stages[s]->tell != NULL)
                stages[s]->tell(&p);
            if (has)
                each_row(&p, stages[s], fitted, use);
            free(p.owned);
            free(p.state);
        }
    }
}

static void try_row(const pe_sequence *p)
{
    if (follows(p))
        pe_slips_try(p);
}

/* ---- one behind another ---- */

static void try_behind(const pe_sequence *p)
{
    if (!pe_attempts_found(p->of->search))
        try_row(p);
}

static void find_behind(const pe_sequence *first)
{
    pe_numbers plain = *first->of;
    if (pe_attempts_found(plain.search))
        return;
    double *made = malloc(plain.elements * sizeof *made);
    if (made == NULL) {
        pe_attempts_did(plain.search, pe_fail_memory(plain.search->why));
        return;
    }
    for (size_t e = 0; e < plain.elements; e++)
        made[e] = made_at(first, e, plain.claimed[e], &(double){0});
    pe_numbers_spend(&plain, plain.elements);
    pe_guess_count(plain.claim, plain.elements);
    plain.claimed = made;
    plain.first = first;
    if (memcmp(made, first->of->claimed, plain.elements * sizeof *made) != 0)
        each_stage(&plain, false, try_behind);
    free(made);
}

void pe_slips_find(const pe_numbers *plain, pe_slips_how how)
{
    if (how != PE_SLIPS_TWO)
        each_stage(plain, how == PE_SLIPS_FITTED, try_row);
    else if (plain->elements <= TWO_MOST && (pe_numbers_change(plain, plain->got, 4) ||
                                             pe_numbers_change(plain, plain->claimed, 4)))
        each_stage(plain, false, find_behind);
}

/* ---- what rows share ---- */

void pe_slip_say(pe_sequence *p, const char *format, ...)
{
    va_list list;
    const size_t used = strlen(p->more);
    va_start(list, format);
    vsnprintf(p->more + used, sizeof p->more - used, format, list);
    va_end(list);
}

double pe_slip_number(const pe_sequence *p, const char *name)
{
    const pe_value *value = pe_values_find(&p->of->claim->values, name);
    if (value == NULL || !value->present)
        return nan("");
    return value->param->kind == PE_KIND_INT ? (double)value->integer : value->real;
}

bool pe_slip_has(const pe_sequence *p, const char *choice, const char *text)
{
    return strcmp(pe_geometry_choice_text(&p->of->claim->values, choice), text) == 0;
}
