/* SPDX-License-Identifier: MIT */
/* formula.c - one tensor of plain numbers beside a formula with a mistake in it. */
#include "verify/formula.h"

#include <math.h>

const pe_values *pe_formula_values(const pe_formula *f)
{
    return &f->of->claim->values;
}

double pe_formula_number(const pe_formula *f, const char *name)
{
    const pe_value *value = pe_values_find(pe_formula_values(f), name);
    if (value == NULL || !value->present)
        return nan("");
    return value->param->kind == PE_KIND_INT ? (double)value->integer : value->real;
}

double pe_formula_claimed(const pe_formula *f, size_t e)
{
    return f->of->claimed[f->first + e];
}

double pe_formula_got(const pe_formula *f, size_t e)
{
    return f->of->got[f->first + e];
}

double pe_formula_entry(const pe_formula *f, const char *name, size_t i)
{
    const pe_value *value = pe_values_find(pe_formula_values(f), name);
    return value != NULL && value->present && i < value->positions.count
               ? pe_positions_at(&value->positions, i)
               : nan("");
}

double pe_formula_position(const pe_formula *f, size_t e)
{
    return pe_formula_entry(f, "positions", e / f->columns);
}

size_t pe_formula_farthest(const pe_formula *f, double x)
{
    size_t best = 0;
    for (size_t e = 0; f->first + e < f->end; e++)
        if (fabs(pe_formula_claimed(f, e) - x) > fabs(pe_formula_claimed(f, best) - x))
            best = e;
    return best;
}
