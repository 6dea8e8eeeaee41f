/* SPDX-License-Identifier: MIT */
/* emit.h - two vectors of doubles rounded to a type and stored, with the proof of the rounding. */
#ifndef PE_KERNELS_LEVEL_EMIT_H
#define PE_KERNELS_LEVEL_EMIT_H

#include "kernels/level/lanes.h"

/** How two vectors a and b go to memory. */
typedef enum pe_shape_of_row {
    PE_ROW_INTERLEAVED, /* a0 b0 a1 b1 ... */
    PE_ROW_PLANES       /* a0 a1 ... and b0 b1 ... */
} pe_shape_of_row;

/**
 * When a rounding counts as proven. Values are not below `small`, which keeps them normal and
 * relates their error to their last place.
 *
 * float32: the 29 bits of the double that are dropped must not be within `window` of a midpoint
 * (window: a power of two, in last places of the double), which the error does not reach.
 * float16, bfloat16: the value is rounded to float first. That keeps it, and what it stands for,
 * on one side of any midpoint, which are floats, unless it lands on one.
 */
typedef struct pe_limits {
    uint32_t window;
    float small;
} pe_limits;

#define PE_DROPPED ((1U << 29) - 1) /* bits of a double beyond those of a float */

#if PE_LANES == 8

/* ok: a bit for each lane of what was emitted, all set while everything is proven. */
typedef __mmask16 pe_ok;
typedef __m512 pe_floats;
#define PE_ALL_OK ((pe_ok)0xffff)

PE_INLINE pe_floats pe_join(pe_shape_of_row shape, __m256 a, __m256 b)
{
    if (shape == PE_ROW_PLANES)
        return _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1);
    const __m512i index = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_ps(_mm512_castps256_ps512(a), index, _mm512_castps256_ps512(b));
}

/* The window lies in the low words of the doubles; test them together. */
PE_INLINE pe_ok pe_prove_float(const pe_limits *limits, pe_vd a, pe_vd b, pe_ok ok)
{
    const __m512i words =
        _mm512_mask_shuffle_epi32((__m512i)a, 0xaaaa, (__m512i)b, (_MM_PERM_ENUM)0xa0);
    const __m512i moved =
        _mm512_add_epi32(words, _mm512_set1_epi32((int)((1U << 28) + limits->window)));
    const uint32_t mask = PE_DROPPED & ~(2 * limits->window - 1);
    return _mm512_mask_test_epi32_mask(ok, moved, _mm512_set1_epi32((int)mask));
}

PE_INLINE void pe_put_halves(pe_shape_of_row shape, __m256i halves, void *to_a, void *to_b)
{
    if (shape == PE_ROW_INTERLEAVED) {
        _mm256_storeu_si256(to_a, halves);
    } else {
        _mm_storeu_si128(to_a, _mm256_castsi256_si128(halves));
        _mm_storeu_si128(to_b, _mm256_extracti128_si256(halves, 1));
    }
}

/* 13 bits of the float are dropped; a midpoint has the first of them set alone. */
PE_INLINE pe_ok pe_prove_half(pe_floats f, pe_ok ok)
{
    const __m512i flipped = _mm512_xor_si512(_mm512_castps_si512(f), _mm512_set1_epi32(1 << 12));
    ok = _mm512_mask_test_epi32_mask(ok, flipped, _mm512_set1_epi32((1 << 13) - 1));
    return ok;
}

PE_INLINE pe_floats pe_emit(pe_dtype dtype, pe_shape_of_row shape, const pe_limits *limits, pe_vd a,
                            pe_vd b, void *to_a, void *to_b, pe_ok *ok)
{
    const __m256 low = _mm512_cvtpd_ps(a), high = _mm512_cvtpd_ps(b);
    const pe_floats f = pe_join(shape, low, high);
    if (dtype == PE_FLOAT32) {
        *ok = pe_prove_float(limits, a, b, *ok);
        if (shape == PE_ROW_INTERLEAVED) {
            _mm512_storeu_ps(to_a, f);
        } else {
            _mm256_storeu_ps(to_a, low);
            _mm256_storeu_ps(to_b, high);
        }
    } else if (dtype == PE_FLOAT16) {
        *ok = pe_prove_half(f, *ok);
        pe_put_halves(shape, _mm512_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                      to_a, to_b);
    } else {
        const __m512i moved = _mm512_add_epi32(_mm512_castps_si512(f), _mm512_set1_epi32(1 << 15));
        *ok = _mm512_mask_test_epi32_mask(*ok, moved, _mm512_set1_epi32(0xffff));
        pe_put_halves(shape, _mm512_cvtepi32_epi16(_mm512_srli_epi32(moved, 16)), to_a, to_b);
    }
    return f;
}

/* Whether anything of two emits is open. */
PE_INLINE bool pe_doubt(const pe_limits *limits, pe_ok ok, pe_floats f, pe_floats g)
{
    const pe_floats least = _mm512_range_ps(f, g, 0xa); /* the smaller magnitude */
    return _mm512_mask_cmp_ps_mask(ok, least, _mm512_set1_ps(limits->small), _CMP_GE_OQ) !=
           PE_ALL_OK;
}

