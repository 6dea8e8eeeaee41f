/* SPDX-License-Identifier: MIT */
/* rope_grid_rotate.c - queries and keys of patches, rotated by row and column. */
#include <stdlib.h>

#include "encodings/registry.h"
#include "encodings/rope/rope_rotated.h"
#include "encodings/rope/grid/rope_grid.h"
#include "encodings/rope/rope_params.h"
#include "plan/plan.h"

static pe_status check_patches(const pe_values *values, const pe_grid *grid, size_t tokens,
                               pe_problem *why)
{
    if (grid->patches.count == tokens)
        return PE_OK;
    const bool given = pe_values_present(values, "positions");
    return pe_fail(why, PE_INVALID_PARAMETER, given ? "positions" : "height",
                   "%s must be as many as the tokens: %zu, got %zu",
                   given ? "positions" : "the patches of the grid, frames * height * width,",
                   tokens, grid->patches.count);
}

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_grid grid;
    size_t tokens;
    PE_TRY(pe_rope_rotated_check(values, &tokens, why));
    PE_TRY(pe_rope_grid_read(values, &grid, why));
    PE_TRY(check_patches(values, &grid, tokens, why));
    pe_value *pairing = pe_values_find(values, "pairing");
    if (!pairing->present)
        pairing->choice = pe_rope_grid_pairing(&grid);
    pairing->present = true;
    const pe_rope rope = {.tables = out->tables,
                          .head_dim = grid.head_dim,
                          .rotary_dim = grid.head_dim,
                          .pairs = grid.pairs,
                          .parts = pe_rope_grid_parts(&grid),
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
        pe_tables_wave_unref(&wave);
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
