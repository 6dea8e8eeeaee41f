/* SPDX-License-Identifier: MIT */
/* grid_layers.h - vision towers that rotate patches by their row and column. Private to models/. */
#ifndef PE_MODELS_LAYERS_GRID_LAYERS_H
#define PE_MODELS_LAYERS_GRID_LAYERS_H

#include "models/reader.h"

/** Set the rows of /v1/rope/grid, and the model's parts for it and for /v1/rope/grid/rotate. */
void pe_grid_layers_resolve(pe_reader *reader, pe_model_layers *kind);

#endif
