/* SPDX-License-Identifier: MIT */
/* grain.c - numbers of narrow types: their neighbours, and rounding to them. */
#include "verify/upload/grain.h"

#include <math.h>

const pe_grain pe_grains[PE_GRAINS] = {[PE_GRAIN_BFLOAT16] = {"bfloat16", 8, -133},
                                       [PE_GRAIN_FLOAT16] = {"float16", 11, -24},
                                       [PE_GRAIN_TF32] = {"TF32", 11, -136},
                                       [PE_GRAIN_E4M3] = {"float8 (e4m3)", 4, -9},
                                       [PE_GRAIN_E5M2] = {"float8 (e5m2)", 3, -16}};

const pe_grain pe_grains_of_dtypes[PE_DTYPES] = {[PE_FLOAT32] = {"float32", 24, -149},
                                                 [PE_FLOAT64] = {"float64", 53, -1074},
                                                 [PE_FLOAT16] = {"float16", 11, -24},
                                                 [PE_BFLOAT16] = {"bfloat16", 8, -133},
                                                 [PE_INT32] = {"int32", 31, 0}};

double pe_grain_round(const pe_grain *grain, double x)
{
    const double ulp = pe_grain_ulp(grain, x);
    return isfinite(x) ? ulp * nearbyint(x / ulp) : x;
}
