/* SPDX-License-Identifier: MIT */
/* ops.h - what mistakes make of the numbers of a stage. x is the claimed number of item i, of n. */
#ifndef PE_VERIFY_MISTAKES_OPS_H
#define PE_VERIFY_MISTAKES_OPS_H

#include "verify/mistakes/sequence.h"

/** x; a; x + a; a - x; x a; x a + b; x a / b. */
pe_op pe_op_same, pe_op_constant, pe_op_add, pe_op_mirror, pe_op_times, pe_op_line, pe_op_ratio;
/** a / x; -x. */
pe_op pe_op_reciprocal, pe_op_negative;
/** ln x; x0 (x / x0)^a. */
pe_op pe_op_logarithm, pe_op_power;
/** min(x, a); max(x, a). */
pe_op pe_op_at_most, pe_op_at_least;
/** x modulo a, from -b on; a floor(x / a); floor(x / a). */
pe_op pe_op_modulo, pe_op_multiple, pe_op_divided;
/** x without its fraction; to the nearest whole number; to a decimals; to the type that is row a of
 * pe_grains; without the bits that the mantissa of a bfloat16 lacks. */
pe_op pe_op_truncated, pe_op_rounded, pe_op_decimals, pe_op_of_type, pe_op_cut;
/** b where x is a, and a where x is b; b where x is a. */
pe_op pe_op_exchanged, pe_op_one_elsewhere;
/** From a on: x + b. After each a: x + b more. From first + a on: b, b + 1, ... anew, each a. */
pe_op pe_op_step, pe_op_steps, pe_op_restart;
/** From a on each stands b times. Each stands a times. The first b are a, the others follow. */
pe_op pe_op_groups, pe_op_repeat, pe_op_padding;
/** The sum of all whole numbers up to x, but for a. */
pe_op pe_op_summed;

/** The item n - 1 - i; i - a, rolled; i + a of a sequence that goes on beyond its ends. */
pe_op pe_op_reversed, pe_op_rolled, pe_op_shifted;
/** Items 2k and 2k + 1 exchanged; both halves exchanged; even ones first; both halves in turn. */
pe_op pe_op_neighbours, pe_op_halves, pe_op_evens_first, pe_op_halves_in_turn;
/** Items 0, 0, 2, 2, ...; 0, 0, 1, 1, ...; 0, 2, ... 0, 2, ...; the first half twice; all item a. */
pe_op pe_op_evens_twice, pe_op_each_twice, pe_op_every_other, pe_op_first_half_twice,
    pe_op_one_item;
/** x, but 0 from item a to b; a^(-i/n). */
pe_op pe_op_zero_between, pe_op_progression;

/** No number: frequencies are scaled at all. */
pe_operand pe_operand_scaled;

#endif
