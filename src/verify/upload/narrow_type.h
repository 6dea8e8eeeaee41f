/* SPDX-License-Identifier: MIT */
/* narrow_type.h - numbers of narrow types: their neighbours, and rounding to them. */
#ifndef PE_VERIFY_UPLOAD_NARROW_TYPE_H
#define PE_VERIFY_UPLOAD_NARROW_TYPE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/dtype.h"

/** A binary type. Numbers times scale (0: 1) are multiples of 2^least with at most so many
 * significant bits. */
typedef struct pe_narrow_type {
    const char *name;
    int bits, least;
    double scale;
} pe_narrow_type;

/** Types that numbers pass through on the way to a wider one. TF32 and two of 8 bits are no types
 * of uploads. */
typedef enum pe_narrow_type_of {
    PE_NARROW_BFLOAT16,
    PE_NARROW_FLOAT16,
    PE_NARROW_TF32,
    PE_NARROW_E4M3,
    PE_NARROW_E5M2,
    PE_NARROW_INT8,
    PE_NARROW_INT4,
    PE_NARROW_SCALED_E4M3, /* 448 is 1 */
    PE_NARROW_FNUZ_E4M3,   /* 240 is */
    PE_GRAINS
} pe_narrow_type_of;

extern const pe_narrow_type pe_narrow_types[PE_GRAINS];

/** Of types of uploads. */
extern const pe_narrow_type pe_narrow_types_of_dtypes[PE_DTYPES];

static inline const pe_narrow_type *pe_narrow_type_of_dtype(pe_dtype dtype)
{
    return &pe_narrow_types_of_dtypes[dtype];
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
static inline double pe_narrow_type_ulp(const pe_narrow_type *narrow, double x)
{
    uint64_t bits;
    const double scale = narrow->scale != 0 ? narrow->scale : 1, scaled = x * scale;
    memcpy(&bits, &scaled, sizeof bits);
    const int field = (int)(bits >> 52 & 0x7ff); /* |x| in [2^(field - 1023), 2^(field - 1022)) */
    const int at = field - 1022 - narrow->bits;
    const bool least = field == 0 || field == 0x7ff || at < narrow->least;
    return pe_power_of_two(least ? narrow->least : at) / scale;
}

/** The nearest number, the even one of two. */
double pe_narrow_type_round(const pe_narrow_type *narrow, double x);

#endif
