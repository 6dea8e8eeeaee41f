/* SPDX-License-Identifier: MIT */
/* upload_names.c - which tensor of a plan each upload is. */
#include "verify/upload/upload_names.h"

#include <stdio.h>
#include <string.h>

static void shape_text(const pe_shape *shape, pe_buffer *out)
{
    pe_buffer_str(out, "[");
    for (size_t d = 0; d < shape->ndim; d++)
        pe_buffer_format(out, "%s%zu", d == 0 ? "" : ", ", shape->dim[d]);
    pe_buffer_str(out, "]");
}

pe_status pe_upload_names_fail_shape(const char *name, const pe_shape *wanted, const pe_shape *got,
                                     const char *hint, pe_problem *why)
{
    char where[128];
    pe_buffer text = {0};
    shape_text(wanted, &text);
    pe_buffer_str(&text, ", got ");
    shape_text(got, &text);
    snprintf(where, sizeof where, "table/%s", name);
    pe_fail(why, PE_INVALID_PARAMETER, where, "%s must have the shape %s%s", name,
            pe_buffer_text(&text), hint);
    pe_buffer_free(&text);
    return PE_INVALID_PARAMETER;
}

static size_t find_upload(const pe_claim *claim, const char *name)
{
    size_t u = 0;
    while (u < claim->n_uploads && strcmp(claim->uploads[u].name, name) != 0)
        u++;
    return u;
}

/* "NAME is missing: the table has cos, sin" */
static pe_status fail_name(const pe_plan *plan, pe_status status, const char *name,
                           const char *what, pe_problem *why)
{
    pe_buffer names = {0};
    for (size_t t = 0; t < plan->n_tensors; t++)
        pe_buffer_format(&names, "%s%s", t == 0 ? "" : ", ", plan->tensors[t].name);
    status = pe_fail(why, status, "table", "%s is %s has %s", name, what, pe_buffer_text(&names));
    pe_buffer_free(&names);
    return status;
}

bool pe_upload_names_same_sizes(const pe_shape *a, const pe_shape *b, bool any_width)
{
    size_t i = 0, j = 0;
    while (i < a->ndim || j < b->ndim) {
        const size_t left = a->ndim - i, right = b->ndim - j;
        const bool same = left > 0 && right > 0 && a->dim[i] == b->dim[j];
        const bool last = any_width && left == 1 && right == 1 && b->dim[j] > 0;
        if (left > right && !same && a->dim[i] == 1)
            i++;
        else if (right > left && !same && b->dim[j] == 1)
            j++;
        else if (same || last)
            i++, j++;
        else
            return false;
    }
    return true;
}

static size_t find_tensor(const pe_plan *plan, const char *name)
{
    size_t t = 0;
    while (t < plan->n_tensors && strcmp(plan->tensors[t].name, name) != 0)
        t++;
    return t;
}

/* The next tensor from `t` on of the upload's sizes; or n_tensors. */
static size_t of_sizes(const pe_plan *plan, const pe_upload *upload, size_t t)
{
    while (t < plan->n_tensors &&
           !pe_upload_names_same_sizes(&plan->tensors[t].shape, &upload->array.shape, false))
        t++;
    return t;
}

/* What a scaling makes of a tensor, as scaled_inv_freq: that is meant, not what it was before. */
static size_t scaled(const pe_plan *plan, size_t t)
{
    char name[64];
    snprintf(name, sizeof name, "scaled_%s", plan->tensors[t].name);
    const size_t at = find_tensor(plan, name);
    return at < plan->n_tensors ? at : t;
}

/* A lone nameless upload is the first tensor of its sizes, or what was scaled of it. Where others
 * have these sizes, too, it is said which. Of a table of one tensor any name is its name. */
static void name_upload(pe_claim *claim, const pe_plan *plan)
{
    pe_upload *lone = &claim->uploads[0];
    if (claim->n_uploads == 1 && plan->n_tensors == 1 && lone->name[0] != '\0' &&
        find_tensor(plan, lone->name) == 1) {
        pe_buffer_format(&claim->said, "%s is read as the table\n", lone->name);
        lone->name[0] = '\0';
    }
    if (claim->n_uploads != 1 || lone->name[0] != '\0')
        return;
    const size_t first = plan->n_tensors > 1 ? of_sizes(plan, lone, 0) : 0;
    if (first >= plan->n_tensors)
        return;
    const char *name = plan->tensors[scaled(plan, first)].name;
    snprintf(lone->name, sizeof lone->name, "%s", name);
    if (of_sizes(plan, lone, first + 1) < plan->n_tensors)
        pe_buffer_format(&claim->said,
                         "the tensor has no name, and is read as %s; others of its sizes need "
                         "their names\n",
                         name);
}

pe_status pe_upload_names_match(pe_claim *claim, const pe_plan *plan, bool all, size_t *plan_tensor,
                                pe_problem *why)
{
    size_t n = 0;
    name_upload(claim, plan);
    for (size_t u = 0; u < claim->n_uploads; u++)
        if (find_tensor(plan, claim->uploads[u].name) == plan->n_tensors &&
            claim->uploads[u].name[0] != '\0')
            return fail_name(plan, PE_INVALID_PARAMETER, claim->uploads[u].name,
                             "no tensor of these parameters, whose table", why);
    for (size_t t = 0; t < plan->n_tensors; t++) {
        const size_t u = find_upload(claim, plan->tensors[t].name);
        if (u == claim->n_uploads &&
            (all || claim->n_uploads == 0 || claim->uploads[0].name[0] == '\0'))
            return fail_name(plan, PE_MISSING_PARAMETER, plan->tensors[t].name,
                             "missing: the table of these parameters", why);
        if (u == claim->n_uploads)
            continue;
        const pe_upload swapped = claim->uploads[n];
        claim->uploads[n] = claim->uploads[u];
        claim->uploads[u] = swapped;
        plan_tensor[n++] = t;
    }
    return PE_OK;
}

bool pe_upload_names_may_be_others(const pe_claim *claim)
{
    const pe_value *positions = pe_values_find(&claim->values, "positions");
    return claim->guessed && claim->n_uploads == 1 && positions != NULL && positions->present &&
           positions->positions.count > 0 && pe_positions_at(&positions->positions, 0) != 0;
}
