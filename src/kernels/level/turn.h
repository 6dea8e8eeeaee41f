/* SPDX-License-Identifier: MIT */
/* turn.h - phases of a run, and sines and cosines of phases, in lanes. */
#ifndef PE_KERNELS_LEVEL_TURN_H
#define PE_KERNELS_LEVEL_TURN_H

#include "kernels/level/lanes.h"

/** A fraction of a turn in 128-bit fixed point. */
typedef struct pe_turn {
    pe_vu hi, lo;
} pe_turn;

/** A sine and a cosine, or one rounded part of them. */
typedef struct pe_sincos {
    pe_vd s, c;
} pe_sincos;

/** Sum and rest: heads are multiples of 2^-26 of at most 1, so that products of two heads, and
 * sums of two such products, are exact; tails are at most 1.03 * 2^-25. */
typedef struct pe_split {
    pe_vd head, tail;
} pe_split;

/* a + b mod 1; where bits carry out is known without comparing. */
PE_INLINE pe_turn pe_turn_add(pe_turn a, pe_turn b)
{
    const pe_vu lo = a.lo + b.lo;
    const pe_vu carry = ((a.lo & b.lo) | ((a.lo | b.lo) & ~lo)) >> 63;
    return (pe_turn){a.hi + b.hi + carry, lo};
}

/* m * a mod 1, m < 2^32, in 32-bit digits. */
PE_INLINE pe_turn pe_turn_mul(pe_turn a, uint64_t m)
{
    const pe_vu by = pe_all_u(m);
    const pe_vu digit0 = pe_mul32(a.lo, by);
    const pe_vu digit1 = pe_mul32(a.lo >> 32, by) + (digit0 >> 32);
    const pe_vu digit2 = pe_mul32(a.hi, by) + (digit1 >> 32);
    const pe_vu digit3 = pe_mul32(a.hi >> 32, by) + (digit2 >> 32);
    return (pe_turn){digit3 << 32 | (digit2 & UINT32_MAX), digit1 << 32 | (digit0 & UINT32_MAX)};
}

/* Half a step of frequencies [i, i + PE_LANES). */
PE_INLINE pe_turn pe_turn_half(const uint64_t *step_hi, const uint64_t *step_lo, size_t i)
{
    const pe_vu hi = pe_load_u(step_hi + i), lo = pe_load_u(step_lo + i);
    return (pe_turn){hi >> 1, lo >> 1 | hi << 63};
}

/** Where a row is: so many half steps from the run's start, or at a listed position. */
typedef struct pe_when {
    uint64_t half_steps;
    uint64_t whole, upper, lower; /* digits of 1, 2^-32 and 2^-64 of the position's magnitude */
    uint64_t flip;                /* ones where it is negative: -x is ~x but for the last when */
} pe_when;

PE_INLINE pe_when pe_when_of(const pe_run *run, uint64_t half_steps)
{
    pe_when when = {.half_steps = half_steps};
    if (run->list == NULL)
        return when;
    const double position = run->list[half_steps / 2], size = pe_abs(position);
    when.whole = (uint64_t)size;
    const double upper = (size - (double)when.whole) * 0x1p32;
    when.upper = (uint64_t)upper;
    when.lower = (uint64_t)((upper - (double)when.upper) * 0x1p32);
    when.flip = position < 0 ? UINT64_MAX : 0;
    return when;
}

/* upper * 2^-32 of a, and lower * 2^-64: what is cut off is below 2^-127. */
PE_INLINE pe_turn pe_turn_fraction(pe_turn a, const pe_when *when)
{
    const pe_vu upper = pe_all_u(when->upper), lower = pe_all_u(when->lower);
    const pe_vu a3 = a.hi >> 32, a1 = a.lo >> 32;
    const pe_vu low0 = pe_mul32(a.hi, lower) + (pe_mul32(a1, lower) >> 32);
    const pe_vu low1 = pe_mul32(a3, lower) + (low0 >> 32);
    const pe_vu up0 = pe_mul32(a1, upper) + (pe_mul32(a.lo, upper) >> 32);
    const pe_vu up1 = pe_mul32(a.hi, upper) + (up0 >> 32);
    const pe_vu up2 = pe_mul32(a3, upper) + (up1 >> 32);
    return pe_turn_add((pe_turn){up2, up1 << 32 | (up0 & UINT32_MAX)},
                       (pe_turn){low1 >> 32, low1 << 32 | (low0 & UINT32_MAX)});
}

