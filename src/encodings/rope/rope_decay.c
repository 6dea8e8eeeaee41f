/* SPDX-License-Identifier: MIT */
/* rope_decay.c - how attention to a like token falls with distance. */
#include "encodings/rope/rope_params.h"
#include "plan/plan.h"

#include <stdlib.h>

typedef struct decay {
    pe_shared_wave wave;
    pe_positions offsets;
} decay;

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out, pe_problem *why)
{
    const decay *state = plan->state;
    const pe_wave_table table = {.wave = state->wave.wave,
                                 .positions = &state->offsets,
                                 .dtype = plan->tensors[region->tensor].dtype};
    return pe_wave_mean_cos(&table, region->first, region->units, out, why);
}

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_rope rope;
    PE_TRY(pe_rope_plan(values, out, &rope, why));
    PE_TRY(pe_plan_begin(out, sizeof(decay), fill, why));
    decay *state = out->state;
    PE_TRY(pe_plan_positions(out, values, "offsets", &state->offsets, why));
    PE_TRY(pe_plan_add_tensor(out, "decay", pe_values_dtype(values),
                              &(pe_shape){1, {state->offsets.count}}, 1, why));
    /* an element is the mean of so many cosines, four of which cost a unit */
    PE_TRY(pe_plan_set_work(out, 0, rope.pairs / 4 + 2, why));
    return pe_rope_wave_plan(&rope, PE_ROPE_PLAIN, out, &state->wave, why);
}

static const pe_param own[] = {
    PE_PARAM(
        "offsets", POSITIONS, .aliases = PE_NAMES("distances"), .fallback_text = "0:4096",
        .unit = "tokens",
        .help = "Distances between tokens: a:b, a:b:step, a number, or a list, fractions included.",
        .example = "0:8"),
};

/** The score of two vectors of ones at a distance, over their score at distance 0.   Shapes
 * [offsets]. */
const pe_resource pe_rope_decay = {
    PE_NAMED("rope", "/decay"),
    .kind = PE_TABLE,
    .summary = "The mean cosine of the rotary angles at each distance between tokens.",
    .formula = "decay(offset) = 1/(d/2) sum_i cos(offset theta_i), d = rotary_dim",
    .labels = PE_LABELS({.axes = "offsets", .value = "mean cosine"}),
    .source = PE_ROPE_SOURCE,
    .param_sets = {&pe_rope_head_dim_params, &pe_params_model, PE_ROPE_SETS, PE_PARAMS(own),
                   &pe_params_output_exact},
    .nested = "rope_parameters",
    .plan = plan,
};
