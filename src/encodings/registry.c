/* SPDX-License-Identifier: MIT */
/* registry.c - the numeric resources there are. */
#include "encodings/registry.h"

#include <string.h>

/* One a line, so that additions merge. */
/* clang-format off */
const pe_resource *const pe_registry[] = {
    &pe_sinusoidal,
    &pe_sinusoidal_offset,
    &pe_sinusoidal_add,
    &pe_sinusoidal_grid,
    &pe_sinusoidal_timing,
    &pe_sinusoidal_relative,
    &pe_rope_frequencies,
    &pe_rope_table,
    &pe_rope_rotate,
    &pe_rope_shift,
    &pe_rope_scores,
    &pe_rope_decay,
    &pe_rope_scaled_base,
    &pe_rope_compare,
    &pe_rope_mrope_positions,
    &pe_rope_grid,
    &pe_rope_grid_rotate,
    &pe_rope_attention_scale,
    &pe_rope_xpos,
    &pe_rope_xpos_table,
    &pe_alibi_slopes,
    &pe_alibi_bias,
    &pe_alibi_padded_bias,
    &pe_alibi_probabilities,
    &pe_t5_buckets,
    &pe_t5_bias,
    &pe_shaw_indices,
    &pe_shaw_scores,
    &pe_shaw_lookup,
    &pe_shaw_probabilities,
    &pe_relative_skew,
    &pe_swin_index,
    &pe_swin_bias,
    &pe_swin_coordinates,
    &pe_learned_table_rows,
    &pe_learned_lookup,
    &pe_learned_add,
    &pe_learned_interpolate,
    &pe_learned_interpolate_body,
    &pe_learned_position_ids,
    NULL,
};
/* clang-format on */

const pe_resource *pe_registry_find(const char *name_or_path)
{
    for (const pe_resource *const *r = pe_registry; *r != NULL; r++)
        if (strcmp((*r)->name, name_or_path) == 0 || strcmp((*r)->path, name_or_path) == 0)
            return *r;
    return NULL;
}

/* Does the path fit the pattern? Then *name is what it has between the braces. */
static bool fits(const char *pattern, const char *path, const char **name, size_t *bytes)
{
    const size_t before = strcspn(pattern, "{");
    *name = path + before;
    *bytes = 0;
    if (pattern[before] == '\0')
        return strcmp(pattern, path) == 0;
    if (strncmp(pattern, path, before) != 0)
        return false;
    *bytes = strcspn(*name, "/");
    return *bytes > 0 && strcmp(strchr(pattern, '}') + 1, *name + *bytes) == 0;
}

const pe_resource *pe_registry_route(const char *path, const char **name, size_t *bytes)
{
    const pe_resource *found = NULL;
    for (const pe_resource *const *r = pe_registry; *r != NULL; r++) {
        const char *its_name;
        size_t its_bytes;
        if (!fits((*r)->path, path, &its_name, &its_bytes))
            continue;
        found = *r;
        *name = its_name;
        *bytes = its_bytes;
        if (its_bytes == 0) /* a path of its own is no name */
            break;
    }
    return found;
}
