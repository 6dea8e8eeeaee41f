/* SPDX-License-Identifier: MIT */
/* plain_slips.c - mistakes in plain numbers: one that explains an upload, or two. */
#include "verify/plain/plain_slips.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/mistakes/lookup.h"

/* Of more elements two mistakes at once would take seconds. */
#define TWO_MOST 0x20000

/* What it takes to read a row's numbers off a measured one: powers, sorting. */
#define SOLVE_UNITS 16

static const pe_slip_stage *const stages[] = {&pe_slip_values, &pe_slip_slopes, &pe_slip_distances,
                                              &pe_slip_places, &pe_slip_axes};
static const pe_plain_mistakes *const tables[] = {
    &pe_mistakes_of_scales,  &pe_mistakes_of_ladders, &pe_mistakes_of_windows,
    &pe_mistakes_of_padding, &pe_mistakes_of_slopes,  &pe_mistakes_of_distances,
    &pe_mistakes_of_buckets, &pe_mistakes_of_values,  &pe_mistakes_of_places};

/* ---- what a mistake makes ---- */

static double at_law(const void *context, size_t e, double claimed, double *error)
{
    const pe_slip *p = context;
    const double own = p->of->claimed[e]; /* a finding's own parameters may give another one */
    return e >= p->first && e < p->end ? p->by->stage->at(p, e, own, error) : claimed;
}

/* Does it give the upload, and something else than the claim? */
static bool follows(const pe_slip *p)
{
    const pe_numbers *of = p->of;
    size_t e = p->first;
    bool same = true, differs = false;
    for (; e < p->end && same; e++) {
        double error = 0;
        const double made = p->by->stage->at(p, e, of->claimed[e], &error);
        const double x = pe_lookup_row(of->lookup, made), got = of->got[e];
        const double size = fmax(fabs(x), 0x1p-8);
        same = got == x || fabs(got - x) <= (4 * of->roundoff + 0x1p-16) * size + of->step + error;
        differs |= !(fabs(x - of->claimed[e]) <= 0x1p-18 * size);
    }
    pe_numbers_spend(of, e - p->first);
    return same && differs;
}

static pe_numbers_cause cause_of(const pe_slip *p)
{
    return (pe_numbers_cause){&p->by->fault, p->a, p->b, p->fitted, p->more};
}

/* ---- rows ---- */

/* What is done with a row whose numbers are read. */
typedef pe_status use_of(const pe_slip *p, pe_problem *why);

bool pe_slip_is_of(const char *name, const char *resources)
{
    for (const char *at = resources; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (strncmp(at, name, n) == 0 && (at[n - 1] == '/' || name[n] == '\0'))
            return true;
        at += n;
    }
    return resources == NULL;
}

/* The tensor of a row. False: the upload has none such. */
static bool find_tensor(pe_slip *p)
{
    const pe_upload_view *view = p->of->view;
    const char *name = p->by->tensor;
    size_t u = 0;
    while (name != NULL && u < view->n_tensors && strcmp(name, view->claim->uploads[u].name) != 0)
        u++;
    if (u == view->n_tensors)
        return false;
    const pe_shape *shape = &view->claim->uploads[u].array.shape;
    p->columns = shape->ndim > 1 ? shape->dim[shape->ndim - 1] : 1;
    p->first = name != NULL ? view->tensor_at[u] : 0;
    p->end = name != NULL ? view->tensor_at[u + 1] : p->of->elements;
    if (p->by->stage == &pe_slip_values) {
        p->n = p->end - p->first;
        p->claimed = p->of->claimed + p->first;
        p->measured = p->of->got + p->first;
    }
    return p->end > p->first;
}

static bool make(pe_slip *p)
{
    const pe_slip_stage *stage = p->by->stage;
    p->a = p->by->fault.value;
    p->b = p->by->fault.and_value;
    p->gain = 1;
    p->fitted = p->by->fault.fitted;
    if (p->made != NULL)
        pe_numbers_spend(p->of, SOLVE_UNITS * p->n);
    if (stage->begin != NULL)
        stage->begin(p);
    if (!find_tensor(p) || (p->by->solve != NULL && !p->by->solve(p)))
        return false;
    if (p->by->op == pe_slip_times)
        p->gain = fmax(fabs(p->a), 1);
    bool all = true;
    for (size_t i = 0; p->made != NULL && i < p->n && all; i++) {
        p->made[i] = p->by->op != NULL ? p->by->op(p, i) : p->claimed[i];
        all = stage == &pe_slip_distances || !isnan(p->made[i]); /* NAN: a key that is masked */
    }
    return all;
}

static pe_status each_row(const pe_slip *measured, const pe_slip_stage *stage, bool fitted,
                          use_of *use, pe_problem *why)
{
    pe_status status = PE_OK;
    const char *name = pe_numbers_resource(measured->of);
    for (size_t t = 0; t < PE_LEN(tables); t++)
        for (size_t r = 0; r < tables[t]->n && status == PE_OK; r++) {
            pe_slip p = *measured;
            p.by = &tables[t]->row[r];
            if (p.by->stage == stage && p.by->fault.fitted == fitted &&
                pe_slip_is_of(name, p.by->of) && pe_numbers_goes_on(p.of) && make(&p))
                status = use(&p, why);
        }
    return status;
}

