/* SPDX-License-Identifier: MIT */
/* parts.h - what a configuration says to resources that ask of other things than its layers.
 * Private to models/. */
#ifndef PE_MODELS_PARTS_H
#define PE_MODELS_PARTS_H

#include "models/dictionary.h"

/** Add the parts, which are for all layers alike. Comes before the layers, so that a key that
 * serves both is reported as used. */
void pe_parts_resolve(pe_reader *reader, const pe_dictionary *dictionary);
/** A part that is not there yet, filled from values, which may be NULL. NULL: it is there, or
 * memory ran out. */
pe_values *pe_parts_add(pe_reader *reader, const pe_resource *resource, const pe_values *from);
/** What a tower says to resources is what the whole model says to them. */
void pe_parts_inherit(pe_reader *reader, const pe_model *tower);

#endif
