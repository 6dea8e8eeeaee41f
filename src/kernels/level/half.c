/* SPDX-License-Identifier: MIT */
/* half.c - float16 from and to double, in plain C for levels without conversion instructions. */
#include "kernels/level/half.h"

#if !defined(__F16C__)

/* Sign, 5 bits of exponent (bias 15), 10 of fraction; NaN becomes quiet and keeps its payload. */
static double double_of(uint16_t half)
{
    const uint64_t sign = (uint64_t)(half >> 15) << 63;
    const int32_t magnitude = half & 0x7fff;
    const uint64_t moved = (uint64_t)magnitude << 42;
    const uint64_t normal = moved + (1008ULL << 52);
    const uint64_t subnormal = pe_bits_of((double)magnitude * 0x1p-24);
    const uint64_t special = moved | 0x7ffULL << 52 | (magnitude > 0x7c00 ? 1ULL << 51 : 0);
    const uint64_t finite = magnitude < 0x400 ? subnormal : normal;
    return pe_double_of(sign | (magnitude < 0x7c00 ? finite : special));
}

void PE_LEVEL_NAME(pe_widen_half)(const void *in, size_t n, double *out)
{
    const pe_u16_at *half = in;
    for (size_t j = 0; j < n; j++)
        out[j] = double_of(half[j]);
}

/*
 * Normal: round the 52 fraction bits to 10 (ties to even) and move the bias from 1023 to 15; a
 * carry runs into the exponent and from the largest number to infinity. Below 2^-14 the last place
 * is 2^-24: adding 2^(52 - 24) leaves the half's bits at the bottom of the sum.
 */
static uint16_t half_of(double value)
{
    const uint64_t bits = pe_bits_of(value) & ~(1ULL << 63);
    const uint64_t sign = pe_bits_of(value) >> 63 << 15;
    const uint64_t normal =
        (bits + ((1ULL << 41) - 1) + (bits >> 42 & 1) - (1008ULL << 52)) >> 42 & 0xffff;
    const uint64_t subnormal = pe_bits_of(pe_abs(value) + 0x1p28) & 0xffff;
    const uint64_t finite = pe_abs(value) < 0x1p-14 ? subnormal : normal;
    const uint64_t ordered = pe_abs(value) < 65520.0 ? finite : 0x7c00;
    return (uint16_t)(value == value ? sign | ordered : 0x7e00);
}

void PE_LEVEL_NAME(pe_narrow_half)(const double *in, size_t n, void *out)
{
    pe_u16_at *half = out;
    for (size_t j = 0; j < n; j++)
        half[j] = half_of(in[j]);
}

#endif
