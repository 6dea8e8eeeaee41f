/* SPDX-License-Identifier: MIT */
/* arriving_part.c - some rows of a table that arrives, as a claim of their own. */
#include <stdint.h>
#include <string.h>

#include "verify/arriving_state.h"
#include "verify/reading.h"

pe_positions *pe_arriving_positions(const pe_claim *claim)
{
    return &pe_values_find(&claim->values, "positions")->positions;
}

size_t pe_arriving_row(const pe_arriving *a, bool sampled, size_t k)
{
    return sampled ? pe_reading_sampled(k, a->kept, a->rows) : a->done + k;
}

static pe_status list_positions(const pe_arriving *a, bool sampled, size_t n, pe_positions *out,
                                pe_problem *why)
{
    pe_array list;
    pe_status status = pe_array_make(PE_FLOAT64, &(pe_shape){1, {n}}, &list, why);
    if (status != PE_OK)
        return status;
    for (size_t k = 0; k < n; k++)
        ((double *)list.data)[k] =
            pe_positions_at(pe_arriving_positions(&a->claim), pe_arriving_row(a, sampled, k));
    status = pe_positions_from_list(&list, "positions", out, why);
    pe_array_free(&list);
    return status;
}

pe_status pe_arriving_claim_rows(const pe_arriving *a, bool sampled, const pe_arriving_data *rows,
                                 size_t n, pe_claim *out, pe_problem *why)
{
    const pe_claim *all = &a->claim;
    *out = (pe_claim){.resource = all->resource,
                      .any_numerics = all->any_numerics,
                      .tolerance = all->tolerance,
                      .seq_axis = all->seq_axis,
                      .n_uploads = all->n_uploads};
    for (size_t t = 0; t < pe_arriving_tensors(all); t++) {
        const pe_upload *of = &all->uploads[t];
        const size_t width = of->array.shape.dim[1];
        pe_upload *some = &out->uploads[t];
        memcpy(some->name, of->name, sizeof some->name);
        some->array = (pe_array){.dtype = of->array.dtype,
                                 .shape = {2, {n, width}},
                                 .elements = n * width,
                                 .data = (void *)(uintptr_t)rows->of[t], /* read only: borrowed */
                                 .borrowed = true};
    }
    pe_status status = pe_values_copy(&all->values, &out->values, why);
    if (status == PE_OK) {
        pe_positions_free(pe_arriving_positions(out));
        *pe_arriving_positions(out) = (pe_positions){0};
        status = list_positions(a, sampled, n, pe_arriving_positions(out), why);
    }
    if (status != PE_OK)
        pe_verify_claim_free(out);
    return status;
}

void pe_arriving_part_free(pe_arriving_part *p)
{
    pe_guess_free(&p->guess);
    pe_upload_view_free(&p->view);
    pe_verify_claim_free(&p->claim);
}

pe_status pe_arriving_part_make(const pe_arriving *a, const pe_arriving_data *rows, size_t n,
                                const pe_verify_context *context, pe_arriving_part *out,
                                pe_problem *why)
{
    *out = (pe_arriving_part){.rows = n};
    pe_status status = pe_arriving_claim_rows(a, false, rows, n, &out->claim, why);
    if (status != PE_OK)
        return status;
    status = pe_upload_view_make(&out->claim, context, &out->view, why);
    if (status == PE_OK)
        status = pe_guess_make(&out->claim, context, &out->guess, why);
    if (status != PE_OK)
        pe_arriving_part_free(out);
    return status;
}
