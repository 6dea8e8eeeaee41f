/* SPDX-License-Identifier: MIT */
/* type_name.h - which rope_type a configuration means. Private to models/. */
#ifndef PE_MODELS_TYPE_NAME_H
#define PE_MODELS_TYPE_NAME_H

#include "models/dictionary.h"

/** Set the type of the layers, under whichever name the dictionary has it. */
void pe_type_name_read(pe_rope_reading *r);

#endif
