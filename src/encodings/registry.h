/* SPDX-License-Identifier: MIT */
/* registry.h - the numeric resources there are. */
#ifndef PE_ENCODINGS_REGISTRY_H
#define PE_ENCODINGS_REGISTRY_H

#include <stddef.h>

#include "base/slice.h"
#include "plan/resource.h"

/** One a line, in the order of GET /v1: the only line that a resource needs beside its file. */
/* clang-format off */
#define PE_REGISTRY(ROW) \
    ROW(pe_sinusoidal) \
    ROW(pe_sinusoidal_offset) \
    ROW(pe_sinusoidal_add) \
    ROW(pe_sinusoidal_grid) \
    ROW(pe_sinusoidal_timing) \
    ROW(pe_sinusoidal_relative) \
    ROW(pe_rope_frequencies) \
    ROW(pe_rope_table) \
    ROW(pe_rope_rotate) \
    ROW(pe_rope_shift) \
    ROW(pe_rope_scores) \
    ROW(pe_rope_decay) \
    ROW(pe_rope_scaled_base) \
    ROW(pe_rope_compare) \
    ROW(pe_rope_mrope_positions) \
    ROW(pe_rope_grid) \
    ROW(pe_rope_grid_rotate) \
    ROW(pe_rope_attention_scale) \
    ROW(pe_rope_xpos) \
    ROW(pe_rope_xpos_table) \
    ROW(pe_alibi_slopes) \
    ROW(pe_alibi_bias) \
    ROW(pe_alibi_padded_bias) \
    ROW(pe_alibi_probabilities) \
    ROW(pe_t5_buckets) \
    ROW(pe_t5_bias) \
    ROW(pe_shaw_indices) \
    ROW(pe_shaw_scores) \
    ROW(pe_shaw_lookup) \
    ROW(pe_shaw_probabilities) \
    ROW(pe_attend_resource) \
    ROW(pe_relative_skew) \
    ROW(pe_swin_index) \
    ROW(pe_swin_bias) \
    ROW(pe_swin_coordinates) \
    ROW(pe_learned_table_rows) \
    ROW(pe_learned_lookup) \
    ROW(pe_learned_add) \
    ROW(pe_learned_interpolate) \
    ROW(pe_learned_interpolate_body) \
    ROW(pe_learned_position_ids)
/* clang-format on */

#define PE_REGISTRY_DECLARE(resource) extern const pe_resource resource;
PE_REGISTRY(PE_REGISTRY_DECLARE)

#define PE_REGISTRY_ONE(resource) +1
enum { PE_REGISTRY_SIZE = 0 PE_REGISTRY(PE_REGISTRY_ONE) };
#undef PE_REGISTRY_ONE

/** All of them; NULL-terminated. */
extern const pe_resource *const pe_registry[];

/**
 * The resource that a request's path leads to; NULL when there is none. *name: what the path has
 * where the resource's has {name}; no bytes where it has not.
 */
const pe_resource *pe_registry_route(const char *path, pe_slice *name);

/** Its place in the list, from 1 on. */
unsigned pe_registry_number(const pe_resource *resource);

/** By command-line name ("rope/table") or path ("/v1/rope/table"); NULL when there is none. */
const pe_resource *pe_registry_find(const char *name_or_path);

#endif
