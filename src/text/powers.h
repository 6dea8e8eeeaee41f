/* SPDX-License-Identifier: MIT */
/* powers.h - powers of ten to 128 bits, which printing and reading both scale by. */
#ifndef PE_TEXT_POWERS_H
#define PE_TEXT_POWERS_H

#include <stdint.h>

__extension__ typedef unsigned __int128 pe_uint128;

/*
 * Printing scales by 10^-292 (largest doubles) to 10^324 (smallest); reading needs 10^-342, since
 * 19 digits times less than that round to zero, to 10^308.
 */
#define PE_POWER_MIN (-342)
#define PE_POWER_MAX 324

/** 10^k = (hi:lo) * 2^(pe_log2_pow10(k) - 127), rounded up; exact for 0 <= k <= 55. hi >= 2^63. */
typedef struct pe_power {
    uint64_t hi, lo;
} pe_power;

/** Filled before main runs, never written again. Entry k - PE_POWER_MIN is 10^k. */
extern pe_power pe_powers[PE_POWER_MAX - PE_POWER_MIN + 1];

/** floor(log2(10^k)), |k| <= 1233: 1741647 / 2^19 is log2(10) from below to 2^-23. */
static inline int pe_log2_pow10(int k)
{
    return (k * 1741647) >> 19;
}

/** floor(log10(2^q)), |q| <= 1500: 1262611 / 2^22 is log10(2) to 2^-24. */
static inline int pe_log10_pow2(int q)
{
    return (q * 1262611) >> 22;
}

/** floor(log10(3/4 * 2^q)), |q| <= 1500: 524031 / 2^22 is -log10(3/4). */
static inline int pe_log10_three_quarters_pow2(int q)
{
    return (q * 1262611 - 524031) >> 22;
}

/*
 * What takes values c * 2^q of narrow types to units of 10^(k+1), k = pe_log10_pow2(q): 2^q *
 * 10^-(k+1), which lies in [0.1, 1), as a fraction of 64 bits, cut off below. The last is that of
 * bfloat16's infinity.
 */
#define PE_SCALE_MIN (-149)
#define PE_SCALE_MAX 121

/** Entry q - PE_SCALE_MIN. Filled before main runs, never written again. */
extern uint64_t pe_powers_scales[PE_SCALE_MAX - PE_SCALE_MIN + 1];

#endif
