/* SPDX-License-Identifier: MIT */
/* law_numbers.h - numbers of laws, read off a ladder. */
#ifndef PE_VERIFY_LAW_NUMBERS_H
#define PE_VERIFY_LAW_NUMBERS_H

#include "verify/ladder.h"

/** Set ladder->a and ladder->b, as far as the law has numbers. False: it makes no sense there. */
typedef bool pe_law_reader(pe_ladder *ladder);

/** No numbers: frequencies are scaled at all; they are scaled by a list of factors. */
pe_law_reader pe_law_numbers_scaled, pe_law_numbers_listed;
/** Exponents are a times as large: of rotary_dim with head_dim, and the other way round. */
pe_law_reader pe_law_numbers_head, pe_law_numbers_rotary;
/** Exponents are a times as large: divided by b channels, those of several heads. */
pe_law_reader pe_law_numbers_all_heads;
/** All pairs turn a times as fast, as if scaled by b. Only of frequencies that are told as such. */
pe_law_reader pe_law_numbers_multiple;
/** The same, roughly, of frequencies that are told by turns; a is a number of many. */
pe_law_reader pe_law_numbers_turned_multiple, pe_law_numbers_many;
/** All pairs turn as pair a should. */
pe_law_reader pe_law_numbers_one;
/** The measured ladder is a theta^(-i/n), and theta b. */
pe_law_reader pe_law_numbers_geometric;
/** The base was a, not b. */
pe_law_reader pe_law_numbers_theta, pe_law_numbers_unscaled_theta;
/** The same, roughly, of frequencies that are told by turns. */
pe_law_reader pe_law_numbers_turned_theta;
/** Dynamic scaling of the length a makes the base b, which was measured. */
pe_law_reader pe_law_numbers_length;
/** ntk took the factor a, not b. */
pe_law_reader pe_law_numbers_ntk_factor;
/** The base grew with the a-th power of the factor: that of a dimension b. */
pe_law_reader pe_law_numbers_exponent_of_factor;
/** The base times the factor is a, the factor b. */
pe_law_reader pe_law_numbers_naive;
/** The smallest frequency is a. */
pe_law_reader pe_law_numbers_least;
/** Pairs below a are as without scaling, the others wholly scaled: divided by b. */
pe_law_reader pe_law_numbers_edge;
/** The same of an edge that the claim has: where the blend begins, where it ends, and
 * its middle. */
pe_law_reader pe_law_numbers_low_edge, pe_law_numbers_high_edge, pe_law_numbers_middle_edge;
/** The latter where low_freq_factor and high_freq_factor may be exchanged. */
pe_law_reader pe_law_numbers_exchanged;
/** The first a pairs turn, the others do not. */
pe_law_reader pe_law_numbers_rotated_part;
/** Pairs up to a are not scaled, those from b on wholly; a band lies between. */
pe_law_reader pe_law_numbers_bands;
/** Pairs a to b do not turn: as measured; the last half. */
pe_law_reader pe_law_numbers_rest, pe_law_numbers_last_half;

#endif
