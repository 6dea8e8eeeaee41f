/* SPDX-License-Identifier: MIT */
/* pair_ramp.h - a ramp over the pairs, from those that turn often to those that turn rarely. */
#ifndef PE_ENCODINGS_ROPE_TYPES_PAIR_RAMP_H
#define PE_ENCODINGS_ROPE_TYPES_PAIR_RAMP_H

#include "encodings/rope/types/rope_types.h"

/** Turns over the original context between which the ramp rises; whole: its ends are rounded
 * outwards. */
typedef struct pe_rope_pair_ramp {
    double fast, slow;
    bool whole;
} pe_rope_pair_ramp;

/**
 * Between which pairs the ramp rises, for pairs that turn `fast` and `slow` times over the original
 * context:
 *
 *     dim(turns) = d ln(original / (2 pi turns)) / (2 ln theta)
 *     low = max(dim(fast), 0), high = min(dim(slow), d - 1), rounded outwards where `whole`
 *
 * Source  Peng et al. 2023, arXiv:2309.00071, as find_correction_range in jquesnelle/yarn at
 *         995db5b575e75230b3384d658f8b944c9662f775, scaled_rope/LlamaYaRNScaledRotaryEmbedding.py.
 */
void pe_rope_pair_ramp_ends(const pe_rope_formula *formula, const pe_rope_pair_ramp *ramp,
                            mpfr_ptr low, mpfr_ptr high);

/** The ends rounded to float64. */
void pe_rope_pair_ramp_round(const pe_rope_formula *formula, const pe_rope_pair_ramp *ramp,
                             double *low, double *high);

/** Set out to 0 or 1 if pair i is beside a ramp whose rounded ends are low and high. */
bool pe_rope_pair_ramp_is_beside(size_t i, double low, double high, mpfr_ptr out);

/** out = clamp((i - low) / (high - low), 0, 1); high a thousandth more where they are equal. */
void pe_rope_pair_ramp_at(size_t i, mpfr_srcptr low, mpfr_srcptr high, mpfr_ptr out);

/** The same as the reference does it, each step rounded to float32, for whole ends. */
float pe_rope_pair_ramp32(size_t i, double low, double high);

/** The base must be above 1: the ramp divides by its logarithm. Errors  INVALID_PARAMETER. */
pe_status pe_rope_pair_ramp_check(const pe_values *values, const pe_rope_formula *formula,
                                  pe_problem *why) PE_MUST_CHECK;

#endif
