/* SPDX-License-Identifier: MIT */
/* lookup_reading.c - learned biases, whose rows tell by which index each was looked up. */
#include "verify/lookup_reading.h"

#include <math.h>

#include "verify/lookup.h"

/* False: some pair has no row. */
static bool read_indices(const pe_numbers *plain, const pe_lookup *l, const double *numbers,
                         double *out)
{
    size_t p = 0;
    for (; p < l->pairs && (p == 0 || !isnan(out[p - 1])); p++)
        out[p] = pe_lookup_find(l, numbers + p, l->pairs, plain->roundoff);
    pe_numbers_spend(plain, p * (l->heads + 8));
    return !isnan(out[p - 1]);
}

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

static pe_status try_reshaped(const pe_numbers *plain, const pe_lookup *l, pe_problem *why)
{
    size_t e = 0;
    while (e < plain->elements && plain->asked &&
           pe_numbers_is_near(plain, plain->got[e], at_reshaped(l, e, 0, NULL)))
        e++;
    pe_numbers_spend(plain, e);
    return e < plain->elements ? PE_OK
                               : pe_numbers_try(plain, &(pe_numbers_cause){.fault = &reshaped}, 1,
                                                &(pe_numbers_law){at_reshaped, l, 0}, why);
}

static pe_status read_with(const pe_numbers *plain, const pe_lookup *l,
                           pe_status (*next)(const pe_numbers *, pe_problem *), pe_problem *why)
{
    if (!read_indices(plain, l, plain->claimed, l->claimed))
        return PE_OK;
    if (!read_indices(plain, l, plain->got, l->got))
        return try_reshaped(plain, l, why);
    pe_numbers indices = *plain;
    indices.got = l->got;
    indices.claimed = l->claimed;
    indices.elements = l->pairs;
    indices.roundoff = 0;
    indices.lookup = l;
    return next(&indices, why);
}

pe_status pe_lookup_read(const pe_numbers *plain,
                         pe_status (*next)(const pe_numbers *, pe_problem *), pe_problem *why)
{
    pe_lookup lookup = {0};
    if (plain->lookup != NULL || !pe_lookup_is(plain->view->claim->resource))
        return PE_OK;
    pe_status status = pe_lookup_make(plain->claim, plain->elements, &lookup, why);
    if (status == PE_OK)
        status = read_with(plain, &lookup, next, why);
    pe_lookup_free(&lookup);
    return status;
}
