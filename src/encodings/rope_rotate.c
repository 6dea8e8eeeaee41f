/* SPDX-License-Identifier: MIT */
/* rope_rotate.c - rotary embedding of queries and keys, and its inverse. */
#include "encodings/rope_answer.h"
#include "encodings/rope_params.h"
#include "encodings/rope_warnings.h"

static const char *const tensor_names[] = {"vectors", "q", "k"};

/* Either vectors, or q and/or k. */
static pe_status check_style(const pe_values *values, pe_problem *why)
{
    const bool vectors = pe_values_present(values, "vectors");
    const bool q = pe_values_present(values, "q"), k = pe_values_present(values, "k");
    if (!vectors && !q && !k)
        return pe_fail(why, PE_MISSING_PARAMETER, "vectors",
                       "vectors is required, or q or k or both");
    if (vectors && (q || k))
        return pe_fail(why, PE_INVALID_PARAMETER, "vectors",
                       "vectors does not go with q or k: give it alone, or give those");
    return PE_OK;
}

static pe_status turn_all(const pe_rope_answer *answer, pe_plan *out, pe_problem *why)
{
    pe_status status = PE_OK;
    for (size_t t = 0; t < PE_LEN(tensor_names) && status == PE_OK; t++) {
        const char *name = tensor_names[t];
        if (pe_values_present(answer->values, name))
            status = pe_rope_answer_add(answer, name, t == 0 ? "data" : name, out, why);
    }
    return status;
}

static pe_status plan(pe_values *values, pe_tables *tables, const pe_limits *limits, pe_plan *out,
                      pe_problem *why)
{
    pe_rope rope;
    pe_shared_wave wave;
    size_t tokens;
    pe_status status = check_style(values, why);
    if (status == PE_OK)
        status = pe_rope_answer_tokens(values, tensor_names, PE_LEN(tensor_names), &tokens, why);
    if (status == PE_OK)
        status = pe_rope_read(values, &rope, why);
    if (status != PE_OK)
        return status;
    const pe_positions *positions = pe_rope_answer_positions(values, tokens);
    pe_rope_mrope_warn(&rope, out);
    pe_rope_warn(&rope, positions, out);
    const bool inverse = pe_values_bool(values, "inverse");
    status = pe_rope_wave(&rope, tables, inverse ? PE_ROPE_UNDONE : PE_ROPE_ATTENDED, &wave, why);
    if (status == PE_OK) {
        const pe_rope_answer answer = {
            .values = values,
            .limits = limits,
            .turn = {&rope, tables, &wave, positions, inverse, rope.axes, NULL},
            .positions = "positions"};
        status = turn_all(&answer, out, why);
        pe_shared_wave_unref(&wave);
    }
    pe_rope_free(&rope);
    return status;
}

#define TENSOR_ROW(label, what)                                                                    \
    {                                                                                              \
        .name = (label), .kind = PE_KIND_TENSOR, .optional = true, .min_dims = 2,                  \
        .max_dims = PE_MAX_DIMS, .help = what ": any leading axes, channels last."                 \
    }

static const pe_param params[] = {
    TENSOR_ROW("vectors", "Vectors to rotate"),
    TENSOR_ROW("q", "Queries to rotate"),
    TENSOR_ROW("k", "Keys to rotate"),
    {PE_ROPE_PARAM_HEAD_DIM, .optional = true, .fallback_text = "the last axis"},
    PE_ROPE_PARAMS,
    PE_ROPE_PARAM_SEQ_AXIS,
    {.name = "inverse",
     .kind = PE_KIND_BOOL,
     .help = "Undo the rotation, the attention factor included.",
     .example = "false"},
    {.name = "positions",
     .kind = PE_KIND_POSITIONS,
     .optional = true,
     .two_axes = true,
     .three_axes = true,
     .fallback_text = "0:n",
     .unit = "tokens",
     .help = "A position for each token, [n], or [batch, n] with the batch along axis 0; with "
             "mrope_section [n], [axes, n] or [axes, batch, n].",
     .example = "0:8"},
    PE_PARAM_DTYPE,
    PE_PARAM_NUMERICS,
};

/**
 *     a' = A (a cos(pos theta_i) - b sin(pos theta_i))
 *     b' = A (b cos(pos theta_i) + a sin(pos theta_i))      for pair i of channels (a, b)
 *
 * Source  Su et al. 2021, arXiv:2104.09864, equation 34; A is the attention factor.
 * Shapes  as given; channels past rotary_dim pass through.
 */
const pe_resource pe_rope_rotate = {
    .path = "/v1/rope/rotate",
    .encoding = "rope",
    .name = "rope/rotate",
    .kind = PE_TRANSFORM,
    .summary = "Rotates vectors, or queries and keys, to their positions; or back.",
    .formula = "a' = A (a cos(pos theta_i) - b sin(pos theta_i)), b' = A (b cos(pos theta_i) + a "
               "sin(pos theta_i))",
    .source = PE_ROPE_SOURCE,
    .params = params,
    .n_params = PE_LEN(params),
    .nested = "rope_parameters",
    .plan = plan,
};
