/* SPDX-License-Identifier: MIT */
/* softmax_scale.h - what multiplies attention logits. Private to models/. */
#ifndef PE_MODELS_LAYERS_SOFTMAX_SCALE_H
#define PE_MODELS_LAYERS_SOFTMAX_SCALE_H

#include "models/reader.h"

/** Set the scale where it is known. The kinds have their values. The attention factor, which
 * multiplies cosines and sines, is no part of it. */
void pe_softmax_scale_resolve(pe_reader *reader);

#endif
