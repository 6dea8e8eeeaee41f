/* SPDX-License-Identifier: MIT */
/* emit_256.h - emit.h for four lanes: AVX2. */
#ifndef PE_KERNELS_LEVEL_EMIT_256_H
#define PE_KERNELS_LEVEL_EMIT_256_H

#include "kernels/level/lanes.h"

/*
 * What an emit shows to the proof: fields that are open where they are small. Of a double these are
 * its words: the dropped bits, moved so that a midpoint's neighbourhood begins at 0, and the size.
 * Of a float they are its halves, likewise. The least of several vectors speaks for them all.
 */
typedef __m256i pe_seen;

PE_INLINE __m256i pe_all_pairs(uint64_t upper, uint32_t lower)
{
    return _mm256_set1_epi64x((int64_t)(upper << 32 | lower));
}

PE_INLINE pe_seen pe_see_double(const pe_rounding_margin *margin, pe_vd v)
{
    const __m256i by = pe_all_pairs(0, (1U << 28) + margin->window);
    const __m256i moved = _mm256_add_epi32((__m256i)v, by);
    return _mm256_and_si256(moved, pe_all_pairs(INT32_MAX, PE_DROPPED));
}

PE_INLINE void pe_put_floats(pe_shape_of_row shape, __m128 a, __m128 b, pe_spot to)
{
    if (shape == PE_ROW_INTERLEAVED) {
        _mm_storeu_ps(to.first, _mm_unpacklo_ps(a, b));
        _mm_storeu_ps((float *)to.first + 4, _mm_unpackhi_ps(a, b));
    } else {
        _mm_storeu_ps(to.first, a);
        _mm_storeu_ps(to.second, b);
    }
}

PE_INLINE void pe_put_planes(pe_shape_of_row shape, __m128i both, pe_spot to)
{
    if (shape == PE_ROW_RUN) {
        _mm_storeu_si128(to.first, both);
        return;
    }
    _mm_storel_epi64(to.first, both);
    _mm_storel_epi64(to.second, _mm_unpackhi_epi64(both, both));
}

/* a's floats in the lower half, b's in the upper. */
PE_INLINE void pe_put_halves(pe_shape_of_row shape, __m256 f, pe_spot to)
{
    const __m128i by_turns = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    const __m128i halves = _mm256_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (shape == PE_ROW_INTERLEAVED)
        _mm_storeu_si128(to.first, _mm_shuffle_epi8(halves, by_turns));
    else
        pe_put_planes(shape, halves, to);
}

/* The upper halves of words. */
PE_INLINE void pe_put_bfloats(pe_shape_of_row shape, __m256i words, pe_spot to)
{
    const __m256i lowered = _mm256_srli_epi32(words, 16);
    const __m128i a = _mm256_castsi256_si128(lowered);
    if (shape == PE_ROW_INTERLEAVED)
        _mm_storeu_si128(to.first, _mm_blend_epi16(a, _mm256_extracti128_si256(words, 1), 0xaa));
    else
        pe_put_planes(shape, _mm_packus_epi32(a, _mm256_extracti128_si256(lowered, 1)), to);
}

PE_INLINE pe_seen pe_emit(pe_row_kind kind, const pe_rounding_margin *margin, pe_vd a, pe_vd b,
                          pe_spot to)
{
    const __m128 low = _mm256_cvtpd_ps(a), high = _mm256_cvtpd_ps(b);
    if (kind.dtype == PE_FLOAT32) {
        pe_put_floats(kind.shape, low, high, to);
        return _mm256_min_epi32(pe_see_double(margin, a), pe_see_double(margin, b));
    }
    const __m256 f = _mm256_set_m128(high, low);
    if (kind.dtype == PE_FLOAT16) {
        pe_put_halves(kind.shape, f, to);
        /* 13 bits of the float are dropped; a midpoint has the first of them set alone */
        const __m256i flipped = _mm256_xor_si256((__m256i)f, _mm256_set1_epi32(1 << 12));
        return _mm256_and_si256(flipped, _mm256_set1_epi32(0x7fff1fff));
    }
    const __m256i half = _mm256_set1_epi32(1 << 15),
                  number = (__m256i)_mm256_cmp_ps(f, f, _CMP_ORD_Q);
    const __m256i by = kind.shape == PE_ROW_RUN ? _mm256_and_si256(half, number) : half;
    const __m256i moved = _mm256_add_epi32((__m256i)f, by);
    pe_put_bfloats(kind.shape, moved, to);
    return _mm256_and_si256(moved, _mm256_set1_epi32(INT32_MAX));
}

/* Whether anything of two emits is open. The limit of size is rounded up to what a field holds.
 * bfloat16's field has been rounded, by 2^-8 of itself at most; its limit has room for that. */
PE_INLINE bool pe_doubt(pe_dtype dtype, const pe_rounding_margin *margin, pe_seen f, pe_seen g)
{
    if (dtype == PE_FLOAT32) {
        const uint64_t small = (pe_bits_of((double)margin->small) + UINT32_MAX) >> 32;
        const __m256i least = _mm256_min_epi32(f, g);
        const __m256i above = _mm256_sub_epi32(least, pe_all_pairs(small, 2 * margin->window));
        return _mm256_movemask_ps((__m256)above) != 0;
    }
    const uint32_t small = (pe_bits_of_float(margin->small) + 0xffff) >> 16;
    const __m256i least = _mm256_min_epu16(f, g);
    const __m256i below = _mm256_subs_epu16(_mm256_set1_epi32((int)(small << 16 | 1)), least);
    return _mm256_testz_si256(below, below) == 0;
}

PE_INLINE void pe_emit_double(pe_shape_of_row shape, pe_vd a, pe_vd b, pe_spot to)
{
    if (shape == PE_ROW_PLANES) {
        pe_store_any(to.first, a);
        pe_store_any(to.second, b);
        return;
    }
    const __m256d low = _mm256_unpacklo_pd(a, b), high = _mm256_unpackhi_pd(a, b);
    pe_store_any(to.first, _mm256_permute2f128_pd(low, high, 0x20));
    pe_store_any((char *)to.first + 32, _mm256_permute2f128_pd(low, high, 0x31));
}

/* Doubles: lanes that are not zero are open. */
typedef __m256d pe_ok_double;
#define PE_ALL_OK_DOUBLE _mm256_setzero_pd()

PE_INLINE pe_ok_double pe_same(pe_vd a, pe_vd b, pe_ok_double ok)
{
    return _mm256_or_pd(ok, _mm256_cmp_pd(a, b, _CMP_NEQ_UQ));
}

PE_INLINE unsigned pe_open_lanes(pe_ok_double ok)
{
    return (unsigned)_mm256_movemask_pd(ok);
}

#endif
