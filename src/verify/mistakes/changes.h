/* SPDX-License-Identifier: MIT */
/* changes.h - what faults do to the values and positions of a guess. */
#ifndef PE_VERIFY_MISTAKES_CHANGES_H
#define PE_VERIFY_MISTAKES_CHANGES_H

#include "verify/compare/guess.h"

/** The row `param` takes `value`; the choice `text`; the other truth. It has to be present. */
pe_change pe_changes_number, pe_changes_choice, pe_changes_truth;
/** The same of a variant or a convention that has defaults of its own. */
pe_change pe_changes_variant;
/** The row `param` is at its default, or absent where it may be; what follows from it is derived.
 */
pe_change pe_changes_ignored;
/** The rows `param` and `text`, both numbers, change places; `param` takes the integer of
 * `text`. */
pe_change pe_changes_swap, pe_changes_copy;
/** The square root; one more position, or one less. */
pe_change pe_changes_root, pe_changes_shift;
/** The row `param` is squared. */
pe_change pe_changes_square;
/** The row `param`, an integer, is multiplied by `text`. */
pe_change pe_changes_multiply;
/** A factor of linear scaling is half of itself. */
pe_change pe_changes_halve_factor;
/** Both rows, numbers, are divided by `value`. */
pe_change pe_changes_divide_both;

/** rope_type becomes `text`. What it misses is filled in, what it does not read is left out. */
pe_change pe_changes_rope_type;
/** A number of dynamic scaling alone. */
pe_change pe_changes_dynamic_factor;
/** A sequence that is not longer than the original length has longrope's short factors: a copy;
 * and the attention factor `value`, unless that is 0. */
pe_change pe_changes_take_short;
/** The attention factor A becomes A^value, where value is 0 (missing) or 2 (applied twice). */
pe_change pe_changes_attention_power;

/** What positions are rounded to, or kept in, which overflows. */
enum {
    PE_CHANGES_FLOAT32,
    PE_CHANGES_FLOAT16,
    PE_CHANGES_BFLOAT16,
    PE_CHANGES_CUT,
    PE_CHANGES_WHOLE,
    PE_CHANGES_INT32,
    PE_CHANGES_UINT32,
    PE_CHANGES_INT16,
    PE_CHANGES_TF32
};

/** Positions p become p value + and_value; they are rounded (value: one of these; and_value is 1:
 * after they were multiplied by the scale). */
pe_change pe_changes_move_positions, pe_changes_round_positions;
/** Positions move, and vectors are rotated a second time, by A^2; not at all, without A; back, and
 * divided by A. */
pe_change pe_changes_rotate_twice, pe_changes_skip_rotation, pe_changes_rotate_back;

/** Exponents are 2i/head_dim; all channels are rotated. */
pe_change pe_changes_head_in_exponent, pe_changes_ignore_partial;
/** param was as the upload's last axis has it: `value` numbers for each of its columns. Of head_dim
 * rotary_dim keeps its share. */
pe_change pe_changes_size;
/** Cosines stand where sines belong; all numbers of resources named `text`... are negative. */
pe_change pe_changes_exchange, pe_changes_negate, pe_changes_negate_waves;

#endif
