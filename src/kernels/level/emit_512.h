/* SPDX-License-Identifier: MIT */
/* emit_512.h - emit.h for eight lanes: AVX-512. */
#ifndef PE_KERNELS_LEVEL_EMIT_512_H
#define PE_KERNELS_LEVEL_EMIT_512_H

#include "kernels/level/lanes.h"

/* What was emitted, and a bit for each lane of it that is proven but for its size. */
typedef struct pe_seen {
    __m512 floats;
    __mmask16 proven;
} pe_seen;

PE_INLINE __m512 pe_join(pe_shape_of_row shape, __m256 a, __m256 b)
{
    if (shape != PE_ROW_INTERLEAVED)
        return _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1);
    const __m512i index = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_ps(_mm512_castps256_ps512(a), index, _mm512_castps256_ps512(b));
}

/* The window lies in the low words of the doubles; test them together. */
PE_INLINE __mmask16 pe_prove_float(const pe_rounding_margin *margin, pe_vd a, pe_vd b)
{
    const __m512i words =
        _mm512_mask_shuffle_epi32((__m512i)a, 0xaaaa, (__m512i)b, (_MM_PERM_ENUM)0xa0);
    const __m512i moved =
        _mm512_add_epi32(words, _mm512_set1_epi32((int)((1U << 28) + margin->window)));
    const uint32_t mask = PE_DROPPED & ~(2 * margin->window - 1);
    return _mm512_test_epi32_mask(moved, _mm512_set1_epi32((int)mask));
}

PE_INLINE void pe_put_halves(pe_shape_of_row shape, __m256i halves, pe_spot to)
{
    if (shape != PE_ROW_PLANES) {
        _mm256_storeu_si256(to.first, halves);
    } else {
        _mm_storeu_si128(to.first, _mm256_castsi256_si128(halves));
        _mm_storeu_si128(to.second, _mm256_extracti128_si256(halves, 1));
    }
}

/* 13 bits of the float are dropped; a midpoint has the first of them set alone. */
PE_INLINE __mmask16 pe_prove_half(__m512 f)
{
    const __m512i flipped = _mm512_xor_si512(_mm512_castps_si512(f), _mm512_set1_epi32(1 << 12));
    return _mm512_test_epi32_mask(flipped, _mm512_set1_epi32((1 << 13) - 1));
}

PE_INLINE pe_seen pe_emit(pe_row_kind kind, const pe_rounding_margin *margin, pe_vd a, pe_vd b,
                          pe_spot to)
{
    const __m256 low = _mm512_cvtpd_ps(a), high = _mm512_cvtpd_ps(b);
    const __m512 f = pe_join(kind.shape, low, high);
    if (kind.dtype == PE_FLOAT32) {
        if (kind.shape == PE_ROW_INTERLEAVED) {
            _mm512_storeu_ps(to.first, f);
        } else {
            _mm256_storeu_ps(to.first, low);
            _mm256_storeu_ps(to.second, high);
        }
        return (pe_seen){f, pe_prove_float(margin, a, b)};
    }
    if (kind.dtype == PE_FLOAT16) {
        pe_put_halves(kind.shape, _mm512_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                      to);
        return (pe_seen){f, pe_prove_half(f)};
    }
    const __m512i moved = _mm512_add_epi32(_mm512_castps_si512(f), _mm512_set1_epi32(1 << 15));
    pe_put_halves(kind.shape, _mm512_cvtepi32_epi16(_mm512_srli_epi32(moved, 16)), to);
    return (pe_seen){f, _mm512_test_epi32_mask(moved, _mm512_set1_epi32(0xffff))};
}

/* Whether anything of two emits is open. */
PE_INLINE bool pe_doubt(pe_dtype dtype, const pe_rounding_margin *margin, pe_seen f, pe_seen g)
{
    (void)dtype;
    const __m512 least = _mm512_range_ps(f.floats, g.floats, 0xa); /* the smaller magnitude */
    const __mmask16 proven = f.proven & g.proven;
    return _mm512_mask_cmp_ps_mask(proven, least, _mm512_set1_ps(margin->small), _CMP_GE_OQ) !=
           0xffff;
}

PE_INLINE void pe_emit_double(pe_shape_of_row shape, pe_vd a, pe_vd b, pe_spot to)
{
    if (shape == PE_ROW_PLANES) {
        pe_store_any(to.first, a);
        pe_store_any(to.second, b);
        return;
    }
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    pe_store_any(to.first, _mm512_permutex2var_pd(a, low, b));
    pe_store_any((char *)to.first + 64, _mm512_permutex2var_pd(a, high, b));
}

/* Doubles: a bit for each lane, set while it is proven. */
typedef __mmask8 pe_ok_double;
#define PE_ALL_OK_DOUBLE ((pe_ok_double)0xff)

PE_INLINE pe_ok_double pe_same(pe_vd a, pe_vd b, pe_ok_double ok)
{
    return _mm512_mask_cmp_pd_mask(ok, a, b, _CMP_EQ_OQ);
}

PE_INLINE unsigned pe_open_lanes(pe_ok_double ok)
{
    return (uint8_t)~ok;
}

#endif
