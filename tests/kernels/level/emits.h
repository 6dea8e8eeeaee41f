/* SPDX-License-Identifier: MIT */
/* emits.h - what one level stores of doubles, and whether it calls the rounding open. */
#ifndef PE_TESTS_KERNELS_LEVEL_EMITS_H
#define PE_TESTS_KERNELS_LEVEL_EMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

/** Most numbers that are stored at once: two emits of two vectors of eight lanes. */
#define EMIT_MAX 32

/**
 * Store some numbers, by this pe_rounding_margin.
 *
 * Shapes   values: [EMIT_MAX], of which as many are taken as two emits take; out: [EMIT_MAX]
 *          elements in the same order. *n: how many.
 * Returns  whether any is open.
 */
typedef bool emit_of(pe_dtype dtype, uint32_t window, float small, const double *values, void *out,
                     size_t *n);
extern emit_of emit_baseline, emit_v3, emit_v4;

#endif
