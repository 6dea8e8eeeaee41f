/* SPDX-License-Identifier: MIT */
/* plain_layers.h - layers that count distances or add sinusoids. Private to models/. */
#ifndef PE_MODELS_LAYERS_PLAIN_LAYERS_H
#define PE_MODELS_LAYERS_PLAIN_LAYERS_H

#include "models/reader.h"

/** Set the rows of /v1/alibi/slopes; of /v1/t5/buckets, T5's way (kinds named "decoder" look back
 * alone) or DeBERTa's; of /v1/sinusoidal. */
void pe_plain_layers_alibi(pe_reader *reader, pe_model_layers *kind);
void pe_plain_layers_t5(pe_reader *reader, pe_model_layers *kind);
void pe_plain_layers_deberta(pe_reader *reader, pe_model_layers *kind);
void pe_plain_layers_sincos_grid(pe_reader *reader, pe_model_layers *kind);
void pe_plain_layers_sinusoidal(pe_reader *reader, pe_model_layers *kind);

#endif
