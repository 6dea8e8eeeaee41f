/* SPDX-License-Identifier: MIT */
/* learned_lookup.c - rows of a learned table for batches, and embeddings with them added. */
#include <math.h>
#include <stdlib.h>

#include "encodings/learned/learned_rows.h"
#include "encodings/registry.h"
#include "kernels/kernels.h"

#define POSITIONS(HELP)                                                                            \
    PE_PARAM("positions", POSITIONS, .optional = true, .integers_only = true, .two_axes = true,    \
             .fallback_text = "0:n", .unit = "tokens", .help = (HELP), .example = "0:2")
static const pe_param mask_params[] = {
    PE_PARAM("attention_mask", TENSOR, .integers_only = true, .as_float64 = true, .optional = true,
             .min_dims = 1, .max_dims = 2,
             .help = "The mask [n] or [batch, n], in place of positions. 1 is a token, 0 is "
                     "padding. The tokens are counted from position 0. Padding is at position -1.",
             .example = "[[0,1]]"),
};
static const pe_param past_params[] = {
    PE_PARAM(
        "past_key_values_length", INT, .min = 0, .max = PE_POSITION_LIMIT - 1, .fallback = 0,
        .unit = "tokens",
        .help =
            "How many first tokens of attention_mask are counted but have no row in the answer.",
        .example = "0"),
};

static const pe_param lookup_positions_params[] = {
    POSITIONS("Positions: a:b, a:b:step, a number, or a list. [batch, n] is accepted too. Either "
              "positions or attention_mask is required."),
};

static const pe_param embeddings_params[] = {
    PE_PARAM("embeddings", TENSOR, .required = true, .min_dims = 2, .max_dims = 3,
             .help = "Embeddings [n, width] or [batch, n, width].",
             .example = "[[0,0,0,0],[0,0,0,0]]"),
};

static const pe_param add_positions_params[] = {
    POSITIONS("Positions of the n tokens: a:b, a:b:step, a number, or a list. [batch, n] is "
              "accepted too."),
};

/* ---- which rows ---- */

static pe_status by_mask(const pe_array *mask, int64_t past, const pe_learned_rows *table,
                         pe_positions *out, pe_problem *why)
{
    double low, high;
    pe_array ids;
    PE_TRY(pe_learned_ids_of_mask(mask, past, &ids, why));
    const pe_status status = pe_positions_from_list(&ids, "attention_mask", out, why);
    pe_array_free(&ids);
    PE_TRY(status);
    pe_positions_bounds(out, &low, &high);
    return pe_learned_check_rows(table, low, high, "attention_mask", why);
}

/* From the mask or the positions, whichever is given. *out may be freed however it ends. */
static pe_status read_positions(pe_values *values, const pe_learned_rows *table, pe_positions *out,
                                pe_problem *why)
{
    const pe_value *positions = pe_values_find(values, "positions");
    const pe_value *mask = pe_values_find(values, "attention_mask");
    pe_value *past = pe_values_find(values, "past_key_values_length");
    if (mask->present && positions->given)
        return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                       "positions and attention_mask both say where tokens are: give one");
    if (mask->present)
        return by_mask(&mask->tensor, past->integer, table, out, why);
    if (past->given)
        return pe_fail(why, PE_INVALID_PARAMETER, "past_key_values_length",
                       "past_key_values_length goes with attention_mask, which is not given");
    past->present = false;
    PE_TRY(pe_learned_check_positions(table, &positions->positions, why));
    return pe_positions_share(&positions->positions, out, why);
}

/* ---- rows of batches ---- */

static void release(void *positions)
{
    pe_positions_free(positions);
}

static pe_status plan_lookup(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_learned_rows table = {0};
    pe_dtype dtype = PE_FLOAT32;
    PE_TRY(pe_learned_open(values, out->tables, out, &table, why));
    PE_TRY(pe_learned_dtype(values, &table, table.largest, &dtype, why));
    if (!pe_values_present(values, "attention_mask") && !pe_values_present(values, "positions"))
        return pe_fail(why, PE_MISSING_PARAMETER, "attention_mask",
                       "attention_mask is required, or positions");
    PE_TRY(pe_plan_begin(out, sizeof(pe_learned_places), pe_learned_fill, why));
    pe_learned_places *places = out->state;
    places->rows = table.rows;
    places->offset = table.offset;
    pe_plan_owns(out, &places->positions, release);
    PE_TRY(read_positions(values, &table, &places->positions, why));
    pe_shape shape = places->positions.shape;
    const size_t width = table.rows->shape.dim[1];
    shape.dim[shape.ndim++] = width;
    return pe_plan_add_tensor(out, "embeddings", dtype, &shape, width, why);
}

/** Shapes  attention_mask or positions [n] or [batch, n] -> [.., n, width]; without past tokens.
 * OPT has offset 2. */
