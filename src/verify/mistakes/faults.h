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

/** Does it put the pairs elsewhere, or exchange what they hold? */
bool pe_faults_is_layout(const pe_fault *fault);
/** Does it exchange or negate the waves of every pair? */
bool pe_faults_is_of_waves(const pe_fault *fault);

/** Does it round or cut each element to a narrower type? */
bool pe_faults_is_grain(const pe_fault *fault);

/** Does the last fault of the guess hold for most elements only? */
bool pe_faults_hold_mostly(const pe_guess *guess);

#endif
