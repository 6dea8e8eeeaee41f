/* SPDX-License-Identifier: MIT */
/* precision.h - faults that keep numbers in narrow types on the way. */
#ifndef PE_VERIFY_MISTAKES_PRECISION_H
#define PE_VERIFY_MISTAKES_PRECISION_H

#include "verify/compare/guess.h"

/** Elements were of a type (value: a pe_grain_of) that is narrower than the upload's; cut, not
 * rounded, where and_value is positive. */
pe_change pe_precision_store;
/** Frequencies, angles, or both and the waves were rounded to a type (value: a pe_grain_of). */
pe_change pe_precision_round_frequencies, pe_precision_round_angles, pe_precision_round_all;
/** The waves that turn vectors were (value: a pe_grain_of). */
pe_change pe_precision_round_waves;
/** Positions (and_value: a type of pe_changes_round_positions) and frequencies were. */
pe_change pe_precision_round_factors;
/** Positions (and_value: a type of pe_changes_round_positions), frequencies and angles were. */
pe_change pe_precision_round_phase;
/** Frequencies were kept in float32: freq_factors turn each into the float32 reference's. */
pe_change pe_precision_float32_frequencies;

#endif
