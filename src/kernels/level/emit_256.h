/* SPDX-License-Identifier: MIT */
/* emit_256.h - emit.h for four lanes: AVX2. */
#ifndef PE_KERNELS_LEVEL_EMIT_256_H
#define PE_KERNELS_LEVEL_EMIT_256_H

#include "kernels/level/lanes.h"

/* ok: all zero while everything is proven. */
typedef __m256i pe_ok;
typedef __m256 pe_floats;
#define PE_ALL_OK _mm256_setzero_si256()

PE_INLINE pe_floats pe_join(pe_shape_of_row shape, __m128 a, __m128 b)
{
    return shape == PE_ROW_PLANES ? _mm256_set_m128(b, a)
                                  : _mm256_set_m128(_mm_unpackhi_ps(a, b), _mm_unpacklo_ps(a, b));
}

/* Lanes whose masked bits are zero are open. */
PE_INLINE pe_ok pe_open(__m256i bits, uint32_t mask, pe_ok ok)
{
    const __m256i kept = _mm256_and_si256(bits, _mm256_set1_epi32((int)mask));
    return _mm256_or_si256(ok, _mm256_cmpeq_epi32(kept, _mm256_setzero_si256()));
}

PE_INLINE pe_ok pe_prove_float(const pe_limits *limits, pe_vd a, pe_vd b, pe_ok ok)
{
    /* the low words of both, in any order */
    const __m256i words = (__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
    const __m256i moved =
        _mm256_add_epi32(words, _mm256_set1_epi32((int)((1U << 28) + limits->window)));
    return pe_open(moved, PE_DROPPED & ~(2 * limits->window - 1), ok);
}

PE_INLINE void pe_put_halves(pe_shape_of_row shape, __m128i halves, void *to_a, void *to_b)
{
    if (shape == PE_ROW_INTERLEAVED) {
        _mm_storeu_si128(to_a, halves);
    } else {
        _mm_storel_epi64(to_a, halves);
        _mm_storel_epi64(to_b, _mm_unpackhi_epi64(halves, halves));
    }
}

PE_INLINE __m256 pe_size(__m256 f)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), f);
}

PE_INLINE pe_ok pe_prove_half(pe_floats f, pe_ok ok)
{
    const __m256i flipped = _mm256_xor_si256(_mm256_castps_si256(f), _mm256_set1_epi32(1 << 12));
    ok = pe_open(flipped, (1 << 13) - 1, ok);
    return ok;
}

PE_INLINE pe_floats pe_emit(pe_dtype dtype, pe_shape_of_row shape, const pe_limits *limits, pe_vd a,
                            pe_vd b, void *to_a, void *to_b, pe_ok *ok)
{
    const __m128 low = _mm256_cvtpd_ps(a), high = _mm256_cvtpd_ps(b);
    const pe_floats f = pe_join(shape, low, high);
    if (dtype == PE_FLOAT32) {
        *ok = pe_prove_float(limits, a, b, *ok);
        if (shape == PE_ROW_INTERLEAVED) {
            _mm256_storeu_ps(to_a, f);
        } else {
            _mm_storeu_ps(to_a, low);
            _mm_storeu_ps(to_b, high);
        }
    } else if (dtype == PE_FLOAT16) {
        *ok = pe_prove_half(f, *ok);
        pe_put_halves(shape, _mm256_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                      to_a, to_b);
    } else {
        const __m256i moved = _mm256_add_epi32(_mm256_castps_si256(f), _mm256_set1_epi32(1 << 15));
        *ok = pe_open(moved, 0xffff, *ok);
        const __m256i rounded = _mm256_srli_epi32(moved, 16);
        pe_put_halves(
            shape,
            _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1)),
            to_a, to_b);
    }
    return f;
}

PE_INLINE bool pe_doubt(const pe_limits *limits, pe_ok ok, pe_floats f, pe_floats g)
{
    const __m256 least = _mm256_min_ps(pe_size(f), pe_size(g));
    const __m256 open = _mm256_cmp_ps(least, _mm256_set1_ps(limits->small), _CMP_NGE_UQ);
    const __m256i all = _mm256_or_si256(ok, _mm256_castps_si256(open));
    return !_mm256_testz_si256(all, all);
}

PE_INLINE void pe_emit_double(pe_shape_of_row shape, pe_vd a, pe_vd b, void *to_a, void *to_b)
{
    if (shape == PE_ROW_PLANES) {
        pe_store_any(to_a, a);
        pe_store_any(to_b, b);
        return;
    }
    const __m256d low = _mm256_unpacklo_pd(a, b), high = _mm256_unpackhi_pd(a, b);
    pe_store_any(to_a, _mm256_permute2f128_pd(low, high, 0x20));
    pe_store_any((char *)to_a + 32, _mm256_permute2f128_pd(low, high, 0x31));
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
