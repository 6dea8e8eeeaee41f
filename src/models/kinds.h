/* SPDX-License-Identifier: MIT */
/* kinds.h - which layers there are, and which encode positions alike. Private to models/. */
#ifndef PE_MODELS_KINDS_H
#define PE_MODELS_KINDS_H

#include "models/reader.h"

/** A base for each layer: the list, and its key (Granite's layer_rope_theta, or rope_theta itself,
 * Step's). NULL: there is none. */
const json_t *pe_kinds_thetas(const pe_reader *reader, const char **key);

/** Fill model->kinds with layers and their names, without values. Layers that rotate have the
 * `resource`; others have none. */
void pe_kinds_find(pe_reader *reader, const pe_resource *resource);

/** Add a kind of n layers, whose values are made but not set. index: taken, malloc'ed, may be
 * NULL. */
pe_model_layers *pe_kinds_add(pe_reader *reader, const char *layer_type,
                              const pe_resource *resource, size_t *index, size_t n);

#endif
