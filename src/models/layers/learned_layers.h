/* SPDX-License-Identifier: MIT */
/* learned_layers.h - the tables of models that learn their positions. Private to models/. */
#ifndef PE_MODELS_LAYERS_LEARNED_LAYERS_H
#define PE_MODELS_LAYERS_LEARNED_LAYERS_H

#include "models/reader.h"

/** What the layers say: rows, width, offset and padding_row of the table. No request asks for
 * it. */
extern const pe_resource pe_learned_layers;

/** Set what the configuration and the model type tell; what neither does stays absent. */
void pe_learned_layers_resolve(pe_reader *reader, pe_model_layers *kind);

#endif
