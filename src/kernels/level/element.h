/* SPDX-License-Identifier: MIT */
/* element.h - single elements as doubles, written so that loops over them vectorise. */
#ifndef PE_KERNELS_LEVEL_ELEMENT_H
#define PE_KERNELS_LEVEL_ELEMENT_H

#include <assert.h>
#include <string.h>

#include "kernels/level/variant.h"

/* Elements in the caller's bytes: any alignment, any declared type. */
typedef double pe_f64_at __attribute__((aligned(1), may_alias));
typedef float pe_f32_at __attribute__((aligned(1), may_alias));
typedef uint16_t pe_u16_at __attribute__((aligned(1), may_alias));

/* For bodies that are written once and specialised by a constant dtype. */
#define PE_INLINE static inline __attribute__((always_inline))

/* No iteration reads what another writes: in place is element by element. */
#if defined(__clang__)
#define PE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
/* Builds that do not vectorise at all need not say so. */
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define PE_INDEPENDENT _Pragma("GCC ivdep")
#endif

PE_INLINE uint64_t pe_bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

PE_INLINE double pe_double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

PE_INLINE uint32_t pe_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

PE_INLINE float pe_float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Any NaN becomes the one quiet NaN, positive and without payload, whatever made it. */
PE_INLINE double pe_canonical(double value)
{
    return value == value ? value : __builtin_nan("");
}

PE_INLINE double pe_abs(double value)
{
    return __builtin_fabs(value);
}

/* The bias moves from 15 to 127; a subnormal gets a leading one that is taken away again. NaN
 * becomes quiet, as conversion instructions make it. */
PE_INLINE double pe_double_of_half(uint16_t half)
{
    const uint32_t magnitude = half & 0x7fff, moved = magnitude << 13;
    const uint32_t subnormal =
        pe_bits_of_float(pe_float_of(moved | 113U << 23) - pe_float_of(113U << 23));
    const uint32_t special = moved | 0xffU << 23 | (magnitude > 0x7c00 ? 1U << 22 : 0);
    const uint32_t finite = magnitude < 0x400 ? subnormal : moved + (112U << 23);
    const uint32_t sign = (uint32_t)(half >> 15) << 31;
    return (double)pe_float_of(sign | (magnitude < 0x7c00 ? finite : special));
}

/*
 * value rounded to `bits` significant bits, none below the last place of numbers of size `least`,
 * which must be a power of two: adding and taking away 3/2 * 2^52 last places does it, in the
 * rounding that every CPU has by default (nearest, ties to even). Numbers of 2^128 and more keep
 * more bits; the types that this is for make infinities of them. The result is exact in those types
 * (or too large), and keeps the sign of what it rounds to zero.
 */
PE_INLINE double pe_round_bits(double value, int bits, double least)
{
    const double size = pe_double_of(pe_bits_of(value) & 0x7ffULL << 52); /* 2^exponent, or 0 */
    const double bounded = size < least ? least : size > 0x1p128 ? 0x1p128 : size;
    const double magic = bounded * (1.5 * (double)(1ULL << (53 - bits)));
    const uint64_t sign = pe_bits_of(value) & 1ULL << 63;
    return pe_double_of(pe_bits_of((value + magic) - magic) | sign);
}

/*
 * Rounded to 11 bits as a double, exact as a float; then the bias moves from 127 to 15. Below 2^-14
 * the half counts places of 2^-24. NaN stays one, of whatever kind.
 */
PE_INLINE uint16_t pe_half_of_double(double value)
{
    const float rounded = (float)pe_round_bits(value, 11, 0x1p-14);
    const uint32_t bits = pe_bits_of_float(rounded), magnitude = bits & 0x7fffffff;
    const float size = pe_float_of(magnitude);
    const uint32_t normal = (magnitude - (112U << 23)) >> 13;
    const uint32_t subnormal = pe_bits_of_float(size + 0x1p-1F) & 0x7ff;
    const uint32_t special = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
    const uint32_t finite = size < 0x1p-14F ? subnormal : normal;
    return (uint16_t)((bits >> 16 & 0x8000) | (size < 65536.0F ? finite : special));
}

/* A bfloat16 is the upper half of a float. NaN stays one, of whatever kind. */
PE_INLINE uint16_t pe_bfloat_of_double(double value)
{
    return (uint16_t)(pe_bits_of_float((float)pe_round_bits(value, 8, 0x1p-126)) >> 16);
}

PE_INLINE bool pe_is_narrow(pe_dtype dtype)
{
    return dtype == PE_FLOAT16 || dtype == PE_BFLOAT16;
}

PE_INLINE double pe_load(pe_dtype dtype, const void *from, size_t i)
{
    const pe_u16_at *bits = from;
    return dtype == PE_FLOAT32   ? (double)((const pe_f32_at *)from)[i]
           : dtype == PE_FLOAT64 ? ((const pe_f64_at *)from)[i]
           : dtype == PE_FLOAT16 ? pe_double_of_half(bits[i])
                                 : (double)pe_float_of((uint32_t)bits[i] << 16);
}

/* A NaN of 16 bits may be of any kind. */
PE_INLINE void pe_store(pe_dtype dtype, double value, void *to, size_t i)
{
    if (dtype == PE_FLOAT32)
        ((pe_f32_at *)to)[i] = (float)pe_canonical(value);
    else if (dtype == PE_FLOAT64)
        ((pe_f64_at *)to)[i] = pe_canonical(value);
    else
        ((pe_u16_at *)to)[i] =
            dtype == PE_FLOAT16 ? pe_half_of_double(value) : pe_bfloat_of_double(value);
}

/**
 * Make every NaN among n elements the one quiet NaN, positive and without payload: which NaN an
 * operation gives depends on the CPU and on the order of its operands. Kernels call this on what
 * they have just written, in pieces that the nearest cache holds; looking costs a fraction of what
 * a comparison in their loops does.
 */
void PE_LEVEL_NAME(pe_nan_canonicalise)(pe_dtype dtype, void *elements, size_t n);

#endif