static pe_status each_stage(const pe_numbers *plain, bool fitted, use_of *use, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t s = 0; s < PE_LEN(stages); s++) {
        const size_t n = stages[s]->variants != NULL ? stages[s]->variants(plain) : 1;
        for (size_t v = 0; v < n && status == PE_OK && pe_numbers_goes_on(plain); v++) {
            pe_slip p = {.of = plain, .variant = v, .end = plain->elements};
            status = stages[s]->measure(&p, why);
            if (status == PE_OK && p.n > 0 && plain->before == NULL && stages[s]->tell != NULL)
                stages[s]->tell(&p);
            if (status == PE_OK && p.n > 0)
                status = each_row(&p, stages[s], fitted, use, why);
            if (stages[s]->release != NULL)
                stages[s]->release(&p);
        }
    }
    return status;
}

static pe_status try_row(const pe_slip *p, pe_problem *why)
{
    const pe_numbers_cause cause = cause_of(p);
    return follows(p) ? pe_numbers_try(p->of, &cause, 1, &(pe_numbers_law){at_law, p, p->gain}, why)
                      : PE_OK;
}

pe_status pe_slips_find(const pe_numbers *plain, pe_problem *why)
{
    return each_stage(plain, false, try_row, why);
}

/* ---- one behind another ---- */

static pe_status try_behind(const pe_slip *p, pe_problem *why)
{
    return pe_attempts_found(p->of->search) ? PE_OK : try_row(p, why);
}

static pe_status find_behind(const pe_slip *first, pe_problem *why)
{
    pe_numbers plain = *first->of;
    const pe_numbers_cause cause = cause_of(first);
    if (pe_attempts_found(plain.search))
        return PE_OK;
    double *made = malloc(plain.elements * sizeof *made);
    if (made == NULL)
        return pe_fail_memory(why);
    for (size_t e = 0; e < plain.elements; e++)
        made[e] = at_law(first, e, first->of->claimed[e], &(double){0});
    pe_numbers_spend(&plain, plain.elements);
    plain.claimed = made;
    plain.before = &cause;
    plain.first = first;
    const bool changes = memcmp(made, first->of->claimed, plain.elements * sizeof *made) != 0;
    const pe_status status = changes ? each_stage(&plain, false, try_behind, why) : PE_OK;
    free(made);
    return status;
}

pe_status pe_slips_find_two(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = PE_OK;
    if (plain->elements <= TWO_MOST &&
        (pe_numbers_change(plain, plain->got, 4) || pe_numbers_change(plain, plain->claimed, 4)))
        status = each_stage(plain, false, find_behind, why);
    return status;
}

pe_status pe_slips_find_fitted(const pe_numbers *plain, pe_problem *why)
{
    return each_stage(plain, true, try_row, why);
}

/* ---- what rows share ---- */

void pe_slip_say(pe_slip *p, const char *format, ...)
{
    va_list list;
    const size_t used = strlen(p->more);
    va_start(list, format);
    vsnprintf(p->more + used, sizeof p->more - used, format, list);
    va_end(list);
}

double pe_slip_number(const pe_slip *p, const char *name)
{
    const pe_value *value = pe_values_find(&p->of->claim->values, name);
    if (value == NULL || !value->present)
        return nan("");
    return value->param->kind == PE_KIND_INT ? (double)value->integer : value->real;
}

bool pe_slip_has(const pe_slip *p, const char *choice, const char *text)
{
    return strcmp(pe_geometry_choice_text(&p->of->claim->values, choice), text) == 0;
}

double pe_slip_position(const pe_slip *p, size_t e)
{
    const pe_value *value = pe_values_find(&p->of->claim->values, "positions");
    const size_t row = e / p->columns;
    return value != NULL && value->present && row < value->positions.count
               ? pe_positions_at(&value->positions, row)
               : nan("");
}

double pe_slip_plus(const pe_slip *p, size_t i)
{
    return p->claimed[i] + p->a;
}

double pe_slip_times(const pe_slip *p, size_t i)
{
    return isfinite(p->claimed[i]) ? p->a * p->claimed[i] : p->claimed[i];
}

double pe_slip_power(const pe_slip *p, size_t i)
{
    return pow(p->claimed[i], p->a);
}

double pe_slip_absolute(const pe_slip *p, size_t i)
{
    return fabs(p->claimed[i]);
}

double pe_slip_constant(const pe_slip *p, size_t i)
{
    (void)i;
    return p->a;
}

double pe_slip_log2(const pe_slip *p, size_t i)
{
    return log2(p->claimed[i]);
}

double pe_slip_reversed(const pe_slip *p, size_t i)
{
    return p->claimed[p->n - 1 - i];
}

double pe_slip_rolled(const pe_slip *p, size_t i)
{
    return p->claimed[(i + p->n + (size_t)(int64_t)p->b) % p->n];
}

double pe_slip_halves(const pe_slip *p, size_t i)
{
    return p->n % 2 == 0 && p->n > 2 ? p->claimed[(i + p->n / 2) % p->n] : nan("");
}

double pe_slip_repeated(const pe_slip *p, size_t i)
{
    return p->claimed[i % (size_t)p->a];
}
