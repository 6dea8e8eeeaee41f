/* SPDX-License-Identifier: MIT */
/* grain.h - numbers of narrow types: their neighbours, and rounding to them. */
#ifndef PE_VERIFY_GRAIN_H
#define PE_VERIFY_GRAIN_H

#include "base/dtype.h"

/** A binary type. Numbers are multiples of 2^least with at most so many significant bits. */
typedef struct pe_grain {
    const char *name;
    int bits, least;
} pe_grain;

/** Types that numbers pass through on the way to a wider one. TF32 and two of 8 bits are no types
 * of uploads. */
typedef enum pe_grain_of {
    PE_GRAIN_BFLOAT16,
    PE_GRAIN_FLOAT16,
    PE_GRAIN_TF32,
    PE_GRAIN_E4M3,
    PE_GRAIN_E5M2,
    PE_GRAINS
} pe_grain_of;

extern const pe_grain pe_grains[PE_GRAINS];

/** Of an upload's type. */
const pe_grain *pe_grain_of_dtype(pe_dtype dtype);

/** The distance of neighbours at x. */
double pe_grain_ulp(const pe_grain *grain, double x);

/** The nearest number, the even one of two. */
double pe_grain_round(const pe_grain *grain, double x);

#endif