PE_INLINE void pe_emit_double(pe_shape_of_row shape, pe_vd a, pe_vd b, void *to_a, void *to_b)
{
    if (shape == PE_ROW_PLANES) {
        pe_store_any(to_a, a);
        pe_store_any(to_b, b);
        return;
    }
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    pe_store_any(to_a, _mm512_permutex2var_pd(a, low, b));
    pe_store_any((char *)to_a + 64, _mm512_permutex2var_pd(a, high, b));
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

#elif PE_LANES == 4

/* ok: all zero while everything is proven. */
typedef __m256i pe_ok;
typedef __m256 pe_floats;
#define PE_ALL_OK        _mm256_setzero_si256()

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
    const __m256i words = _mm256_blend_epi32((__m256i)a, _mm256_slli_epi64((__m256i)b, 32), 0xaa);
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

#else

typedef bool pe_ok;
typedef struct pe_floats {
    float at[2 * PE_LANES];
} pe_floats;
#define PE_ALL_OK        true

/* Lane k of two vectors emitted: an even one is a's, an odd one b's. */
PE_INLINE void *pe_place(pe_shape_of_row shape, size_t item, void *to_a, void *to_b, int k)
{
    if (shape == PE_ROW_INTERLEAVED)
        return (char *)to_a + (size_t)k * item;
    return (char *)(k & 1 ? to_b : to_a) + (size_t)(k >> 1) * item;
}

PE_INLINE bool pe_prove_float(const pe_limits *limits, double value)
{
    const uint32_t moved = (uint32_t)pe_bits_of(value) + (1U << 28) + limits->window;
    return (moved & PE_DROPPED & ~(2 * limits->window - 1)) != 0;
}

/* A float to float16, ties away: they are open. Below 2^-14 the sum with 1/2 rounds. */
PE_INLINE uint16_t pe_half_of(float f)
{
    const uint32_t bits = pe_bits_of_float(f), size = bits & 0x7fffffffU;
    const uint32_t low = pe_bits_of_float(pe_float_of(size) + 0.5F) - pe_bits_of_float(0.5F);
    const uint32_t normal = ((size + (1U << 12)) >> 13) - (112U << 10);
    const uint32_t half = size < pe_bits_of_float(0x1p-14F) ? low : normal;
    return (uint16_t)(bits >> 16 & 0x8000U) | (uint16_t)(half < 0x7c00 ? half : 0x7c00);
}

PE_INLINE bool pe_prove_half(float f)
{
    return (pe_bits_of_float(f) & 0x1fff) != 0x1000;
}

PE_INLINE pe_floats pe_emit(pe_dtype dtype, pe_shape_of_row shape, const pe_limits *limits, pe_vd a,
                            pe_vd b, void *to_a, void *to_b, pe_ok *ok)
{
    pe_floats f;
    for (int k = 0; k < 2 * PE_LANES; k++) {
        const double value = k & 1 ? b[k >> 1] : a[k >> 1];
        const size_t item = dtype == PE_FLOAT32 ? sizeof(float) : sizeof(uint16_t);
        void *to = pe_place(shape, item, to_a, to_b, k);
        f.at[k] = (float)value;
        if (dtype == PE_FLOAT32) {
            *ok &= pe_prove_float(limits, value);
            *(pe_f32_at *)to = f.at[k];
        } else if (dtype == PE_FLOAT16) {
            *ok &= pe_prove_half(f.at[k]);
            *(pe_u16_at *)to = pe_half_of(f.at[k]);
        } else {
            const uint32_t moved = pe_bits_of_float(f.at[k]) + (1U << 15);
            *ok &= (moved & 0xffff) != 0;
            *(pe_u16_at *)to = (uint16_t)(moved >> 16);
        }
    }
    return f;
}

PE_INLINE bool pe_doubt(const pe_limits *limits, pe_ok ok, pe_floats f, pe_floats g)
{
    for (int k = 0; k < 2 * PE_LANES; k++)
        ok &=
            __builtin_fabsf(f.at[k]) >= limits->small && __builtin_fabsf(g.at[k]) >= limits->small;
    return !ok;
}

PE_INLINE void pe_emit_double(pe_shape_of_row shape, pe_vd a, pe_vd b, void *to_a, void *to_b)
{
    if (shape == PE_ROW_PLANES) {
        pe_store_any(to_a, a);
        pe_store_any(to_b, b);
        return;
    }
    pe_store_any(to_a, (pe_vd){a[0], b[0]});
    pe_store_any((char *)to_a + 16, (pe_vd){a[1], b[1]});
}

/* Doubles: a bit for each lane that is open. */
typedef unsigned pe_ok_double;
#define PE_ALL_OK_DOUBLE 0U

PE_INLINE pe_ok_double pe_same(pe_vd a, pe_vd b, pe_ok_double ok)
{
    return ok | (a[0] != b[0] ? 1U : 0U) | (a[1] != b[1] ? 2U : 0U);
}

PE_INLINE unsigned pe_open_lanes(pe_ok_double ok)
{
    return ok;
}

#endif
#endif
