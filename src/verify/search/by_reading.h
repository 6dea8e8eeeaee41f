/* SPDX-License-Identifier: MIT */
/* by_reading.h - what is tried of an upload of pairs, whose positions and frequencies are
 * measured. */
#ifndef PE_VERIFY_SEARCH_BY_READING_H
#define PE_VERIFY_SEARCH_BY_READING_H

#include "verify/search/attempts.h"

/** Measure the upload; try what the reading suggests, where nothing has been found. */
pe_try pe_by_reading_try;

#endif
