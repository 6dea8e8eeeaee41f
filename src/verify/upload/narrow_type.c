/* SPDX-License-Identifier: MIT */
/* narrow_type.c - numbers of narrow types: their neighbours, and rounding to them. */
#include "verify/upload/narrow_type.h"

#include <math.h>

const pe_narrow_type pe_narrow_types[PE_GRAINS] = {
    [PE_NARROW_BFLOAT16] = {"bfloat16", 8, -133, 0},
    [PE_NARROW_FLOAT16] = {"float16", 11, -24, 0},
    [PE_NARROW_TF32] = {"TF32", 11, -136, 0},
    [PE_NARROW_E4M3] = {"float8 (e4m3)", 4, -9, 0},
    [PE_NARROW_E5M2] = {"float8 (e5m2)", 3, -16, 0},
    [PE_NARROW_INT8] = {"int8", 7, 0, 127},
    [PE_NARROW_INT4] = {"int4", 3, 0, 7},
    [PE_NARROW_SCALED_E4M3] = {"float8 (e4m3)", 4, -9, 448},
    [PE_NARROW_FNUZ_E4M3] = {"float8 (e4m3)", 4, -10, 240}};

const pe_narrow_type pe_narrow_types_of_dtypes[PE_DTYPES] = {
    [PE_FLOAT32] = {"float32", 24, -149, 0},
    [PE_FLOAT64] = {"float64", 53, -1074, 0},
    [PE_FLOAT16] = {"float16", 11, -24, 0},
    [PE_BFLOAT16] = {"bfloat16", 8, -133, 0},
    [PE_INT32] = {"int32", 31, 0, 0}};

double pe_narrow_type_round(const pe_narrow_type *narrow, double x)
{
    const double ulp = pe_narrow_type_ulp(narrow, x);
    return isfinite(x) ? ulp * nearbyint(x / ulp) : x;
}
