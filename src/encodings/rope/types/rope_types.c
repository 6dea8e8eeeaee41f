/* SPDX-License-Identifier: MIT */
/* rope_types.c - the table of rope types. */
#include "encodings/rope/types/rope_types.h"

const pe_rope_type pe_rope_default = {.name = "default"};

#define TYPE(name, how, work) &pe_rope_##name,
#define NAME(name, how, work) #name,

const pe_rope_type *const pe_rope_types[] = {PE_ROPE_TYPE_MAP(TYPE) NULL};
const char *const pe_rope_type_names[] = {PE_ROPE_TYPE_MAP(NAME) NULL};
