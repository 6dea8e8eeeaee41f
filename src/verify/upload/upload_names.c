/* SPDX-License-Identifier: MIT */
/* upload_names.c - which tensor of a plan each upload is, with axes and positions as the claim's. */
#include "verify/upload/upload_view.h"

#include <stdio.h>
#include <string.h>

#include "base/yield.h"
#include "plan/plan.h"

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
        pe_buffer_format(&claim->reported, "%s is read as the table\n", lone->name);
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
        pe_buffer_format(&claim->reported,
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
        size_t u = 0;
        while (u < claim->n_uploads && strcmp(claim->uploads[u].name, plan->tensors[t].name) != 0)
            u++;
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

/* ==== axes and positions as people send them, put as the claim's table has them ==== */

/* ---- axes in another order ---- */

/* Which axis of the upload each wanted one is; those of one size keep their order. False: the
 * sizes are others. */
static bool find_order(const pe_shape *wanted, const pe_shape *is, size_t order[PE_MAX_DIMS])
{
    bool taken[PE_MAX_DIMS] = {false};
    if (wanted->ndim != is->ndim)
        return false;
    for (size_t d = 0; d < wanted->ndim; d++) {
        size_t k = 0;
        while (k < is->ndim && (taken[k] || is->dim[k] != wanted->dim[d]))
            k++;
        if (k == is->ndim)
            return false;
        taken[k] = true;
        order[d] = k;
    }
    return wanted->ndim > 1;
}

/* Element `e` of the wanted order. */
static size_t permuted_element(const pe_shape *wanted, const pe_shape *is, const size_t *order,
                               size_t e)
{
    size_t index[PE_MAX_DIMS] = {0}, from = 0;
    for (size_t d = wanted->ndim; d-- > 0; e /= wanted->dim[d])
        index[order[d]] = e % wanted->dim[d];
    for (size_t k = 0; k < is->ndim; k++)
        from = from * is->dim[k] + index[k];
    return from;
}

pe_status pe_upload_shape_put_in_order(pe_array *array, const pe_shape *wanted, bool *permuted,
                                       pe_problem *why)
{
    pe_array made;
    size_t order[PE_MAX_DIMS];
    const size_t bytes = pe_dtype_bytes(array->dtype);
    if (!find_order(wanted, &array->shape, order))
        return PE_OK;
    PE_TRY(pe_array_make(array->dtype, wanted, &made, why));
    for (size_t e = 0; e < made.elements; e++)
        memcpy((char *)made.data + e * bytes,
               (const char *)array->data +
                   permuted_element(wanted, &array->shape, order, e) * bytes,
               bytes);
    pe_array_free(array);
    *array = made;
    *permuted = true;
    return PE_OK;
}

/* ---- axes of one element ---- */

void pe_upload_shape_lift_scalars(pe_claim *claim)
{
    for (size_t u = 0; u < claim->n_uploads; u++)
        if (claim->uploads[u].array.shape.ndim == 0)
            claim->uploads[u].array.shape = (pe_shape){1, {1}};
    if (claim->inputs.elements > 0 && claim->inputs.shape.ndim == 0)
        claim->inputs.shape = (pe_shape){1, {1}};
}

void pe_upload_shape_drop_ones(pe_claim *claim)
{
    const pe_value *positions = pe_values_find(&claim->values, "positions");
    if (claim->inputs.elements > 0 || positions == NULL || !positions->present ||
        positions->positions.shape.ndim != 1 || positions->positions.count == 0)
        return;
    const size_t n = positions->positions.count;
    for (size_t u = 0; u < claim->n_uploads; u++) {
        pe_upload *upload = &claim->uploads[u];
        pe_shape *shape = &upload->array.shape;
        const size_t width = shape->ndim > 2 ? shape->dim[shape->ndim - 1] : 0;
        if (shape->ndim <= 2 || upload->array.elements / n != width ||
            upload->array.elements % n != 0)
            continue;
        upload->sent = *shape;
        *shape = (pe_shape){2, {n, width}};
    }
}

/* ---- positions of batch items ---- */

#define POSITION_WORK 8

pe_status pe_upload_positions_replace(pe_positions *positions, const pe_shape *shape,
                                      double (*at)(const void *of, size_t k), const void *of,
                                      pe_problem *why)
{
    pe_array list;
    pe_positions made;
    bool goes_on = true;
    PE_TRY(pe_array_make(PE_FLOAT64, shape, &list, why));
    for (size_t k = 0; k < list.elements && goes_on; k++) {
        ((double *)list.data)[k] = at(of, k);
        goes_on = pe_yield_item(k, POSITION_WORK);
    }
    const pe_status status =
        goes_on ? pe_positions_from_list(&list, "positions", &made, why) : pe_yield_check(why);
    pe_array_free(&list);
    PE_TRY(status);
    pe_positions_free(positions);
    *positions = made;
    return PE_OK;
}

static double position_at(const void *positions, size_t k)
{
    return pe_positions_at(positions, k);
}

pe_status pe_upload_shape_join_items(pe_claim *claim, pe_problem *why)
{
    pe_value *value = pe_values_find(&claim->values, "positions");
    const pe_shape *of = &claim->uploads[0].array.shape;
    if (value == NULL || !value->present || value->positions.shape.ndim != 2 ||
        pe_values_present(&claim->values, "mrope_section") ||
        pe_values_present(&claim->values, "axes_dims"))
        return PE_OK;
    pe_positions *at = &value->positions;
    const size_t items = at->shape.dim[0], vectors = claim->inputs.elements;
    if (vectors > 0 ? at->count > vectors
                    : of->ndim != 3 || of->dim[0] != items || of->dim[1] != at->shape.dim[1])
        return PE_OK;
    PE_TRY(pe_upload_positions_replace(at, &(pe_shape){1, {at->count}}, position_at, at, why));
    claim->items = vectors > 0 ? items : 0;
    return PE_OK;
}
