/* SPDX-License-Identifier: MIT */
/* waves_offsets.c - the rotations that rows are turned by. */
#include "kernels/level/turn.h"

/* Where products are not fused, those in double have the error of heads and tails rounded: there is
 * none to spare (waves_narrow.c). */
PE_INLINE void put_offsets(bool split, size_t padded, pe_turn at, double *to)
{
    pe_split s, c;
    if (!split && PE_LANES > 2) {
        const pe_sincos v = pe_turn_sincos(at);
        pe_store_d(to, v.c);
        pe_store_d(to + padded, v.s);
        return;
    }
    pe_turn_sincos_split(at, &s, &c);
    if (split) {
        pe_store_d(to, c.head);
        pe_store_d(to + padded, c.tail);
        pe_store_d(to + 2 * padded, s.head);
        pe_store_d(to + 3 * padded, s.tail);
    } else {
        pe_store_d(to, c.head + c.tail);
        pe_store_d(to + padded, s.head + s.tail);
    }
}

void PE_LEVEL_NAME(pe_waves_offsets)(const pe_offsets *wanted, double *out)
{
    const size_t n = wanted->n, padded = pe_kernels_padded(n), planes = wanted->split ? 4 : 2;
    for (size_t k = 0; k < wanted->rows; k++) {
        for (size_t i = 0; i < n; i += PE_LANES) {
            const pe_turn half = pe_turn_half(wanted->step_hi, wanted->step_lo, i);
            put_offsets(wanted->split, padded,
                        pe_turn_mul(half, wanted->first + k * wanted->stride),
                        out + planes * k * padded + i);
        }
    }
}
