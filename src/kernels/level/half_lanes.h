/* SPDX-License-Identifier: MIT */
/* half_lanes.h - vectors of doubles from and to elements, those of 16 bits among them. */
#ifndef PE_KERNELS_LEVEL_HALF_LANES_H
#define PE_KERNELS_LEVEL_HALF_LANES_H

#include "kernels/level/emit.h"
#include "kernels/level/wide.h"

#if defined(__F16C__)

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

PE_INLINE pe_vd pe_between(pe_vd low, pe_vd v, pe_vd high)
{
#if PE_LANES == 8
    return _mm512_min_pd(_mm512_max_pd(v, low), high);
#else
    return _mm256_min_pd(_mm256_max_pd(v, low), high);
#endif
}

/* As element.h does it: to 8 bits as a double, exactly to float, whose upper half it is. */
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

#endif

/* Rounded once, ties to even; a NaN of any kind for NaN. */
PE_INLINE void pe_store_16(pe_dtype dtype, pe_vd v, void *to)
{
#if defined(__F16C__)
    if (dtype == PE_FLOAT16)
        pe_round_halves(v, to);
    else
        pe_round_bfloats(v, to);
#else
    pe_store(dtype, v[0], to, 0);
    pe_store(dtype, v[1], to, 1);
#endif
}

#if PE_LANES == 8
PE_INLINE __m256 pe_load_eight(pe_dtype dtype, const pe_u16_at *from)
{
    const __m128i bits = _mm_loadu_si128((const void *)from);
    return dtype == PE_FLOAT16 ? _mm256_cvtph_ps(bits)
                               : (__m256)_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16);
}
#endif

/* Elements from i on and from i + PE_LANES on. */
typedef struct pe_two {
    pe_vd first, second;
} pe_two;

PE_INLINE pe_two pe_load_two(pe_dtype dtype, const void *from, size_t i)
{
    const pe_u16_at *at = (const pe_u16_at *)from + i;
    if (!pe_is_narrow(dtype))
        return (pe_two){pe_load_wide(dtype, from, i), pe_load_wide(dtype, from, i + PE_LANES)};
#if PE_LANES == 8
    return (pe_two){_mm512_cvtps_pd(pe_load_eight(dtype, at)),
                    _mm512_cvtps_pd(pe_load_eight(dtype, at + PE_LANES))};
#elif PE_LANES == 4
    const __m128i bits = _mm_loadu_si128((const void *)at), zero = _mm_setzero_si128();
    if (dtype == PE_BFLOAT16)
        return (pe_two){_mm256_cvtps_pd((__m128)_mm_unpacklo_epi16(zero, bits)),
                        _mm256_cvtps_pd((__m128)_mm_unpackhi_epi16(zero, bits))};
    const __m256 v = _mm256_cvtph_ps(bits);
    return (pe_two){_mm256_cvtps_pd(_mm256_castps256_ps128(v)),
                    _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))};
#else
    return (pe_two){{pe_load(dtype, at, 0), pe_load(dtype, at, 1)},
                    {pe_load(dtype, at, 2), pe_load(dtype, at, 3)}};
#endif
}

/* The same stored. Those of 16 bits go by way of float, unless that gives a tie: then a bit beyond
 * the float may decide. */
PE_INLINE void pe_store_two(pe_dtype dtype, pe_two v, void *to, size_t i)
{
    pe_u16_at *at = (pe_u16_at *)to + i;
    if (!pe_is_narrow(dtype)) {
        pe_store_wide(dtype, v.first, to, i);
        pe_store_wide(dtype, v.second, to, i + PE_LANES);
        return;
    }
    const pe_rounding_margin none = {0, dtype == PE_FLOAT16 ? 0x1p-14F : 0};
    const pe_row_kind run = {dtype, PE_ROW_RUN, false};
    const pe_seen seen = pe_emit(run, &none, v.first, v.second, (pe_spot){at, NULL});
    if (__builtin_expect(pe_doubt(dtype, &none, seen, seen), 0)) {
        pe_store_16(dtype, v.first, at);
        pe_store_16(dtype, v.second, at + PE_LANES);
    }
}

#endif
