/* SPDX-License-Identifier: MIT */
/* nan.c - results with NaN among them. */
#include "kernels/level/element.h"

/* Whether there is a magnitude beyond that of an infinity. */
static bool any_nan(const pe_u16_at *bits, size_t n, int16_t infinity)
{
    int16_t any = 0;
    for (size_t j = 0; j < n; j++)
        any = (int16_t)(any | ((int16_t)(bits[j] & 0x7fff) > infinity));
    return any != 0;
}

void PE_LEVEL_NAME(pe_nan_canonicalise)(pe_dtype dtype, void *elements, size_t n)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    if (pe_is_narrow(dtype) && !any_nan(elements, n, dtype == PE_FLOAT16 ? 0x7c00 : 0x7f80))
        return;
    for (size_t j = 0; j < n; j++) {
        void *at = (char *)elements + j * bytes;
        pe_dtype_store(dtype, pe_dtype_load(dtype, at), at); /* a NaN is stored as that one */
    }
}
