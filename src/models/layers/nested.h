/* SPDX-License-Identifier: MIT */
/* nested.h - configurations within configurations. Private to models/. */
#ifndef PE_MODELS_LAYERS_NESTED_H
#define PE_MODELS_LAYERS_NESTED_H

#include "models/reader.h"

/** Go to the language model's own object, as deep as it lies. */
void pe_nested_enter(pe_reader *reader);

/** Resolve what a reader has been made for, and end its reading. */
typedef pe_status pe_nested_resolve(pe_reader *reader, pe_model **out);

/** Resolve all configurations beside the one that is read, on the way to it, as towers. */
void pe_nested_towers(pe_reader *reader, pe_nested_resolve *resolve);

#endif
