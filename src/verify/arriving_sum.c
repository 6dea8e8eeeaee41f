/* SPDX-License-Identifier: MIT */
/* arriving_sum.c - the report on a table, added up from those on its rows. */
#include <math.h>
#include <string.h>

#include "verify/arriving_state.h"
#include "verify/measure.h"

static size_t eighth_of(const pe_arriving *a, size_t row)
{
    return row * PE_BANDS_MAX / a->rows;
}

size_t pe_arriving_end_of_eighth(const pe_arriving *a, size_t row)
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

void pe_arriving_finish_errors(pe_errors *errors)
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
    pe_positions_bounds(pe_arriving_positions(of->view->claim), &least, &most);
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
    to->zeros += of->zeros;
    for (size_t r = 0; r < PE_MAP_CELLS; r++)
        for (size_t c = 0; c < PE_MAP_CELLS; c++)
            to->map[row][c] += of->map[r][c];
}

/* Where an element of some rows is in the table. */
static void place(const pe_arriving *a, pe_bad *bad)
{
    size_t t = pe_arriving_tensors(&a->claim) - 1;
    while (t > 0 && strcmp(bad->tensor, a->claim.uploads[t].name) != 0)
        t--;
    const pe_upload *of = &a->claim.uploads[t];
    pe_upload_view_place(of, (a->done + bad->index[0]) * of->array.shape.dim[1] + bad->index[1],
                         bad);
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
    if (bad->tensor != NULL)
        place(a, bad);
    return looked;
}

pe_status pe_arriving_add(pe_arriving *a, pe_arriving_part *p, pe_problem *why)
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
