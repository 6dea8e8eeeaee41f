/* SPDX-License-Identifier: MIT */
/* phase.h - frequencies and phases as fixed-point fractions of a turn. */
#ifndef PE_EXACT_PHASE_H
#define PE_EXACT_PHASE_H

#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

#include "exact/fixed128.h"

/** A frequency in turns per position: three words of fraction, least significant first, then the
 * whole turns, which fractional positions need. */
typedef struct pe_turns {
    uint64_t word[4];
} pe_turns;

/**
 * theta >= 0, given in turns, as fixed point: the nearest, so off by at most half a unit (2^-193).
 * False when it does not fit: 2^60 turns or more, no number, or so small that nothing but zero would be
 * left.
 */
bool pe_phase_from_mpfr(mpfr_srcptr turns, pe_turns *out) PE_MUST_CHECK;

/**
 * position * turns modulo one turn, exactly except for what lies below the last place.
 * Returns e: the phase is off by at most 2^e units of 2^-192, for turns off by at most one.
 */
int pe_phase_at(const pe_turns *turns, double position, uint64_t phase[PE_PHASE_WORDS]);

/** PE_PAD words beyond the end of two planes. */
void pe_phases_pad(size_t n, uint64_t *hi, uint64_t *lo);

/** pe_phase_at for n frequencies, cut to the upper two words, and padded. */
void pe_phases_at(const pe_turns *turns, size_t n, double position, uint64_t *hi, uint64_t *lo);

#endif
