/* SPDX-License-Identifier: MIT */
/* tensor_blocks.h - the elements of a tensor, made block by block. */
#ifndef PE_FORMATS_TENSOR_BLOCKS_H
#define PE_FORMATS_TENSOR_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "plan/plan.h"

/** Bytes of the elements that become text at once. They are few, since a reader who stalls holds
 * the text that was made and not read, and hundreds of readers may stall. */
#define PE_TENSOR_BLOCK_BYTES ((size_t)8 << 10)
#define PE_TENSOR_BLOCK_ALIGN 64

/**
 * Where a tensor's elements are made next. Blocks are whole units of the plan, or a part of one
 * where the plan makes parts. A unit that is wider than a block and cannot be cut is made as a
 * whole and held until it has been used.
 */
typedef struct pe_tensor_blocks {
    const pe_plan *plan; /* borrowed */
    const pe_tensor *tensor;
    size_t index;   /* of the tensor in the plan, or PE_COLUMNS */
    size_t next;    /* the element to be made next */
    char *unit;     /* owned: a wide unit, from element unit_at on; NULL when there is none */
    size_t unit_at; /* its first element */
    size_t allowed; /* work of a block at most */
    size_t spent;   /* work so far; the caller may set it to 0 */
    double compute; /* seconds spent in the plan's fill */
} pe_tensor_blocks;

/** Stand before `element`, with the work that a stream begins with. The plan has been set. */
void pe_tensor_blocks_enter(pe_tensor_blocks *blocks, size_t index, const pe_tensor *tensor,
                            size_t element);
void pe_tensor_blocks_free(pe_tensor_blocks *blocks);

/** Elements that become text at once. */
size_t pe_tensor_blocks_most(const pe_tensor *tensor);
/** Can its units, wider than such a block, be made in parts? */
bool pe_tensor_blocks_can_cut(const pe_plan *plan, const pe_tensor *tensor);
/** The first element of the unit, or of the part of one, that holds this element. */
size_t pe_tensor_blocks_beginning(const pe_plan *plan, const pe_tensor *tensor, size_t element);

/** How many of the next elements to make, at most `most` and no more than the work allowed: whole
 * units, or a part of one. 0 when a unit is more than that and cannot be cut. */
size_t pe_tensor_blocks_fitting(const pe_tensor_blocks *blocks, bool cut, size_t most);

/** The next n elements, as many as were found fitting, at `out`. */
pe_status pe_tensor_blocks_fill(pe_tensor_blocks *blocks, size_t n, void *out,
                                pe_problem *why) PE_MUST_CHECK;

/** The next elements, *n of at most `most`: made into `block` (PE_TENSOR_BLOCK_BYTES, aligned), or
 * those of a wide unit. */
pe_status pe_tensor_blocks_make(pe_tensor_blocks *blocks, size_t most, void *block,
                                const void **elements, size_t *n, pe_problem *why) PE_MUST_CHECK;

/** The next n elements have been used. */
void pe_tensor_blocks_pass(pe_tensor_blocks *blocks, size_t n);

#endif
