/* SPDX-License-Identifier: MIT */
/* set_aside.h - rows of a table that no angle gives are set aside; the others are searched alone. */
#ifndef PE_VERIFY_SET_ASIDE_H
#define PE_VERIFY_SET_ASIDE_H

#include "verify/attempts.h"

/** Where some rows of a table of pairs are off the circle (zeros, NaN, garbage), and the others are
 * not what was claimed either: what explains those others becomes a finding, with the rows. */
pe_try pe_set_aside_try;

#endif
