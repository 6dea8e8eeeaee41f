/* SPDX-License-Identifier: MIT */
/* claim_array.c - the numbers of a tensor from JSON, some of them perhaps masked. */
#include "api/claim_array.h"

#include <math.h>
#include <string.h>

#include "files/tree.h"

/* Arrays with nulls are read as trees, up to this size; larger ones belong in a binary body. */
#define TREE_MAX 4194304

/* An array that is filled in order. null among its numbers is a masked bias: -inf. */
typedef struct flat {
    pe_array *array;
    size_t at;
} flat;

static bool tree_shape(const json_t *tree, pe_shape *out)
{
    *out = (pe_shape){0};
    for (; json_is_array(tree); tree = json_array_get(tree, 0)) {
        if (out->ndim == PE_MAX_DIMS || json_array_size(tree) == 0)
            return false;
        out->dim[out->ndim++] = json_array_size(tree);
    }
    return out->ndim > 0;
}

static bool flatten(const json_t *tree, size_t axis, flat *to)
{
    const pe_array *array = to->array;
    if (axis < array->shape.ndim) {
        if (!json_is_array(tree) || json_array_size(tree) != array->shape.dim[axis])
            return false;
        for (size_t i = 0; i < json_array_size(tree); i++)
            if (!flatten(json_array_get(tree, i), axis + 1, to))
                return false;
        return true;
    }
    if (!json_is_number(tree) && !json_is_null(tree))
        return false;
    pe_dtype_store(array->dtype, json_is_null(tree) ? -HUGE_VAL : json_number_value(tree),
                   (char *)array->data + to->at++ * pe_dtype_bytes(array->dtype));
    return true;
}

static pe_status array_of_tree(const json_t *tree, const pe_scan_wanted *wanted, pe_array *out,
                               pe_problem *why)
{
    pe_shape shape;
    const char *place = wanted->name;
    if (!tree_shape(tree, &shape))
        return pe_fail(why, PE_INVALID_PARAMETER, place, "%s must be an array of numbers", place);
    const pe_status status = pe_array_make(wanted->dtype, &shape, out, why);
    if (status != PE_OK || flatten(tree, 0, &(flat){out, 0}))
        return status;
    pe_array_free(out);
    return pe_fail(why, PE_INVALID_PARAMETER, place,
                   "%s must be a rectangular array of numbers, with null where masked", place);
}

static pe_status read_masked(pe_slice json, const pe_scan_wanted *wanted, pe_array *out,
                             pe_problem *why)
{
    json_t *tree = NULL;
    if (json.bytes > TREE_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, wanted->name,
                       "an array with null must be at most 4 MiB of JSON; a binary body takes "
                       "larger ones, with -inf for null");
    pe_status status = pe_tree_load(json, 0, wanted->name, &tree, why);
    if (status != PE_OK)
        return status;
    status = array_of_tree(tree, wanted, out, why);
    json_decref(tree);
    return status;
}

pe_status pe_claim_array_read(pe_slice json, const pe_scan_wanted *wanted, bool masked,
                              pe_array *out, pe_problem *why)
{
    size_t used = 0;
    const char *place = wanted->name;
    if (json.text[0] != '[')
        return pe_fail(why, PE_INVALID_PARAMETER, place, "%s must be an array of numbers", place);
    if (masked && memmem(json.text, json.bytes, "null", 4) != NULL)
        return read_masked(json, wanted, out, why);
    const pe_status status = pe_scan_numbers(json, wanted, out, &used, why);
    if (status == PE_OK && used != json.bytes) {
        pe_array_free(out);
        return pe_fail(why, PE_MALFORMED_REQUEST, place,
                       "%s is not a JSON array: its brackets do not match", place);
    }
    return status;
}
