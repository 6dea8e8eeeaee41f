/* SPDX-License-Identifier: MIT */
/* rope_checks.h - whether rotary parameters fit each other. Private to models/. */
#ifndef PE_MODELS_LAYERS_ROPE_CHECKS_H
#define PE_MODELS_LAYERS_ROPE_CHECKS_H

#include "models/dictionary.h"

/** Check the values as a resource would, and set what follows from them. Sections that do not fit
 * are left out with a warning. */
void pe_rope_checks_values(pe_rope_reading *r);
/** Warn where yarn's factor is not the ratio of its lengths. */
void pe_rope_checks_lengths(pe_rope_reading *r);
/** Warn of keys that libraries read differently: one of mscale and mscale_all_dim, attn_factor. */
void pe_rope_checks_engines(pe_rope_reading *r);

#endif
