/* SPDX-License-Identifier: MIT */
/* plain_rows.c - rows of a learned table that are those of other positions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "verify/mistakes/sequence.h"
#include "verify/plain/plain_slips.h"
#include "verify/search/attempts.h"

#define EXCEPTION 4 /* one of so many rows may be something else */

#define TABLE_MAX (PE_PLAIN_MAX / 2) /* elements that are held as doubles */

/* All rows of the table that the guess names. NULL: they are too many to look at. */
static pe_status fill_table(const pe_plan *plan, pe_lines *at, double **out, pe_problem *why)
{
    const pe_tensor *table = &plan->tensors[0];
    at->n_source = table->elements / table->unit;
    *out = NULL;
    if (table->unit != at->inner || table->elements > TABLE_MAX || table->dtype != PE_FLOAT64)
        return PE_OK;
    *out = malloc(table->elements * sizeof **out);
    const pe_region all = pe_plan_units(plan, 0, 0, at->n_source);
    pe_numbers_spend(at->of, table->elements);
    return *out == NULL ? pe_fail_memory(why) : pe_plan_make_region(plan, &all, *out, why);
}

static pe_status make_table(pe_lines *at, double **out, pe_problem *why)
{
    pe_guess guess;
    pe_plan plan = {0};
    PE_TRY(pe_guess_copy(at->of->claim, &guess, why));
    pe_value *positions = pe_values_find(&guess.values, "positions");
    pe_positions_free(&positions->positions);
    positions->present = false;
    pe_values_find(&guess.values, "offset")->integer = 0;
    (void)pe_geometry_set_choice(&guess.values, "dtype", "float64");
    *out = NULL;
    pe_status status = pe_guess_plan(&guess, &guess.values, &plan, why);
    if (status == PE_OK)
        status = fill_table(&plan, at, out, why);
    pe_plan_free(&plan);
    pe_guess_free(&guess);
    return status;
}

static const pe_slip downward = {
    .fault = {.name = PE_NAME(positions_reversed),
              .rule = "rows are in reverse order: from that of position {a} down",
              .remedy = "send rows in the order of the claimed positions"},
    .op = "a - x"};

/* The rule that positions follow, and what else was done to the rows where it says not all. */
static void tell_positions(const pe_numbers *plain, const pe_reading *reading)
{
    bool found;
    pe_cause cause;
    pe_guess guess;
    pe_search *s = plain->search;
    if (!pe_attempts_did(s, pe_causes_find(reading, false, &cause, &found, s->why)))
        return;
    if (found && cause.patch != NULL &&
        (cause.patch->fault.name == PE_NAME(inverse) ||
         cause.patch->fault.name == PE_NAME(inverse_shifted)) &&
        pe_sequence_read(&cause.made, &downward)) {
        cause.patch = &downward; /* rows of a table do not turn */
        cause.made.a = reading->position[0];
    }
    if (found && cause.patch != NULL && plain->claim->n_faults < PE_FAULTS_MAX &&
        pe_attempts_did(s, pe_guess_copy(plain->claim, &guess, s->why))) {
        pe_causes_apply(&cause, &guess);
        pe_attempts_try(s, &guess);
        if (!pe_attempts_found(s))
            plain->behind(s, &guess);
        if (s->failed == PE_OK && !pe_attempts_found(s) && reading->quality < 1 &&
            plain->claim->n_faults == 0) /* a shift may take such a fault back */
            pe_strays_try(s, &guess);
        if (pe_attempts_found(s))
            pe_numbers_list(plain, "positions", reading->position, reading->tokens);
        pe_guess_free(&guess);
    }
    pe_cause_free(&cause);
}

static void read_positions(pe_lines *at, double offset)
{
    pe_search *s = at->of->search;
    pe_reading reading = {.tokens = at->n,
                          .pairs = at->inner,
                          .quality = 1,
                          .claimed = calloc(2 * at->n, sizeof(double))};
    if (reading.claimed == NULL) {
        pe_attempts_did(s, pe_fail_memory(s->why));
        return;
    }
    reading.position = reading.claimed + at->n;
    for (size_t i = 0; i < at->n; i++) {
        const bool known = at->from[i] != PE_NO_LINE;
        reading.claimed[i] = (double)at->own[i] - offset;
        reading.position[i] = known ? (double)at->from[i] - offset : nan("");
        reading.quality -= known ? 0 : 1 / (double)at->n;
    }
    tell_positions(at->of, &reading);
    free(reading.claimed);
}

