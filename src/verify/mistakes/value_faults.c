/* SPDX-License-Identifier: MIT */
/* value_faults.c - a value of a parameter that was another one, or was ignored. */
#include "verify/mistakes/value_faults.h"

#include <math.h>
#include <string.h>

#include "verify/mistakes/changes.h"
#include "verify/mistakes/lookup.h"

/* Changes of a number x; the first ones are mistakes that people make. */
enum { IGNORED, NEXT_POWER, LAST_POWER, ONE_MORE, ONE_LESS, LIKELY, CHANGES = LIKELY + 13 };

/* Change k of a number, but the first; x itself is no change. */
static double changed_number(const pe_param *row, double x, size_t k)
{
    static const double times[CHANGES - LIKELY] = {2,     0.5, 10,     0.1, 4,       0.25, 8,
                                                   0.125, 16,  0.0625, 32,  0.03125, 64};
    const bool whole = row->kind == PE_KIND_INT;
    double y;
    if (k == NEXT_POWER || k == LAST_POWER) /* as heads are padded, or cut */
        y = whole && x > 1 ? exp2(k == NEXT_POWER ? ceil(log2(x)) : floor(log2(x))) : x;
    else
        y = k < LIKELY ? x + (k == ONE_MORE ? 1 : -1) : x * times[k - LIKELY];
    y = whole ? floor(y) : y;
    const bool bounded = row->min != 0 || row->max != 0;
    return bounded && (y < row->min || y > row->max) ? x : y;
}

/* Of two values that were ignored, the first one comes first. */
static bool is_behind(const pe_guess *guess, size_t i)
{
    const pe_fault *last = guess->n_faults > 0 ? guess->faults[guess->n_faults - 1] : NULL;
    return last == NULL || last->change != pe_changes_ignored ||
           pe_values_find(&guess->values, last->param) < &guess->values.value[i];
}

static bool can_be_ignored(const pe_param *row)
{
    return row->kind == PE_KIND_INT || row->kind == PE_KIND_REAL ||
           (row->kind == PE_KIND_REAL_LIST && row->optional);
}

bool pe_value_faults_ignored(const pe_guess *guess, size_t i, pe_fault *out)
{
    const pe_param *row = guess->values.value[i].param;
    *out = (pe_fault){.param = row->name, .change = pe_changes_ignored};
    return can_be_ignored(row) && is_behind(guess, i);
}

bool pe_value_faults_nth(const pe_guess *guess, size_t i, size_t k, pe_fault *out)
{
    static const char *const kept[] = {"dtype", "numerics"}; /* of the claim, not of the table */
    const pe_value *value = &guess->values.value[i];
    const pe_param *row = value->param;
    *out = (pe_fault){.param = row->name};
    for (size_t n = 0; n < PE_LEN(kept); n++)
        if (strcmp(kept[n], row->name) == 0)
            return false;
    if (!value->present)
        return false;
    if (row->kind == PE_KIND_CHOICE) {
        out->change = strcmp(row->name, "convention") == 0 ? pe_changes_variant : pe_changes_choice;
        out->text = row->choices[k];
        return out->text != NULL;
    }
    if (row->kind == PE_KIND_BOOL) {
        out->change = pe_changes_truth;
        return k == 0;
    }
    if (row->kind == PE_KIND_POSITIONS && k < 2) {
        out->change = pe_changes_shift;
        out->value = k == 0 ? 1 : -1;
        return strcmp(row->name, "positions") != 0; /* which a guess moves otherwise */
    }
    if (k == IGNORED && can_be_ignored(row)) {
        out->change = pe_changes_ignored;
        return true;
    }
    if ((row->kind != PE_KIND_INT && row->kind != PE_KIND_REAL) || k >= CHANGES)
        return false;
    /* indices are compared exactly, and few whole numbers give them */
    const bool indices =
        guess->claim->uploads[0].array.dtype == PE_INT32 || pe_lookup_is(guess->claim->resource);
    if (k >= LIKELY && indices && row->kind == PE_KIND_REAL)
        return false;
    out->fitted = k >= LIKELY && !indices;
    out->change = pe_changes_number;
    out->value =
        changed_number(row, row->kind == PE_KIND_INT ? (double)value->integer : value->real, k);
    return true;
}
