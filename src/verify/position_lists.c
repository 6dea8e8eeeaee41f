/* SPDX-License-Identifier: MIT */
/* position_lists.c - rules of positions without a formula: each row has a position of its own. */
#include <math.h>
#include <stdlib.h>

#include "verify/position_rules.h"

/* Every row at a position of its own. */
const pe_position_rule pe_positions_listed = {
    .fault = {.name = "positions_other",
              .rule = "rows are at other positions than claimed: see measured.positions"},
    .remedy = "send rows in the order of the claimed positions",
    .kind = PE_POSITIONS_LISTED,
    .fitted = true};

/* The claimed positions, each once, in another order. */
const pe_position_rule pe_positions_permuted = {
    .fault = {.name = "positions_permuted",
              .rule = "rows are in another order than claimed: see measured.positions"},
    .remedy = "send rows in the order of the claimed positions",
    .kind = PE_POSITIONS_LISTED};

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_permuted(const pe_reading *r)
{
    double *sorted = calloc(2 * r->tokens + 1, sizeof *sorted), *claimed = sorted + r->tokens;
    bool same = sorted != NULL;
    for (size_t t = 0; t < r->tokens && same; t++) {
        sorted[t] = r->position[t];
        claimed[t] = r->claimed[t];
        same = isfinite(sorted[t]);
    }
    if (same) {
        qsort(sorted, r->tokens, sizeof *sorted, compare_numbers);
        qsort(claimed, r->tokens, sizeof *claimed, compare_numbers);
    }
    for (size_t t = 0; t < r->tokens && same; t++)
        same = pe_position_is_near(sorted[t], claimed[t]);
    free(sorted);
    return same;
}

/* Positions that begin anew in the claim run on. */
const pe_position_rule pe_positions_run_on = {
    .fault = {.name = "positions_run_on",
              .rule = "positions run on as if all rows were one sequence: they do not restart with "
                      "segments"},
    .remedy = "restart the positions of each segment (packed sequences, batches)",
    .kind = PE_POSITIONS_LISTED};

static bool runs_on(const pe_reading *r)
{
    for (size_t t = 0; t < r->tokens; t++)
        if (!pe_position_is_near(r->position[t], r->position[0] + (double)t))
            return false;
    return r->tokens > 1;
}

const pe_position_rule *pe_position_list_of(const pe_reading *reading)
{
    return runs_on(reading)       ? &pe_positions_run_on
           : is_permuted(reading) ? &pe_positions_permuted
                                  : &pe_positions_listed;
}