static void find_positions(pe_lines *at, double offset)
{
    pe_search *s = at->of->search;
    const size_t most = at->n / EXCEPTION;
    const pe_positions *positions = &pe_values_find(&at->of->claim->values, "positions")->positions;
    for (size_t i = 0; i < at->n; i++)
        at->own[i] = (size_t)(pe_positions_at(positions, i) + offset);
    bool found = false;
    for (int scaled = 0; scaled < 2 && !found; scaled++)
        if (!pe_attempts_did(s, pe_lines_find(at, scaled, most, &found, s->why)))
            return;
    if (found)
        read_positions(at, offset);
}

void pe_plain_rows_find(const pe_numbers *plain)
{
    pe_lines at;
    double *table = NULL;
    pe_search *s = plain->search;
    const pe_shape *shape = &plain->view->claim->uploads[0].array.shape;
    if (!pe_numbers_goes_on(plain) || shape->ndim != 2 || shape->dim[1] < 4 ||
        !pe_guess_map_is_identity(&plain->claim->distortion.positions))
        return;
    if (pe_attempts_did(s, pe_lines_make(plain, 1, shape->dim[0], &at, s->why)) &&
        pe_attempts_did(s, make_table(&at, &table, s->why)) && table != NULL) {
        at.source = table;
        find_positions(&at, (double)pe_values_int(&plain->claim->values, "offset"));
    }
    free(table);
    pe_lines_free(&at);
}

/* ==== which line of a source each line of an upload is, along an axis ==== */

static double length(const double *row, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += row[k] * row[k];
    return sqrt(sum);
}

/* Does line i, so long, hold line j of the source? */
static bool holds(const pe_lines *at, size_t i, size_t j, double size)
{
    const double times = at->size != NULL ? size / at->size[j] : 1;
    if (!pe_numbers_is_near(at->of, at->of->got[i * at->inner], times * at->first[j]))
        return false;
    for (size_t o = 0; o < at->outer; o++) {
        const double *got = at->of->got + (o * at->n + i) * at->inner;
        const double *want = at->source + (o * at->n_source + j) * at->inner;
        for (size_t k = 0; k < at->inner; k++)
            if (!pe_numbers_is_near(at->of, got[k], times * want[k]))
                return false;
    }
    return true;
}

/* Claimed lines go first, then those beside the one before. */
static size_t find_line(const pe_lines *at, size_t i, size_t before)
{
    const size_t likely[] = {at->own[i], before + 1, before - 1, before};
    const double size = at->size != NULL ? length(at->of->got + i * at->inner, at->inner) : 1;
    for (size_t k = 0; k < PE_LEN(likely); k++)
        if (likely[k] < at->n_source && holds(at, i, likely[k], size))
            return likely[k];
    pe_numbers_spend(at->of, at->n_source);
    for (size_t j = 0; j < at->n_source; j++)
        if (holds(at, i, j, size))
            return j;
    return PE_NO_LINE;
}

/* What is compared first of each line of the source, which is known now. */
static pe_status prepare(pe_lines *at, bool scaled, pe_problem *why)
{
    free(at->first);
    at->first = malloc(2 * at->n_source * sizeof *at->first);
    if (at->first == NULL)
        return pe_fail_memory(why);
    at->size = scaled ? at->first + at->n_source : NULL;
    for (size_t j = 0; j < at->n_source; j++) {
        at->first[j] = at->source[j * at->inner];
        if (scaled)
            at->size[j] = length(at->source + j * at->inner, at->inner);
    }
    return PE_OK;
}

/* Of lines that are none of the source, so many are looked for in all of it. */
#define MISSES_MAX 32

pe_status pe_lines_find(pe_lines *at, bool scaled, size_t most, bool *found, pe_problem *why)
{
    size_t misses = 0, moved = 0;
    most = most < MISSES_MAX ? most : MISSES_MAX;
    const pe_status status = prepare(at, scaled, why);
    for (size_t i = 0; i < at->n && misses <= most && status == PE_OK; i++) {
        at->from[i] = find_line(at, i, i > 0 ? at->from[i - 1] : PE_NO_LINE);
        misses += at->from[i] == PE_NO_LINE;
        moved += at->from[i] != at->own[i];
    }
    pe_numbers_spend(at->of, at->of->elements);
    *found = misses <= most && moved > misses;
    return status;
}

void pe_lines_free(pe_lines *at)
{
    free(at->first);
    free(at->own);
}

pe_status pe_lines_make(const pe_numbers *plain, size_t outer, size_t n, pe_lines *out,
                        pe_problem *why)
{
    *out = (pe_lines){.of = plain,
                      .outer = outer,
                      .n = n,
                      .inner = plain->elements / outer / n,
                      .source = plain->claimed,
                      .n_source = n,
                      .own = calloc(2 * n, sizeof *out->own)};
    if (out->own == NULL)
        return pe_fail_memory(why);
    out->from = out->own + n;
    for (size_t i = 0; i < n; i++)
        out->own[i] = i;
    return PE_OK;
}
