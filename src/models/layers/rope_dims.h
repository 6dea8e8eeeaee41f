/* SPDX-License-Identifier: MIT */
/* rope_dims.h - how many channels of a head there are, and how many of them rotate. Private to
 * models/. */
#ifndef PE_MODELS_LAYERS_ROPE_DIMS_H
#define PE_MODELS_LAYERS_ROPE_DIMS_H

#include "models/dictionary.h"

/** Set head_dim, and rotary_dim or partial_rotary_factor. */
void pe_rope_dims_read(pe_rope_reading *r);

#endif
