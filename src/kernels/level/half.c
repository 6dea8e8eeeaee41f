/* SPDX-License-Identifier: MIT */
/* half.c - the 16-bit types from and to double, in plain C for levels without conversions. */
#include "kernels/level/half.h"

#if !defined(__F16C__)

/* The bias moves from 15 to 127; a subnormal gets a leading one that is taken away again. NaN
 * becomes quiet, as conversion instructions make it. */
static double double_of(uint16_t half)
{
    const uint32_t magnitude = half & 0x7fff, moved = magnitude << 13;
    const uint32_t subnormal =
        pe_bits_of_float(pe_float_of(moved | 113U << 23) - pe_float_of(113U << 23));
    const uint32_t special = moved | 0xffU << 23 | (magnitude > 0x7c00 ? 1U << 22 : 0);
    const uint32_t finite = magnitude < 0x400 ? subnormal : moved + (112U << 23);
    const uint32_t sign = (uint32_t)(half >> 15) << 31;
    return (double)pe_float_of(sign | (magnitude < 0x7c00 ? finite : special));
}

void PE_LEVEL_NAME(pe_half_widen)(const void *in, size_t n, double *out)
{
    const pe_u16_at *half = in;
    for (size_t j = 0; j < n; j++)
        out[j] = double_of(half[j]);
}

/*
 * value rounded to `bits` significant bits, none below the last place of numbers of size `least`,
 * which must be a power of two: adding and taking away 3/2 * 2^52 last places does it, in the
 * rounding that every CPU has by default (nearest, ties to even). Numbers of 2^128 and more keep
 * more bits; the types that this is for make infinities of them. The result is exact in those types
 * (or too large), and keeps the sign of what it rounds to zero.
 */
static double round_bits(double value, int bits, double least)
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
static uint16_t half_of(double value)
{
    const float rounded = (float)round_bits(value, 11, 0x1p-14);
    const uint32_t bits = pe_bits_of_float(rounded), magnitude = bits & 0x7fffffff;
    const float size = pe_float_of(magnitude);
    const uint32_t normal = (magnitude - (112U << 23)) >> 13;
    const uint32_t subnormal = pe_bits_of_float(size + 0x1p-1F) & 0x7ff;
    const uint32_t special = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
    const uint32_t finite = size < 0x1p-14F ? subnormal : normal;
    return (uint16_t)((bits >> 16 & 0x8000) | (size < 65536.0F ? finite : special));
}

void PE_LEVEL_NAME(pe_half_narrow)(const double *in, size_t n, void *out)
{
    pe_u16_at *half = out;
    for (size_t j = 0; j < n; j++)
        half[j] = half_of(in[j]);
}

/* A bfloat16 is the upper half of a float. NaN stays one, of whatever kind. */
static uint16_t bfloat_of(double value)
{
    return (uint16_t)(pe_bits_of_float((float)round_bits(value, 8, 0x1p-126)) >> 16);
}

void PE_LEVEL_NAME(pe_half_narrow_bfloat)(const double *in, size_t n, void *out)
{
    pe_u16_at *bfloat = out;
    for (size_t j = 0; j < n; j++)
        bfloat[j] = bfloat_of(in[j]);
}

#endif
