/* SPDX-License-Identifier: MIT */
/* formula_causes.c - numbers of a formula with a mistake in it, resource by resource. */
#include "verify/formula_causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/formula.h"
#include "verify/lookup.h"
#include "verify/scale_causes.h"

/* Of more elements two causes at once would take seconds. */
#define TWO_MOST 0x20000

/* The r-th row of all tables, in this order; NULL: there are no more. */
static const pe_formula_row *row_at(size_t r)
{
    const struct {
        const pe_formula_row *rows;
        size_t n;
    } tables[] = {{pe_formula_scales, pe_formula_scales_n},
                  {pe_formula_waves, pe_formula_waves_n},
                  {pe_formula_padding, pe_formula_padding_n},
                  {pe_formula_windows, pe_formula_windows_n}};
    size_t t = 0;
    for (; t < PE_LEN(tables) && r >= tables[t].n; t++)
        r -= tables[t].n;
    return t < PE_LEN(tables) ? &tables[t].rows[r] : NULL;
}

static double at_law(const void *context, size_t e, double claimed, double *error)
{
    const pe_formula *f = context;
    (void)error;
    return e >= f->first && e < f->end ? f->by->at(f, e - f->first, claimed) : claimed;
}

static bool follows(const pe_formula *f)
{
    const pe_numbers *of = f->of;
    size_t e = f->first;
    bool same = true;
    for (; e < f->end && same; e++) {
        const double x = pe_lookup_row(of->lookup, f->by->at(f, e - f->first, of->claimed[e]));
        same = of->got[e] == x ||
               fabs(of->got[e] - x) <= (4 * of->roundoff + 0x1p-16) * fmax(fabs(x), 0x1p-8);
    }
    pe_numbers_spend(of, e - f->first);
    return same;
}

/* The tensor of a row. False: the resource is another, or the tensor is not in the upload. */
static bool find_tensor(const pe_numbers *plain, const pe_formula_row *by, pe_formula *out)
{
    const pe_upload_view *view = plain->view;
    *out = (pe_formula){.of = plain, .by = by};
    const char *name = pe_numbers_resource(plain);
    name = strcmp(name, "alibi/padded-bias") == 0 ? "position-ids" : name;
    if (strcmp(by->resource, name) != 0)
        return false;
    size_t u = 0;
    while (by->tensor != NULL && u < view->n_tensors &&
           strcmp(by->tensor, view->claim->uploads[u].name) != 0)
        u++;
    if (u == view->n_tensors)
        return false;
    const pe_shape *shape = &view->claim->uploads[u].array.shape;
    out->first = view->tensor_at[u];
    out->end = by->tensor != NULL ? view->tensor_at[u + 1] : plain->elements;
    out->columns = shape->ndim > 1 ? shape->dim[shape->ndim - 1] : 1;
    return out->end > out->first;
}

/* The row alone; or what is behind it, where its number can be read. */
static pe_status try_row(const pe_numbers *plain, const pe_formula_row *by,
                         pe_status (*behind)(const pe_formula *, const pe_numbers_cause *,
                                             pe_problem *),
                         pe_problem *why)
{
    pe_formula f;
    pe_numbers_cause cause = {.fault = &by->fault, .fitted = by->fault.fitted};
    if (!pe_numbers_goes_on(plain) || !find_tensor(plain, by, &f))
        return PE_OK;
    f.fitted = &cause.fitted;
    cause.a = f.a = by->read != NULL ? by->read(&f, &cause.b) : 0;
    if (!isfinite(f.a))
        return PE_OK;
    if (behind != NULL)
        return behind(&f, &cause, why);
    return follows(&f) ? pe_numbers_try(plain, &cause, 1, &(pe_numbers_law){at_law, &f, 1}, why)
                       : PE_OK;
}

/* Rows once more, and lines through the numbers, behind a row that explains nothing alone. */
static pe_status find_behind(const pe_formula *first, const pe_numbers_cause *cause,
                             pe_problem *why)
{
    pe_numbers plain = *first->of;
    double *made = malloc(plain.elements * sizeof *made);
    if (made == NULL)
        return pe_fail_memory(why);
    for (size_t e = 0; e < plain.elements; e++)
        made[e] = at_law(first, e, first->of->claimed[e], NULL);
    pe_numbers_spend(&plain, plain.elements);
    plain.claimed = made;
    plain.before = cause;
    const bool changes = memcmp(made, first->of->claimed, plain.elements * sizeof *made) != 0;
    pe_status status = changes ? pe_scale_causes_find(&plain, why) : PE_OK;
    const pe_formula_row *by;
    for (size_t r = 0; changes && status == PE_OK && (by = row_at(r)) != NULL; r++)
        if (by != first->by && !by->fault.fitted && !pe_attempts_found(plain.search))
            status = try_row(&plain, by, NULL, why);
    free(made);
    return status;
}

/* Rows of causes; or those that only fit a number. */
static pe_status find_one(const pe_numbers *plain, bool fitted, pe_problem *why)
{
    pe_status status = PE_OK;
    const pe_formula_row *by;
    for (size_t r = 0; status == PE_OK && (by = row_at(r)) != NULL; r++)
        if (by->fault.fitted == fitted)
            status = try_row(plain, by, NULL, why);
    return status;
}

pe_status pe_formula_causes_find(const pe_numbers *plain, pe_problem *why)
{
    return find_one(plain, false, why);
}

pe_status pe_formula_causes_find_two(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = PE_OK;
    const pe_formula_row *by;
    const bool change =
        plain->elements <= TWO_MOST &&
        (pe_numbers_change(plain, plain->got, 4) || pe_numbers_change(plain, plain->claimed, 4));
    for (size_t r = 0; change && status == PE_OK && (by = row_at(r)) != NULL; r++)
        if (!by->fault.fitted && !pe_attempts_found(plain->search))
            status = try_row(plain, by, find_behind, why);
    return status == PE_OK && !pe_attempts_found(plain->search) ? find_one(plain, true, why)
                                                                : status;
}
