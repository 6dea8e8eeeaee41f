/* SPDX-License-Identifier: MIT */
/* rope_grid_turned.c - what of rope/table turns vectors as a grid does. */
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "encodings/rope/grid/rope_grid.h"
#include "encodings/rope/rope_params.h"

static pe_status set_list(pe_values *values, const char *name, double a, double b, pe_problem *why)
{
    pe_value *value = pe_values_find(values, name);
    value->list = malloc(PE_GRID_AXES * sizeof *value->list);
    if (value->list == NULL)
        return pe_fail_memory(why);
    value->list[0] = a;
    value->list[1] = b;
    value->list_length = PE_GRID_AXES;
    value->present = true;
    return PE_OK;
}

static pe_status set_all(const pe_grid *grid, const pe_values *from, pe_values *to, pe_problem *why)
{
    const double half = (double)grid->pairs;
    const bool columns = pe_rope_grid_axis(grid, 0) == PE_GRID_COLUMN;
    pe_value *positions = pe_values_find(to, "positions");
    pe_value *pairing = pe_values_find(to, "pairing");
    pe_values_set_int(to, "head_dim", (int64_t)grid->head_dim);
    pe_values_set_real(to, "rope_theta", grid->theta);
    pairing->choice = pe_rope_grid_pairing(grid);
    pairing->present = positions->present = true;
    *pe_values_find(to, "dtype") = *pe_values_find(from, "dtype");
    PE_TRY(pe_rope_grid_positions(grid, true, &positions->positions, why));
    PE_TRY(set_list(to, "axes_dims", half, half, why));
    if (columns)
        PE_TRY(set_list(to, "axis_order", PE_GRID_COLUMN, PE_GRID_ROW, why));
    return pe_values_defaults(to, why);
}

pe_status pe_rope_grid_turned(pe_values *values, pe_values *out, uint32_t **order, pe_problem *why)
{
    pe_grid grid;
    pe_values made;
    PE_TRY(pe_rope_grid_read(values, &grid, why));
    if (!pe_rope_grid_has_inv_freq(&grid))
        return pe_fail(why, PE_INVALID_PARAMETER, "convention",
                       "vectors rotated by this convention are not compared, since its axes have "
                       "no frequencies rope_theta^(-4j/d) times a number; send its cosines and "
                       "sines");
    *order = malloc(grid.head_dim * sizeof **order);
    if (*order == NULL)
        return pe_fail_memory(why);
    pe_rope_grid_order(&grid, *order);
    pe_status status = pe_values_make(pe_rope_table.param_sets, &made, why);
    if (status == PE_OK)
        status = set_all(&grid, values, &made, why);
    if (status == PE_OK)
        *out = made;
    else
        pe_values_free(&made);
    return status;
}
