/* SPDX-License-Identifier: MIT */
/* rotate.c - pairs of channels turned by given angles. */
#include "kernels/level/half.h"

/* Pairs of a 16-bit vector that are widened at a time. */
#define BLOCK 128

/* Where pair i of a vector keeps its two channels. */
PE_INLINE size_t first_of(pe_pairing pairing, size_t i)
{
    return pairing == PE_PAIRING_INTERLEAVED ? 2 * i : i;
}

PE_INLINE size_t second_of(pe_pairing pairing, size_t pairs, size_t i)
{
    return pairing == PE_PAIRING_INTERLEAVED ? 2 * i + 1 : i + pairs;
}

PE_INLINE void rotate_vector(pe_dtype dtype, pe_pairing pairing, size_t pairs, const double *cos,
                             const double *sin, const void *x, void *out)
{
    PE_INDEPENDENT
    for (size_t i = 0; i < pairs; i++) {
        const double a = pe_load(dtype, x, first_of(pairing, i));
        const double b = pe_load(dtype, x, second_of(pairing, pairs, i));
        /* [a'; b'] = [cos -sin; sin cos] [a; b] */
        pe_store(dtype, a * cos[i] - b * sin[i], out, first_of(pairing, i));
        pe_store(dtype, b * cos[i] + a * sin[i], out, second_of(pairing, pairs, i));
    }
}

PE_INLINE void rotate_wide(pe_dtype dtype, pe_pairing pairing, size_t pairs, const double *cos,
                           const double *sin, size_t count, size_t stride, const void *x, void *out)
{
    const size_t bytes = pe_dtype_bytes(dtype) * stride;
    for (size_t r = 0; r < count; r++)
        rotate_vector(dtype, pairing, pairs, cos, sin, (const char *)x + r * bytes,
                      (char *)out + r * bytes);
}

/* The 16-bit types, a block of pairs at a time: widen, rotate in place, narrow. */
static void rotate_narrow(pe_dtype dtype, pe_pairing pairing, size_t pairs, const double *cos,
                          const double *sin, const pe_u16_at *x, pe_u16_at *out)
{
    double block[2 * BLOCK];
    for (size_t i = 0; i < pairs; i += BLOCK) {
        const size_t n = pairs - i < BLOCK ? pairs - i : BLOCK;
        if (pairing == PE_PAIRING_INTERLEAVED) {
            PE_LEVEL_NAME(pe_widen)(dtype, x + 2 * i, 2 * n, block);
            rotate_vector(PE_FLOAT64, pairing, n, cos + i, sin + i, block, block);
            PE_LEVEL_NAME(pe_narrow)(dtype, block, 2 * n, out + 2 * i);
        } else {
            PE_LEVEL_NAME(pe_widen)(dtype, x + i, n, block);
            PE_LEVEL_NAME(pe_widen)(dtype, x + pairs + i, n, block + n);
            rotate_vector(PE_FLOAT64, pairing, n, cos + i, sin + i, block, block);
            PE_LEVEL_NAME(pe_narrow)(dtype, block, n, out + i);
            PE_LEVEL_NAME(pe_narrow)(dtype, block + n, n, out + pairs + i);
        }
    }
}

void PE_LEVEL_NAME(pe_rotate)(pe_dtype dtype, pe_pairing pairing, size_t pairs, const double *cos,
                              const double *sin, size_t count, size_t stride, const void *x,
                              void *out)
{
    if (dtype == PE_FLOAT32 && pairing == PE_PAIRING_INTERLEAVED)
        rotate_wide(PE_FLOAT32, PE_PAIRING_INTERLEAVED, pairs, cos, sin, count, stride, x, out);
    else if (dtype == PE_FLOAT32)
        rotate_wide(PE_FLOAT32, PE_PAIRING_HALF, pairs, cos, sin, count, stride, x, out);
    else if (dtype == PE_FLOAT64 && pairing == PE_PAIRING_INTERLEAVED)
        rotate_wide(PE_FLOAT64, PE_PAIRING_INTERLEAVED, pairs, cos, sin, count, stride, x, out);
    else if (dtype == PE_FLOAT64)
        rotate_wide(PE_FLOAT64, PE_PAIRING_HALF, pairs, cos, sin, count, stride, x, out);
    else
        for (size_t r = 0; r < count; r++)
            rotate_narrow(dtype, pairing, pairs, cos, sin, (const pe_u16_at *)x + r * stride,
                          (pe_u16_at *)out + r * stride);
}
