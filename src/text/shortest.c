/* SPDX-License-Identifier: MIT */
/* shortest.c - shortest decimals by Schubfach's two grids. */
#include "text/shortest.h"

#include "text/powers.h"

/* A 192-bit number, as the product of a power's 128 bits and 64 more is. */
typedef struct wide {
    uint64_t high, middle, low;
} wide;

static inline wide multiply(pe_power power, uint64_t x)
{
    pe_uint128 low = (pe_uint128)power.lo * x;
    pe_uint128 high = (pe_uint128)power.hi * x + (uint64_t)(low >> 64);
    return (wide){(uint64_t)(high >> 64), (uint64_t)high, (uint64_t)low};
}

/* power * 2^shift, 0 < shift < 64. */
static inline wide shift_left(pe_power power, int shift)
{
    return (wide){power.hi >> (64 - shift), power.hi << shift | power.lo >> (64 - shift),
                  power.lo << shift};
}

static inline wide add(wide a, wide b)
{
    wide sum = {0, 0, a.low + b.low};
    pe_uint128 high = ((pe_uint128)a.high << 64 | a.middle) + ((pe_uint128)b.high << 64 | b.middle);
    high += sum.low < a.low;
    sum.high = (uint64_t)(high >> 64);
    sum.middle = (uint64_t)high;
    return sum;
}

static inline wide subtract(wide a, wide b)
{
    wide difference = {0, 0, a.low - b.low};
    pe_uint128 high = ((pe_uint128)a.high << 64 | a.middle) - ((pe_uint128)b.high << 64 | b.middle);
    high -= a.low < b.low;
    difference.high = (uint64_t)(high >> 64);
    difference.middle = (uint64_t)high;
    return difference;
}

/*
 * The part above 2^128, its last bit set when the rest is not zero (rounding to odd, which keeps
 * comparisons with multiples of four true). Powers are rounded up by less than one unit, so the
 * middle word is too large by at most one: 1 counts as zero.
 */
static inline uint64_t to_odd(wide x)
{
    return x.high | (x.middle > 1);
}

/*
 * With 10^k <= width of the rounding interval < 10^(k+1) the grid of multiples of 10^(k+1) has at
 * most one point in the interval, which is then the shortest (stripped of zeros; but below ten,
 * where the finer grid has one digit too), and the grid of multiples of 10^k has at least one,
 * whose nearest is wanted otherwise. All is compared in quarters of 10^k. Both answers are made and
 * one is chosen, since which it will be is nothing a processor could predict.
 */
pe_shortest pe_shortest_find(uint64_t c, int q, bool lopsided)
{
    int k = lopsided ? pe_log10_three_quarters_pow2(q) : pe_log10_pow2(q);
    pe_power power = pe_powers[-k - PE_POWER_MIN];
    int h = q + pe_log2_pow10(-k) + 1;

    /* The value and the ends of its interval, times 4 * 10^-k; ends belong to even c only. */
    wide product = multiply(power, c << (h + 2)), half = shift_left(power, h + 1);
    uint64_t value = to_odd(product);
    uint64_t upper = to_odd(add(product, half)) - (c & 1);
    half = shift_left(power, h + 1 - lopsided);
    uint64_t lower = to_odd(subtract(product, half)) + (c & 1);

    uint64_t s = value / 4, tens = s / 10 * 10, rest = value & 3;
    uint64_t down = lower <= 4 * s, up = 4 * s + 4 <= upper, one = down ^ up;
    uint64_t nearer = (rest == 3) | ((rest == 2) & s);
    uint64_t fine = s + ((one & up) | (~one & nearer & 1));

    down = lower <= 4 * tens, up = 4 * tens + 40 <= upper;
    uint64_t coarse = tens + 10 * up;
    uint64_t choice = 0 - ((down ^ up) & (s >= 10)); /* all ones for the coarse grid */
    return (pe_shortest){(coarse & choice) | (fine & ~choice), k};
}
