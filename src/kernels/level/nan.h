/* SPDX-License-Identifier: MIT */
/* nan.h - results with NaN among them. */
#ifndef PE_KERNELS_LEVEL_NAN_H
#define PE_KERNELS_LEVEL_NAN_H

#include "kernels/level/element.h"

/**
 * Make every NaN among n elements the one quiet NaN, positive and without payload: which NaN an
 * operation gives depends on the CPU and on the order of its operands. Kernels call this on what
 * they have just written, in pieces that the nearest cache holds; looking costs a fraction of what
 * a comparison in their loops does.
 */
void PE_LEVEL_NAME(pe_nan_canonicalise)(pe_dtype dtype, void *elements, size_t n);

#endif
