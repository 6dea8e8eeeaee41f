/* SPDX-License-Identifier: MIT */
/* shortest.c - shortest decimals by Schubfach's two grids. */
#include "text/shortest.h"

#include "text/powers.h"

/*
 * floor(power * x / 2^128), with its last bit set when the rest is not zero (rounding to odd, which
 * keeps comparisons with multiples of four true). The power is rounded up by less than one unit, so
 * the word below the result is too large by at most one: 1 counts as zero.
 */
static inline uint64_t scale_to_odd(pe_power power, uint64_t x)
{
    pe_uint128 low = (pe_uint128)power.lo * x;
    pe_uint128 sum = (pe_uint128)power.hi * x + (uint64_t)(low >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/*
 * With 10^k <= width of the rounding interval < 10^(k+1) the grid of multiples of 10^(k+1) has at
 * most one point in the interval, which is then the shortest (stripped of zeros; but below ten,
 * where the finer grid has one digit too), and the grid of multiples of 10^k has at least one,
 * whose nearest is wanted otherwise. All is compared in quarters of 10^k.
 */
pe_shortest pe_shortest_find(uint64_t c, int q, bool lopsided)
{
    int k = lopsided ? pe_log10_three_quarters_pow2(q) : pe_log10_pow2(q);
    pe_power power = pe_powers[-k - PE_POWER_MIN];
    int h = q + pe_log2_pow10(-k) + 1;

    /* The value and the ends of its interval, times 4 * 10^-k; ends belong to even c only. */
    uint64_t value = scale_to_odd(power, (4 * c) << h);
    uint64_t lower = scale_to_odd(power, (4 * c - (lopsided ? 1 : 2)) << h) + (c & 1);
    uint64_t upper = scale_to_odd(power, (4 * c + 2) << h) - (c & 1);

    uint64_t s = value / 4, tens = s / 10 * 10;
    bool down = lower <= 4 * tens, up = 4 * tens + 40 <= upper;
    if (s >= 10 && down != up)
        return (pe_shortest){tens + (up ? 10 : 0), k};

    down = lower <= 4 * s, up = 4 * s + 4 <= upper;
    if (down == up) {
        uint64_t middle = 4 * s + 2;
        up = value > middle || (value == middle && (s & 1));
    }
    return (pe_shortest){s + up, k};
}
