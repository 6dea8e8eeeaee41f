/* SPDX-License-Identifier: MIT */
/* half.h - float16 and bfloat16; half.c in plain C, half_f16c.c with v3's and v4's instructions. */
#ifndef PE_KERNELS_LEVEL_HALF_H
#define PE_KERNELS_LEVEL_HALF_H

#include "kernels/level/element.h"

/** out[j] = in[j] exactly.   Shapes  in: [n] float16, any alignment; out: [n]. */
void PE_LEVEL_NAME(pe_half_widen)(const void *in, size_t n, double *out);
/** out[j] = in[j] rounded once, ties to even; a NaN of any kind for NaN.
 * Shapes  in: [n]; out: [n] float16. */
void PE_LEVEL_NAME(pe_half_narrow)(const double *in, size_t n, void *out);

/** out[j] = in[j] rounded once, ties to even; a NaN of any kind for NaN.
 * Shapes  in: [n]; out: [n] bfloat16. */
void PE_LEVEL_NAME(pe_half_narrow_bfloat)(const double *in, size_t n, void *out);

#endif
