/* SPDX-License-Identifier: MIT */
/* scheme.h - which scheme a configuration has. Private to models/. */
#ifndef PE_MODELS_LAYERS_SCHEME_H
#define PE_MODELS_LAYERS_SCHEME_H

#include "models/reader.h"

/** The scheme of the model type, unless a key says otherwise; of an unknown type, what its keys
 * say. */
pe_scheme pe_scheme_find(pe_reader *reader);

#endif
