/* SPDX-License-Identifier: MIT */
/* rope_rotated.c - the rotated tensors of a request as the answer. */
#include "encodings/rope/rope_rotated.h"

#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

static const pe_param seq_axis_params[] = {
    PE_PARAM("seq_axis", INT, .min = -PE_MAX_DIMS, .max = PE_MAX_DIMS - 1, .fallback = -2,
             .help = "The axis of tokens. A negative one counts from the end.", .example = "-2"),
};
const pe_param_set pe_rope_seq_axis_params = {seq_axis_params, PE_LEN(seq_axis_params)};

static const pe_param vectors_params[] = {
    PE_ROPE_TENSOR_ROW("vectors", NULL, "Vectors to rotate"),
    PE_ROPE_TENSOR_ROW("q", PE_NAMES("queries"), "Queries to rotate"),
    PE_ROPE_TENSOR_ROW("k", PE_NAMES("keys"), "Keys to rotate"),
};
const pe_param_set pe_rope_vectors_params = {vectors_params, PE_LEN(vectors_params)};

/* The rotated arrays, which fill copies. */
typedef struct rotated {
    pe_array array[2];
} rotated;

pe_status pe_rope_rotated_head_dim(pe_values *values, const char *name, pe_problem *why)
{
    const pe_array *tensor = pe_values_tensor(values, name);
    if (tensor->shape.ndim < 2 || tensor->elements == 0 || tensor->dtype == PE_INT32)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must hold floating-point vectors along its last axis and tokens along "
                       "another",
                       name);
    const size_t channels = tensor->shape.dim[tensor->shape.ndim - 1];
    if (channels < 2 || channels > 65536)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "the last axis of %s must have 2 to 65536 channels, got %zu", name,
                       channels);
    if (!pe_values_present(values, "head_dim"))
        pe_values_set_int(values, "head_dim", (int64_t)channels);
    const size_t head_dim = pe_values_size(values, "head_dim");
    if (channels != head_dim)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "the last axis of %s must have head_dim = %zu channels, got %zu", name,
                       head_dim, channels);
    return PE_OK;
}

/* seq_axis of the tensor named `name`, counted from the front; it is not the last axis. */
static pe_status seq_axis(const pe_values *values, const char *name, size_t *axis, pe_problem *why)
{
    const int64_t given = pe_values_int(values, "seq_axis");
    const int64_t ndim = (int64_t)pe_values_tensor(values, name)->shape.ndim;
    const int64_t at = given < 0 ? given + ndim : given;
    if (at < 0 || at >= ndim - 1)
        return pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                       "seq_axis must name an axis of %s before the last, which holds channels; "
                       "it has %lld axes, got %lld",
                       name, (long long)ndim, (long long)given);
    *axis = (size_t)at;
    return PE_OK;
}

pe_status pe_rope_rotated_tokens(pe_values *values, const char *const *names, size_t n,
                                 size_t *tokens, pe_problem *why)
{
    const char *first = NULL;
    pe_problem mistake;
    pe_status status = PE_OK;
    *tokens = 0;
    for (size_t t = 0; t < n; t++) {
        const char *name = names[t];
        if (!pe_values_present(values, name))
            continue;
        status = PE_ALSO(status, pe_rope_rotated_head_dim(values, name, &mistake));
        size_t axis;
        const pe_status found = seq_axis(values, name, &axis, &mistake);
        status = PE_ALSO(status, found);
        const size_t count =
            found == PE_OK ? pe_values_tensor(values, name)->shape.dim[axis] : *tokens;
        if (first != NULL && *tokens != count)
            status = PE_ALSO(status, pe_fail(&mistake, PE_INVALID_PARAMETER, name,
                                             "%s must have as many tokens as %s, %zu, got %zu",
                                             name, first, *tokens, count));
        else if (found == PE_OK)
            first = name;
        *tokens = first == name ? count : *tokens;
    }
    return status;
}

static const char *const tensor_names[] = {"vectors", "q", "k"};

pe_status pe_rope_rotated_check(pe_values *values, size_t *tokens, pe_problem *why)
{
    const bool vectors = pe_values_present(values, "vectors");
    const bool q = pe_values_present(values, "q"), k = pe_values_present(values, "k");
    if (!vectors && !q && !k)
        return pe_fail(why, PE_MISSING_PARAMETER, "vectors",
                       "vectors is required, or q or k or both");
    if (vectors && (q || k))
        return pe_fail(why, PE_INVALID_PARAMETER, "vectors",
                       "vectors does not go with q or k: give it alone, or give those");
    return pe_rope_rotated_tokens(values, tensor_names, PE_LEN(tensor_names), tokens, why);
}

const pe_positions *pe_rope_rotated_positions(pe_values *values, size_t tokens)
{
    pe_values_set_range(values, "positions", 0, tokens);
    return pe_values_positions(values, "positions");
}

