/* SPDX-License-Identifier: MIT */
/* head_causes.h - rotated vectors of several heads: their order, and those that differ. */
#ifndef PE_VERIFY_HEAD_CAUSES_H
#define PE_VERIFY_HEAD_CAUSES_H

#include "verify/attempts.h"

/** Heads that hold the vectors of others, as claimed or in another layout. Where some heads are as
 * claimed, the others alone are searched and measured: findings and reading are theirs. */
pe_try pe_head_causes_try;

#endif
