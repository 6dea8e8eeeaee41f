/* SPDX-License-Identifier: MIT */
/* add.c - doubles added to elements. */
#include "kernels/level/half.h"
#include "kernels/level/wide.h"

/* Elements handled at a time: they stay in the nearest cache. */
#define BLOCK 512

/* Whether there may be a NaN in out. */
PE_INLINE bool add_wide(pe_dtype dtype, const void *x, const double *y, size_t n, void *out)
{
    pe_vd watch = pe_all(0);
    size_t j = 0;
    for (; j + 2 * PE_LANES <= n; j += 2 * PE_LANES) {
        const size_t k = j + PE_LANES;
        const pe_vd first = pe_load_wide(dtype, x, j) + pe_load_d(y + j);
        const pe_vd second = pe_load_wide(dtype, x, k) + pe_load_d(y + k);
        pe_store_wide(dtype, first, out, j);
        pe_store_wide(dtype, second, out, k);
        watch = pe_watch(watch, first, second);
    }
    for (; j < n; j++)
        pe_store(dtype, pe_load(dtype, x, j) + y[j], out, j);
    return pe_spoiled(watch);
}

/* Narrowing tells NaN itself. */
static bool add_narrow(pe_dtype dtype, const void *x, const double *y, size_t n, void *out)
{
    _Alignas(64) double wide[BLOCK];
    PE_LEVEL_NAME(pe_convert_widen)(dtype, x, n, wide);
    add_wide(PE_FLOAT64, wide, y, n, wide);
    PE_LEVEL_NAME(pe_convert_narrow)(dtype, wide, n, out);
    return false;
}

static bool add_some(pe_dtype dtype, const void *x, const double *y, size_t n, void *out)
{
    if (dtype == PE_FLOAT32)
        return add_wide(PE_FLOAT32, x, y, n, out);
    if (dtype == PE_FLOAT64)
        return add_wide(PE_FLOAT64, x, y, n, out);
    return add_narrow(dtype, x, y, n, out);
}

void PE_LEVEL_NAME(pe_add)(pe_dtype dtype, const void *x, const double *y, size_t n, void *out)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    for (size_t j = 0, some; j < n; j += some) {
        char *to = (char *)out + j * bytes;
        some = n - j < BLOCK ? n - j : BLOCK;
        if (add_some(dtype, (const char *)x + j * bytes, y + j, some, to))
            PE_LEVEL_NAME(pe_nan_canonicalise)(dtype, to, some);
    }
}
