/* SPDX-License-Identifier: MIT */
/* wave_causes.h - tables of sines and cosines by place: which coordinates, frequencies, columns. */
#ifndef PE_VERIFY_PLAIN_WAVE_CAUSES_H
#define PE_VERIFY_PLAIN_WAVE_CAUSES_H

#include "verify/search/numbers.h"

/** Of grids of patches, signals and distances. */
pe_status pe_wave_causes_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
