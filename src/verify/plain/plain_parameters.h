/* SPDX-License-Identifier: MIT */
/* plain_parameters.h - a number of the claim that was another one, read off plain numbers. */
#ifndef PE_VERIFY_PLAIN_PLAIN_PARAMETERS_H
#define PE_VERIFY_PLAIN_PLAIN_PARAMETERS_H

#include "verify/search/attempts.h"

/** Each number of the guess: the value of fewest digits with which its elements are those of the
 * upload, or their reciprocals; then the guess with that value, alone or with a cause behind it. */
pe_try pe_plain_parameters_try;

#endif
