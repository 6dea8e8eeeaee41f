/* SPDX-License-Identifier: MIT */
/* shortest.h - the shortest decimal that identifies a binary floating-point number. */
#ifndef PE_TEXT_SHORTEST_H
#define PE_TEXT_SHORTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "text/powers.h"

/** digits * 10^exponent; digits below 10^18, may end in zeros. */
typedef struct pe_shortest {
    uint64_t digits;
    int exponent;
} pe_shortest;

/**
 * The decimal with the fewest digits among those that read (nearest, ties to even) to c * 2^q, and
 * of these the nearest to it. 0 < c < 2^53, -1074 <= q <= 971. lopsided: c is a power of two whose
 * lower neighbour is only half a spacing away.
 *
 * Source   R. Giulietti, "The Schubfach way to render doubles", 2020.
 * Threads  any.
 */
pe_shortest pe_shortest_find(uint64_t c, int q, bool lopsided);

/** Exponents q that pe_shortest_exact takes: 10^22 is the last power of ten whose 5^22 is below
 * 2^52. */
#define PE_EXACT_LOWEST  (-73)
#define PE_EXACT_HIGHEST (-1)

/** 5^k, 0 <= k <= 22. */
extern const uint64_t pe_fives[23];

/**
 * The same for c * 2^q that is not lopsided, c >= 10, PE_EXACT_LOWEST <= q <= PE_EXACT_HIGHEST, in
 * exact arithmetic. With k as there, -22 <= k <= 0, the number is P / 2^s in units of 10^k, where
 * P = c * 5^-k and s = k - q; its interval reaches 5^-k / 2 units of 2^-s to either side, which is
 * never a whole number, so that it does not matter whether the ends belong to it.
 */
static inline pe_shortest pe_shortest_exact(uint64_t c, int q)
{
    const int k = pe_log10_pow2(q), s = k - q;
    const uint64_t width = pe_fives[-k];
    const pe_uint128 product = (pe_uint128)c * width;
    const uint64_t n = (uint64_t)(product >> s), tens = n / 10;
    const uint64_t rest = (uint64_t)product & ((1ULL << s) - 1);
    const uint64_t above = ((n - 10 * tens) << s) + rest; /* the multiple of ten below */
    const uint64_t below = (10ULL << s) - above;          /* the next one */
    const uint64_t twice = 2 * rest, one = 1ULL << s;
    const uint64_t fine = n + ((twice > one) | ((twice == one) & n & 1));
    uint64_t digits = 2 * above < width ? 10 * tens : fine;
    digits = 2 * below < width ? 10 * tens + 10 : digits;
    return (pe_shortest){digits, k};
}

#endif
