/* SPDX-License-Identifier: MIT */
/* waves_offsets.c - the rotations that rows are turned by. */
#include "kernels/level/turn.h"

static void put_offsets(bool split, size_t padded, pe_split c, pe_split s, double *to)
{
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

void PE_LEVEL_NAME(pe_waves_offsets)(size_t n, const uint64_t *step_hi, const uint64_t *step_lo,
                                     size_t rows, bool split, double *out)
{
    const size_t padded = pe_kernels_padded(n), planes = split ? 4 : 2;
    for (size_t k = 0; k < rows; k++) {
        for (size_t i = 0; i < n; i += PE_LANES) {
            const pe_turn half = pe_turn_half(step_hi, step_lo, i, n);
            pe_split s, c;
            pe_turn_sincos_split(pe_turn_mul(half, 2 * k + 1), &s, &c);
            put_offsets(split, padded, c, s, out + planes * k * padded + i);
        }
    }
}
