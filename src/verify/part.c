/* SPDX-License-Identifier: MIT */
/* part.c - a part of an upload as a claim of its own. */
#include "verify/part.h"

#include "verify/measure.h"

void pe_part_begin(const pe_search *s, pe_claim *out)
{
    const pe_claim *all = s->whole->claim;
    *out = (pe_claim){.resource = all->resource,
                      .any_numerics = all->any_numerics,
                      .tolerance = all->tolerance,
                      .seq_axis = all->seq_axis,
                      .items = all->items};
}

static pe_status verify(pe_claim *part, pe_verify_context context, const pe_verify_limits *bounds,
                        pe_report *out, pe_problem *why)
{
    context.bounds = bounds;
    context.draws = false;
    const pe_status status = pe_verify(part, &context, out, why);
    return status == PE_INVALID_PARAMETER ? PE_OK : status;
}

pe_status pe_part_verify(pe_search *s, pe_claim *part, const pe_verify_context *context,
                         pe_report *out, pe_problem *why)
{
    pe_verify_limits left = *s->bounds;
    left.max_work -= s->work < left.max_work ? s->work : left.max_work;
    const pe_status status = verify(part, *context, &left, out, why);
    s->work += out->work;
    s->report->hypotheses += out->hypotheses;
    return status;
}

static pe_status explain(pe_upload_view *view, const pe_verify_context *context, unsigned *by,
                         pe_problem *why)
{
    pe_guess guess;
    size_t work = 0; /* is not counted as that of a search */
    pe_status status = pe_guess_make(view->claim, context, &guess, why);
    if (status != PE_OK)
        return status;
    if (!view->width_differs && !view->permuted)
        status = pe_measure_explain(&(pe_comparison){view, &guess, &work}, by, why);
    pe_guess_free(&guess);
    return status;
}

pe_status pe_part_matches(const pe_search *s, pe_claim *part, bool *out, pe_problem *why)
{
    unsigned by = 0;
    pe_upload_view view;
    pe_status status = pe_upload_view_make(part, s->claim.context, &view, why);
    if (status == PE_OK) {
        status = explain(&view, s->claim.context, &by, why);
        pe_upload_view_free(&view);
    }
    *out = by != 0;
    return status == PE_INVALID_PARAMETER ? PE_OK : status;
}
