/* SPDX-License-Identifier: MIT */
/* lookup.c - uploads whose items are rows of a learned table: by which index each was looked up. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "plan/resource.h"
#include "verify/plain/plain_slips.h"

typedef struct key {
    double first;
    size_t row;
} key;

/* Number c of item i of the upload is at i*item + c*step; its row is weights[row*width + c]. */
typedef struct pe_lookup {
    size_t rows, width, items, item, step;
    double *weights;       /* [rows, width] owned */
    key *sorted;           /* [rows] owned: by the first number */
    size_t *first;         /* [rows] owned: of each row the first one that is as it */
    double *got, *claimed; /* [items] behind the weights: for indices */
} pe_lookup;

/* ---- rows ---- */

/* How far a number may be from the one that it was rounded from; of whole numbers not at all. */
static double slack(double roundoff, double x)
{
    return roundoff == 0 ? 0
                         : (1.01 * roundoff + 0x1p-22) * fabs(x) + 0x1p-10 * roundoff * roundoff;
}

/* How far the numbers of an item are from a row; HUGE_VAL: it is another one. */
static double distance(const pe_lookup *l, const double *numbers, size_t step, size_t row,
                       double roundoff)
{
    double most = 0;
    for (size_t c = 0; c < l->width; c++) {
        const double x = l->weights[row * l->width + c], off = fabs(numbers[c * step] - x);
        if (!(off <= slack(roundoff, x)))
            return HUGE_VAL;
        most = fmax(most, off);
    }
    return most;
}

/* The first of the nearest rows for numbers[c * step]; NAN: there is none. *looked: how many were held
 * against them. */
static double find(const pe_lookup *l, const double *numbers, size_t step, double roundoff,
                   size_t *looked)
{
    const double low = numbers[0] - 2 * slack(roundoff, numbers[0]);
    const double high = numbers[0] + 2 * slack(roundoff, numbers[0]);
    size_t from = 0, to = l->rows;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (l->sorted[middle].first < low)
            from = middle + 1;
        else
            to = middle;
    }
    double row = nan(""), least = HUGE_VAL;
    for (; from < l->rows && l->sorted[from].first <= high; from++, ++*looked) {
        const double off = distance(l, numbers, step, l->sorted[from].row, roundoff);
        if (off < least) {
            least = off;
            row = (double)l->sorted[from].row;
        }
    }
    return row;
}

double pe_lookup_row(const pe_lookup *l, double index)
{
    if (l == NULL || isnan(index))
        return index;
    const double last = (double)l->rows - 1;
    const double row = index < 0 ? index + last + 1 : fmin(index, last);
    return row < 0 || row != floor(row) ? nan("") : (double)l->first[(size_t)row];
}

double pe_lookup_at(const pe_lookup *l, size_t element, double index)
{
    const double row = pe_lookup_row(l, index);
    return l == NULL || isnan(row) ? row : l->weights[(size_t)row * l->width + element / l->items];
}

/* ---- life ---- */

