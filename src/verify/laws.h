/* SPDX-License-Identifier: MIT */
/* laws.h - what a reading says of frequencies and amplitude that no value of the claim gives. */
#ifndef PE_VERIFY_LAWS_H
#define PE_VERIFY_LAWS_H

#include "verify/faults.h"
#include "verify/reading.h"

/** Add to a guess each law that its reading follows: one of the frequencies, and the amplitude. The
 * number of those found. They are of the reading alone: no element is compared. */
size_t pe_laws_find(const pe_reading *reading, pe_guess *guess);

#endif
