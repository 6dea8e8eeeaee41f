/* SPDX-License-Identifier: MIT */
/* lookup_reading.c - learned biases, whose rows tell by which index each was looked up. */
#include "verify/plain/lookup_reading.h"

#include <math.h>
#include <string.h>

#include "verify/mistakes/lookup.h"

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

static pe_status read_with(const pe_numbers *plain, const pe_lookup *l,
                           const pe_numbers_cause *before,
                           pe_status (*next)(const pe_numbers *, pe_problem *), pe_problem *why)
{
    pe_numbers indices = *plain;
    indices.got = l->got;
    indices.claimed = l->claimed;
    indices.elements = l->pairs;
    indices.roundoff = 0;
    indices.lookup = l;
    indices.before = before;
    return next(&indices, why);
}

pe_status pe_lookup_read(const pe_numbers *plain,
                         pe_status (*next)(const pe_numbers *, pe_problem *), pe_problem *why)
{
    pe_lookup lookup = {0};
    if (plain->lookup != NULL || !pe_lookup_is(plain->view->claim->resource))
        return PE_OK;
    pe_status status = pe_lookup_make(plain->claim, plain->elements, &lookup, why);
    if (status == PE_OK && read_indices(plain, &lookup, plain->claimed, lookup.claimed) &&
        read_indices(plain, &lookup, plain->got, lookup.got))
        status = read_with(plain, &lookup, NULL, next, why);
    pe_lookup_free(&lookup);
    return status;
}

/* ---- tables that are changed ---- */

static double reshaped(const pe_lookup *l, size_t row, size_t head)
{
    return l->weights[head * l->rows + row];
}

static double reversed(const pe_lookup *l, size_t row, size_t head)
{
    return l->weights[row * l->heads + l->heads - 1 - head];
}

static double doubled(const pe_lookup *l, size_t row, size_t head)
{
    return 2 * l->weights[row * l->heads + head];
}

static double opposite(const pe_lookup *l, size_t row, size_t head)
{
    return -l->weights[row * l->heads + head];
}

static const struct change {
    pe_fault fault;
    double (*weight)(const pe_lookup *l, size_t row, size_t head);
    bool alone; /* no other reader names it where indices are as claimed */
} changes[] = {
    {{.name = PE_NAME(weights_transposed)}, reshaped, true},
    {{.name = PE_NAME(head_order)}, reversed, false},
    {{.name = PE_NAME(doubled)}, doubled, false},
    {{.name = PE_NAME(sign_reversed)}, opposite, false},
};

static double at_claimed(const void *context, size_t pair, double claimed, double *error)
{
    (void)context;
    (void)pair;
    (void)error;
    return claimed;
}

/* The table itself is what is wrong. */
static pe_status try_alone(const pe_numbers *indices, pe_problem *why)
{
    const pe_numbers_cause *cause = indices->before;
    pe_numbers alone = *indices;
    alone.before = NULL;
    return pe_numbers_try(&alone, cause, 1, &(pe_numbers_law){.at = at_claimed}, why);
}

static pe_status try_change(const pe_numbers *plain, const struct change *by,
                            pe_status (*next)(const pe_numbers *, pe_problem *), pe_problem *why)
{
    pe_lookup l = {0};
    const pe_numbers_cause cause = {.fault = &by->fault};
    pe_status status = pe_lookup_make(plain->claim, plain->elements, &l, why);
    const bool known = status == PE_OK && read_indices(plain, &l, plain->claimed, l.claimed);
    if (known)
        status = pe_lookup_change(&l, by->weight, why);
    if (known && status == PE_OK && read_indices(plain, &l, plain->got, l.got)) {
        const bool same = memcmp(l.got, l.claimed, l.pairs * sizeof *l.got) == 0;
        if (!same || by->alone)
            status = read_with(plain, &l, &cause, same ? try_alone : next, why);
    }
    pe_lookup_free(&l);
    return status;
}

pe_status pe_lookup_read_changed(const pe_numbers *plain,
                                 pe_status (*next)(const pe_numbers *, pe_problem *),
                                 pe_problem *why)
{
    pe_status status = PE_OK;
    if (plain->lookup != NULL || !pe_lookup_is(plain->view->claim->resource))
        return PE_OK;
    for (size_t c = 0; c < PE_LEN(changes) && status == PE_OK; c++)
        if (pe_numbers_goes_on(plain) && !pe_attempts_found(plain->search))
            status = try_change(plain, &changes[c], next, why);
    return status;
}
