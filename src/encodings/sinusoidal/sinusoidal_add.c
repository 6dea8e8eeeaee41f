/* SPDX-License-Identifier: MIT */
/* sinusoidal_add.c - embeddings with their sinusoidal encodings added. */
#include <stdlib.h>

#include "encodings/registry.h"
#include "encodings/sinusoidal/sinusoidal.h"

/* Doubles of encodings held at a time: a row at least. */
#define BLOCK_ELEMENTS PE_SINUSOIDAL_WIDTH_MAX

static const pe_param embeddings_params[] = {
    {.name = "embeddings",
     .kind = PE_KIND_TENSOR,
     .required = true,
     .min_dims = 2,
     .max_dims = PE_MAX_DIMS,
     .help = "Embeddings [..., n, d_model]. The tokens are the last axis but one.",
     .example = "[[0,0,0,0],[0,0,0,0]]"},
    {.name = "d_model",
     .kind = PE_KIND_INT,
     .optional = true,
     .min = 1,
     .max = PE_SINUSOIDAL_WIDTH_MAX,
     .plan_work = PE_PLAN_WORK_PRODUCT,
     .fallback_text = "the last axis",
     .unit = "channels",
     .help = "Width of a row. It must equal the last axis of embeddings.",
     .example = "4"},
};

static const pe_param positions_params[] = {
    {.name = "positions",
     .kind = PE_KIND_POSITIONS,
     .optional = true,
     .fallback_text = "0:n",
     .two_axes = true,
     .unit = "tokens",
     .help = "Positions of the n tokens: a:b, a:b:step, a number, or a list. [batch, n] is "
             "accepted too.",
     .example = "0:2"},
};

/* Embeddings as [batches, sequences, tokens, width]; each batch has positions of its own, or all
 * share one row of them. */
typedef struct axes {
    size_t batches, sequences, tokens, width;
} axes;

static pe_status check_positions(const pe_shape *x, const pe_positions *positions, axes *out,
                                 pe_problem *why)
{
    const bool batched = positions->shape.ndim == 2;
    const size_t n = x->dim[x->ndim - 2];
    const size_t count = positions->shape.dim[positions->shape.ndim - 1];
    *out = (axes){1, 1, n, x->dim[x->ndim - 1]};
    for (size_t a = 0; a + 2 < x->ndim; a++)
        *(batched && a == 0 ? &out->batches : &out->sequences) *= x->dim[a];
    if (count != n)
        return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                       "positions must name as many positions as embeddings has tokens: %zu "
                       "positions, %zu tokens",
                       count, n);
    if (batched && (x->ndim < 3 || positions->shape.dim[0] != out->batches))
        return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                       "positions [batch, n] must have the batches of embeddings: %zu batches of "
                       "positions, %zu of embeddings",
                       positions->shape.dim[0], out->batches);
    return PE_OK;
}

/* The width of the embeddings becomes d_model, which agrees when it was given. */
static pe_status take_width(const pe_shape *x, pe_values *values, pe_problem *why)
{
    const size_t width = x->dim[x->ndim - 1];
    if (width < 1 || width > PE_SINUSOIDAL_WIDTH_MAX || x->dim[x->ndim - 2] < 1)
        return pe_fail(why, PE_INVALID_PARAMETER, "embeddings",
                       "the last axis of embeddings must have 1 to %d channels and the one before "
                       "at least 1 token, got %zu tokens of %zu channels",
                       PE_SINUSOIDAL_WIDTH_MAX, x->dim[x->ndim - 2], width);
    if (pe_values_present(values, "d_model") && (size_t)pe_values_int(values, "d_model") != width)
        return pe_fail(why, PE_INVALID_PARAMETER, "d_model",
                       "d_model must be the last axis of embeddings, %zu, got %lld", width,
                       (long long)pe_values_int(values, "d_model"));
    pe_values_set_int(values, "d_model", (int64_t)width);
    return PE_OK;
}

typedef struct addition {
    pe_sinusoid sinusoid;
    const pe_positions *positions;
    axes shape;
    double *block; /* [BLOCK_ELEMENTS] */
} addition;

