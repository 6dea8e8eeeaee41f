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

#endif
