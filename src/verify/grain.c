/* SPDX-License-Identifier: MIT */
/* grain.c - numbers of narrow types: their neighbours, and rounding to them. */
#include "verify/grain.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const pe_grain pe_grains[PE_GRAINS] = {[PE_GRAIN_BFLOAT16] = {"bfloat16", 8, -133},
                                       [PE_GRAIN_FLOAT16] = {"float16", 11, -24},
                                       [PE_GRAIN_TF32] = {"TF32", 11, -136},
                                       [PE_GRAIN_E4M3] = {"float8 (e4m3)", 4, -9},
                                       [PE_GRAIN_E5M2] = {"float8 (e5m2)", 3, -16}};

const pe_grain *pe_grain_of_dtype(pe_dtype dtype)
{
    static const pe_grain types[PE_DTYPES] = {[PE_FLOAT32] = {"float32", 24, -149},
                                              [PE_FLOAT64] = {"float64", 53, -1074},
                                              [PE_FLOAT16] = {"float16", 11, -24},
                                              [PE_BFLOAT16] = {"bfloat16", 8, -133},
                                              [PE_INT32] = {"int32", 31, 0}};
    return &types[dtype];
}

/* 2^k */
static double power_of_two(int k)
{
    const uint64_t bits = (uint64_t)(k + 1023) << 52;
    double x;
    if (k < -1022)
        return ldexp(1, k);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Asked of each element several times: the exponent is taken from its bits. A subnormal double is
 * below the least step of any type but float64, whose least step it has. */
double pe_grain_ulp(const pe_grain *grain, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int field = (int)(bits >> 52 & 0x7ff); /* |x| in [2^(field - 1023), 2^(field - 1022)) */
    const int at = field - 1022 - grain->bits;
    return power_of_two(field == 0 || field == 0x7ff || at < grain->least ? grain->least : at);
}

double pe_grain_round(const pe_grain *grain, double x)
{
    const double ulp = pe_grain_ulp(grain, x);
    return isfinite(x) ? ulp * nearbyint(x / ulp) : x;
}
