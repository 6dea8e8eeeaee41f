/* SPDX-License-Identifier: MIT */
/* convert.c - elements to doubles and back. */
#include "kernels/level/half.h"
#include "kernels/level/wide.h"

/* Elements narrowed at a time, before they are looked through for NaN. */
#define BLOCK 512

static void widen_float(const pe_f32_at *in, size_t n, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = (double)in[j];
}

/* A bfloat16 is the upper half of a float. */
static void widen_bfloat16(const pe_u16_at *in, size_t n, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = (double)pe_float_of((uint32_t)in[j] << 16);
}

static void widen_int(const void *in, size_t n, double *out)
{
    typedef int32_t i32_at __attribute__((aligned(1), may_alias));
    const i32_at *from = in;
    for (size_t j = 0; j < n; j++)
        out[j] = from[j];
}

void PE_LEVEL_NAME(pe_convert_widen)(pe_dtype dtype, const void *in, size_t n, double *out)
{
    switch (dtype) {
    case PE_FLOAT32:
        widen_float(in, n, out);
        return;
    case PE_FLOAT64:
        memcpy(out, in, n * sizeof *out);
        return;
    case PE_FLOAT16:
        PE_LEVEL_NAME(pe_half_widen)(in, n, out);
        return;
    case PE_BFLOAT16:
        widen_bfloat16(in, n, out);
        return;
    case PE_INT32:
        widen_int(in, n, out);
        return;
    case PE_DTYPES:
        break;
    }
    assert(false);
}

PE_INLINE bool narrow_wide(pe_dtype dtype, const double *in, size_t n, void *out)
{
    pe_vd watch = pe_all(0);
    size_t j = 0;
    for (; j + 2 * PE_LANES <= n; j += 2 * PE_LANES) {
        const pe_vd first = pe_load_d(in + j), second = pe_load_d(in + j + PE_LANES);
        pe_store_wide(dtype, first, out, j);
        pe_store_wide(dtype, second, out, j + PE_LANES);
        watch = pe_watch(watch, first, second);
    }
    for (; j < n; j++)
        pe_store(dtype, in[j], out, j);
    return pe_spoiled(watch);
}

/* Whether there may be a NaN in out. */
static bool narrow_some(pe_dtype dtype, const double *in, size_t n, void *out)
{
    if (dtype == PE_FLOAT32)
        return narrow_wide(PE_FLOAT32, in, n, out);
    if (dtype == PE_FLOAT64)
        return narrow_wide(PE_FLOAT64, in, n, out);
    if (dtype == PE_FLOAT16)
        PE_LEVEL_NAME(pe_half_narrow)(in, n, out);
    else
        PE_LEVEL_NAME(pe_half_narrow_bfloat)(in, n, out);
    return true;
}

void PE_LEVEL_NAME(pe_convert_narrow)(pe_dtype dtype, const double *in, size_t n, void *out)
{
    assert(dtype != PE_INT32);
    const size_t bytes = pe_dtype_bytes(dtype);
    for (size_t j = 0, some; j < n; j += some) {
        char *to = (char *)out + j * bytes;
        some = n - j < BLOCK ? n - j : BLOCK;
        if (narrow_some(dtype, in + j, some, to))
            PE_LEVEL_NAME(pe_nan_canonicalise)(dtype, to, some);
    }
}
