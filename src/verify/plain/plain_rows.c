/* SPDX-License-Identifier: MIT */
/* plain_rows.c - rows of a learned table that are those of other positions. */
#include <math.h>
#include <stdlib.h>

#include "plan/plan.h"
#include "verify/mistakes/sequence.h"
#include "verify/plain/plain_slips.h"
#include "verify/search/attempts.h"

#define EXCEPTION  4  /* one of so many rows may be something else ... */
#define MISSES_MAX 32 /* ... and so many, which are looked for in all of the table */

#define TABLE_MAX (PE_PLAIN_MAX / 2) /* elements that are held as doubles */

/* Rows of an upload, and of the table that they are of. */
typedef struct table {
    const pe_numbers *of;
    size_t width, n, all; /* rows of the upload, and of the table */
    double *row;          /* [all][width] owned; NULL: they are too many to look at */
} table;

static pe_status fill_table(const pe_plan *plan, table *out, pe_problem *why)
{
    const pe_tensor *all = &plan->tensors[0];
    out->all = all->elements / all->unit;
    if (all->unit != out->width || all->elements > TABLE_MAX || all->dtype != PE_FLOAT64)
        return PE_OK;
    out->row = malloc(all->elements * sizeof *out->row);
    const pe_region region = pe_plan_units(plan, 0, 0, out->all);
    pe_numbers_spend(out->of, all->elements);
    return out->row == NULL ? pe_fail_memory(why)
                            : pe_plan_make_region(plan, &region, out->row, why);
}

/* All rows of the table that the guess names. */
static pe_status make_table(table *out, pe_problem *why)
{
    pe_guess guess;
    pe_plan plan = {0};
    PE_TRY(pe_guess_copy(out->of->claim, &guess, why));
    pe_value *positions = pe_values_find(&guess.values, "positions");
    pe_positions_free(&positions->positions);
    positions->present = false;
    pe_values_find(&guess.values, "offset")->integer = 0;
    (void)pe_geometry_set_choice(&guess.values, "dtype", "float64");
    pe_status status = pe_guess_plan(&guess, &guess.values, &plan, why);
    if (status == PE_OK)
        status = fill_table(&plan, out, why);
    pe_plan_free(&plan);
    pe_guess_free(&guess);
    return status;
}

static bool is_row(const table *t, size_t i, size_t j)
{
    size_t k = 0;
    while (k < t->width &&
           pe_numbers_is_near(t->of, t->of->got[i * t->width + k], t->row[j * t->width + k]))
        k++;
    return k == t->width;
}

/* The row of the table that row i of the upload is; t->all: none. The claimed one goes first, then those
 * beside the one before. */
static size_t find_row(const table *t, size_t i, size_t own, size_t before)
{
    const size_t likely[] = {own, before + 1, before - 1, before};
    size_t j = 0;
    for (size_t k = 0; k < PE_LEN(likely); k++)
        if (likely[k] < t->all && is_row(t, i, likely[k]))
            return likely[k];
    while (j < t->all && !is_row(t, i, j))
        j++;
    pe_numbers_spend(t->of, j);
    return j;
}

/* The rule that positions follow, and what else was done to the rows where it says not all. */
static void tell_positions(const pe_numbers *plain, const pe_reading *reading)
{
    bool found;
    pe_cause cause;
    pe_guess guess;
    pe_search *s = plain->search;
    if (!pe_attempts_did(s, pe_causes_find(reading, false, &cause, &found, s->why)))
        return;
    /* rows of a table do not turn */
    found &= cause.patch != NULL && cause.patch->fault.name != PE_NAME(inverse) &&
             cause.patch->fault.name != PE_NAME(inverse_shifted);
    if (found && plain->claim->n_faults < PE_FAULTS_MAX &&
        pe_attempts_did(s, pe_guess_copy(plain->claim, &guess, s->why))) {
        pe_causes_apply(&cause, &guess);
        pe_attempts_try(s, &guess);
        if (!pe_attempts_found(s))
            pe_explain_one(s, &guess);
        if (pe_attempts_found(s))
            pe_numbers_list(plain, "positions", reading->position, reading->tokens);
        pe_guess_free(&guess);
    }
    pe_cause_free(&cause);
}

/* False: rows are not found, or all where they are claimed. */
static bool read_positions(const table *t, pe_reading *out)
{
    const pe_values *values = &t->of->claim->values;
    const pe_positions *positions = &pe_values_find(values, "positions")->positions;
    const double offset = (double)pe_values_int(values, "offset");
    const size_t most = t->n / EXCEPTION < MISSES_MAX ? t->n / EXCEPTION : MISSES_MAX;
    size_t misses = 0, moved = 0, row = t->all;
    for (size_t i = 0; i < t->n && misses <= most; i++) {
        const double claimed = pe_positions_at(positions, i);
        row = find_row(t, i, (size_t)(claimed + offset), row);
        out->claimed[i] = claimed;
        out->position[i] = row < t->all ? (double)row - offset : nan("");
        misses += row == t->all;
        moved += out->position[i] != claimed;
    }
    out->quality = 1 - (double)misses / (double)t->n;
    pe_numbers_spend(t->of, t->of->elements);
    return misses <= most && moved > misses;
}

void pe_plain_rows_find(const pe_numbers *plain)
{
    pe_search *s = plain->search;
    const pe_shape *shape = &plain->view->claim->uploads[0].array.shape;
    if (!pe_numbers_goes_on(plain) || shape->ndim != 2 || shape->dim[1] < 4 ||
        !pe_guess_map_is_identity(&plain->claim->distortion.positions))
        return;
    table t = {.of = plain, .width = shape->dim[1], .n = shape->dim[0]};
    pe_reading reading = {
        .tokens = t.n, .pairs = t.width, .claimed = calloc(2 * t.n + 1, sizeof(double))};
    const pe_status status =
        reading.claimed != NULL ? make_table(&t, s->why) : pe_fail_memory(s->why);
    if (pe_attempts_did(s, status) && t.row != NULL) {
        reading.position = reading.claimed + t.n;
        if (read_positions(&t, &reading))
            tell_positions(plain, &reading);
    }
    free(t.row);
    free(reading.claimed);
}
