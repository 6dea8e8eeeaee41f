/* SPDX-License-Identifier: MIT */
/* faults.h - what people get wrong, as rows. */
#ifndef PE_VERIFY_MISTAKES_FAULTS_H
#define PE_VERIFY_MISTAKES_FAULTS_H

#include "verify/compare/guess.h"

extern const pe_fault pe_faults[];
extern const size_t pe_faults_n;

/**
 * Add the fault and its sentence to the guess. False: it does not apply, or changes nothing. Then
 * the guess is fit only for pe_guess_free.
 */
bool pe_faults_apply(const pe_fault *fault, pe_guess *guess) PE_MUST_CHECK;

/** The first row of that name; NULL: there is none. */
const pe_fault *pe_faults_find(const pe_fault_name *name);

/** Is a name one of those, with blanks between? One that ends with / is of all that begin so. NULL: any. */
bool pe_faults_is_of(const char *name, const char *names);

/** Does it put the pairs elsewhere, or exchange what they hold? */
bool pe_faults_is_layout(const pe_fault *fault);
/** Does it exchange or negate the waves of every pair? */
bool pe_faults_is_of_waves(const pe_fault *fault);

/** Does it round or cut each element to a narrower type? */
bool pe_faults_is_narrow_type(const pe_fault *fault);

/** Does the last fault of the guess hold for most elements only? */
bool pe_faults_hold_mostly(const pe_guess *guess);

/* ---- a value of a parameter that was another one, or was ignored ---- */

/**
 * The k-th fault that changes value i of a guess alone: a choice or a truth to another, a number to
 * its default, a power of two beside it, one more, one less, ten times, a tenth, or a power of two
 * times. False: there is none, nor any beyond it. *out is to outlive the guess that it is applied
 * to; what it names lives for ever.
 */
bool pe_value_faults_nth(const pe_guess *guess, size_t i, size_t k, pe_fault *out) PE_MUST_CHECK;

/** That value i, a number or numbers, was ignored: the first of its faults. *out as above. */
bool pe_value_faults_ignored(const pe_guess *guess, size_t i, pe_fault *out) PE_MUST_CHECK;

/* ---- what faults do to the values and positions of a guess ---- */

/** The row `param`, which has to be present, becomes what `op` says: of x, which it was, of the other
 * values, and of `wide`, the upload's last axis; or the choice of that name (what a type of scaling misses
 * is filled in, what it does not read is left out); without `op` the number `value`. Of lists op says it of
 * each item x[i]. Then those of `more` follow. text: of this resource alone; or NULL. */
pe_change pe_changes_set;
/** The row `param` is at its default, or absent where it may be; what follows from it is derived.
 */
pe_change pe_changes_ignored;
/** A sequence that is not longer than the original length has longrope's short factors: a copy;
 * and the attention factor `value`, unless that is 0. */
pe_change pe_changes_take_short;
/** The attention factor becomes what `op` says, and positions are multiplied by `value`. */
pe_change pe_changes_turn;

/** Positions p become p value + and_value; `op` says what they are
 * rounded to (and_value is 1: after they were multiplied by the scale). */
pe_change pe_changes_move_positions, pe_changes_round_positions;

/** Exponents are 2i/head_dim. */
pe_change pe_changes_head_in_exponent, pe_changes_first_channels;
/** Cosines stand where sines belong; all numbers of resources named `text`... are negative. */
pe_change pe_changes_exchange, pe_changes_negate, pe_changes_negate_waves;

/* ---- faults that keep numbers in narrow types on the way ---- */

/** Elements were of a type (value: a pe_narrow_type_of) that is narrower than the upload's; cut, not
 * rounded, where and_value is positive. */
pe_change pe_changes_store;
/** What was rounded to a type (value: a pe_narrow_type_of), and_value: these bits, and positions, where there
 * is an `op`. Elements of 16 bits are, whatever is said. */
enum {
    PE_ROUNDED_FREQUENCIES = 1,
    PE_ROUNDED_ANGLES = 2,
    PE_ROUNDED_WAVES = 4,
    PE_ROUNDED_ELEMENTS = 8
};
pe_change pe_changes_round;
/** Frequencies were kept in float32: freq_factors turn each into the float32 reference's. */
pe_change pe_changes_float32_frequencies;

#endif
