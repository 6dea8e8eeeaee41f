/* SPDX-License-Identifier: MIT */
/* softmax_scale.h - what multiplies attention logits. Private to models/. */
#ifndef PE_MODELS_SOFTMAX_SCALE_H
#define PE_MODELS_SOFTMAX_SCALE_H

#include "models/reader.h"

/** Set the scale where it is not 1/sqrt(head_dim). The first kind has its values. */
void pe_softmax_scale_resolve(pe_reader *reader);

#endif
