/* SPDX-License-Identifier: MIT */
/* put_back.h - elements that stand elsewhere are put back, and verified as a claim of their own. */
#ifndef PE_VERIFY_PUT_BACK_H
#define PE_VERIFY_PUT_BACK_H

#include "verify/attempts.h"

/** Vectors of which other channels turn than claimed, or turned ones are in another order: the
 * lengths of pairs tell. The same of tokens in another order. */
pe_try pe_put_back_try;

#endif
