/* SPDX-License-Identifier: MIT */
/* sinusoidal_add.c - embeddings with their sinusoidal encodings added. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "encodings/registry.h"
#include "encodings/sinusoidal/sinusoidal.h"

/* Doubles of encodings held at a time: a row at least. */
#define BLOCK_ELEMENTS PE_SINUSOIDAL_WIDTH_MAX

static const pe_param embeddings_params[] = {
    PE_PARAM("embeddings", TENSOR, .required = true, .min_dims = 2, .max_dims = PE_MAX_DIMS,
             .help = "Embeddings [..., n, d_model]. The tokens are the last axis but one.",
             .example = "[[0,0,0,0],[0,0,0,0]]"),
    PE_PARAM(
        "d_model", INT, .optional = true, .min = 1, .max = PE_SINUSOIDAL_WIDTH_MAX,
        .plan_work = PE_PLAN_WORK_PRODUCT, .fallback_text = "the last axis", .unit = "channels",
        .help =
            "Width of a row. It must equal the last axis of embeddings, but with combine=concat.",
        .example = "4"),
};

enum { ADD, CONCAT };
static const char *const combinations[] = {[ADD] = "add", [CONCAT] = "concat", NULL};

static const pe_param combine_params[] = {
    PE_PARAM("combine", CHOICE, .choices = combinations,
             .help = "add: encodings are added to embeddings. concat: they follow them along the "
                     "last axis, d_model channels more.",
             .example = "add"),
};

static const pe_param positions_params[] = {
    PE_PARAM("positions", POSITIONS, .optional = true, .fallback_text = "0:n", .two_axes = true,
             .unit = "tokens",
             .help = "Positions of the n tokens: a:b, a:b:step, a number, or a list. [batch, n] is "
                     "accepted too.",
             .example = "0:2"),
};

/* Embeddings as [batches, sequences, tokens, channels]; each batch has positions of its own, or all
 * share one row of them. Encodings are `width` wide. */
typedef struct axes {
    size_t batches, sequences, tokens, channels, width;
    bool concat;
} axes;

