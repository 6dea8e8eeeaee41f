/* SPDX-License-Identifier: MIT */
/* upload_shape.c - axes and positions as people send them, put as the claim's table has them. */
#include "verify/upload/upload_shape.h"

#include <string.h>

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
    const pe_status status = pe_array_make(array->dtype, wanted, &made, why);
    if (status != PE_OK)
        return status;
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

static void lift(pe_shape *shape)
{
    if (shape->ndim == 0)
        *shape = (pe_shape){1, {1}};
}

void pe_upload_shape_lift_scalars(pe_claim *claim)
{
    for (size_t u = 0; u < claim->n_uploads; u++)
        lift(&claim->uploads[u].array.shape);
    if (claim->inputs.elements > 0)
        lift(&claim->inputs.shape);
}

static void drop_ones_of(pe_upload *upload, size_t positions)
{
    pe_shape *shape = &upload->array.shape;
    size_t others = 0;
    for (size_t d = 0; d + 1 < shape->ndim; d++)
        others += shape->dim[d] != 1;
    if (shape->ndim <= 2 || others > 1 || positions == 0)
        return;
    const size_t width = shape->dim[shape->ndim - 1];
    if (upload->array.elements / positions != width || upload->array.elements % positions != 0)
        return;
    upload->sent = *shape;
    *shape = (pe_shape){2, {positions, width}};
}

void pe_upload_shape_drop_ones(pe_claim *claim)
{
    const pe_value *positions = pe_values_find(&claim->values, "positions");
    if (claim->inputs.elements > 0 || positions == NULL || !positions->present ||
        positions->positions.shape.ndim != 1)
        return;
    for (size_t u = 0; u < claim->n_uploads; u++)
        drop_ones_of(&claim->uploads[u], positions->positions.count);
}

/* ---- positions of batch items ---- */

pe_status pe_upload_shape_join_items(pe_claim *claim, pe_problem *why)
{
    pe_value *value = pe_values_find(&claim->values, "positions");
    pe_positions *at = &value->positions, joined;
    pe_array list;
    if (value == NULL || !value->present || at->shape.ndim != 2 ||
        at->count > claim->inputs.elements || pe_values_present(&claim->values, "mrope_section") ||
        pe_values_present(&claim->values, "axes_dims"))
        return PE_OK;
    pe_status status = pe_array_make(PE_FLOAT64, &(pe_shape){1, {at->count}}, &list, why);
    if (status != PE_OK)
        return status;
    for (size_t k = 0; k < at->count; k++)
        ((double *)list.data)[k] = pe_positions_at(at, k);
    const size_t items = at->shape.dim[0];
    status = pe_positions_from_list(&list, "positions", &joined, why);
    if (status != PE_OK) {
        pe_array_free(&list);
        return status;
    }
    pe_positions_free(at);
    *at = joined;
    claim->items = items;
    return PE_OK;
}
