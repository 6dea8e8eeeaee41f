/* SPDX-License-Identifier: MIT */
/* peel.h - two faults, of which the first brings the guess to what was measured. */
#ifndef PE_VERIFY_PEEL_H
#define PE_VERIFY_PEEL_H

#include "verify/attempts.h"

/** Second faults, and then numbers, behind each one that brings the pairs to what was measured. */
pe_try pe_peel_try;

#endif