/*
 * Add in place. A block of encodings is made once for all sequences of a batch. Nothing overflows:
 * an encoding is at most 1, less than half of the last place of the largest number of any type.
 */
static pe_status add_batch(const addition *a, size_t batch, pe_array *x, pe_problem *why)
{
    const axes *shape = &a->shape;
    const size_t bytes = pe_dtype_bytes(x->dtype), sequence = shape->tokens * shape->width;
    const size_t first = shape->batches > 1 ? batch * shape->tokens : 0;
    const size_t rows_max = BLOCK_ELEMENTS / shape->width;
    for (size_t row = 0, rows; row < shape->tokens; row += rows) {
        rows = shape->tokens - row < rows_max ? shape->tokens - row : rows_max;
        const pe_region region = {.first = first + row, .units = rows, .columns = shape->width};
        const pe_status status =
            pe_sinusoid_fill(&a->sinusoid, a->positions, &region, a->block, why);
        if (status != PE_OK)
            return status;
        for (size_t s = 0; s < shape->sequences; s++) {
            const size_t at = (batch * shape->sequences + s) * sequence + row * shape->width;
            char *here = (char *)x->data + at * bytes;
            pe_kernels_get()->add(x->dtype, here, a->block, rows * shape->width, here);
        }
    }
    return PE_OK;
}

static pe_status add_encodings(const pe_values *values, pe_tables *tables, const axes *shape,
                               pe_array *x, pe_problem *why)
{
    addition a = {.positions = &pe_values_find(values, "positions")->positions, .shape = *shape};
    pe_sinusoid_spec spec = pe_sinusoid_read(values, shape->width);
    spec.dtype = PE_FLOAT64;
    pe_status status = pe_sinusoid_make(&spec, tables, &a.sinusoid, why);
    if (status == PE_OK && (a.block = malloc(BLOCK_ELEMENTS * sizeof *a.block)) == NULL)
        status = pe_fail_memory(why);
    for (size_t b = 0; status == PE_OK && b < shape->batches; b++)
        status = add_batch(&a, b, x, why);
    free(a.block);
    pe_sinusoid_free(&a.sinusoid);
    return status;
}

static void derive_positions(pe_values *values, size_t tokens)
{
    pe_value *positions = pe_values_find(values, "positions");
    if (positions->present)
        return;
    positions->positions = pe_positions_range(0, 1, tokens);
    positions->present = true;
}

static pe_status plan_add(pe_values *values, struct pe_tables *tables, const pe_limits *limits,
                          pe_plan *out, pe_problem *why)
{
    pe_array *x = &pe_values_find(values, "embeddings")->tensor;
    axes shape;
    pe_status status = take_width(&x->shape, values, why);
    if (status != PE_OK)
        return status;
    derive_positions(values, x->shape.dim[x->shape.ndim - 2]);
    status =
        check_positions(&x->shape, &pe_values_find(values, "positions")->positions, &shape, why);
    if (status != PE_OK)
        return status;
    status = pe_plan_add_tensor(out, limits, "embeddings", x->dtype, &x->shape, shape.width, why);
    if (status != PE_OK)
        return status;
    pe_array *sum = pe_plan_begin_array(out);
    if (sum == NULL)
        return pe_fail_memory(why);
    *sum = pe_values_take(values, "embeddings"); /* it becomes the sum */
    return add_encodings(values, tables, &shape, sum, why);
}

const pe_resource pe_sinusoidal_add = {
    .path = "/v1/sinusoidal/add",
    .encoding = "sinusoidal",
    .name = "sinusoidal/add",
    .kind = PE_TRANSFORM,
    .summary = "Embeddings with the sinusoidal encodings of their positions added.",
    .formula = "embeddings + PE, PE = " PE_SINUSOIDAL_FORMULA,
    .labels = PE_LABELS({.axes = "token, dimension", .value = "embedding"}),
    .source = PE_SINUSOIDAL_SOURCE,
    .param_sets = {PE_PARAMS(embeddings_params), &pe_params_model, PE_PARAMS(positions_params),
                   &pe_sinusoidal_params, &pe_params_output_exact},
    .plan = plan_add,
};
