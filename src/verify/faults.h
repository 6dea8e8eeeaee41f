/* SPDX-License-Identifier: MIT */
/* faults.h - what people get wrong, as rows. */
#ifndef PE_VERIFY_FAULTS_H
#define PE_VERIFY_FAULTS_H

#include "verify/guess.h"

extern const pe_fault pe_faults[];
extern const size_t pe_faults_n;

/**
 * The k-th fault that changes value i of a guess alone: a choice or a truth to another, a number to
 * its default, a power of two beside it, one more, one less, ten times, a tenth, or a power of two
 * times. False: there is none, nor any beyond it. *out is to outlive the guess that it is applied
 * to; what it names lives for ever.
 */
bool pe_faults_of_value(const pe_guess *guess, size_t i, size_t k, pe_fault *out) PE_MUST_CHECK;

/** That value i, a number or numbers, was ignored: the first of its faults. *out as above. */
bool pe_faults_of_ignored(const pe_guess *guess, size_t i, pe_fault *out) PE_MUST_CHECK;

/**
 * Add the fault and its sentence to the guess. False: it does not apply, or changes nothing. Then
 * the guess is fit only for pe_guess_free.
 */
bool pe_faults_apply(const pe_fault *fault, pe_guess *guess) PE_MUST_CHECK;

/** Does it put the pairs elsewhere, or exchange what they hold? */
bool pe_faults_is_layout(const pe_fault *fault);
/** Does it exchange or negate the waves of every pair? */
bool pe_faults_is_of_waves(const pe_fault *fault);

/** Does it round or cut each element to a narrower type? */
bool pe_faults_is_grain(const pe_fault *fault);

/** Does the last fault of the guess hold for most elements only? */
bool pe_faults_hold_mostly(const pe_guess *guess);

#endif
