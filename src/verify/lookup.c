/* SPDX-License-Identifier: MIT */
/* lookup.c - learned biases, whose rows tell by which index each was looked up. */
#include "verify/lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

const char *pe_lookup_resource(const pe_numbers *plain)
{
    return plain->lookup != NULL ? plain->lookup->resource : plain->view->claim->resource->name;
}

/* ---- from numbers to rows ---- */

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
static double find_row(const pe_lookup *l, const double *numbers, size_t step, double roundoff)
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

/* False: some pair has no row. */
static bool read_indices(const pe_lookup *l, const double *numbers, double roundoff, double *out)
{
    size_t p = 0;
    for (; p < l->pairs && (p == 0 || !isnan(out[p - 1])); p++)
        out[p] = find_row(l, numbers + p, l->pairs, roundoff);
    pe_numbers_spend(l->of, p * (l->heads + 8));
    return !isnan(out[p - 1]);
}

double pe_lookup_row(const pe_lookup *l, double index)
{
    if (l == NULL || isnan(index))
        return index;
    const double last = (double)l->rows - 1;
    const double row = index < 0 ? index + last + 1 : fmin(index, last);
    return row < 0 || row != floor(row) ? nan("")
                                        : find_row(l, l->weights + (size_t)row * l->heads, 1, 0);
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
    return true;
}

static void free_lookup(pe_lookup *l)
{
    free(l->weights);
    free(l->sorted);
}

static pe_status make_lookup(const pe_numbers *plain, pe_lookup *out, pe_problem *why)
{
    const pe_array *table = &pe_values_find(&plain->claim->values, "weights")->tensor;
    *out = (pe_lookup){.of = plain,
                       .resource = indices_of(plain->view->claim->resource),
                       .rows = table->shape.dim[0],
                       .heads = table->shape.dim[1]};
    out->pairs = plain->elements / out->heads;
    out->weights = malloc((table->elements + 2 * out->pairs) * sizeof *out->weights);
    out->sorted = malloc(out->rows * sizeof *out->sorted);
    if (out->weights == NULL || out->sorted == NULL)
        return pe_fail_memory(why);
    out->claimed = out->weights + table->elements;
    out->got = out->claimed + out->pairs;
    const size_t bytes = pe_dtype_bytes(table->dtype);
    for (size_t e = 0; e < table->elements; e++)
        out->weights[e] = pe_dtype_load(table->dtype, (const char *)table->data + e * bytes);
    return sort_rows(out) ? PE_OK : pe_fail_memory(why);
}

/* ---- a table that was read otherwise ---- */

static const pe_fault reshaped = {
    "weights_transposed",
    "the table of weights was read as [heads, rows]: it was reshaped, not transposed",
    .remedy = "transpose the weights: they have a row for each index and a column for each head"};

static double at_reshaped(const void *context, size_t e, double claimed, double *error)
{
    const pe_lookup *l = context;
    (void)claimed;
    (void)error;
    return l->weights[e / l->pairs * l->rows + (size_t)l->claimed[e % l->pairs]];
}

static pe_status try_reshaped(const pe_lookup *l, pe_problem *why)
{
    const pe_numbers *plain = l->of;
    size_t e = 0;
    while (e < plain->elements && plain->asked &&
           pe_numbers_is_near(plain, plain->got[e], at_reshaped(l, e, 0, NULL)))
        e++;
    pe_numbers_spend(plain, e);
    return e < plain->elements ? PE_OK
                               : pe_numbers_try(plain, &(pe_numbers_cause){.fault = &reshaped}, 1,
                                                &(pe_numbers_law){at_reshaped, l, 0}, why);
}

pe_status pe_lookup_read(const pe_numbers *plain,
                         pe_status (*next)(const pe_numbers *, pe_problem *), pe_problem *why)
{
    pe_lookup lookup = {0};
    if (plain->lookup != NULL || !pe_lookup_is(plain->view->claim->resource))
        return PE_OK;
    pe_status status = make_lookup(plain, &lookup, why);
    const bool known =
        status == PE_OK && read_indices(&lookup, plain->claimed, plain->roundoff, lookup.claimed);
    if (known && read_indices(&lookup, plain->got, plain->roundoff, lookup.got)) {
        pe_numbers indices = *plain;
        indices.got = lookup.got;
        indices.claimed = lookup.claimed;
        indices.elements = lookup.pairs;
        indices.roundoff = 0;
        indices.lookup = &lookup;
        status = next(&indices, why);
    } else if (known) {
        status = try_reshaped(&lookup, why);
    }
    free_lookup(&lookup);
    return status;
}
