/* SPDX-License-Identifier: MIT */
/* registry.h - the numeric resources there are. */
#ifndef PE_ENCODINGS_REGISTRY_H
#define PE_ENCODINGS_REGISTRY_H

#include <stddef.h>

#include "plan/plan.h"

/** All resources, in the order GET /v1 lists them; NULL-terminated. */
extern const pe_resource *const pe_registry[];

/**
 * The resource that a request's path leads to; NULL when there is none. *name: what the path has
 * where the resource's has {name}, *bytes of it; none where it has not.
 */
const pe_resource *pe_registry_route(const char *path, const char **name, size_t *bytes);

/** By command-line name ("rope/table") or path ("/v1/rope/table"); NULL when there is none. */
const pe_resource *pe_registry_find(const char *name_or_path);

/* One file per resource family defines these. */
extern const pe_resource pe_sinusoidal, pe_sinusoidal_offset, pe_sinusoidal_add, pe_sinusoidal_grid,
    pe_sinusoidal_timing, pe_sinusoidal_relative;
extern const pe_resource pe_rope_frequencies, pe_rope_table, pe_rope_rotate, pe_rope_shift,
    pe_rope_scores, pe_rope_decay, pe_rope_scaled_base, pe_rope_attention_scale;
extern const pe_resource pe_rope_mrope_positions, pe_rope_grid, pe_rope_grid_rotate;
extern const pe_resource pe_rope_compare;
extern const pe_resource pe_rope_xpos, pe_rope_xpos_table;
extern const pe_resource pe_alibi_slopes, pe_alibi_bias, pe_alibi_padded_bias,
    pe_alibi_probabilities;
extern const pe_resource pe_t5_buckets, pe_t5_bias;
extern const pe_resource pe_shaw_indices, pe_shaw_scores, pe_shaw_lookup, pe_shaw_probabilities;
extern const pe_resource pe_relative_skew;
extern const pe_resource pe_swin_index, pe_swin_bias, pe_swin_coordinates;

extern const pe_resource pe_learned_table_rows, pe_learned_lookup, pe_learned_add,
    pe_learned_interpolate, pe_learned_interpolate_body, pe_learned_position_ids;

#endif
