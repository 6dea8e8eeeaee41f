/* SPDX-License-Identifier: MIT */
/* grain.h - numbers of narrow types: their neighbours, and rounding to them. */
#ifndef PE_VERIFY_UPLOAD_GRAIN_H
#define PE_VERIFY_UPLOAD_GRAIN_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/dtype.h"

/** A binary type. Numbers times scale (0: 1) are multiples of 2^least with at most so many
 * significant bits. */
typedef struct pe_grain {
    const char *name;
    int bits, least;
    double scale;
} pe_grain;

/** Types that numbers pass through on the way to a wider one. TF32 and two of 8 bits are no types
 * of uploads. */
typedef enum pe_grain_of {
    PE_GRAIN_BFLOAT16,
    PE_GRAIN_FLOAT16,
    PE_GRAIN_TF32,
    PE_GRAIN_E4M3,
    PE_GRAIN_E5M2,
    PE_GRAIN_INT8,
    PE_GRAIN_INT4,
    PE_GRAIN_SCALED_E4M3, /* 448 is 1 */
    PE_GRAIN_FNUZ_E4M3,   /* 240 is */
    PE_GRAINS
} pe_grain_of;

extern const pe_grain pe_grains[PE_GRAINS];

/** Of types of uploads. */
extern const pe_grain pe_grains_of_dtypes[PE_DTYPES];

static inline const pe_grain *pe_grain_of_dtype(pe_dtype dtype)
{
    return &pe_grains_of_dtypes[dtype];
}

/** 2^k */
static inline double pe_power_of_two(int k)
{
    const uint64_t bits = (uint64_t)(k + 1023) << 52;
    double x;
    if (k < -1022)
        return ldexp(1, k);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/** The distance of neighbours at x. Asked of each element several times: the exponent is taken from
 * its bits. A subnormal double is below the least step of any type but float64, whose least step it
 * has. */
static inline double pe_grain_ulp(const pe_grain *grain, double x)
{
    uint64_t bits;
    const double scale = grain->scale != 0 ? grain->scale : 1, scaled = x * scale;
    memcpy(&bits, &scaled, sizeof bits);
    const int field = (int)(bits >> 52 & 0x7ff); /* |x| in [2^(field - 1023), 2^(field - 1022)) */
    const int at = field - 1022 - grain->bits;
    const bool least = field == 0 || field == 0x7ff || at < grain->least;
    return pe_power_of_two(least ? grain->least : at) / scale;
}

/** The nearest number, the even one of two. */
double pe_grain_round(const pe_grain *grain, double x);

#endif
