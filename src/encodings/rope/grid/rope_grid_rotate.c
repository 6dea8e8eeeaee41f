/* SPDX-License-Identifier: MIT */
/* rope_grid_rotate.c - queries and keys of patches, rotated by row and column. */
#include <stdlib.h>

#include "encodings/registry.h"
#include "encodings/rope/rope_rotated.h"
#include "encodings/rope/grid/rope_grid.h"
#include "encodings/rope/rope_params.h"
#include "plan/plan.h"

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_grid grid;
    size_t tokens;
    PE_TRY(pe_rope_rotated_check(values, &tokens, why));
    PE_TRY(pe_rope_grid_read(values, &grid, why));
    const bool given = pe_values_present(values, "positions");
    if (grid.patches.count != tokens)
        return pe_fail(why, PE_INVALID_PARAMETER, given ? "positions" : "height",
                       "%s must be as many as the tokens: %zu, got %zu",
                       given ? "positions" : "the patches of the grid, frames * height * width,",
                       tokens, grid.patches.count);
    pe_value *pairing = pe_values_find(values, "pairing");
    if (!pairing->present)
        pairing->choice = grid.convention->pairing;
    pairing->present = true;
    const pe_rope rope = {.tables = out->tables,
                          .head_dim = grid.head_dim,
                          .rotary_dim = grid.head_dim,
                          .pairs = grid.pairs,
                          .parts = pe_rope_grid_parts(grid.convention),
                          .pairing = (pe_pairing)pairing->choice};
    pe_positions positions;
    pe_shared_wave wave;
    pe_rope_axes *axes = pe_rope_grid_axes(&grid);
    if (axes == NULL)
        return pe_fail_memory(why);
    pe_plan_owns(out, axes, free);
    const pe_rope_rotated answer = {.values = values,
                                    .rotation = {.rope = &rope,
                                                 .wave = &wave,
                                                 .positions = &positions,
                                                 .backwards = pe_values_bool(values, "inverse"),
                                                 .axes = axes},
                                    .positions = "positions"};
    PE_TRY(pe_rope_grid_positions(&grid, false, &positions, why));
    pe_status status = pe_rope_grid_wave(&grid, out->tables, &wave, why);
    if (status == PE_OK) {
        status = pe_rope_rotated_all(&answer, out, why);
        pe_tables_unref(&wave);
    }
    pe_positions_free(&positions);
    return status;
}

static const pe_param head_dim_params[] = {
    PE_ROPE_GRID_HEAD_DIM(false, "the last axis"),
    PE_PARAM_MODEL("qwen2.5-vl-7b"),
};

static const pe_param own[] = {
    PE_PARAM(
        "pairing", CHOICE, .optional = true, .choices = pe_rope_params_pairings,
        .fallback_text = "the convention's",
        .help =
            "The channels that form pair i. interleaved: 2i and 2i+1. half: i and i + head_dim/2.",
        .example = "half"),
    PE_PARAM("inverse", BOOL, .help = "true undoes the rotation.", .example = "false"),
};

/** Shapes  as given; patches along seq_axis.   Accuracy  0.5 ulp + 2^-52 (|a| + |b|). */
const pe_resource pe_rope_grid_rotate = {
    PE_NAMED("rope", "/grid/rotate"),
    .kind = PE_TRANSFORM,
    .summary = "Rotates the queries and keys of patches to their row and column. It also rotates "
               "them back.",
    .formula = "a' = a cos(angle) - b sin(angle), b' = b cos(angle) + a sin(angle), angles as of "
               "rope/grid",
    .labels = PE_LABELS({.axes = "patch, channel"}),
    .source = PE_GRID_SOURCE,
    .param_sets = {&pe_rope_vectors_params, PE_PARAMS(head_dim_params), &pe_rope_grid_params,
                   &pe_params_output_exact, &pe_rope_seq_axis_params, PE_PARAMS(own)},
    .plan = plan,
};

/* ---- the same by rope/table ---- */

static pe_status set_all(const pe_grid *grid, const pe_values *from, pe_values *to, pe_problem *why)
{
    const double half = (double)grid->pairs;
    const double dims[] = {half, half}, order[] = {PE_GRID_COLUMN, PE_GRID_ROW};
    pe_value *positions = pe_values_find(to, "positions");
    pe_value *pairing = pe_values_find(to, "pairing");
    pe_values_set_int(to, "head_dim", (int64_t)grid->head_dim);
    pe_values_set_real(to, "rope_theta", grid->theta);
    pairing->choice = grid->convention->pairing;
    pairing->present = positions->present = true;
    *pe_values_find(to, "dtype") = *pe_values_find(from, "dtype");
    PE_TRY(pe_rope_grid_positions(grid, true, &positions->positions, why));
    PE_TRY(pe_value_set_list(pe_values_find(to, "axes_dims"), dims, PE_GRID_AXES, why));
    if (grid->convention->first == PE_GRID_COLUMN)
        PE_TRY(pe_value_set_list(pe_values_find(to, "axis_order"), order, PE_GRID_AXES, why));
    return pe_values_defaults(to, why);
}

/* The channels of a head in the order that has the pairs of one axis behind those of the other,
 * within the whole head. */
static void put_order(const pe_grid *grid, uint32_t *order)
{
    const size_t pairs = grid->pairs, each = pairs / pe_rope_grid_parts(grid->convention);
    const bool half = grid->convention->pairing == PE_PAIRING_HALF;
    for (size_t p = 0; p < pairs; p++) {
        const size_t q = grid->convention->alternate ? p % 2 * (pairs / 2) + p / 2 : p;
        const size_t first = half ? p / each * 2 * each + p % each : 2 * p;
        order[half ? q : 2 * q] = (uint32_t)first;
        order[half ? q + pairs : 2 * q + 1] = (uint32_t)(first + (half ? each : 1));
    }
}

pe_status pe_rope_grid_turned(pe_values *values, pe_values *out, uint32_t **order, pe_problem *why)
{
    pe_grid grid;
    pe_values made;
    PE_TRY(pe_rope_grid_read(values, &grid, why));
    if (grid.convention->pixel)
        return pe_fail(why, PE_INVALID_PARAMETER, "convention",
                       "vectors rotated by this convention are not compared, since its axes have "
                       "no frequencies rope_theta^(-4j/d) times a number; send its cosines and "
                       "sines");
    *order = malloc(grid.head_dim * sizeof **order);
    if (*order == NULL)
        return pe_fail_memory(why);
    put_order(&grid, *order);
    pe_status status = pe_values_make(pe_rope_table.param_sets, &made, why);
    if (status == PE_OK)
        status = set_all(&grid, values, &made, why);
    if (status == PE_OK)
        *out = made;
    else
        pe_values_free(&made);
    return status;
}