const pe_resource pe_learned_lookup = {
    .path = "/v1/learned/{name}/lookup",
    .encoding = "learned",
    .name = "learned/lookup",
    .kind = PE_TRANSFORM,
    .summary = "Rows of a learned table for the tokens of padded batches.",
    .formula = "table[pos + offset], pos = cumsum(attention_mask) * attention_mask - 1",
    .labels = PE_LABELS({.axes = "token, dimension", .value = "value"}),
    .source = "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532, "
              "OPTLearnedPositionalEmbedding",
    .param_sets = {&pe_learned_name_params, PE_PARAMS(mask_params),
                   PE_PARAMS(lookup_positions_params), &pe_learned_offset_params,
                   PE_PARAMS(past_params), &pe_learned_dtype_params, &pe_params_exact},
    .plan = plan_lookup,
};

/* ---- sums ---- */

static pe_status check_sum(const pe_array *x, size_t token, size_t width, pe_problem *why)
{
    const size_t bytes = pe_dtype_bytes(x->dtype);
    const char *sum = (const char *)x->data + token * width * bytes;
    for (size_t c = 0; c < width; c++)
        if (!isfinite(pe_dtype_load(x->dtype, sum + c * bytes)))
            return pe_fail(why, PE_INVALID_PARAMETER, "embeddings",
                           "the sum at token %zu, channel %zu overflows %s", token, c,
                           pe_dtype_name(x->dtype));
    return PE_OK;
}

/* One row of ids for all batches, or one for each. */
static pe_status check_shapes(const pe_shape *x, const pe_learned_rows *table, const pe_shape *ids,
                              pe_problem *why)
{
    const size_t width = table->rows->shape.dim[1];
    const size_t n = x->dim[x->ndim - 2], id_n = ids->dim[ids->ndim - 1];
    if (x->dim[x->ndim - 1] != width)
        return pe_fail(why, PE_INVALID_PARAMETER, "embeddings",
                       "the last axis of embeddings must be the width of %.128s, %zu, got %zu",
                       table->name, width, x->dim[x->ndim - 1]);
    if (id_n == n && (ids->ndim == 1 || (x->ndim == 3 && ids->dim[0] == x->dim[0])))
        return PE_OK;
    return pe_fail(
        why, PE_INVALID_PARAMETER, "embeddings",
        "embeddings have %zu tokens in %zu sequences, but there are positions of %zu in %zu", n,
        x->ndim == 3 ? x->dim[0] : (size_t)1, id_n, ids->ndim == 2 ? ids->dim[0] : (size_t)1);
}

static pe_status add_at(pe_values *values, const pe_learned_rows *table, const pe_positions *at,
                        pe_array *sum, pe_problem *why)
{
    PE_TRY(check_shapes(&pe_values_tensor(values, "embeddings")->shape, table, &at->shape, why));
    *sum = pe_values_take(values, "embeddings");
    /* Add in place, row by row; each sum is rounded once. */
    const size_t width = table->rows->shape.dim[1], bytes = pe_dtype_bytes(sum->dtype);
    double *row = malloc(width * sizeof *row);
    pe_status status = row == NULL ? pe_fail_memory(why) : PE_OK;
    for (size_t r = 0; status == PE_OK && r < sum->elements / width; r++) {
        char *here = (char *)sum->data + r * width * bytes;
        const int64_t from = (int64_t)pe_positions_at(at, r % at->count) + table->offset;
        pe_learned_copy(table->rows, (size_t)from * width, width, PE_FLOAT64, row);
        pe_kernels_get()->add(sum->dtype, here, row, width, here);
        status = check_sum(sum, r, width, why);
    }
    free(row);
    return status;
}

static pe_status add(pe_values *values, const pe_learned_rows *table, pe_plan *plan,
                     pe_problem *why)
{
    pe_positions at = {0};
    const pe_shape *shape = &pe_values_tensor(values, "embeddings")->shape;
    if (!pe_values_present(values, "attention_mask"))
        pe_values_set_range(values, "positions", 0, shape->dim[shape->ndim - 2]);
    pe_status status = read_positions(values, table, &at, why);
    if (status == PE_OK)
        status = add_at(values, table, &at, plan->state, why);
    pe_positions_free(&at);
    return status;
}

static pe_status plan_add(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_learned_rows table = {0};
    PE_TRY(pe_learned_open(values, out->tables, out, &table, why));
    PE_TRY(pe_plan_begin_array(out, why));
    pe_array *sum = out->state;
    PE_TRY(add(values, &table, out, why));
    return pe_plan_add_tensor(out, "embeddings", sum->dtype, &sum->shape, table.rows->shape.dim[1],
                              why);
}

/** Shapes  embeddings [n, width] or [batch, n, width] -> the same. Sums in float64, rounded once. */
const pe_resource pe_learned_add = {
    .path = "/v1/learned/{name}/add",
    .encoding = "learned",
    .name = "learned/add",
    .kind = PE_TRANSFORM,
    .summary = "Embeddings with the rows of a learned table added.",
    .formula = "embeddings + table[pos + offset]",
    .labels = PE_LABELS({.axes = "token, dimension", .value = "value"}),
    .source = "Devlin et al. 2018, arXiv:1810.04805",
    .param_sets = {&pe_learned_name_params, PE_PARAMS(embeddings_params), PE_PARAMS(mask_params),
                   PE_PARAMS(add_positions_params), &pe_learned_offset_params,
                   PE_PARAMS(past_params), &pe_params_output_exact},
    .plan = plan_add,
};
