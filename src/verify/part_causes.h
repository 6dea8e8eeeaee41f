/* SPDX-License-Identifier: MIT */
/* part_causes.h - tensors or heads that are as claimed, beside others that are not. */
#ifndef PE_VERIFY_PART_CAUSES_H
#define PE_VERIFY_PART_CAUSES_H

#include "verify/search/attempts.h"

/** Of an upload with several tensors, or of vectors with several heads: those that do not match are
 * verified as a claim of their own, and what is found is told of them. Where each holds what belongs
 * to another one, their order is told. */
pe_try pe_parts_try;

#endif