static pe_status check_positions(const pe_shape *x, const pe_positions *positions, axes *out,
                                 pe_problem *why)
{
    const bool batched = positions->shape.ndim == 2;
    const size_t n = x->dim[x->ndim - 2];
    const size_t count = positions->shape.dim[positions->shape.ndim - 1];
    out->batches = out->sequences = 1;
    out->tokens = n;
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

/* The width of the embeddings becomes d_model, which agrees when it was given; beside them any
 * width will do. */
static pe_status take_width(const pe_shape *x, pe_values *values, axes *out, pe_problem *why)
{
    const size_t width = x->dim[x->ndim - 1];
    if (width < 1 || width > PE_SINUSOIDAL_WIDTH_MAX || x->dim[x->ndim - 2] < 1)
        return pe_fail(why, PE_INVALID_PARAMETER, "embeddings",
                       "the last axis of embeddings must have 1 to %d channels and the one before "
                       "at least 1 token, got %zu tokens of %zu channels",
                       PE_SINUSOIDAL_WIDTH_MAX, x->dim[x->ndim - 2], width);
    out->concat = pe_values_choice(values, "combine") == CONCAT;
    out->channels = width;
    if (!pe_values_present(values, "d_model"))
        pe_values_set_int(values, "d_model", (int64_t)width);
    out->width = pe_values_size(values, "d_model");
    if (!out->concat && out->width != width)
        return pe_fail(why, PE_INVALID_PARAMETER, "d_model",
                       "d_model must be the last axis of embeddings, %zu, got %zu", width,
                       out->width);
    return PE_OK;
}

typedef struct addition {
    pe_sinusoid sinusoid;
    const pe_positions *positions;
    axes shape;
    double *block; /* [BLOCK_ELEMENTS] */
} addition;

/* In place: encodings are added, as doubles, or stand behind the channels that are there. A block is
 * made once for all sequences of a batch. */
static pe_status put_batch(const addition *a, size_t batch, pe_array *x, pe_problem *why)
{
    const axes *shape = &a->shape;
    const size_t first = shape->batches > 1 ? batch * shape->tokens : 0;
    const size_t rows_max = BLOCK_ELEMENTS / shape->width, bytes = pe_dtype_bytes(x->dtype);
    const size_t width = shape->width, channels = shape->concat ? shape->channels : 0;
    for (size_t row = 0, rows; row < shape->tokens; row += rows) {
        rows = shape->tokens - row < rows_max ? shape->tokens - row : rows_max;
        const pe_region region = {.first = first + row, .units = rows, .columns = shape->width};
        PE_TRY(pe_sinusoid_fill(&a->sinusoid, a->positions, &region, a->block, why));
        for (size_t s = 0; s < shape->sequences; s++) {
            const size_t token = (batch * shape->sequences + s) * shape->tokens + row;
            char *to = (char *)x->data + token * (channels + width) * bytes;
            if (!shape->concat)
                pe_kernels_get()->add(x->dtype, to, a->block, rows * width, to);
            for (size_t r = 0; r < rows && shape->concat; r++)
                memcpy(to + (r * (channels + width) + channels) * bytes,
                       (const char *)a->block + r * width * bytes, width * bytes);
        }
        pe_yield_look(rows * shape->width * (1 + shape->sequences));
        PE_TRY(pe_yield_check(why));
    }
    return PE_OK;
}

/* The embeddings with room behind each token. */
static pe_status widen_tokens(const axes *shape, pe_array *x, pe_problem *why)
{
    pe_array wide;
    const size_t bytes = pe_dtype_bytes(x->dtype), narrow = shape->channels * bytes;
    const size_t row = narrow + shape->width * bytes;
    pe_shape whole = x->shape;
    whole.dim[whole.ndim - 1] += shape->width;
    PE_TRY(pe_array_make(x->dtype, &whole, &wide, why));
    for (size_t t = 0; t < x->elements / shape->channels; t++)
        memcpy((char *)wide.data + t * row, (const char *)x->data + t * narrow, narrow);
    pe_array_free(x);
    *x = wide;
    return PE_OK;
}

static pe_status plan_add(pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_array *x = pe_values_tensor(values, "embeddings");
    axes shape;
    PE_TRY(take_width(&x->shape, values, &shape, why));
    pe_values_set_range(values, "positions", 0, x->shape.dim[x->shape.ndim - 2]);
    PE_TRY(check_positions(&x->shape, pe_values_positions(values, "positions"), &shape, why));
    pe_shape whole = x->shape;
    const size_t width = shape.concat ? shape.channels + shape.width : shape.width;
    whole.dim[whole.ndim - 1] = width;
    PE_TRY(pe_plan_add_tensor(out, "embeddings", x->dtype, &whole, width, why));
    PE_TRY(pe_plan_begin_array(out, why));
    pe_array *sum = out->state;
    *sum = pe_values_take(values, "embeddings"); /* it becomes the sum */
    if (shape.concat)
        PE_TRY(widen_tokens(&shape, sum, why));
    addition a = {.positions = pe_values_positions(values, "positions"), .shape = shape};
    pe_sinusoid_spec spec = pe_sinusoid_read(values, shape.width);
    spec.dtype = shape.concat ? sum->dtype : PE_FLOAT64;
    pe_status status = pe_sinusoid_make(&spec, out->tables, &a.sinusoid, why);
    if (status == PE_OK && (a.block = malloc(BLOCK_ELEMENTS * sizeof *a.block)) == NULL)
        status = pe_fail_memory(why);
    for (size_t b = 0; status == PE_OK && b < shape.batches; b++)
        status = put_batch(&a, b, sum, why);
    free(a.block);
    pe_sinusoid_free(&a.sinusoid);
    PE_TRY(status);
    /* An encoding is at most the amplitude, 1000. Only of float16 is that more than half of the
     * last place of the largest number. */
    const double amplitude = pe_values_real(values, "amplitude");
    const char *at = sum->data;
    const bool may = sum->dtype == PE_FLOAT16 && amplitude >= 16;
    for (size_t i = 0; may && i < sum->elements; i++)
        if (!isfinite(pe_dtype_load(sum->dtype, at + 2 * i)))
            return pe_fail(why, PE_INVALID_PARAMETER, "amplitude",
                           "embeddings and encodings of this amplitude overflow float16, whose "
                           "largest value is 65504");
    return PE_OK;
}

const pe_resource pe_sinusoidal_add = {
    PE_NAMED("sinusoidal", "/add"),
    .kind = PE_TRANSFORM,
    .summary = "Embeddings with the sinusoidal encodings of their positions added.",
    .formula = "embeddings + PE, or both side by side, PE = " PE_SINUSOIDAL_FORMULA,
    .labels = PE_LABELS({.axes = "token, dimension", .value = "embedding"}),
    .source = PE_SINUSOIDAL_SOURCE,
    .param_sets = {PE_PARAMS(embeddings_params), &pe_params_model, PE_PARAMS(positions_params),
                   PE_PARAMS(combine_params), &pe_sinusoidal_params, &pe_params_output_exact},
    .plan = plan_add,
};
