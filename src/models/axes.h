/* SPDX-License-Identifier: MIT */
/* axes.h - rotations by several axes, each with frequencies of its own. Private to models/. */
#ifndef PE_MODELS_AXES_H
#define PE_MODELS_AXES_H

#include "models/dictionary.h"

/** The key of the channels, or (mrope_section) pairs, of each axis: the class's, or the first that
 * a configuration of no known class has. NULL: there is none. */
const char *pe_axes_key(const pe_reader *reader);
/** Has each axis frequencies of its own? */
bool pe_axes_are(const pe_reader *reader);
/** Channels of all axes; 0: there are no axes, or a rule divides head_dim. */
double pe_axes_sum(const pe_reader *reader);
/** Set axes_dims and axes_scale, where there are several axes. */
void pe_axes_read(pe_rope_reading *r);

#endif
