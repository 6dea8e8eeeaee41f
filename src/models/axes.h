/* SPDX-License-Identifier: MIT */
/* axes.h - rotations by several axes, each with frequencies of its own. Private to models/. */
#ifndef PE_MODELS_AXES_H
#define PE_MODELS_AXES_H

#include "models/dictionary.h"

/** Set axes_dims, axis_order, axes_theta and axes_scale, where the model type has several axes. */
void pe_axes_read(pe_rope_reading *r);

#endif
