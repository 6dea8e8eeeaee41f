/* SPDX-License-Identifier: MIT */
/* narrow.h - vectors of 16-bit elements as floats and back. */
#ifndef PE_KERNELS_LEVEL_NARROW_H
#define PE_KERNELS_LEVEL_NARROW_H

#include "kernels/level/lanes.h"

/* As many bytes as a vector of doubles, so twice the lanes. */
#define PE_FLOAT_LANES (2 * PE_LANES)

typedef float pe_vf __attribute__((vector_size(8 * PE_LANES)));
typedef uint32_t pe_vi __attribute__((vector_size(8 * PE_LANES)));
typedef uint16_t pe_vh __attribute__((vector_size(4 * PE_LANES))); /* elements as they are */

PE_INLINE pe_vf pe_load_f(const float *from)
{
    pe_vf v;
    memcpy(&v, from, sizeof v);
    return v;
}

PE_INLINE pe_vf pe_all_f(float x)
{
    return (pe_vf){0} + x;
}

/* Lanes of a where the mask is all ones, of b where it is zero. */
PE_INLINE pe_vf pe_select_f(pe_vi mask, pe_vf a, pe_vf b)
{
    return (pe_vf)(((pe_vi)a & mask) | ((pe_vi)b & ~mask));
}

PE_INLINE pe_vf pe_size_f(pe_vf v)
{
    return (pe_vf)((pe_vi)v & INT32_MAX);
}

