/* SPDX-License-Identifier: MIT */
/* rope_attention_scale.c - attention temperature: queries far out are scaled up. */
#include "encodings/rope/rope_params.h"
#include "exact/round.h"

#include <math.h>
#include <stdlib.h>

/* A logarithm in MPFR costs so many units: some microseconds. */
#define EVALUATION_WORK 512

typedef struct scale {
    pe_positions positions;
    double beta, original, offset;
} scale;

typedef struct element {
    double beta, steps; /* whole */
} element;

static void eval(const void *context, size_t index, mpfr_ptr out)
{
    const element *e = context;
    (void)index;
    mpfr_set_d(out, e->steps, MPFR_RNDN);
    mpfr_log1p(out, out, MPFR_RNDN);
    mpfr_mul_d(out, out, e->beta, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
}

/* floor((position + offset) / original) in real arithmetic. Rounding can only make the quotient too
 * large; then the remainder is negative. */
static double steps_at(const scale *state, size_t r)
{
    const double position = pe_positions_at(&state->positions, r);
    const double steps = floor((position + state->offset) / state->original);
    const double rest = fma(-steps, state->original, position);
    return rest < -state->offset ? steps - 1 : steps;
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const scale *state = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    unsigned char *to = out;
    element last = {.beta = state->beta, .steps = 0};
    double value = 1;
    (void)why;
    for (size_t u = 0; u < region->units; u++, to += pe_dtype_bytes(dtype)) {
        const double steps = steps_at(state, region->first + u);
        if (steps != last.steps) {
            last.steps = steps;
            value = pe_exact_round(dtype, eval, &last, 0);
        }
        pe_dtype_store(dtype, value, to);
    }
    return PE_OK;
}

static void free_state(void *of)
{
    scale *state = of;
    pe_positions_free(&state->positions);
    free(state);
}

static pe_status plan(pe_values *values, pe_tables *tables, const pe_limits *limits, pe_plan *out,
                      pe_problem *why)
{
    const pe_positions *positions = &pe_values_find(values, "positions")->positions;
    double least, most;
    (void)tables;
    pe_positions_bounds(positions, &least, &most);
    if (least < 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "positions",
                       "positions must be at least 0, where attention begins, got %.17g", least);
    scale *state = pe_plan_begin(out, sizeof *state, fill, free_state);
    if (state == NULL)
        return pe_fail_memory(why);
    state->beta = pe_values_real(values, "beta");
    state->original = (double)pe_values_int(values, "original_max_position_embeddings");
    state->offset = (double)pe_values_int(values, "position_offset");
    pe_status status = pe_positions_share(positions, &state->positions, why);
    if (status != PE_OK)
        return status;
    status = pe_plan_add_tensor(out, limits, "scale", (pe_dtype)pe_values_choice(values, "dtype"),
                                &(pe_shape){1, {positions->count}}, 1, why);
    if (status != PE_OK)
        return status;
    /* The positions of one step share a logarithm. */
    const size_t steps = (size_t)state->original;
    return pe_plan_set_work(out, limits, 0, steps >= EVALUATION_WORK ? 1 : EVALUATION_WORK / steps,
                            why);
}

static const pe_param own[] = {
    {.name = "beta",
     .kind = PE_KIND_REAL,
     .min = 0,
     .max = 1000,
     .fallback = 0.1,
     .help = "The factor of the logarithm by which the scale grows.",
     .example = "0.1"},
    {.name = "original_max_position_embeddings",
     .kind = PE_KIND_INT,
     .min = 1,
     .max = PE_ROPE_LENGTH_MAX,
     .fallback = 16384,
     .unit = "tokens",
     .help = "The scale grows in steps of this length. The first step has scale 1.",
     .example = "8192"},
    {.name = "position_offset",
     .kind = PE_KIND_INT,
     .min = 0,
     .max = 1,
     .unit = "tokens",
     .help = "It is added to each position. Llama 4 counts from 1 here, and so needs 1.",
     .example = "0"},
    PE_PARAM_MODEL("ministral-3-3b-reasoning"),
};

/**
 *     scale(p) = 1 + beta ln(1 + floor((p + position_offset) / original_max_position_embeddings))
 *
 * multiplies the query at position p, after its rotation. Llama 4 counts positions from 1 here,
 * with original_max_position_embeddings its floor_scale, 8192, in the layers that do not rotate.
 *
 * Source  Nakanishi 2025, arXiv:2501.19399, as get_llama_4_attn_scale in huggingface/transformers
 *         at b4b5244c9c7cdb80d0aaafdb8f35244612788532, models/ministral3/modeling_ministral3.py;
 *         position_offset: Llama4TextAttention in models/llama4/modeling_llama4.py.
 * Shapes  [positions].
 * Accuracy  correctly rounded.
 * Errors  INVALID_PARAMETER: a negative position.
 */
const pe_resource pe_rope_attention_scale = {
    .path = "/v1/rope/attention-scale",
    .encoding = "rope",
    .name = "rope/attention-scale",
    .kind = PE_TABLE,
    .summary = "The factor of the query at each position, by attention temperature.",
    .formula = "scale(p) = 1 + beta ln(1 + floor((p + position_offset) / "
               "original_max_position_embeddings))",
    .labels = PE_LABELS({.axes = "positions", .value = "scale"}),
    .source = "Nakanishi 2025, arXiv:2501.19399, as get_llama_4_attn_scale in "
              "huggingface/transformers src/transformers/models/ministral3/modeling_ministral3.py "
              "at b4b5244c9c7cdb80d0aaafdb8f35244612788532",
    .param_sets = {&pe_params_positions, PE_PARAMS(own), &pe_params_output_exact},
    .plan = plan,
};
