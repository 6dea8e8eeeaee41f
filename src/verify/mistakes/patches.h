/* SPDX-License-Identifier: MIT */
/* patches.h - what people get wrong in the stages of a table, as rows. */
#ifndef PE_VERIFY_MISTAKES_PATCHES_H
#define PE_VERIFY_MISTAKES_PATCHES_H

#include "verify/mistakes/ops.h"

/** A list of rows. Named ones come before those whose numbers are only fitted. */
typedef struct pe_patches {
    const pe_patch *row;
    size_t n;
} pe_patches;

/** Of positions. The first row is that nothing is wrong. */
extern const pe_patches pe_position_patches;
/** Of frequencies, asked for in this order: their order and exponents; their scaling; numbers that
 * are read off, and types that they passed through. */
extern const pe_patches pe_ladder_patches, pe_scaling_patches, pe_number_patches;
/** All times a number; of another base: roughly, as turns tell it. */
extern const pe_patches pe_rough_frequency_patches;

/** Each row has a position of its own: others than claimed; the claimed ones in another order; those
 * of one sequence, where the claim begins anew. */
extern const pe_patch pe_positions_other, pe_positions_permuted, pe_positions_run_on;

/** Which of the three says most of measured positions. */
const pe_patch *pe_patches_list_of(const pe_sequence *positions);

/** Is a row of positions one of them? It has no op. */
static inline bool pe_patches_is_list(const pe_patch *mistake)
{
    return mistake != NULL && mistake->op == NULL;
}

/** A row of mistakes; what else it says follows. */
#define PE_PATCH(STAGES, NAME, ...)                                                                \
    {                                                                                              \
        .fault.name = PE_NAME(NAME), .stages = (STAGES), __VA_ARGS__                               \
    }

#endif