/* Positions [axes, tokens] or [axes, batch, tokens]. */
static pe_status check_axes(const pe_rope_rotated *answer, const char *tensor, size_t axis,
                            pe_problem *why)
{
    const pe_shape *given = &answer->rotation.positions->shape;
    const pe_shape *shape = &pe_values_tensor(answer->values, tensor)->shape;
    const size_t n = shape->dim[axis], axes = answer->rotation.axes->n;
    const size_t tokens = given->dim[given->ndim - 1], batch = given->ndim == 3 ? given->dim[1] : 1;
    PE_TRY(pe_rope_axes_check(answer->rotation.axes, answer->positions, answer->rotation.positions,
                              why));
    if (tokens == n && (batch == 1 || (axis > 0 && batch == shape->dim[0])))
        return PE_OK;
    if (answer->one_for_all && tokens == 1 && batch == 1)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, answer->positions,
                   "%s must be [tokens], [%zu, tokens] or [%zu, batch, tokens], where axis %zu of "
                   "%s, %zu long, are the tokens; got %zu batches of %zu",
                   answer->positions, axes, axes, axis, tensor, n, batch, tokens);
}

static pe_status check_positions(const pe_rope_rotated *answer, const char *tensor, size_t axis,
                                 pe_problem *why)
{
    const char *name = answer->positions;
    const pe_positions *positions = answer->rotation.positions;
    const pe_shape *shape = &pe_values_tensor(answer->values, tensor)->shape;
    const size_t n = shape->dim[axis], batch = shape->dim[0];
    if (positions->shape.ndim > 1 && answer->rotation.axes != NULL)
        return check_axes(answer, tensor, axis, why);
    if (positions->shape.ndim == 3)
        return pe_fail(
            why, PE_INVALID_PARAMETER, name,
            "%s of three axes, [axes, batch, tokens], go with mrope_section or axes_dims", name);
    if (positions->shape.ndim < 2) {
        if (positions->count == n || (answer->one_for_all && positions->count == 1))
            return PE_OK;
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must give one for each of the %zu tokens of %s, got %zu%s", name, n,
                       tensor, positions->count,
                       answer->rotation.axes != NULL && positions->count > n
                           ? "; separate the axes with ;"
                           : "");
    }
    const size_t *dim = positions->shape.dim;
    if (dim[1] == n && (dim[0] == 1 || (axis > 0 && dim[0] == batch)))
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, name,
                   "%s must be [tokens] or [batch, tokens], where axis 0 of %s is the batch and "
                   "axis %zu, %zu long, the tokens; got [%zu, %zu]",
                   name, tensor, axis, n, dim[0], dim[1]);
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const rotated *state = plan->state;
    const pe_array *array = &state->array[region->tensor];
    const size_t bytes = pe_dtype_bytes(array->dtype);
    memcpy(out, (const unsigned char *)array->data + region->first * bytes, region->units * bytes);
    return PE_OK;
}

static pe_status fits(const pe_rope_rotated *answer, const char *const *names, size_t n,
                      pe_problem *why)
{
    pe_problem mistake;
    pe_status status = PE_OK;
    for (size_t t = 0; t < n; t++) {
        size_t axis;
        if (!pe_values_present(answer->values, names[t]))
            continue;
        pe_status fit = seq_axis(answer->values, names[t], &axis, &mistake);
        if (fit == PE_OK)
            fit = check_positions(answer, names[t], axis, &mistake);
        status = PE_ALSO(status, fit);
    }
    return status;
}

pe_status pe_rope_rotated_read(pe_status so_far, const pe_rope_rotated *answer, pe_plan *plan,
                               pe_rope *out, pe_problem *why)
{
    static const char *const any[] = {"vectors", "q", "k", "keys"};
    pe_problem mistake;
    const pe_status status = pe_rope_plan_beside(so_far, answer->values, plan, out, why);
    if (status == PE_OK || so_far != PE_OK || !pe_rope_has_one_axis(answer->values))
        return status;
    return PE_ALSO(status, fits(answer, any, PE_LEN(any), &mistake));
}

/* Turning a vector, however few channels it has. */
#define TOKEN_WORK 28

pe_status pe_rope_rotated_add(const pe_rope_rotated *answer, const char *name, const char *shown,
                              pe_plan *plan, pe_problem *why)
{
    size_t axis;
    const pe_array *given = pe_values_tensor(answer->values, name);
    PE_TRY(seq_axis(answer->values, name, &axis, why));
    PE_TRY(check_positions(answer, name, axis, why));
    if (plan->state == NULL)
        PE_TRY(pe_plan_begin(plan, sizeof(rotated), fill, why));
    PE_TRY(pe_plan_add_tensor(plan, shown, given->dtype, &given->shape, 1, why));
    pe_rope_rotation rotation = answer->rotation;
    const size_t width = given->shape.dim[given->shape.ndim - 1];
    const uint64_t scales =
        rotation.xpos != NULL ? rotation.positions->count * rotation.rope->pairs : 0;
    const uint64_t work =
        1 + TOKEN_WORK / width + PE_XPOS_SCALE_WORK * scales / (given->elements + 1);
    PE_TRY(pe_plan_set_work(plan, plan->n_tensors - 1, work, why));
    pe_array *array = &((rotated *)plan->state)->array[plan->n_tensors - 1];
    pe_plan_take(plan, answer->values, name, array);
    rotation.finite = name;
    return pe_rope_apply_array(&rotation, axis, array, why);
}

pe_status pe_rope_rotated_all(const pe_rope_rotated *answer, pe_plan *plan, pe_problem *why)
{
    pe_status status = fits(answer, tensor_names, PE_LEN(tensor_names), why);
    for (size_t t = 0; t < PE_LEN(tensor_names) && status == PE_OK; t++) {
        const char *name = tensor_names[t];
        if (pe_values_present(answer->values, name))
            status = pe_rope_rotated_add(answer, name, t == 0 ? "data" : name, plan, why);
    }
    return status;
}
