/* SPDX-License-Identifier: MIT */
/* lanes.h - vectors as wide as the level's registers, for the waves. */
#ifndef PE_KERNELS_LEVEL_LANES_H
#define PE_KERNELS_LEVEL_LANES_H

#include <string.h>

#include "kernels/level/element.h"

#if defined(PE_LEVEL_v4)
#define PE_LANES 8
#elif defined(PE_LEVEL_v3)
#define PE_LANES 4
#else
#define PE_LANES 2
#endif

#if PE_LANES > 2
#include <immintrin.h>
#endif

/* gcc 12's analyser takes the number of lanes for the bits of one. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-shift-count-overflow"
#endif

/* Compilers that know vector types of this kind know how to add them. */
typedef double pe_vd __attribute__((vector_size(8 * PE_LANES)));
typedef uint64_t pe_vu __attribute__((vector_size(8 * PE_LANES)));
typedef double pe_vd_at __attribute__((vector_size(8 * PE_LANES), aligned(8), may_alias));
typedef uint64_t pe_vu_at __attribute__((vector_size(8 * PE_LANES), aligned(8), may_alias));

PE_INLINE pe_vd pe_load_d(const double *from)
{
    return *(const pe_vd_at *)from;
}

PE_INLINE void pe_store_d(double *to, pe_vd v)
{
    *(pe_vd_at *)to = v;
}

/* To the caller's bytes, whatever their alignment. */
PE_INLINE void pe_store_any(void *to, pe_vd v)
{
    memcpy(to, &v, sizeof v);
}

PE_INLINE pe_vd pe_all(double x)
{
    return (pe_vd){0} + x;
}

PE_INLINE pe_vu pe_all_u(uint64_t x)
{
    return (pe_vu){0} + x;
}

PE_INLINE pe_vu pe_load_u(const uint64_t *from)
{
    return *(const pe_vu_at *)from;
}

/* a*b + c, in one rounding or two: for results whose error bound allows for either. */
PE_INLINE pe_vd pe_fma(pe_vd a, pe_vd b, pe_vd c)
{
#if PE_LANES == 8
    return _mm512_fmadd_pd(a, b, c);
#elif PE_LANES == 4
    return _mm256_fmadd_pd(a, b, c);
#else
    return a * b + c;
#endif
}

/* c - a*b, likewise. */
PE_INLINE pe_vd pe_fnma(pe_vd a, pe_vd b, pe_vd c)
{
#if PE_LANES == 8
    return _mm512_fnmadd_pd(a, b, c);
#elif PE_LANES == 4
    return _mm256_fnmadd_pd(a, b, c);
#else
    return c - a * b;
#endif
}

/* Product of the low halves of the lanes. */
PE_INLINE pe_vu pe_mul32(pe_vu a, pe_vu b)
{
#if PE_LANES == 8
    return (pe_vu)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif PE_LANES == 4
    return (pe_vu)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
    return (a & UINT32_MAX) * (b & UINT32_MAX);
#endif
}

/* Lanes of a where the mask is all ones, of b where it is zero. */
PE_INLINE pe_vd pe_select(pe_vu mask, pe_vd a, pe_vd b)
{
    return (pe_vd)(((pe_vu)a & mask) | ((pe_vu)b & ~mask));
}

/* A bit for every lane of a mask that is set. */
PE_INLINE unsigned pe_lanes_set(pe_vu mask)
{
    unsigned lanes = 0;
    for (int k = 0; k < PE_LANES; k++)
        lanes |= (unsigned)(mask[k] & 1) << k;
    return lanes;
}

#endif
