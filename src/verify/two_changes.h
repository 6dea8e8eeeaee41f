/* SPDX-License-Identifier: MIT */
/* two_changes.h - two changes of values, of which frequencies that were measured tell the first. */
#ifndef PE_VERIFY_TWO_CHANGES_H
#define PE_VERIFY_TWO_CHANGES_H

#include "verify/attempts.h"

/** Values, laws and numbers behind the nearest changes of one value. */
pe_try pe_two_changes_try;

#endif
