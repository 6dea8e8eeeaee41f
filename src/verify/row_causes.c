/* SPDX-License-Identifier: MIT */
/* row_causes.c - plain numbers that are those of other rows, or that were made of whole rows. */
#include "verify/row_causes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verify/ops.h"
#include "verify/strays.h"

#define NONE      SIZE_MAX
#define EXCEPTION 4 /* one of so many rows may be something else */

/* ---- which line of a source each line of the upload is ---- */

/* Lines along an axis: of each o the elements (o n + i) inner + k are those of line i. */
typedef struct lines {
    const pe_numbers *of;
    size_t outer, n, inner;
    const double *source; /* [outer][n_source][inner] */
    size_t n_source;
    double *size;       /* [n_source] owned: their lengths, where rows are multiples; or NULL */
    double *first;      /* [n_source] owned: their first elements, which tell most of them apart */
    size_t *own, *from; /* [n] owned: the line of the claim, and the one that was found, or NONE */
} lines;

static double length(const double *row, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += row[k] * row[k];
    return sqrt(sum);
}

/* Does line i, so long, hold line j of the source? */
static bool holds(const lines *at, size_t i, size_t j, double size)
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
static size_t find_line(const lines *at, size_t i, size_t before)
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
    return NONE;
}

/* What is compared first of each line of the source, which is known now. */
static pe_status prepare(lines *at, bool scaled, pe_problem *why)
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

/* Is every line found, but `most` of them, and some elsewhere? */
static pe_status find_lines(lines *at, bool scaled, size_t most, bool *found, pe_problem *why)
{
    size_t misses = 0, moved = 0;
    most = most < MISSES_MAX ? most : MISSES_MAX;
    const pe_status status = prepare(at, scaled, why);
    for (size_t i = 0; i < at->n && misses <= most && status == PE_OK; i++) {
        at->from[i] = find_line(at, i, i > 0 ? at->from[i - 1] : NONE);
        misses += at->from[i] == NONE;
        moved += at->from[i] != at->own[i];
    }
    pe_numbers_spend(at->of, at->of->elements);
    *found = misses <= most && moved > misses;
    return status;
}

static void free_lines(lines *at)
{
    free(at->first);
    free(at->own);
}

