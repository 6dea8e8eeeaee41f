/* SPDX-License-Identifier: MIT */
/* fault_names.c - the names that faults are told by. */
#include "verify/compare/fault_names.h"

#include <stddef.h>

#define FAULT(NAME, RULE, REMEDY) const pe_fault_name pe_fault_##NAME = {#NAME, RULE, REMEDY};
#include "faults.inc"
