/* SPDX-License-Identifier: MIT */
/* reread.h - tables whose bytes were read as another type, or in the other order. */
#ifndef PE_VERIFY_REREAD_H
#define PE_VERIFY_REREAD_H

#include "verify/attempts.h"

/** Numbers that no table holds are read anew; where that makes sense of them, they are verified as
 * a claim of their own. Nothing else is measured before. */
pe_try pe_reread_try;

#endif
