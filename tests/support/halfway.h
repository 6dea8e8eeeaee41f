/* SPDX-License-Identifier: MIT */
/* halfway.h - frequency sets made to have a cosine near a midpoint of two neighbours of a type. */
#ifndef PE_TESTS_SUPPORT_HALFWAY_H
#define PE_TESTS_SUPPORT_HALFWAY_H

#include "exact/wave.h"
#include "support/random.h"

/**
 * A set whose amplitude is (midpoint + off) / cos(angle) at one position: there all cosines are
 * that midpoint, plus off. The midpoint is (2k + 1) / 2 units of 2^(1 - bits); off is 2^-far of it,
 * up or down, or none. All frequencies are `scale`.
 */
typedef struct halfway {
    uint64_t k;
    int bits, far, sign;
    double position, scale;
} halfway;

/** Of that dtype; far 0: the midpoint itself. */
halfway halfway_random(random_source *random, pe_dtype dtype, int far);

/** n frequencies; *h is copied into the set. */
pe_wave_spec halfway_spec(const halfway *h, size_t n);

/** The amplitude at out's precision. */
void halfway_amplitude(const void *h, mpfr_ptr out);

/** What the cosine at the position is rounded to: below the midpoint, above it, or the even one. */
double halfway_wanted(const halfway *h);

#endif
