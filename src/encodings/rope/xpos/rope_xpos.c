/* SPDX-License-Identifier: MIT */
/* rope_xpos.c - xPos: queries and keys rotated, and scaled so that attention falls with distance.
 * */
#include "encodings/rope/xpos/rope_xpos.h"

#include <math.h>

#include "encodings/rope/rope_rotated.h"
#include "encodings/rope/rope_params.h"
#include "encodings/rope/rope_warnings.h"

/* The ladder of powers of a pair. */
static const uint16_t ladder_work[] = {640};

static const pe_param xpos_params[] = {
    PE_PARAM("scale_base", REAL, .min = 1, .max = 1e6, .fallback = 512, .channel_work = ladder_work,
             .unit = "tokens",
             .help = "The distance in tokens over which the scale of a pair falls by the factor "
                     "zeta of that pair.",
             .example = "512"),
    PE_PARAM("center", INT, .optional = true, .min = 1 - PE_POSITION_LIMIT,
             .max = PE_POSITION_LIMIT - 1, .fallback_text = "half the number of positions",
             .unit = "tokens", .help = "The position whose scale is 1.", .example = "0"),
};
const pe_param_set pe_rope_xpos_params = {xpos_params, PE_LEN(xpos_params)};

/* ---- what the resources share ---- */

/* The position farthest from the center. */
static double farthest(double center, const pe_positions *positions)
{
    double least, most;
    pe_positions_bounds(positions, &least, &most);
    return fabs(most - center) > fabs(least - center) ? most : least;
}

pe_status pe_rope_xpos_read(pe_values *values, const pe_rope *rope, const pe_positions *positions,
                            pe_xpos_scale *out, pe_problem *why)
{
    const size_t tokens = positions->shape.dim[positions->shape.ndim - 1];
    const double base = pe_values_real(values, "scale_base");
    if (!pe_values_present(values, "center"))
        pe_values_set_int(values, "center", (int64_t)(tokens / 2));
    const double center = (double)pe_values_int(values, "center");
    const double far = farthest(center, positions), most = fabs(far - center);
    if (most > PE_XPOS_REACH * base)
        return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                       "positions must be within %d scale_base = %.17g of center, %lld, for "
                       "scales to stay below 2^1000, got %.17g",
                       PE_XPOS_REACH, PE_XPOS_REACH * base,
                       (long long)pe_values_int(values, "center"), far);
    /* The whole part of a fractional distance is at most one more. */
    return pe_rope_xpos_scale_make(rope, base, ceil(most) + positions->fractional, out, why);
}

/* ---- queries and keys ---- */

static const char *const tensor_names[] = {"q", "k"};

/* Queries are multiplied by the scale, keys divided. */
static pe_status rotate(pe_rope_rotated *answer, const pe_xpos_scale *scale, pe_plan *out,
                        pe_problem *why)
{
    pe_shared_wave wave;
    pe_status status = pe_rope_wave(answer->rotation.rope, PE_ROPE_ATTENDED, &wave, why);
    if (status != PE_OK)
        return status;
    pe_xpos_turn turn = {.scale = scale, .center = (double)pe_values_int(answer->values, "center")};
    answer->rotation.wave = &wave;
    answer->rotation.xpos = &turn;
    for (size_t t = 0; t < PE_LEN(tensor_names) && status == PE_OK; t++) {
        const char *name = tensor_names[t];
        turn.divide = t == 1;
        if (pe_values_present(answer->values, name))
            status = pe_rope_rotated_add(answer, name, name, out, why);
    }
    answer->rotation.wave = NULL; /* both end here */
    answer->rotation.xpos = NULL;
    pe_tables_wave_unref(&wave);
    return status;
}

static pe_status plan(pe_values *values, pe_tables *tables, const pe_limits *limits, pe_plan *out,
                      pe_problem *why)
{
    pe_rope rope;
    pe_xpos_scale scale;
    size_t tokens;
    if (!pe_values_present(values, "q") && !pe_values_present(values, "k"))
        return pe_fail(why, PE_MISSING_PARAMETER, "q", "q or k is required, or both");
    pe_status status =
        pe_rope_rotated_tokens(values, tensor_names, PE_LEN(tensor_names), &tokens, why);
    pe_rope_rotated answer = {
        .values = values,
        .limits = limits,
        .rotation = {.rope = &rope, .positions = pe_rope_rotated_positions(values, tokens)},
        .positions = "positions"};
    status = pe_rope_rotated_read(status, &answer, tables, &rope, why);
    if (status != PE_OK)
        return status;
    pe_rope_warnings_add(&rope, NULL, out);
    status = pe_rope_xpos_read(values, &rope, answer.rotation.positions, &scale, why);
    if (status == PE_OK) {
        status = rotate(&answer, &scale, out, why);
        pe_rope_xpos_scale_free(&scale);
    }
    pe_rope_free(&rope);
    return status;
}

static const pe_param vectors_params[] = {
    PE_ROPE_TENSOR_ROW("q", PE_NAMES("queries"), "Queries, multiplied by the scale"),
    PE_ROPE_TENSOR_ROW("k", PE_NAMES("keys"), "Keys, divided by the scale"),
};

static const pe_param positions_params[] = {
    PE_PARAM("positions", POSITIONS, .optional = true, .two_axes = true, .fallback_text = "0:n",
             .unit = "tokens",
             .help = "A position for each token: [n], or [batch, n] with the batch along axis 0.",
             .example = "0:8"),
};

/**
 *     q'_i = R(p theta_i) q_i s_i(p),   k'_i = R(p theta_i) k_i / s_i(p)
 *     s_i(p) = ((2i/d + 0.4) / 1.4)^((p - center) / scale_base)
 *
 * for pair i, so that q' . k' has the factor zeta_i^((p_q - p_k) / scale_base).
 *
 * Source    Sun et al. 2022, arXiv:2212.10554, section 3.2 and algorithm 1, as
 *           RotaryEmbedding.rotate_queries_and_keys in lucidrains/rotary-embedding-torch at
 *           8bb4643d1c29f944c47d2e807452ac437689af18, whose center is half the number of positions.
 * Shapes    as given; channels past rotary_dim pass through, not scaled.
 * Accuracy  pe_rope_apply_array's.
 */
const pe_resource pe_rope_xpos = {
    .path = "/v1/rope/xpos",
    .encoding = "rope",
    .name = "rope/xpos",
    .kind = PE_TRANSFORM,
    .summary = "Rotates queries and keys with xPos, whose scale lets attention fall with distance.",
    .formula = "q' = R(p theta_i) q s_i(p), k' = R(p theta_i) k / s_i(p), s_i(p) = ((2i/d + 0.4) / "
               "1.4)^((p - center) / scale_base)",
    .labels = PE_LABELS({.axes = "token, channel"}),
    .source = PE_ROPE_XPOS_SOURCE,
    .param_sets = {PE_PARAMS(vectors_params), &pe_rope_last_axis_params, &pe_params_model,
                   &pe_rope_shape_params, &pe_rope_type_params, &pe_rope_key_params,
                   &pe_rope_pair_params, &pe_rope_xpos_params, &pe_rope_seq_axis_params,
                   PE_PARAMS(positions_params), &pe_params_output_exact},
    .nested = "rope_parameters",
    .plan = plan,
};
