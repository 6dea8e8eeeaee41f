/* SPDX-License-Identifier: MIT */
/* noise.h - tables of pairs that no frequencies and positions make. */
#ifndef PE_VERIFY_NOISE_H
#define PE_VERIFY_NOISE_H

#include "verify/attempts.h"

/** Are pairs of all rows a little longer or shorter than they usually are, by more than any type that
 * elements passed through rounds? Or has each pair a phase of its own? Then neither values nor
 * positions explain the table. */
bool pe_noise_hides_waves(const pe_search *s) PE_MUST_CHECK;

#endif
