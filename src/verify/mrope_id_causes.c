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

static pe_status try_ids(const pe_numbers *plain, const pe_fault *fault, const double *ids,
                         double a, double b, pe_problem *why)
{
    const pe_numbers_cause cause = {fault, a, b, false};
    pe_numbers_spend(plain, plain->elements);
    for (size_t e = 0; e < plain->elements; e++)
        if (ids[e] != plain->got[e])
            return PE_OK;
    return pe_numbers_try(plain, &cause, 1, &(pe_numbers_law){id_at, ids, 0}, why);
}

/* One row's change of the claimed ids. */
static pe_status try_row_of_ids(const pe_numbers *plain, const pe_mrope_axes *claimed, double *ids,
                                const pe_mrope_row *by, pe_problem *why)
{
    pe_mrope_axes x = *claimed;
    x.at = ids;
    memcpy(ids, claimed->at, plain->elements * sizeof *ids);
    return by->change(by, &x) ? try_ids(plain, &by->fault, ids, x.a, x.b, why) : PE_OK;
}

/* Text behind patches is shifted, or goes on at their number. */
static pe_status try_text_after(const pe_numbers *plain, const pe_mrope_axes *x, double *ids,
                                bool counts, pe_problem *why)
{
    static const pe_fault after[] = {
        {"mrope_text_after",
         "text after an image goes on behind the largest position by {a}: it is shifted",
         .remedy = PE_MROPE_BEHIND},
        {"mrope_text_after",
         "text after an image counts its patches: positions go on at their number, shifted by {a} "
         "from row {b} on",
         .remedy = PE_MROPE_BEHIND}};
    double plus = 0, first = 0, by = 0;
    size_t start = 0;
    for (size_t t = 0; t < x->tokens; t++) {
        const bool text = !pe_mrope_differs(x, t);
        const bool begins = t > 0 && text && pe_mrope_differs(x, t - 1);
        start = t > 0 && !text && !pe_mrope_differs(x, t - 1) ? t - 1 : start;
        if (begins) {
            const double at = pe_mrope_axis(x, PE_TIME)[t] + plus;
            const double wanted =
                counts ? pe_mrope_axis(x, PE_TIME)[start] + plus + (double)(t - start)
                       : plain->got[t];
            plus += wanted - at;
            first = first == 0 ? (double)t : first;
            by = by == 0 ? plus : by;
        }
        for (size_t a = 0; a < PE_AXES; a++)
            ids[a * x->tokens + t] = pe_mrope_axis(x, a)[t] + plus;
    }
    return by != 0 ? try_ids(plain, &after[counts], ids, by, first, why) : PE_OK;
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

pe_status pe_mrope_id_causes_find(const pe_numbers *plain, pe_problem *why)
{
    pe_status status = PE_OK;
    double *ids = malloc((2 * plain->elements + 1) * sizeof *ids);
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
        double *made = ids + plain->elements;
        for (size_t r = 0; r < pe_mrope_rows_n && status == PE_OK && pe_numbers_goes_on(plain); r++)
            status = try_row_of_ids(plain, &x, made, &pe_mrope_rows[r], why);
        for (int counts = 1; counts >= 0 && status == PE_OK; counts--)
            if (!pe_attempts_found(plain->search) && pe_numbers_goes_on(plain))
                status = try_text_after(plain, &x, made, counts == 1, why);
        if (status == PE_OK && pe_numbers_goes_on(plain) && !pe_attempts_found(plain->search))
            status = tell_difference(plain, &x, why);
    }
    free(ids);
    return status;
}
