/* SPDX-License-Identifier: MIT */
/* tensor_blocks.c - how much of a tensor is made at once, and making it. */
#include "formats/tensor_blocks.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/size.h"
#include "formats/segments.h"

#define ELEMENTS_MAX ((size_t)2048)
/* Elements of a plain table that a block may cost: some milliseconds. */
#define BLOCK_WORK ((size_t)1 << 19)
/* The work of an element is that of one alone. Elements made together may share most of it, as rows
 * that repeat each other do, so twice the work is allowed after each block that was quick, and
 * BLOCK_WORK again after a slow one. */
#define QUICK_NANOSECONDS (4 * (int64_t)PE_NANOSECONDS_PER_MS)
#define SLOW_NANOSECONDS  (3 * QUICK_NANOSECONDS)

static size_t down(size_t n, size_t step)
{
    return n / step * step;
}

size_t pe_tensor_blocks_most(const pe_tensor *tensor)
{
    return pe_size_min(PE_TENSOR_BLOCK_BYTES / pe_dtype_bytes(tensor->dtype), ELEMENTS_MAX);
}

bool pe_tensor_blocks_can_cut(const pe_plan *plan, const pe_tensor *tensor)
{
    return plan->makes_parts && tensor->unit > pe_tensor_blocks_most(tensor);
}

size_t pe_tensor_blocks_beginning(const pe_plan *plan, const pe_tensor *tensor, size_t element)
{
    const size_t unit = down(element, tensor->unit);
    return pe_tensor_blocks_can_cut(plan, tensor) ? unit + down(element - unit, PE_PART_ELEMENTS)
                                                  : unit;
}

void pe_tensor_blocks_free(pe_tensor_blocks *blocks)
{
    free(blocks->unit);
    blocks->unit = NULL;
}

void pe_tensor_blocks_enter(pe_tensor_blocks *blocks, size_t index, const pe_tensor *tensor,
                            size_t element)
{
    pe_tensor_blocks_free(blocks);
    blocks->index = index;
    blocks->tensor = tensor;
    blocks->next = element;
    blocks->allowed = BLOCK_WORK;
}

size_t pe_tensor_blocks_fitting(const pe_tensor_blocks *blocks, bool cut, size_t most)
{
    const pe_tensor *tensor = blocks->tensor;
    const size_t at = blocks->next, unit = tensor->unit, left = unit - at % unit;
    const size_t bearable = blocks->allowed / tensor->work;
    if (left == unit && most >= unit && (bearable >= unit || !cut)) {
        const size_t units = bearable < unit ? 1 : pe_size_min(most, bearable) / unit;
        return pe_size_min(units * unit, tensor->elements - at);
    }
    if (!cut)
        return 0;
    most = pe_size_min(most, bearable > PE_PART_ELEMENTS ? bearable : PE_PART_ELEMENTS);
    return most >= left ? left : down(most, PE_PART_ELEMENTS);
}

/* A block of this work took so long. One that was small for another reason tells nothing. */
static void learn(pe_tensor_blocks *blocks, size_t work, int64_t nanoseconds)
{
    if (nanoseconds > SLOW_NANOSECONDS)
        blocks->allowed = BLOCK_WORK;
    else if (nanoseconds < QUICK_NANOSECONDS && work >= blocks->allowed / 2 &&
             blocks->allowed < SIZE_MAX / 2)
        blocks->allowed *= 2;
}

pe_status pe_tensor_blocks_fill(pe_tensor_blocks *blocks, size_t n, void *out, pe_problem *why)
{
    pe_status status = PE_OK;
    const size_t work = blocks->tensor->work;
    const int64_t start = pe_clock(), before = work > 1 ? pe_clock_of_thread() : 0;
    if (blocks->index == PE_COLUMNS) {
        for (size_t i = 0; i < n; i++) /* the pseudo tensor of a CSV header: element i is i */
            ((int32_t *)out)[i] = (int32_t)(blocks->next + i);
    } else {
        /* Whole units, or a part of one. */
        const size_t unit = blocks->tensor->unit, at = blocks->next;
        const bool whole = at % unit == 0 && n % unit == 0;
        const pe_region region = {.tensor = blocks->index,
                                  .first = at / unit,
                                  .units = whole ? n / unit : 1,
                                  .column = at % unit,
                                  .columns = whole ? unit : n};
        status = pe_plan_make_region(blocks->plan, &region, out, why);
    }
    blocks->spent += n * work;
    if (work > 1)
        learn(blocks, n * work, pe_clock_of_thread() - before);
    blocks->compute += 1e-9 * (double)(pe_clock() - start);
    return status;
}

/* A wide unit that cannot be cut, as a whole. */
static pe_status make_unit(pe_tensor_blocks *blocks, pe_problem *why)
{
    const pe_tensor *tensor = blocks->tensor;
    const size_t bytes = tensor->unit * pe_dtype_bytes(tensor->dtype) + PE_TENSOR_BLOCK_ALIGN - 1;
    blocks->unit = aligned_alloc(PE_TENSOR_BLOCK_ALIGN, down(bytes, PE_TENSOR_BLOCK_ALIGN));
    blocks->unit_at = blocks->next;
    return blocks->unit != NULL ? pe_tensor_blocks_fill(blocks, tensor->unit, blocks->unit, why)
                                : pe_fail_memory(why);
}

pe_status pe_tensor_blocks_make(pe_tensor_blocks *blocks, size_t most, void *block,
                                const void **elements, size_t *n, pe_problem *why)
{
    const pe_tensor *tensor = blocks->tensor;
    if (blocks->unit == NULL) {
        *n = pe_tensor_blocks_fitting(blocks, pe_tensor_blocks_can_cut(blocks->plan, tensor), most);
        *elements = block;
        if (*n > 0)
            return pe_tensor_blocks_fill(blocks, *n, block, why);
        PE_TRY(make_unit(blocks, why));
    }
    const size_t used = blocks->next - blocks->unit_at;
    *elements = blocks->unit + used * pe_dtype_bytes(tensor->dtype);
    *n = pe_size_min(most, tensor->unit - used);
    return PE_OK;
}

void pe_tensor_blocks_pass(pe_tensor_blocks *blocks, size_t n)
{
    blocks->next += n;
    if (blocks->unit != NULL && blocks->next == blocks->unit_at + blocks->tensor->unit)
        pe_tensor_blocks_free(blocks);
}
