/* SPDX-License-Identifier: MIT */
/* fault_names.h - the names that faults are told by: those of config/faults.json, and no others. */
#ifndef PE_VERIFY_COMPARE_FAULT_NAMES_H
#define PE_VERIFY_COMPARE_FAULT_NAMES_H

typedef struct pe_fault_name {
    const char *text;
    const char *rule, *remedy; /* of rows that say nothing else; or NULL */
} pe_fault_name;

#define FAULT(NAME, RULE, REMEDY) extern const pe_fault_name pe_fault_##NAME;
#include "faults.inc"
#undef FAULT

#define PE_NAME(NAME) &pe_fault_##NAME

#endif