/* The phases of frequencies [i, i + PE_LANES) at a when. */
PE_INLINE pe_turn pe_turn_at(const pe_run *run, size_t i, const pe_when *when)
{
    if (run->list != NULL) {
        const pe_turn step = {pe_load_u(run->step_hi + i), pe_load_u(run->step_lo + i)};
        pe_turn at = pe_turn_mul(step, when->whole);
        if ((when->upper | when->lower) != 0)
            at = pe_turn_add(at, pe_turn_fraction(step, when));
        return (pe_turn){at.hi ^ when->flip, at.lo ^ when->flip};
    }
    const pe_turn half = pe_turn_half(run->step_hi, run->step_lo, i);
    if (run->start_hi == NULL)
        return pe_turn_mul(half, 2 * run->first + run->row_steps * when->half_steps);
    const pe_turn start = {pe_load_u(run->start_hi + i), pe_load_u(run->start_lo + i)};
    return pe_turn_add(start, pe_turn_mul(half, run->row_steps * when->half_steps));
}

/* The same of a listed when to 2^-61 turns, as whole words. */
PE_INLINE pe_vu pe_turn_near(const pe_run *run, size_t i, const pe_when *when)
{
    const pe_vu hi = pe_load_u(run->step_hi + i);
    const pe_vu a1 = pe_load_u(run->step_lo + i) >> 32, a3 = hi >> 32;
    const pe_vu whole = pe_all_u(when->whole), upper = pe_all_u(when->upper);
    const pe_vu least = (pe_mul32(a1, whole) >> 32) + (pe_mul32(hi, upper) >> 32) +
                        (pe_mul32(a3, pe_all_u(when->lower)) >> 32);
    const pe_vu sum = (pe_mul32(a3, whole) << 32) + pe_mul32(hi, whole) + pe_mul32(a3, upper);
    return (sum + least) ^ when->flip;
}

/* x in quarter turns from -1/2 to 1/2, as head (a multiple of 2^-52) and tail (below 2^-52). */
PE_INLINE pe_split pe_turn_reduce(pe_vu y, pe_vu lo)
{
    const pe_vu one = pe_all_u(0x3ff0000000000000U);
    const pe_vu fraction = y & ((1ULL << 62) - 1); /* of the quarter turn, from its lower edge */
    const pe_vu rest = (fraction & 1023) << 42 | lo >> 22;
    return (pe_split){(pe_vd)(fraction >> 10 | one) - 1.5, ((pe_vd)(rest | one) - 1.0) * 0x1p-52};
}

/* Sine and cosine of x and the quadrant in the top bits of y: swap, then signs. */
PE_INLINE pe_sincos pe_turn_quadrant(pe_vu y, pe_vd s, pe_vd c)
{
    const pe_vu sign = pe_all_u(1ULL << 63);
    const pe_vu odd = 0 - (y >> 62 & 1);
    return (pe_sincos){(pe_vd)((pe_vu)pe_select(odd, c, s) ^ (y & sign)),
                       (pe_vd)((pe_vu)pe_select(odd, s, c) ^ ((y + (1ULL << 62)) & sign))};
}

/*
 * Sines and cosines of phases in double.
 *
 *     sin(pi/2 x) = x P(z), cos(pi/2 x) = 1 + z Q(z), z = x^2, |x| <= 1/2
 *
 * P = p_0 + z R and Q are minimax polynomials of 8 and 7 terms.
 *
 * Absolute error. Rounding a number of at most 2^k costs at most 2^(k-54), and later steps multiply
 * that by their derivative. In units of 2^-53, at most (* only where products are not fused):
 *
 *                                           sine                    cosine
 *     x rounded, 1/4                        0.12  times 0.47        0.28  times 1.12
 *     z rounded, 1/8                        0.05  times 0.33        0.16  times 1.24
 *     sums of R and Q, 1/2 and 1, with
 *       their products and inner sums       0.07  0.54 |x| z        0.28  1.1 z
 *     R z, 1/8; its product with x, 1/16*;
 *       their sum with x_tail p_0, 1/16     0.19  |x|/8 + 1/8
 *     P and Q as their coefficients are     0.32                    0.17
 *     last product                          0.50* of 0.79           0.25* of 0.3
 *     last sum                              0.50  of 0.71           0.50  of 1
 *                                           1.75 (fused 1.19)       1.64 (fused 1.40)
 *
 * Together, as a distance, these are less than 2.4 (fused 1.84). The phase is off by 2^-97 of a
 * quarter turn: bits cut off, half steps, and 2^-100 turns that the caller is allowed.
 *
 * Relative error, down to sines of 2^-40. Rounding costs at most 2^-53 of the number, and the sine
 * is at least sqrt(2) |x|. So P, off by 0.62 |x|, makes 0.44; the last product 1.12*; the last sum
 * 1; eight roundings of x z R, which is at most 0.65 |x|^3, make 0.94; the phase 0.1: less than 3.6
 * (fused 2.5). The cosine's error is less than that, too: the cosine is at least sqrt(1/2).
 */
