/* SPDX-License-Identifier: MIT */
/* emit_any.h - emit.h for two lanes of any processor. */
#ifndef PE_KERNELS_LEVEL_EMIT_ANY_H
#define PE_KERNELS_LEVEL_EMIT_ANY_H

#include "kernels/level/lanes.h"

/* What was emitted, and whether all of it is proven but for its size. */
typedef struct pe_seen {
    float at[2 * PE_LANES];
    bool proven;
} pe_seen;

/* Lane k of two vectors emitted: an even one is a's, an odd one b's. */
PE_INLINE void *pe_place(pe_shape_of_row shape, size_t item, pe_spot to, int k)
{
    if (shape == PE_ROW_INTERLEAVED)
        return (char *)to.first + (size_t)k * item;
    return (char *)(k & 1 ? to.second : to.first) + (size_t)(k >> 1) * item;
}

PE_INLINE bool pe_prove_float(const pe_rounding_margin *margin, double value)
{
    const uint32_t moved = (uint32_t)pe_bits_of(value) + (1U << 28) + margin->window;
    return (moved & PE_DROPPED & ~(2 * margin->window - 1)) != 0;
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

PE_INLINE pe_seen pe_emit(pe_row_kind kind, const pe_rounding_margin *margin, pe_vd a, pe_vd b,
                          pe_spot to)
{
    pe_seen f = {.proven = true};
    for (int k = 0; k < 2 * PE_LANES; k++) {
        const double value = k & 1 ? b[k >> 1] : a[k >> 1];
        const size_t item = kind.dtype == PE_FLOAT32 ? sizeof(float) : sizeof(uint16_t);
        void *place = pe_place(kind.shape, item, to, k);
        f.at[k] = (float)value;
        if (kind.dtype == PE_FLOAT32) {
            f.proven &= pe_prove_float(margin, value);
            *(pe_f32_at *)place = f.at[k];
        } else if (kind.dtype == PE_FLOAT16) {
            f.proven &= pe_prove_half(f.at[k]);
            *(pe_u16_at *)place = pe_half_of(f.at[k]);
        } else {
            const uint32_t moved = pe_bits_of_float(f.at[k]) + (1U << 15);
            f.proven &= (moved & 0xffff) != 0;
            *(pe_u16_at *)place = (uint16_t)(moved >> 16);
        }
    }
    return f;
}

PE_INLINE bool pe_doubt(pe_dtype dtype, const pe_rounding_margin *margin, pe_seen f, pe_seen g)
{
    (void)dtype;
    bool proven = f.proven & g.proven;
    for (int k = 0; k < 2 * PE_LANES; k++)
        proven &=
            __builtin_fabsf(f.at[k]) >= margin->small && __builtin_fabsf(g.at[k]) >= margin->small;
    return !proven;
}

PE_INLINE void pe_emit_double(pe_shape_of_row shape, pe_vd a, pe_vd b, pe_spot to)
{
    if (shape == PE_ROW_PLANES) {
        pe_store_any(to.first, a);
        pe_store_any(to.second, b);
        return;
    }
    pe_store_any(to.first, (pe_vd){a[0], b[0]});
    pe_store_any((char *)to.first + 16, (pe_vd){a[1], b[1]});
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