static pe_status make_lines(const pe_numbers *plain, size_t outer, size_t n, lines *out,
                            pe_problem *why)
{
    *out = (lines){.of = plain,
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

/* ---- rows of a learned table ---- */

#define TABLE_MAX (PE_PLAIN_MAX / 2) /* elements that are held as doubles */

/* All rows of the table that the guess names. NULL: they are too many to look at. */
static pe_status fill_table(const pe_plan *plan, lines *at, double **out, pe_problem *why)
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

static pe_status make_table(lines *at, double **out, pe_problem *why)
{
    pe_guess guess;
    pe_plan plan = {0};
    pe_status status = pe_guess_copy(at->of->claim, &guess, why);
    if (status != PE_OK)
        return status;
    pe_value *positions = pe_values_find(&guess.values, "positions");
    pe_positions_free(&positions->positions);
    positions->present = false;
    pe_values_find(&guess.values, "offset")->integer = 0;
    (void)pe_guess_set_choice(&guess.values, "dtype", "float64");
    *out = NULL;
    status = pe_guess_plan(&guess, &guess.values, &plan, why);
    if (status == PE_OK)
        status = fill_table(&plan, at, out, why);
    pe_plan_free(&plan);
    pe_guess_free(&guess);
    return status;
}

static const pe_patch downward = {
    .fault = {.name = "positions_reversed",
              .rule = "rows are in reverse order: from that of position {a} down",
              .remedy = "send rows in the order of the claimed positions"},
    .op = pe_op_mirror};

/* The rule that positions follow, and what else was done to the rows where it says not all. */
static pe_status tell_positions(const pe_numbers *plain, const pe_reading *reading, pe_problem *why)
{
    bool found;
    pe_cause cause;
    pe_guess guess;
    pe_status status = pe_causes_find(reading, false, &cause, &found, why);
    if (status != PE_OK)
        return status;
    if (found && cause.patch != NULL && strncmp(cause.patch->fault.name, "inverse", 7) == 0) {
        cause.patch = &downward; /* rows of a table do not turn */
        cause.a = reading->position[0];
    }
    status = pe_guess_copy(plain->claim, &guess, why);
    if (status == PE_OK && found && cause.patch != NULL && guess.n_faults < PE_FAULTS_MAX) {
        pe_causes_apply(&cause, &guess);
        status = pe_attempts_try(plain->search, &guess, why);
        if (status == PE_OK && !pe_attempts_found(plain->search))
            status = plain->behind(plain->search, &guess, why);
        if (status == PE_OK && !pe_attempts_found(plain->search) && reading->quality < 1 &&
            plain->claim->n_faults == 0) /* a shift may take such a fault back */
            status = pe_strays_try(plain->search, &guess, why);
        if (pe_attempts_found(plain->search))
            pe_numbers_list(plain, "positions", reading->position, reading->tokens);
    }
    pe_guess_free(&guess);
    pe_cause_free(&cause);
    return status;
}

static pe_status read_positions(lines *at, double offset, pe_problem *why)
{
    pe_reading reading = {.tokens = at->n,
                          .pairs = at->inner,
                          .quality = 1,
                          .claimed = calloc(2 * at->n, sizeof(double))};
    if (reading.claimed == NULL)
        return pe_fail_memory(why);
    reading.position = reading.claimed + at->n;
    for (size_t i = 0; i < at->n; i++) {
        const bool known = at->from[i] != NONE;
        reading.claimed[i] = (double)at->own[i] - offset;
        reading.position[i] = known ? (double)at->from[i] - offset : nan("");
        reading.quality -= known ? 0 : 1 / (double)at->n;
    }
    const pe_status status = tell_positions(at->of, &reading, why);
    free(reading.claimed);
    return status;
}

static pe_status find_positions(lines *at, double offset, pe_problem *why)
{
    const pe_positions *positions = &pe_values_find(&at->of->claim->values, "positions")->positions;
    for (size_t i = 0; i < at->n; i++)
        at->own[i] = (size_t)(pe_positions_at(positions, i) + offset);
    bool found;
    pe_status status = find_lines(at, false, at->n / EXCEPTION, &found, why);
    if (status == PE_OK && !found)
        status = find_lines(at, true, at->n / EXCEPTION, &found, why);
    return status == PE_OK && found ? read_positions(at, offset, why) : status;
}

pe_status pe_row_causes_positions(const pe_numbers *plain, pe_problem *why)
{
    lines at;
    double *table = NULL;
    const pe_shape *shape = &plain->view->claim->uploads[0].array.shape;
    if (!pe_numbers_goes_on(plain) || shape->ndim != 2 || shape->dim[1] < 4 ||
        !pe_guess_map_is_identity(&plain->claim->distortion.positions))
        return PE_OK;
    pe_status status = make_lines(plain, 1, shape->dim[0], &at, why);
    if (status != PE_OK)
        return status;
    status = make_table(&at, &table, why);
    at.source = table;
    if (status == PE_OK && table != NULL)
        status = find_positions(&at, (double)pe_values_int(&plain->claim->values, "offset"), why);
    free(table);
    free_lines(&at);
    return status;
}

/* ---- places along an axis ---- */

static double at_place(const void *context, size_t element, double claimed, double *error)
{
    const lines *at = context;
    (void)claimed;
    (void)error;
    const size_t o = element / at->inner / at->n, i = element / at->inner % at->n;
    return at->source[(o * at->n + at->from[i]) * at->inner + element % at->inner];
}

/* How many lines are elsewhere, and whether each one is somewhere. What they claim is forgotten. */
static size_t count_moved(lines *at, bool *each)
{
    size_t moved = 0;
    for (size_t i = 0; i < at->n; i++) {
        moved += at->from[i] != i;
        at->own[at->from[i]] = NONE;
    }
    *each = true;
    for (size_t i = 0; i < at->n; i++)
        *each &= at->own[i] == NONE;
    return moved;
}

static pe_status tell_places(lines *at, size_t axis, pe_problem *why)
{
    enum { MOST = 6 };
    pe_fault fault = {.name = "places_other",
                      .remedy = "send each head, item or row in its own place"};
    bool each;
    size_t told = 0;
    pe_buffer rule = {0};
    const size_t moved = count_moved(at, &each);
    pe_buffer_format(&rule,
                     each ? "the order along axis %zu is another one: "
                          : "places along axis %zu hold the numbers of others: ",
                     axis);
    for (size_t i = 0; i < at->n && told < MOST; i++)
        if (at->from[i] != i)
            pe_buffer_format(&rule, "%s%zu has those of %zu", told++ > 0 ? ", " : "", i,
                             at->from[i]);
    pe_buffer_str(&rule, moved > told ? " and so on" : "");
    fault.rule = pe_buffer_text(&rule);
    const pe_numbers_cause cause = {.fault = &fault, .fitted = !each && 2 * moved > at->n + 1};
    const pe_status status =
        pe_numbers_try(at->of, &cause, 1, &(pe_numbers_law){at_place, at, 1}, why);
    pe_buffer_free(&rule);
    return status;
}

pe_status pe_row_causes_places(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = PE_OK;
    const pe_shape *shape = &plain->view->claim->uploads[0].array.shape;
    size_t outer = 1;
    for (size_t a = 0; a < shape->ndim && status == PE_OK; outer *= shape->dim[a++]) {
        lines at;
        if (shape->dim[a] < 2 || plain->elements / shape->dim[a] < 4 ||
            !pe_numbers_goes_on(plain) || pe_attempts_found(plain->search))
            continue;
        status = make_lines(plain, outer, shape->dim[a], &at, why);
        bool found = false;
        if (status == PE_OK)
            status = find_lines(&at, false, 0, &found, why);
        if (status == PE_OK && found)
            status = tell_places(&at, a, why);
        free_lines(&at);
    }
    return status;
}

/* ---- elements that were made of whole rows ---- */

/* Of a row of the claim, or of all its elements. */
typedef struct sums {
    double mean, deviation, length, most;
} sums;

typedef struct made_row {
    pe_fault fault; /* its value is a number of the law */
    double (*at)(const struct made_row *by, const sums *of, double x, double *error);
    bool of_all; /* elements are of one row */
} made_row;

typedef struct made {
    const made_row *by;
    size_t width;
    sums *of; /* owned */
} made;

/* A value is the epsilon beside the variance. Rows of nearly one number tell nothing. */
static double normalized(const made_row *by, const sums *of, double x, double *error)
{
    const double deviation = sqrt(of->deviation * of->deviation + by->fault.value);
    *error = 4e-7 * of->most / deviation;
    return of->deviation > 1e-3 * of->most ? (x - of->mean) / deviation : nan("");
}

static double of_length_one(const made_row *by, const sums *of, double x, double *error)
{
    (void)by;
    *error = 1e-6;
    return x / of->length;
}

/* So many levels are on either side of 0. Halves of a step are rounded to either side. */
static double quantized(const made_row *by, const sums *of, double x, double *error)
{
    const double step = of->most / by->fault.value, steps = x / step;
    *error = fabs(fabs(steps - trunc(steps)) - 0.5) < 1e-4 ? step : 1e-6 * fabs(x);
    return step * nearbyint(steps);
}

#define NORM  "leave the norm to the layer that has it: send the rows of the table"
#define LEVEL "keep the table in float16 or wider, or dequantize with its own scales"

static const made_row made_rows[] = {
    {{"rows_normalized", "each row was normalized to mean 0 and variance 1 (LayerNorm)",
      .remedy = NORM},
     normalized,
     false},
    {{"rows_normalized",
      "each row was normalized to mean 0 and variance 1 (LayerNorm, with an epsilon of 1e-5)",
      .value = 1e-5, .remedy = NORM},
     normalized,
     false},
    {{"rows_normalized", "each row was normalized to length 1 (L2)", .remedy = NORM},
     of_length_one,
     false},
    {{"quantized",
      "elements were quantized to int8: they are whole multiples of max/127, of the "
      "whole tensor",
      .value = 127, .remedy = LEVEL},
     quantized,
     true},
    {{"quantized",
      "elements were quantized to int8: they are whole multiples of max/127, row by "
      "row",
      .value = 127, .remedy = LEVEL},
     quantized,
     false},
    {{"quantized",
      "elements were quantized to int4: they are whole multiples of max/7, of the "
      "whole tensor",
      .value = 7, .remedy = LEVEL},
     quantized,
     true},
    {{"quantized", "elements were quantized to int4: they are whole multiples of max/7, row by row",
      .value = 7, .remedy = LEVEL},
     quantized,
     false},
};

static sums sum_up(const double *row, size_t n)
{
    sums of = {.length = length(row, n)};
    for (size_t k = 0; k < n; k++) {
        of.mean += row[k] / (double)n;
        of.most = fmax(of.most, fabs(row[k]));
    }
    for (size_t k = 0; k < n; k++)
        of.deviation += (row[k] - of.mean) * (row[k] - of.mean) / (double)n;
    of.deviation = sqrt(of.deviation);
    return of;
}

static double at_made(const void *context, size_t element, double claimed, double *error)
{
    const made *at = context;
    return at->by->at(at->by, &at->of[element / at->width], claimed, error);
}

static bool follows(const pe_numbers *plain, const made *at)
{
    size_t e = 0;
    bool same = true;
    for (; e < plain->elements && same; e++) {
        double error = 0;
        const double x = at_made(at, e, plain->claimed[e], &error);
        same = fabs(plain->got[e] - x) <= error + (4 * plain->roundoff + 0x1p-18) * fabs(x);
    }
    pe_numbers_spend(plain, e);
    return same;
}

static pe_status try_made(const pe_numbers *plain, const made_row *by, size_t width,
                          pe_problem *why)
{
    made at = {by, width, calloc(plain->elements / width, sizeof *at.of)};
    const pe_numbers_cause cause = {.fault = &by->fault};
    pe_status status = at.of == NULL ? pe_fail_memory(why) : PE_OK;
    for (size_t r = 0; at.of != NULL && r < plain->elements / width; r++)
        at.of[r] = sum_up(plain->claimed + r * width, width);
    pe_numbers_spend(plain, plain->elements);
    if (status == PE_OK && follows(plain, &at))
        status = pe_numbers_try(plain, &cause, 1, &(pe_numbers_law){at_made, &at, 1}, why);
    free(at.of);
    return status;
}

pe_status pe_row_causes_values(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = PE_OK;
    const pe_shape *shape = &plain->view->claim->uploads[0].array.shape;
    for (size_t r = 0; r < PE_LEN(made_rows) && status == PE_OK; r++) {
        const size_t width = made_rows[r].of_all ? plain->elements : shape->dim[shape->ndim - 1];
        if (plain->roundoff > 0 && width >= 8 && shape->ndim > 1 && pe_numbers_goes_on(plain) &&
            !pe_attempts_found(plain->search))
            status = try_made(plain, &made_rows[r], width, why);
    }
    return status;
}
