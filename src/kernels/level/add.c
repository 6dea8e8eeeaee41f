/* SPDX-License-Identifier: MIT */
/* add.c - doubles added to elements. */
#include "kernels/level/half.h"

#define BLOCK 128

PE_INLINE void add_wide(pe_dtype dtype, const void *x, const double *y, size_t n, void *out)
{
    PE_INDEPENDENT
    for (size_t j = 0; j < n; j++)
        pe_store(dtype, pe_load(dtype, x, j) + y[j], out, j);
}

static void add_narrow(pe_dtype dtype, const pe_u16_at *x, const double *y, size_t n,
                       pe_u16_at *out)
{
    double block[BLOCK];
    for (size_t j = 0; j < n; j += BLOCK) {
        const size_t some = n - j < BLOCK ? n - j : BLOCK;
        PE_LEVEL_NAME(pe_widen)(dtype, x + j, some, block);
        add_wide(PE_FLOAT64, block, y + j, some, block);
        PE_LEVEL_NAME(pe_narrow)(dtype, block, some, out + j);
    }
}

void PE_LEVEL_NAME(pe_add)(pe_dtype dtype, const void *x, const double *y, size_t n, void *out)
{
    if (dtype == PE_FLOAT32)
        add_wide(PE_FLOAT32, x, y, n, out);
    else if (dtype == PE_FLOAT64)
        add_wide(PE_FLOAT64, x, y, n, out);
    else
        add_narrow(dtype, x, y, n, out);
}
