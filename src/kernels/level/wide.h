/* SPDX-License-Identifier: MIT */
/* wide.h - vectors of float32 and float64 elements as doubles, and a watch over results. */
#ifndef PE_KERNELS_LEVEL_WIDE_H
#define PE_KERNELS_LEVEL_WIDE_H

#include "kernels/level/lanes.h"
#include "kernels/level/element.h"

/* gcc 12 puts a converted vector together from halves, hence the instructions by name. */
PE_INLINE pe_vd pe_load_floats(const void *from)
{
#if PE_LANES == 8
    return _mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif PE_LANES == 4
    return _mm256_cvtps_pd(_mm_loadu_ps(from));
#else
    const pe_f32_at *at = from;
    return (pe_vd){(double)at[0], (double)at[1]};
#endif
}

PE_INLINE void pe_store_floats(void *to, pe_vd v)
{
#if PE_LANES == 8
    _mm256_storeu_ps(to, _mm512_cvtpd_ps(v));
#elif PE_LANES == 4
    _mm_storeu_ps(to, _mm256_cvtpd_ps(v));
#else
    pe_f32_at *at = to;
    at[0] = (float)v[0];
    at[1] = (float)v[1];
#endif
}

/* Elements i, i + 1, ... of float32 or float64. */
PE_INLINE pe_vd pe_load_wide(pe_dtype dtype, const void *from, size_t i)
{
    pe_vd v;
    if (dtype == PE_FLOAT32)
        return pe_load_floats((const pe_f32_at *)from + i);
    memcpy(&v, (const pe_f64_at *)from + i, sizeof v);
    return v;
}

PE_INLINE void pe_store_wide(pe_dtype dtype, pe_vd v, void *to, size_t i)
{
    if (dtype == PE_FLOAT32)
        pe_store_floats((pe_f32_at *)to + i, v);
    else
        pe_store_any((pe_f64_at *)to + i, v);
}

/*
 * Which NaN an operation gives depends on the CPU and on the order of operands, and comparing every
 * result costs a quarter of a kernel's time. So results are watched, two at a time: a NaN stays in
 * a sum of products. (So may an overflow, or an infinity times zero.) Only a spoiled piece of
 * output is looked through.
 */
PE_INLINE pe_vd pe_watch(pe_vd watch, pe_vd a, pe_vd b)
{
    return pe_fma(a, b, watch);
}

PE_INLINE bool pe_spoiled(pe_vd watch)
{
#if PE_LANES == 8
    return _mm512_cmp_pd_mask(watch, watch, _CMP_UNORD_Q) != 0;
#elif PE_LANES == 4
    return _mm256_movemask_pd(_mm256_cmp_pd(watch, watch, _CMP_UNORD_Q)) != 0;
#else
    return watch[0] + watch[1] != watch[0] + watch[1];
#endif
}

/* Whether the top bit of any lane is set. */
PE_INLINE bool pe_any_top_bit(pe_vu v)
{
#if PE_LANES == 8
    return _mm512_movepi64_mask((__m512i)v) != 0;
#elif PE_LANES == 4
    return _mm256_movemask_pd((__m256d)v) != 0;
#else
    return (v[0] | v[1]) >> 63 != 0;
#endif
}

#endif
