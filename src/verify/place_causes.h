/* SPDX-License-Identifier: MIT */
/* place_causes.h - plain numbers in other places of the tensor, or without their sign. */
#ifndef PE_VERIFY_PLACE_CAUSES_H
#define PE_VERIFY_PLACE_CAUSES_H

#include "verify/numbers.h"

/** Of one tensor: axes exchanged, reversed or rolled, also with a scale. */
pe_status pe_place_causes_find(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;
/** On what elements depend, as those of the claim do not; or places that hold those of others. */
pe_status pe_place_causes_depend(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

/** Where nothing else is known: another function of the distance. */
pe_status pe_place_causes_distance(const pe_numbers *plain, pe_problem *why) PE_MUST_CHECK;

#endif
