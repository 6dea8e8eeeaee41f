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

/* float32 and float64 only: the 16-bit types are converted by the block (convert.c, half*.c). */
PE_INLINE double pe_load(pe_dtype dtype, const void *from, size_t i)
{
    return dtype == PE_FLOAT32 ? (double)((const pe_f32_at *)from)[i]
                               : ((const pe_f64_at *)from)[i];
}

PE_INLINE void pe_store(pe_dtype dtype, double value, void *to, size_t i)
{
    if (dtype == PE_FLOAT32)
        ((pe_f32_at *)to)[i] = (float)pe_canonical(value);
    else
        ((pe_f64_at *)to)[i] = pe_canonical(value);
}

#endif
