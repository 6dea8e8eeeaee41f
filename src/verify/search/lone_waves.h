/* SPDX-License-Identifier: MIT */
/* lone_waves.h - cosines, or sines, that were uploaded alone. */
#ifndef PE_VERIFY_SEARCH_LONE_WAVES_H
#define PE_VERIFY_SEARCH_LONE_WAVES_H

#include "verify/search/attempts.h"

/** Does the upload hold one of the two tensors of a table of pairs? */
bool pe_lone_waves_are(const pe_search *s);

/**
 * The other tensor is derived from the rows: where a pair turns by w from row to row,
 * x[t - k] + x[t + k] = 2 cos(k w) x[t] gives w, and x[t + k] = x[t] cos(k w) - y[t] sin(k w) the
 * other number y[t] of the pair. Or, where most pairs of a row turn as claimed from one position,
 * that tells it. So the upload is measured as one of pairs, of which only what was sent is held
 * against guesses.
 */
pe_try pe_lone_waves_try;

#endif