/* The second wherever the two are equal (zeros of either sign), or one is a NaN. */
PE_INLINE pe_vf pe_min_f(pe_vf a, pe_vf b)
{
#if PE_LANES == 8
    return (pe_vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif PE_LANES == 4
    return (pe_vf)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return pe_select_f((pe_vi)(a < b), a, b);
#endif
}

PE_INLINE pe_vf pe_max_f(pe_vf a, pe_vf b)
{
#if PE_LANES == 8
    return (pe_vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif PE_LANES == 4
    return (pe_vf)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return pe_select_f((pe_vi)(a > b), a, b);
#endif
}

/* Lanes as signed integers. */
PE_INLINE pe_vi pe_max_i(pe_vi a, pe_vi b)
{
#if PE_LANES == 8
    return (pe_vi)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif PE_LANES == 4
    return (pe_vi)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    typedef int32_t signed_lanes __attribute__((vector_size(8 * PE_LANES)));
    const pe_vi larger = (pe_vi)((signed_lanes)a > (signed_lanes)b);
    return (a & larger) | (b & ~larger);
#endif
}

/* a*b + c and a*b - c, in one rounding or two: for results whose error bound allows for either. */
PE_INLINE pe_vf pe_fma_f(pe_vf a, pe_vf b, pe_vf c)
{
#if PE_LANES == 8
    return (pe_vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif PE_LANES == 4
    return (pe_vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

PE_INLINE pe_vf pe_fms_f(pe_vf a, pe_vf b, pe_vf c)
{
#if PE_LANES == 8
    return (pe_vf)_mm512_fmsub_ps((__m512)a, (__m512)b, (__m512)c);
#elif PE_LANES == 4
    return (pe_vf)_mm256_fmsub_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b - c;
#endif
}

/* Whether any lane has a bit of the mask. */
PE_INLINE bool pe_any_bit(pe_vi v, uint32_t mask)
{
#if PE_LANES == 8
    return _mm512_test_epi32_mask((__m512i)v, _mm512_set1_epi32((int)mask)) != 0;
#elif PE_LANES == 4
    return _mm256_testz_si256((__m256i)v, _mm256_set1_epi32((int)mask)) == 0;
#else
    const pe_vi masked = v & mask;
    uint64_t lanes[2];
    memcpy(lanes, &masked, sizeof lanes);
    return (lanes[0] | lanes[1]) != 0;
#endif
}

PE_INLINE bool pe_none_set(pe_vh v)
{
#if PE_LANES == 8
    return _mm256_testz_si256((__m256i)v, (__m256i)v) != 0;
#elif PE_LANES == 4
    return _mm_testz_si128((__m128i)v, (__m128i)v) != 0;
#else
    uint64_t lanes;
    memcpy(&lanes, &v, sizeof lanes);
    return lanes == 0;
#endif
}

PE_INLINE void pe_put_16(pe_vh v, void *to)
{
    memcpy(to, &v, sizeof v);
}

/* ---- float16 ---- */

PE_INLINE pe_vf pe_floats_of_half(pe_vh half)
{
#if PE_LANES == 8
    return (pe_vf)_mm512_cvtph_ps((__m256i)half);
#elif PE_LANES == 4
    return (pe_vf)_mm256_cvtph_ps((__m128i)half);
#else
    /* element.h explains; a product scales subnormals too, and only infinity and NaN remain. */
    const pe_vi bits = __builtin_convertvector(half, pe_vi), size = bits & 0x7fff;
    const pe_vi finite = (pe_vi)((pe_vf)(size << 13) * 0x1p112F);
    const pe_vi special = (pe_vi)(size >= 0x7c00) & 0x7f800000;
    return (pe_vf)(finite | special | (bits & 0x8000) << 16);
#endif
}

/* To the nearest, ties to even. A NaN stays one. */
PE_INLINE pe_vh pe_halves_near(pe_vf v)
{
    enum { ROUNDING = 0 | 8 }; /* to the nearest, no exceptions */
#if PE_LANES == 8
    return (pe_vh)_mm512_cvtps_ph((__m512)v, ROUNDING);
#elif PE_LANES == 4
    return (pe_vh)_mm256_cvtps_ph((__m256)v, ROUNDING);
#else
    const pe_vi bits = (pe_vi)v, size = bits & INT32_MAX;
    const pe_vi least = (pe_vi)pe_all_f(0x1p-14F), half = (pe_vi)pe_all_f(0.5F);
    const pe_vi low = (pe_vi)((pe_vf)size + 0.5F) - half; /* in places of 2^-24 */
    const pe_vi normal = ((size + (size >> 13 & 1) + 0xfff) >> 13) - (112U << 10);
    const pe_vi is_low = (pe_vi)(size < least), is_nan = (pe_vi)(size > 0x7f800000);
    const pe_vi rounded = (low & is_low) | (normal & ~is_low), over = (pe_vi)(rounded > 0x7c00);
    const pe_vi bounded = (rounded & ~over) | (over & 0x7c00) | (is_nan & 0x7e00);
    (void)ROUNDING;
    return __builtin_convertvector(bounded | (bits >> 16 & 0x8000), pe_vh);
#endif
}

/* ---- bfloat16: the upper half of a float ---- */

PE_INLINE pe_vf pe_floats_of_bfloat(pe_vh bfloat)
{
#if PE_LANES == 4 /* gcc 12 widens the halves of a vector one by one */
    return (pe_vf)(pe_vi)_mm256_slli_epi32(_mm256_cvtepu16_epi32((__m128i)bfloat), 16);
#else
    return (pe_vf)(__builtin_convertvector(bfloat, pe_vi) << 16);
#endif
}

/* Numbers known to lie from low to high. */
typedef struct pe_interval {
    pe_vf low, high;
} pe_interval;

/*
 * Two vectors, stored as rounded to the nearest (ties away) if low and high of the first round to
 * the same in all lanes, and those of the second too. A NaN whose low half is zero stays one.
 */
PE_INLINE bool pe_put_bfloats_between(pe_interval a, pe_interval b, void *first, void *second)
{
    const pe_vi half = (pe_vi){0} + (1U << 15);
    const pe_vi left = (pe_vi)a.low + half, right = (pe_vi)b.low + half;
    const pe_vi differ = (left ^ ((pe_vi)a.high + half)) | (right ^ ((pe_vi)b.high + half));
    if (__builtin_expect(pe_any_bit(differ, 0xffff0000), 0))
        return false;
#if PE_LANES == 4
    const __m256i both = _mm256_packus_epi32(_mm256_srli_epi32((__m256i)left, 16),
                                             _mm256_srli_epi32((__m256i)right, 16));
    const __m256i sorted = _mm256_permute4x64_epi64(both, 0xd8);
    _mm_storeu_si128(first, _mm256_castsi256_si128(sorted));
    _mm_storeu_si128(second, _mm256_extracti128_si256(sorted, 1));
#else
    pe_put_16(__builtin_convertvector(left >> 16, pe_vh), first);
    pe_put_16(__builtin_convertvector(right >> 16, pe_vh), second);
#endif
    return true;
}

PE_INLINE bool pe_put_halves_between(pe_interval a, pe_interval b, void *first, void *second)
{
    const pe_vh left = pe_halves_near(a.low), right = pe_halves_near(b.low);
    const pe_vh differ = (left ^ pe_halves_near(a.high)) | (right ^ pe_halves_near(b.high));
    if (__builtin_expect(!pe_none_set(differ), 0))
        return false;
    pe_put_16(left, first);
    pe_put_16(right, second);
    return true;
}

/* ---- either ---- */

/* Both rounded and stored, if what is known of them allows. */
PE_INLINE bool pe_put_between(pe_dtype dtype, pe_interval first, pe_interval second, void *to_first,
                              void *to_second)
{
    return dtype == PE_FLOAT16 ? pe_put_halves_between(first, second, to_first, to_second)
                               : pe_put_bfloats_between(first, second, to_first, to_second);
}

PE_INLINE pe_vf pe_load_narrow(pe_dtype dtype, const void *from)
{
    pe_vh v;
    memcpy(&v, from, sizeof v);
    return dtype == PE_FLOAT16 ? pe_floats_of_half(v) : pe_floats_of_bfloat(v);
}

/* Whether there is a NaN in v. */
PE_INLINE bool pe_any_nan(pe_vf v)
{
#if PE_LANES == 8
    return _mm512_cmp_ps_mask((__m512)v, (__m512)v, _CMP_UNORD_Q) != 0;
#elif PE_LANES == 4
    return _mm256_movemask_ps(_mm256_cmp_ps((__m256)v, (__m256)v, _CMP_UNORD_Q)) != 0;
#else
    return pe_any_bit((pe_vi)(((pe_vi)v & INT32_MAX) > 0x7f800000), UINT32_MAX);
#endif
}

#endif
