/* SPDX-License-Identifier: MIT */
/* mrope_id_causes.c - position ids of several axes: what became of them. */
#include "verify/mrope_id_causes.h"

#include <stdlib.h>
#include <string.h>

#include "verify/findings.h"
#include "verify/mrope_changes.h"

static double id_at(const void *context, size_t e, double claimed, double *error)
{
    const double *ids = context;
    (void)claimed;
    (void)error;
    return ids[e];
}

static pe_status try_ids(const pe_numbers *plain, const pe_numbers_cause *causes, size_t n,
                         const double *ids, pe_problem *why)
{
    pe_numbers_spend(plain, plain->elements);
    for (size_t e = 0; e < plain->elements; e++)
        if (ids[e] != plain->got[e])
            return PE_OK;
    return pe_numbers_try(plain, causes, n, &(pe_numbers_law){id_at, ids, 0}, why);
}

/* Each row's change of the ids behind n changes of before; then, of `most`, another row's behind
 * it. ids: room for `most` times as many. */
static pe_status try_rows_of_ids(const pe_numbers *plain, const pe_mrope_axes *before, double *ids,
                                 pe_numbers_cause causes[2], size_t n, size_t most, pe_problem *why)
{
    pe_status status = PE_OK;
    if (n > 1)
        return PE_OK;
    for (size_t r = 0; r < pe_mrope_rows_n && status == PE_OK && pe_numbers_goes_on(plain); r++) {
        const pe_mrope_row *by = &pe_mrope_rows[r];
        pe_mrope_axes x = *before, next = *before;
        next.at = x.at = ids;
        memcpy(ids, before->at, plain->elements * sizeof *ids);
        if ((by->bare && pe_attempts_found(plain->search)) || !by->change(by, &x))
            continue;
        causes[n] = (pe_numbers_cause){.fault = &by->fault, .a = x.a, .b = x.b};
        if (n + 1 == most)
            status = try_ids(plain, causes, most, ids, why);
        else
            status = try_rows_of_ids(plain, &next, ids + plain->elements, causes, n + 1, most, why);
        if (most > 1 && pe_attempts_found(plain->search))
            return status;
    }
    return status;
}

/* All that is known: where ids begin to differ, and by how much. */
static pe_status tell_difference(const pe_numbers *plain, const pe_mrope_axes *x, pe_problem *why)
{
    static const pe_fault others[] = {
        {"mrope_ids_other",
         "position ids before any image are others: the first that differs is that of token {a}, "
         "by {b}, see measured.differences",
         .remedy = "check padding on the left and where text begins"},
        {"mrope_ids_other",
         "position ids of the image or of text after it are others: from token {a} on the first "
         "one differs by {b}, see measured.differences",
         .remedy = PE_MROPE_IMAGE "; " PE_MROPE_BEHIND}};
    size_t t = 0;
    double off[PE_AXES] = {0};
    while (t < x->tokens && off[0] == 0 && off[1] == 0 && off[2] == 0) {
        for (size_t a = 0; a < PE_AXES; a++)
            off[a] = plain->got[a * x->tokens + t] - pe_mrope_axis(x, a)[t];
        t++;
    }
    pe_numbers_list(plain, "differences", off, PE_AXES);
    const double by = off[0] != 0 ? off[0] : off[1] != 0 ? off[1] : off[2];
    const pe_fault *other = &others[t > x->first];
    const pe_told told = {other, other->rule, (double)t - 1, by, .fitted = true, .exact = true};
    return by == 0 ? PE_OK
                   : pe_findings_tell(plain->search->report, plain->claim, &told, why,
                                      "read off the first token that differs");
}

/* Tokens up to which two changes at once are looked for. */
#define PAIRS_MAX 1024

pe_status pe_mrope_id_causes_find(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = PE_OK;
    pe_numbers_cause causes[2];
    double *ids = malloc((3 * plain->elements + 1) * sizeof *ids);
    const pe_value *padding = pe_values_find(&plain->claim->values, "left_padding");
    pe_mrope_axes x = {.tokens = plain->elements / PE_AXES,
                       .at = ids,
                       .got = plain->got,
                       .padding = padding != NULL ? (size_t)padding->integer : 0};
    if (ids == NULL)
        return pe_fail_memory(why);
    memcpy(ids, plain->claimed, plain->elements * sizeof *ids);
    if (plain->elements % PE_AXES == 0 && x.tokens > 1) {
        pe_mrope_find_image(&x);
        x.moved = plain->got[x.tokens - 1] - plain->claimed[x.tokens - 1];
        for (size_t most = 1; most <= (x.tokens <= PAIRS_MAX ? 2 : 1) && status == PE_OK; most++)
            if (most == 1 || !pe_attempts_found(plain->search))
                status = try_rows_of_ids(plain, &x, ids + plain->elements, causes, 0, most, why);
        if (status == PE_OK && pe_numbers_goes_on(plain) && !pe_attempts_found(plain->search))
            status = tell_difference(plain, &x, why);
    }
    free(ids);
    return status;
}