PE_INLINE pe_sincos pe_turn_sincos(pe_turn phase)
{
    static const double p[] = {
        0x1.921fb54442d18p+0,  -0x1.4abbce625be53p-1,  0x1.466bc6775aad9p-4,
        -0x1.32d2cce62ac22p-8, 0x1.50783485cbd83p-13,  -0x1.e3074b4ff3058p-19,
        0x1.e8eed12ee00a3p-25, -0x1.6c5b875d4e739p-31,
    };
    static const double q[] = {
        -0x1.3bd3cc9be45dep+0,  0x1.03c1f081b5ac0p-2,   -0x1.55d3c7e3cb241p-6,
        0x1.e1f5068688d5bp-11,  -0x1.a6d1eef479be1p-16, 0x1.f9ce245cada0bp-22,
        -0x1.b2f3eb054afcdp-28,
    };
    const pe_vu y = phase.hi + (1ULL << 61);
    const pe_split x = pe_turn_reduce(y, phase.lo);
    const pe_vd whole = x.head + x.tail, z = whole * whole;
    pe_vd s = pe_all(p[7]), c = pe_all(q[6]);
    for (int k = 6; k > 0; k--)
        s = pe_fma(s, z, pe_all(p[k]));
    for (int k = 5; k >= 0; k--)
        c = pe_fma(c, z, pe_all(q[k]));
    const pe_vd rest = pe_fma(s * z, whole, x.tail * p[0]); /* small beside x p_0 */
    return pe_turn_quadrant(y, pe_fma(x.head, pe_all(p[0]), rest), pe_fma(c, z, pe_all(1)));
}

/* head + tail with the head rounded to a multiple of 2^-26; exact but for the last sum. */
PE_INLINE pe_split pe_split_of(pe_vd head, pe_vd tail)
{
    const pe_vd magic = pe_all(0x1.8p26);
    const pe_vd rounded = (head + magic) - magic;
    return (pe_split){rounded, (head - rounded) + tail};
}

/* A sum of two such products with its tail, likewise. */
PE_INLINE pe_split pe_split_again(pe_split x)
{
    const pe_vd rounded = (x.head + x.tail + 0x1.8p26) - 0x1.8p26;
    return (pe_split){rounded, (x.head - rounded) + x.tail};
}

/* a * b: the product of the heads is exact. */
PE_INLINE pe_split pe_split_mul(pe_split a, pe_split b)
{
    return pe_split_of(a.head * b.head, pe_fma(a.head + a.tail, b.tail, a.tail * b.head));
}

#define PE_SERIES_SPLIT 5
#define PE_SERIES_PLAIN 7

/* Terms of a series: the first ones as head and tail, the others alternating in plain doubles. */
typedef struct pe_series {
    double head[PE_SERIES_SPLIT], tail[PE_SERIES_SPLIT], plain[PE_SERIES_PLAIN];
} pe_series;

/* t_0 - z (t_1 - z (t_2 - ...)), z <= 1/4. */
PE_INLINE pe_split pe_series_sum(const pe_series *series, pe_split z)
{
    const pe_vd whole = z.head + z.tail;
    pe_vd rest = pe_all(series->plain[PE_SERIES_PLAIN - 1]);
    for (int k = PE_SERIES_PLAIN - 2; k >= 0; k--)
        rest = pe_fnma(rest, whole, pe_all(series->plain[k]));
    const int last = PE_SERIES_SPLIT - 1;
    const pe_vd tail = pe_fnma(rest, whole, pe_all(series->tail[last]));
    pe_split sum = pe_split_again((pe_split){pe_all(series->head[last]), tail});
    for (int k = last - 1; k >= 0; k--) {
        const pe_vd product = pe_fma(whole, sum.tail, z.tail * sum.head);
        const pe_vd exact = pe_fnma(z.head, sum.head, pe_all(series->head[k]));
        sum = pe_split_of(exact, series->tail[k] - product);
    }
    return sum;
}

