/* SPDX-License-Identifier: MIT */
/* amplitude.h - waves that are all larger or smaller than claimed, by one number. */
#ifndef PE_VERIFY_SEARCH_AMPLITUDE_H
#define PE_VERIFY_SEARCH_AMPLITUDE_H

#include "verify/search/attempts.h"

/** Does the reading show another amplitude than the claimed one? The two others want that. */
bool pe_amplitude_differs(const pe_search *s);

/** What waves were multiplied by, and which mistake that is: fault->fitted where it has no name. */
typedef struct pe_amplitude {
    const pe_fault *fault; /* {a}: times, {b}: width */
    double times, width, claimed;
} pe_amplitude;

/** False: the amplitude that was measured is the claimed one. */
bool pe_amplitude_read(const pe_search *s, double is, double claimed,
                       pe_amplitude *out) PE_MUST_CHECK;

/** Give the guess what was read. False: nothing was, or there is no room for a fault. */
bool pe_amplitude_set(const pe_search *s, pe_guess *guess, double is, double claimed) PE_MUST_CHECK;

/** The guess with the measured amplitude, some rows or columns left out; the square root of a width
 * and its like by their names. */
pe_try pe_amplitude_alone;

#endif
