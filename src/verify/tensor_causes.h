/* SPDX-License-Identifier: MIT */
/* tensor_causes.h - some tensors of an upload are as claimed: the others are searched alone. */
#ifndef PE_VERIFY_TENSOR_CAUSES_H
#define PE_VERIFY_TENSOR_CAUSES_H

#include "verify/attempts.h"

/** Of a table in several tensors, of which some match by themselves: what explains the others
 * becomes a finding that names them. */
pe_try pe_tensor_causes_try;

#endif
