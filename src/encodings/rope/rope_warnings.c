/* SPDX-License-Identifier: MIT */
/* rope_warnings.c - warnings of where published implementations deviate from their description. */
#include <math.h>

#include "encodings/rope/rope.h"
#include "plan/plan.h"

/* Warn of the first position that is no float32. Of a range the two at each end are enough: where two
 * neighbours are float32, so are all positions nearer to 0. */
static void warn_positions(const pe_rope *rope, const pe_positions *positions, pe_plan *plan)
{
    const size_t parts = pe_positions_parts(positions);
    for (size_t k = 0; k < parts && rope->float32; k++) {
        const pe_positions part = pe_positions_part(positions, k, parts);
        const size_t n = part.count;
        const size_t ends[] = {0, n > 1 ? 1 : 0, n > 1 ? n - 2 : 0, n - 1};
        const bool range = part.list == NULL;
        for (size_t r = 0; r < (range ? PE_LEN(ends) : n); r++) {
            const double at = pe_positions_at(&part, range ? ends[r] : r);
            if ((double)(float)at == at || at != floor(at))
                continue;
            pe_plan_warn(plan,
                         "with numerics=float32 positions are rounded to float32, as the "
                         "reference does: %.0f is turned as %.0f",
                         at, (double)(float)at);
            return;
        }
    }
}

void pe_rope_warnings_add(const pe_rope *rope, const pe_positions *positions, pe_plan *plan)
{
    const pe_rope_type *type = rope->formula->type;
    if (type->warn != NULL)
        type->warn(rope->formula, plan);
    if (positions == NULL)
        return;
    warn_positions(rope, positions, plan);
    if (type->warn_positions != NULL)
        type->warn_positions(rope->formula, positions, plan);
}
