/* SPDX-License-Identifier: MIT */
/* parts.h - what a configuration says to resources that ask of other things than its layers.
 * Private to models/. */
#ifndef PE_MODELS_PARTS_H
#define PE_MODELS_PARTS_H

#include "models/dictionary.h"

/** Add the parts, which are for all layers alike. Comes before the layers, so that a key that
 * serves both is reported as used. */
void pe_parts_resolve(pe_reader *reader, const pe_dictionary *dictionary);

#endif
