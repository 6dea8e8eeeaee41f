/* SPDX-License-Identifier: MIT */
/* value_faults.h - a value of a parameter that was another one, or was ignored. */
#ifndef PE_VERIFY_MISTAKES_VALUE_FAULTS_H
#define PE_VERIFY_MISTAKES_VALUE_FAULTS_H

#include "verify/compare/guess.h"

/**
 * The k-th fault that changes value i of a guess alone: a choice or a truth to another, a number to
 * its default, a power of two beside it, one more, one less, ten times, a tenth, or a power of two
 * times. False: there is none, nor any beyond it. *out is to outlive the guess that it is applied
 * to; what it names lives for ever.
 */
bool pe_value_faults_nth(const pe_guess *guess, size_t i, size_t k, pe_fault *out) PE_MUST_CHECK;

/** That value i, a number or numbers, was ignored: the first of its faults. *out as above. */
bool pe_value_faults_ignored(const pe_guess *guess, size_t i, pe_fault *out) PE_MUST_CHECK;

#endif
