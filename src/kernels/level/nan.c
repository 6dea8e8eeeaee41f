/* SPDX-License-Identifier: MIT */
/* nan.c - results with NaN among them. */
#include "kernels/level/nan.h"

/* The magnitude of a NaN is that of an infinity and more. */

static bool any16(const pe_u16_at *bits, size_t n, int16_t infinity)
{
    int16_t any = 0;
    for (size_t j = 0; j < n; j++)
        any = (int16_t)(any | ((int16_t)(bits[j] & 0x7fff) > infinity));
    return any != 0;
}

static bool any32(const void *elements, size_t n)
{
    typedef uint32_t u32_at __attribute__((aligned(1), may_alias));
    const u32_at *bits = elements;
    int32_t any = 0;
    for (size_t j = 0; j < n; j++)
        any |= (int32_t)(bits[j] & 0x7fffffff) > 0x7f800000;
    return any != 0;
}

static bool any64(const pe_f64_at *values, size_t n)
{
    int64_t any = 0;
    for (size_t j = 0; j < n; j++)
        any |= values[j] != values[j];
    return any != 0;
}

static bool any_nan(pe_dtype dtype, const void *elements, size_t n)
{
    switch (dtype) {
    case PE_FLOAT32:
        return any32(elements, n);
    case PE_FLOAT64:
        return any64(elements, n);
    case PE_FLOAT16:
        return any16(elements, n, 0x7c00);
    case PE_BFLOAT16:
        return any16(elements, n, 0x7f80);
    case PE_INT32:
    case PE_DTYPES:
        break;
    }
    assert(false);
    return false;
}

void PE_LEVEL_NAME(pe_nan_canonicalise)(pe_dtype dtype, void *elements, size_t n)
{
    const size_t bytes = pe_dtype_bytes(dtype);
    if (!any_nan(dtype, elements, n))
        return;
    for (size_t j = 0; j < n; j++) {
        void *at = (char *)elements + j * bytes;
        pe_dtype_store(dtype, pe_dtype_load(dtype, at), at); /* a NaN is stored as that one */
    }
}