/*
 * Sines and cosines of phases as head and tail, by Taylor series in quarter turns.
 *
 * Absolute error. Heads are exact, so only what is done with tails is rounded. Those of x are at
 * most 2^-27, those of z 2^-26. In units of 2^-80, products not fused, at most:
 *
 *                                              sine                  cosine
 *     tail of x, 1                             1.6  times pi/2       1.2  times 1.12
 *     tail of z, 1/4 for x rounded, 1/4 for
 *       each product, 1/2 and 1 for sums       0.8  times 0.33       2.8  times 1.24
 *     terms as they are, and those left out    0.2                   1.5
 *     plain terms: their sum, 2^-15 with the
 *       cosine, 512; its product with z 512;
 *       z 430; the first tail 512              0.5  |x| z^4          7.7  z^4
 *     steps to t_3: 2.2 and 3.7                0.1  |x| z^3          0.1  z^3
 *           to t_2: 3.8 and 4.4                0.2  |x| z^2          0.3  z^2
 *           to t_1: 4.4 and 6.1                0.6  |x| z            1.6  z
 *           to t_0: 5.8 and 8.9                2.9  |x|              8.9
 *     product with x                           6.8
 *                                              13.7                  24.1
 *
 * A step rounds z_tail * sum_head, z (times sum_tail), z * sum_tail, the sum of these, what the
 * tail of t_k becomes (not with the cosine's last, which is 0) and the tail of the sum: the last
 * step of the cosine 2, 1/2, 1/2, 2, 0 and 4. The product with x rounds alike, 1/2 for x, 1, 1, 2
 * and 2. As a distance both make less than 27.8.
 */
PE_INLINE void pe_turn_sincos_split(pe_turn phase, pe_split *sine, pe_split *cosine)
{
    /* (pi/2)^(2k+1) / (2k+1)! and (pi/2)^(2k) / (2k)!; 2^-91 and 2^-87 are left out. */
    static const pe_series sines = {
        {0x1.921fb54p+0, 0x1.4abbce8p-1, 0x1.466bc8p-4, 0x1.32d2cp-8, 0x1.5078p-13},
        {0x1.10b4611a62633p-30, -0x1.da41ad4154472p-29, -0x1.88a551e2db819p-28,
         0x1.9cc57b0b7ccbep-29, 0x1.a43f73c0dc83dp-32},
        {0x1.e3074fde8871fp-19, 0x1.e8f434d018d63p-25, 0x1.6fadb9f155744p-31, 0x1.aaec32af93359p-38,
         0x1.8a404211f9547p-45, 0x1.2877020d52cf0p-52, 0x1.7215f879e1ac9p-60},
    };
    static const pe_series cosines = {
        {0x1p+0, 0x1.3bd3cc8p+0, 0x1.03c1f1p-2, 0x1.55d3cp-6, 0x1.e1f6p-11},
        {0, 0x1.be45de5a4adc5p-28, -0x1.f9294f132b340p-28, 0x1.f8f2ffe7f153fp-28,
         -0x1.f2edc8a8a1736p-28},
        {0x1.a6d1f2a204a8cp-16, 0x1.f9d38a3763cc3p-22, 0x1.b6e24f44b128fp-28, 0x1.20c62c2f2d7f5p-34,
         0x1.2a0c591af8314p-41, 0x1.ef6e308d6d1c4p-49, 0x1.52ae4120fde27p-56},
    };
    const pe_vu y = phase.hi + (1ULL << 61);
    const pe_split reduced = pe_turn_reduce(y, phase.lo);
    const pe_split x = pe_split_of(reduced.head, reduced.tail);
    const pe_split z = pe_split_mul(x, x);
    const pe_split s = pe_split_mul(x, pe_series_sum(&sines, z)), c = pe_series_sum(&cosines, z);
    const pe_sincos heads = pe_turn_quadrant(y, s.head, c.head);
    const pe_sincos tails = pe_turn_quadrant(y, s.tail, c.tail);
    *sine = (pe_split){heads.s, tails.s};
    *cosine = (pe_split){heads.c, tails.c};
}

#endif
