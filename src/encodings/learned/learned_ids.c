/* SPDX-License-Identifier: MIT */
/* learned_ids.c - which rows of a learned table the tokens of padded batches take. */
#include <stdlib.h>

#include "encodings/learned/learned_rows.h"
#include "encodings/registry.h"

#define ID_MAX 1073741823 /* so that a sum of two is an int32 */

static const pe_param own[] = {
    PE_PARAM("input_ids", TENSOR, .integers_only = true, .as_float64 = true, .optional = true,
             .min_dims = 1, .max_dims = 2,
             .help = "Tokens, [n] or [batch, n]. Those that equal padding_idx are padding.",
             .example = "[[0,31,2,1]]"),
    PE_PARAM("padding_idx", INT, .min = 0, .max = ID_MAX, .fallback = 1,
             .help = "For input_ids: the token of padding. It is also the position id of padding. "
                     "Other tokens count from the next id.",
             .example = "1"),
    PE_PARAM("attention_mask", TENSOR, .integers_only = true, .as_float64 = true, .optional = true,
             .min_dims = 1, .max_dims = 2,
             .help =
                 "The mask [n] or [batch, n], in place of input_ids. 1 is a token, 0 is padding.",
             .example = "[[0,1,1,1]]"),
    PE_PARAM("offset", INT, .min = 0, .max = ID_MAX, .fallback = 0, .unit = "rows",
             .help = "For attention_mask: the id of the first token. Padding has the id before it.",
             .example = "2"),
    PE_PARAM("past_key_values_length", INT, .min = 0, .max = ID_MAX, .fallback = 0,
             .unit = "tokens",
             .help = "How many tokens precede these. input_ids does not have them: they are added "
                     "to the ids. attention_mask has them: they are omitted from the answer.",
             .example = "0"),
};

/* Room for the last n - past of the n tokens of each sequence. */
static pe_status make_ids(const pe_shape *of, size_t past, pe_array *out, pe_problem *why)
{
    pe_shape shape = *of;
    shape.dim[shape.ndim - 1] -= past;
    return pe_array_make(PE_FLOAT64, &shape, out, why);
}

static pe_status check_mask(const pe_array *mask, int64_t past, pe_problem *why)
{
    const double *m = mask->data;
    const size_t n = mask->shape.dim[mask->shape.ndim - 1];
    for (size_t i = 0; i < mask->elements; i++)
        if (m[i] != 0 && m[i] != 1)
            return pe_fail(why, PE_INVALID_PARAMETER, "attention_mask",
                           "attention_mask must be of zeros and ones, got %.17g", m[i]);
    if ((uint64_t)past >= n)
        return pe_fail(why, PE_INVALID_PARAMETER, "past_key_values_length",
                       "past_key_values_length must be below the tokens of attention_mask, which "
                       "are %zu, got %lld",
                       n, (long long)past);
    return PE_OK;
}

pe_status pe_learned_ids_of_mask(const pe_array *mask, int64_t past, pe_array *out, pe_problem *why)
{
    PE_TRY(check_mask(mask, past, why));
    PE_TRY(make_ids(&mask->shape, (size_t)past, out, why));
    const double *m = mask->data;
    const size_t n = mask->shape.dim[mask->shape.ndim - 1];
    double *id = out->data, ones = 0;
    for (size_t i = 0; i < mask->elements; i++) {
        ones = (i % n == 0 ? 0 : ones) + m[i];
        if (i % n >= (size_t)past)
            *id++ = m[i] != 0 ? ones - 1 : -1;
    }
    return PE_OK;
}

/* (cumsum(mask) + past) * mask + padding_idx, where mask is 0 at padding. */
static pe_status ids_of_tokens(const pe_array *tokens, double padding, double past, pe_array *out,
                               pe_problem *why)
{
    PE_TRY(make_ids(&tokens->shape, 0, out, why));
    const double *token = tokens->data;
    const size_t n = tokens->shape.dim[tokens->shape.ndim - 1];
    double *id = out->data, count = 0;
    for (size_t i = 0; i < tokens->elements; i++) {
        const bool real = token[i] != padding;
        count = (i % n == 0 ? 0 : count) + real;
        id[i] = real ? count + past + padding : padding;
    }
    return PE_OK;
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const pe_array *ids = plan->state;
    for (size_t u = 0; u < region->units; u++)
        ((int32_t *)out)[u] = (int32_t)((const double *)ids->data)[region->first + u];
    return PE_OK;
}

/* One of the two, and nothing that belongs to the other. */
static pe_status check_rule(pe_values *values, bool by_tokens, pe_problem *why)
{
    const char *of_other = by_tokens ? "offset" : "padding_idx";
    if (pe_values_present(values, "input_ids") == pe_values_present(values, "attention_mask"))
        return by_tokens ? pe_fail(why, PE_INVALID_PARAMETER, "attention_mask",
                                   "input_ids and attention_mask stand for two rules: give one")
                         : pe_fail(why, PE_MISSING_PARAMETER, "input_ids",
                                   "input_ids is required, or attention_mask");
    if (pe_values_given(values, of_other))
        return pe_fail(why, PE_INVALID_PARAMETER, of_other, "%s goes with %s, which is not given",
                       of_other, by_tokens ? "attention_mask" : "input_ids");
    pe_values_find(values, of_other)->present = false;
    return PE_OK;
}

static pe_status plan_ids(pe_values *values, pe_plan *out, pe_problem *why)
{
    const bool by_tokens = pe_values_present(values, "input_ids");
    PE_TRY(check_rule(values, by_tokens, why));
    PE_TRY(pe_plan_begin(out, sizeof(pe_array), fill, why));
    pe_array *ids = out->state;
    pe_plan_owns_array(out, ids);
    const int64_t past = pe_values_int(values, "past_key_values_length");
    PE_TRY(
        by_tokens
            ? ids_of_tokens(pe_values_tensor(values, "input_ids"),
                            (double)pe_values_int(values, "padding_idx"), (double)past, ids, why)
            : pe_learned_ids_of_mask(pe_values_tensor(values, "attention_mask"), past, ids, why));
    double *id = ids->data;
    for (size_t i = 0; i < ids->elements; i++) {
        id[i] += by_tokens ? 0 : (double)pe_values_int(values, "offset");
        if (id[i] > INT32_MAX)
            return pe_fail(why, PE_INVALID_PARAMETER, "past_key_values_length",
                           "id %zu overflows int32", i);
    }
    return pe_plan_add_tensor(out, "position_ids", PE_INT32, &ids->shape, 1, why);
}

/** Shapes  input_ids [n] or [batch, n] -> the same, numbered as fairseq and M2M-100 number tokens,
 *          too; attention_mask without the past tokens. */
const pe_resource pe_learned_position_ids = {
    .path = "/v1/position-ids",
    .name = "position-ids",
    .encoding = "learned",
    .kind = PE_TRANSFORM,
    .claimed_otherwise = true,
    .summary = "Position ids of the tokens of padded batches.",
    .formula = "input_ids: mask = (input_ids != padding_idx), (cumsum(mask) + past) * mask + "
               "padding_idx; attention_mask: cumsum(mask) * mask - 1 + offset",
    .labels = PE_LABELS({.axes = "sequence, token", .value = "position"}),
    .source = "huggingface/transformers@b4b5244c9c7cdb80d0aaafdb8f35244612788532, "
              "create_position_ids_from_input_ids (RoBERTa), OPTLearnedPositionalEmbedding",
    .param_sets = {PE_PARAMS(own), &pe_params_output_int32},
    .plan = plan_ids,
};