static int compare(const void *a, const void *b)
{
    const key *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void sort_rows(const pe_lookup *l)
{
    for (size_t r = 0; r < l->rows; r++)
        l->sorted[r] = (key){l->weights[r * l->width], r};
    qsort(l->sorted, l->rows, sizeof *l->sorted, compare);
}

/* Room for so many rows and items. */
static pe_status make(size_t rows, size_t width, size_t items, pe_lookup *out, pe_problem *why)
{
    *out = (pe_lookup){.rows = rows,
                       .width = width,
                       .items = items,
                       .weights = calloc(rows * width + 2 * items, sizeof *out->weights),
                       .sorted = calloc(rows, sizeof *out->sorted),
                       .first = calloc(rows, sizeof *out->first)};
    if (out->weights == NULL || out->sorted == NULL || out->first == NULL)
        return pe_fail_memory(why);
    out->claimed = out->weights + rows * width;
    out->got = out->claimed + items;
    return PE_OK;
}

static void release(pe_lookup *l)
{
    free(l->weights);
    free(l->sorted);
    free(l->first);
}

/* The index of each item of these numbers. False: one has none. */
static bool read_indices(const pe_numbers *plain, const pe_lookup *l, const double *numbers,
                         double *out)
{
    size_t i = 0, looked = 0;
    for (; i < l->items && (i == 0 || !isnan(out[i - 1])); i++)
        out[i] = find(l, numbers + i * l->item, l->step, plain->roundoff, &looked);
    pe_numbers_spend(plain, looked * l->width + 8 * i);
    return !isnan(out[i - 1]);
}

/* ---- biases: bias[head, query, key] = weights[index(query, key), head] ---- */

static const struct {
    const char *biases, *indices;
} resources[] = {{"t5/bias", "t5/buckets"}, {"swin/bias", "swin/index"}};

static const char *indices_of(const pe_resource *resource)
{
    for (size_t r = 0; r < PE_LEN(resources); r++)
        if (strcmp(resources[r].biases, resource->name) == 0)
            return resources[r].indices;
    return NULL;
}

bool pe_lookup_is(const pe_resource *resource)
{
    return indices_of(resource) != NULL;
}

static void fill(const pe_lookup *l, const pe_array *table, bool transposed)
{
    size_t looked = 0;
    for (size_t e = 0; e < table->elements; e++)
        l->weights[e] =
            pe_upload_number(table, transposed ? e % l->width * l->rows + e / l->width : e);
    sort_rows(l);
    for (size_t r = 0; r < l->rows; r++) {
        const double first = find(l, l->weights + r * l->width, 1, 0, &looked);
        l->first[r] = isnan(first) ? r : (size_t)first;
    }
}

/* Nothing else is mistaken where the indices are the claimed ones. */
static void try_indices(const pe_numbers *plain, const pe_lookup *l, bool transposed,
                        pe_slips_how how)
{
    static const pe_slip row = PE_SLIP(weights_transposed, &pe_slip_values);
    pe_numbers indices = *plain;
    indices.resource = indices_of(plain->view->claim->resource);
    indices.got = l->got;
    indices.claimed = l->claimed;
    indices.elements = l->items;
    indices.roundoff = 0;
    indices.lookup = l;
    const pe_sequence of = {.of = &indices, .by = &row};
    if (transposed && memcmp(l->got, l->claimed, l->items * sizeof *l->got) == 0)
        pe_slips_try(&of);
    indices.first = transposed ? &of : NULL;
    pe_slips_find(&indices, how);
}

void pe_lookup_read(const pe_numbers *plain, bool transposed, pe_slips_how how)
{
    pe_lookup l;
    pe_search *s = plain->search;
    const pe_array *table = &pe_values_find(&plain->claim->values, "weights")->tensor;
    const size_t heads = table->shape.dim[1], pairs = plain->elements / heads;
    if (pe_attempts_did(s, make(table->shape.dim[0], heads, pairs, &l, s->why))) {
        assert(l.got != NULL);
        l.item = 1;
        l.step = pairs;
        fill(&l, table, false);
        const bool claimed = read_indices(plain, &l, plain->claimed, l.claimed);
        if (transposed)
            fill(&l, table, true);
        if (claimed && read_indices(plain, &l, plain->got, l.got))
            try_indices(plain, &l, transposed, how);
    }
    release(&l);
}

/* ---- rows of a learned table that are those of other positions ---- */

#define EXCEPTION  4  /* one of so many rows may be something else ... */
#define MISSES_MAX 32 /* ... and so many, which are looked for in all of the table */
#define TABLE_MAX  (PE_PLAIN_MAX / 2) /* elements that are held as doubles */

/* All rows of the table that the claim names; none where they are too many to look at. */
static pe_status make_table(const pe_numbers *plain, const pe_shape *shape, pe_lookup *out,
                            pe_problem *why)
{
    pe_guess guess;
    pe_plan plan = {0};
    PE_TRY(pe_guess_copy(plain->claim, &guess, why));
    pe_value *positions = pe_values_find(&guess.values, "positions");
    pe_positions_free(&positions->positions);
    positions->present = false;
    pe_values_find(&guess.values, "offset")->integer = 0;
    (void)pe_geometry_set_choice(&guess.values, "dtype", "float64");
    pe_status status = pe_guess_plan(&guess, &guess.values, &plan, why);
    const pe_tensor *all = plan.tensors;
    if (status == PE_OK && all->unit == shape->dim[1] && all->elements <= TABLE_MAX) {
        const pe_region region = pe_plan_units(&plan, 0, 0, all->units);
        status = make(all->units, all->unit, shape->dim[0], out, why);
        if (status == PE_OK)
            status = pe_plan_make_region(&plan, &region, out->weights, why);
        pe_numbers_spend(plain, all->elements);
    }
    pe_plan_free(&plan);
    pe_guess_free(&guess);
    return status;
}

/* False: rows are not found, or all where they are claimed. */
static bool read_positions(const pe_numbers *plain, const pe_lookup *l, pe_reading *out)
{
    const pe_values *values = &plain->claim->values;
    const pe_positions *positions = &pe_values_find(values, "positions")->positions;
    const double offset = (double)pe_values_int(values, "offset");
    const size_t most = l->items / EXCEPTION < MISSES_MAX ? l->items / EXCEPTION : MISSES_MAX;
    size_t misses = 0, moved = 0, looked = 0;
    for (size_t i = 0; i < l->items && misses <= most; i++) {
        const double *row = plain->got + i * l->width, own = pe_positions_at(positions, i);
        const bool same = own + offset < (double)l->rows &&
                          isfinite(distance(l, row, 1, (size_t)(own + offset), plain->roundoff));
        const double at = same ? own : find(l, row, 1, plain->roundoff, &looked) - offset;
        out->claimed[i] = own;
        out->position[i] = at;
        misses += isnan(at) ? 1 : 0;
        moved += at != own;
    }
    out->quality = 1 - (double)misses / (double)l->items;
    pe_numbers_spend(plain, plain->elements + looked);
    return misses <= most && moved > misses;
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

void pe_lookup_find_rows(const pe_numbers *plain)
{
    pe_lookup l = {0};
    pe_search *s = plain->search;
    const pe_shape *shape = &plain->view->claim->uploads[0].array.shape;
    if (!pe_numbers_goes_on(plain) || shape->ndim != 2 || shape->dim[1] < 4 ||
        !pe_guess_map_is_identity(&plain->claim->distortion.positions))
        return;
    if (pe_attempts_did(s, make_table(plain, shape, &l, s->why)) && l.got != NULL) {
        pe_reading reading = {
            .tokens = l.items, .pairs = l.width, .claimed = l.claimed, .position = l.got};
        sort_rows(&l);
        if (read_positions(plain, &l, &reading))
            tell_positions(plain, &reading);
    }
    release(&l);
}
