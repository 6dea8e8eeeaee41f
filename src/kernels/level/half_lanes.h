/* SPDX-License-Identifier: MIT */
/* half_lanes.h - vectors of doubles from and to the 16-bit types. */
#ifndef PE_KERNELS_LEVEL_HALF_LANES_H
#define PE_KERNELS_LEVEL_HALF_LANES_H

#include "kernels/level/half.h"
#include "kernels/level/lanes.h"

#if defined(__F16C__)

/* gcc converts half by half otherwise. */
PE_INLINE pe_vd pe_doubles_of_half(const pe_u16_at *half)
{
#if PE_LANES == 8
    return _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128((const void *)half)));
#else
    return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64((const void *)half)));
#endif
}

/*
 * Through float without rounding twice: the float gets the first 24 significant bits, the last of
 * them set when any bit beyond was ("round to odd"), so that the half's own rounding sees what the
 * double would have shown it. What is below or beyond float is zero or infinite as a half. NaN
 * stays one, of whatever kind.
 */
PE_INLINE void pe_round_halves(pe_vd value, pe_u16_at *half)
{
    enum { ROUNDING = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
    const pe_vu bits = (pe_vu)value, rest = pe_all_u((1ULL << 29) - 1);
    const pe_vd odd = (pe_vd)((bits | ((bits & rest) + rest)) & ~rest);
#if PE_LANES == 8
    _mm_storeu_si128((void *)half, _mm256_cvtps_ph(_mm512_cvtpd_ps(odd), ROUNDING));
#else
    _mm_storel_epi64((void *)half, _mm_cvtps_ph(_mm256_cvtpd_ps(odd), ROUNDING));
#endif
}

/* A bfloat16 is the upper half of a float. */
PE_INLINE pe_vd pe_doubles_of_bfloat(const pe_u16_at *bfloat)
{
#if PE_LANES == 8
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)bfloat));
    return _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(wide, 16)));
#else
    const __m128i wide = _mm_cvtepu16_epi32(_mm_loadl_epi64((const void *)bfloat));
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(wide, 16)));
#endif
}

PE_INLINE pe_vd pe_between(pe_vd low, pe_vd v, pe_vd high)
{
#if PE_LANES == 8
    return _mm512_min_pd(_mm512_max_pd(v, low), high);
#else
    return _mm256_min_pd(_mm256_max_pd(v, low), high);
#endif
}

/* As half.c does it: to 8 bits as a double, exactly to float, whose upper half it is. */
PE_INLINE void pe_round_bfloats(pe_vd value, pe_u16_at *bfloat)
{
    const pe_vu bits = (pe_vu)value;
    const pe_vd size = (pe_vd)(bits & 0x7ffULL << 52);
    const pe_vd magic = pe_between(pe_all(0x1p-126), size, pe_all(0x1p128)) * 0x1.8p45;
    const pe_vd rounded = (pe_vd)((pe_vu)((value + magic) - magic) | (bits & 1ULL << 63));
#if PE_LANES == 8
    const __m256i wide = _mm256_srli_epi32(_mm256_castps_si256(_mm512_cvtpd_ps(rounded)), 16);
    _mm_storeu_si128((void *)bfloat, _mm256_cvtepi32_epi16(wide));
#else
    const __m128i wide = _mm_srli_epi32(_mm_castps_si128(_mm256_cvtpd_ps(rounded)), 16);
    _mm_storel_epi64((void *)bfloat, _mm_packus_epi32(wide, wide));
#endif
}

#else

/* As the arrays go; two lanes are no loss. */
PE_INLINE pe_vd pe_doubles_of_half(const pe_u16_at *half)
{
    pe_vd v;
    PE_LEVEL_NAME(pe_half_widen)(half, PE_LANES, (double *)&v);
    return v;
}

PE_INLINE void pe_round_halves(pe_vd value, pe_u16_at *half)
{
    PE_LEVEL_NAME(pe_half_narrow)((const double *)&value, PE_LANES, half);
}

PE_INLINE pe_vd pe_doubles_of_bfloat(const pe_u16_at *bfloat)
{
    pe_vd v = {0};
    for (int k = 0; k < PE_LANES; k++)
        v[k] = (double)pe_float_of((uint32_t)bfloat[k] << 16);
    return v;
}

PE_INLINE void pe_round_bfloats(pe_vd value, pe_u16_at *bfloat)
{
    PE_LEVEL_NAME(pe_half_narrow_bfloat)((const double *)&value, PE_LANES, bfloat);
}

#endif

PE_INLINE pe_vd pe_load_16(pe_dtype dtype, const void *from)
{
    return dtype == PE_FLOAT16 ? pe_doubles_of_half(from) : pe_doubles_of_bfloat(from);
}

/* Rounded once, ties to even; a NaN of any kind for NaN. */
PE_INLINE void pe_store_16(pe_dtype dtype, pe_vd v, void *to)
{
    if (dtype == PE_FLOAT16)
        pe_round_halves(v, to);
    else
        pe_round_bfloats(v, to);
}

#endif
