/* SPDX-License-Identifier: MIT */
/* fault_names.c - the names that faults are told by. */
#include "verify/compare/fault_names.h"

#define FAULT(NAME) const pe_fault_name pe_fault_##NAME = {#NAME};
#include "faults.inc"
