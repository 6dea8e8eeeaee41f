/* SPDX-License-Identifier: MIT */
/* law_predictions.h - the frequency of a pair by a law. */
#ifndef PE_VERIFY_LAW_PREDICTIONS_H
#define PE_VERIFY_LAW_PREDICTIONS_H

#include "verify/ladder.h"

/** The frequency of pair i, with the numbers ladder->a and ladder->b. NaN: it makes no sense. */
typedef double pe_law_prediction(const pe_ladder *ladder, size_t i);

/** The ladder moved by a pair, on or back, or by half of one. */
pe_law_prediction pe_predict_next_pair, pe_predict_previous_pair, pe_predict_half_step;
/** 1 / w, 2 pi / w, ln w. */
pe_law_prediction pe_predict_reciprocal, pe_predict_wavelength, pe_predict_logarithm;
/** The a-th power of the claimed ladder; of the unscaled one; the powers of e. */
pe_law_prediction pe_predict_raised, pe_predict_power, pe_predict_of_base_e;
/** Exponents divided by d + 2, by d - 2. */
pe_law_prediction pe_predict_one_more, pe_predict_one_less;
/** The claimed frequencies in another order. */
pe_law_prediction pe_predict_reversed, pe_predict_evens_first, pe_predict_halves_in_turn,
    pe_predict_exchanged, pe_predict_halves_exchanged, pe_predict_rolled_on, pe_predict_rolled_back;
/** Some of the claimed frequencies, repeated. */
pe_law_prediction pe_predict_in_twos, pe_predict_halved_index, pe_predict_every_other,
    pe_predict_half_again;
/** All that of pair a; 1 / (1 + i). */
pe_law_prediction pe_predict_all_of_one, pe_predict_harmonic;
/** The claimed frequencies times a; times a / b. */
pe_law_prediction pe_predict_times, pe_predict_times_over;
/** A straight line to 1 / theta; to the last claimed frequency. */
pe_law_prediction pe_predict_in_line, pe_predict_in_line_to_last;
/** The claimed frequencies, none below a; those of pairs a to b at 0. */
pe_law_prediction pe_predict_not_below, pe_predict_resting;
/** theta is a; a for b, with the claimed scaling; b; b, and all are multiplied by a. */
pe_law_prediction pe_predict_of_theta, pe_predict_of_ratio, pe_predict_of_second_theta,
    pe_predict_geometric;
/** theta is multiplied by factor^a; by that of ntk with the factor a. */
pe_law_prediction pe_predict_of_scaled_theta, pe_predict_of_ntk_factor;
/** Steps of 1 / theta^(2i/d) that a narrow type rounds: a sum of them. */
enum {
    PE_LAW_STEP_BASE = 1,
    PE_LAW_STEP_EXPONENT = 2,
    PE_LAW_STEP_POWER = 4,
    PE_LAW_STEP_RECIPROCAL = 8
};
/** Rounded to a decimals; made of what was rounded to the type that is row b of the grains: the
 * steps a, or each product of a running one. */
pe_law_prediction pe_predict_to_decimals, pe_predict_of_rounded_steps,
    pe_predict_of_running_product;
/** Not scaled; multiplied by the scaling, not divided; scaled twice. */
pe_law_prediction pe_predict_unscaled, pe_predict_scaled_up, pe_predict_scaled_twice;
/** Factors of other pairs. With a > 0 the one at the end stays, else they are rolled. */
pe_law_prediction pe_predict_parts_reversed, pe_predict_next_part, pe_predict_previous_part;
/** Factors of lerope_alpha to the base 2; without an exponential. */
pe_law_prediction pe_predict_powers_of_two, pe_predict_without_exponential;
/** Fast pairs are scaled, slow ones are not; so only between the bands. */
pe_law_prediction pe_predict_ramp_inverted, pe_predict_blend_inverted;
/** Pairs below a are not scaled, the others divided by b. */
pe_law_prediction pe_predict_of_edge;
/** The first a pairs turn, with exponents i / a. */
pe_law_prediction pe_predict_of_rotated_part;
/** Pairs below a are not scaled, those from b on wholly, the others are as measured. */
pe_law_prediction pe_predict_as_measured;
/** The claimed scaling, and that of ntk, or linear, by the same factor on top. */
pe_law_prediction pe_predict_ntk_too, pe_predict_linear_too;

#endif
