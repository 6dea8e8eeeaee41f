/* SPDX-License-Identifier: MIT */
/* rope_layers.h - rotary parameters of layers. Private to models/. */
#ifndef PE_MODELS_LAYERS_ROPE_LAYERS_H
#define PE_MODELS_LAYERS_ROPE_LAYERS_H

#include "models/dictionary.h"

/** Set the values of a kind of layers that rotates. */
void pe_rope_layers_resolve(pe_reader *reader, const pe_dictionary *dictionary,
                            pe_model_layers *kind);

#endif
