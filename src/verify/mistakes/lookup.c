/* SPDX-License-Identifier: MIT */
/* lookup.c - a learned table of biases, and the index by which each is looked up. */
#include "verify/mistakes/lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/resource.h"

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

/* ---- rows ---- */

static double weight(const pe_lookup *l, size_t row, size_t head)
{
    return l->weights[row * l->heads + head];
}

/* How far a number may be from a weight that it was rounded from; of whole numbers not at all. */
static double slack(double roundoff, double x)
{
    return roundoff == 0 ? 0
                         : (1.01 * roundoff + 0x1p-22) * fabs(x) + 0x1p-10 * roundoff * roundoff;
}

/* How far the numbers of a pair are from a row; HUGE_VAL: it is another one. */
static double distance(const pe_lookup *l, const double *numbers, size_t step, size_t row,
                       double roundoff)
{
    double most = 0;
    for (size_t h = 0; h < l->heads; h++) {
        const double x = weight(l, row, h), off = fabs(numbers[h * step] - x);
        if (!(off <= slack(roundoff, x)))
            return HUGE_VAL;
        most = fmax(most, off);
    }
    return most;
}

/* The first of the nearest rows for numbers[head * step]; NAN: there is none. */
double pe_lookup_find(const pe_lookup *l, const double *numbers, size_t step, double roundoff)
{
    const double low = numbers[0] - 2 * slack(roundoff, numbers[0]);
    const double high = numbers[0] + 2 * slack(roundoff, numbers[0]);
    size_t from = 0, to = l->rows;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (weight(l, l->sorted[middle], 0) < low)
            from = middle + 1;
        else
            to = middle;
    }
    double row = nan(""), least = HUGE_VAL;
    for (; from < l->rows && weight(l, l->sorted[from], 0) <= high; from++) {
        const double off = distance(l, numbers, step, l->sorted[from], roundoff);
        if (off < least) {
            least = off;
            row = (double)l->sorted[from];
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
    return isnan(row) ? row : weight(l, (size_t)row, element / l->pairs);
}

/* ---- life ---- */

typedef struct key {
    double first;
    size_t row;
} key;

static int compare(const void *a, const void *b)
{
    const key *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool sort_rows(const pe_lookup *l)
{
    key *keys = malloc(l->rows * sizeof *keys);
    if (keys == NULL)
        return false;
    for (size_t r = 0; r < l->rows; r++)
        keys[r] = (key){weight(l, r, 0), r};
    qsort(keys, l->rows, sizeof *keys, compare);
    for (size_t r = 0; r < l->rows; r++)
        l->sorted[r] = keys[r].row;
    free(keys);
    for (size_t r = 0; r < l->rows; r++) {
        const double first = pe_lookup_find(l, l->weights + r * l->heads, 1, 0);
        l->first[r] = isnan(first) ? r : (size_t)first;
    }
    return true;
}

pe_status pe_lookup_make(const pe_guess *claim, size_t elements, pe_lookup *out, pe_problem *why)
{
    const pe_array *table = &pe_values_find(&claim->values, "weights")->tensor;
    *out = (pe_lookup){.resource = indices_of(claim->claim->resource),
                       .rows = table->shape.dim[0],
                       .heads = table->shape.dim[1]};
    out->pairs = elements / out->heads;
    out->weights = calloc(table->elements + 2 * out->pairs, sizeof *out->weights);
    out->sorted = calloc(2 * out->rows, sizeof *out->sorted);
    if (out->weights == NULL || out->sorted == NULL)
        return pe_fail_memory(why);
    out->first = out->sorted + out->rows;
    out->claimed = out->weights + table->elements;
    out->got = out->claimed + out->pairs;
    for (size_t e = 0; e < table->elements; e++)
        out->weights[e] = pe_upload_number(table, e);
    return sort_rows(out) ? PE_OK : pe_fail_memory(why);
}

pe_status pe_lookup_transpose(pe_lookup *l, pe_problem *why)
{
    const size_t n = l->rows * l->heads;
    double *was = malloc(n * sizeof *was);
    if (was == NULL)
        return pe_fail_memory(why);
    memcpy(was, l->weights, n * sizeof *was);
    for (size_t e = 0; e < n; e++)
        l->weights[e] = was[e % l->heads * l->rows + e / l->heads];
    free(was);
    return sort_rows(l) ? PE_OK : pe_fail_memory(why);
}

void pe_lookup_free(pe_lookup *l)
{
    free(l->weights);
    free(l->sorted);
}
