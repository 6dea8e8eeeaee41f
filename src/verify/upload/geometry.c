/* SPDX-License-Identifier: MIT */
/* geometry.c - where the two numbers of a pair stand in a row of an upload. */
#include "verify/upload/geometry.h"

#include <string.h>

#include "plan/resource.h"

const char *pe_geometry_choice_text(const pe_values *values, const char *name)
{
    const pe_value *value = pe_values_find(values, name);
    if (value == NULL || !value->present)
        return "";
    return value->param->choices[value->choice];
}

bool pe_geometry_set_choice(pe_values *values, const char *name, const char *choice)
{
    pe_value *value = pe_values_find(values, name);
    const char *const *choices = value != NULL ? value->param->choices : NULL;
    for (size_t c = 0; choices != NULL && choices[c] != NULL; c++)
        if (strcmp(choices[c], choice) == 0) {
            value->choice = c;
            value->present = true;
            return true;
        }
    return false;
}

bool pe_geometry_has_rope_type(const pe_values *values, const char *type)
{
    return strcmp(pe_geometry_choice_text(values, "rope_type"), type) == 0;
}

/* ---- rotary tables ---- */

/* Choices of cache_layout; rope/table names their sources. doubled: each number stands there twice;
 * paired: a cosine and its sine are neighbours. */
static const struct {
    const char *name;
    bool doubled, paired;
} cache_layouts[] = {
    {"pairs", false, false}, {"onnx", false, false}, {"vllm", false, false},
    {"hf", true, false},     {"meta", false, true},  {"trtllm", false, true},
};

static bool cache_geometry(const pe_values *values, pe_geometry *out)
{
    const char *name = pe_geometry_choice_text(values, "cache_layout");
    const size_t n = (size_t)pe_values_int(values, "rotary_dim") / 2;
    size_t c = 0;
    while (c < PE_LEN(cache_layouts) && strcmp(cache_layouts[c].name, name) != 0)
        c++;
    if (c == PE_LEN(cache_layouts))
        return false;
    const bool doubled = cache_layouts[c].doubled, paired = cache_layouts[c].paired;
    const bool neighbours =
        doubled && strcmp(pe_geometry_choice_text(values, "pairing"), "interleaved") == 0;
    *out = (pe_geometry){.width = doubled ? 4 * n : 2 * n,
                         .pairs = n,
                         .cos_n = n,
                         .sin_n = n,
                         .sin_at = doubled  ? 2 * n
                                   : paired ? 1
                                            : n,
                         .stride = paired || neighbours ? 2 : 1,
                         .copy = neighbours ? 1
                                 : doubled  ? n
                                            : 0};
    return true;
}

/* ---- sinusoidal tables ---- */

/* A row of odd width has one sine more than cosines, or a column of zeros that no pair has. */
static bool sinusoidal_geometry(const pe_values *values, pe_geometry *out)
{
    const char *layout = pe_geometry_choice_text(values, "layout");
    const size_t width = (size_t)pe_values_int(values, "d_model"), cosines = width / 2;
    const size_t sines = pe_values_real(values, "freq_shift") == 0 ? width - cosines : cosines;
    pe_geometry made = {
        .width = width, .pairs = sines, .cos_n = cosines, .sin_n = sines, .stride = 1};
    if (strcmp(layout, "interleaved") == 0) {
        made.stride = 2;
        made.cos_at = 1;
    } else if (strcmp(layout, "sin_cos") == 0) {
        made.cos_at = sines;
    } else if (strcmp(layout, "cos_sin") == 0) {
        made.sin_at = cosines;
    } else {
        return false;
    }
    *out = made;
    return true;
}

/* ---- the resources ---- */

static const pe_pair_layout layouts[] = {
    {"rope/table", "cache_layout", "pairs", cache_geometry},
    {"sinusoidal", "layout", "cos_sin", sinusoidal_geometry},
};

const pe_pair_layout *pe_geometry_pair_layout(const pe_resource *resource)
{
    for (size_t l = 0; l < PE_LEN(layouts); l++)
        if (strcmp(layouts[l].resource, resource->name) == 0)
            return &layouts[l];
    return NULL;
}

void pe_geometry_of_vectors(const pe_values *values, pe_geometry *out)
{
    const size_t n = (size_t)pe_values_int(values, "rotary_dim") / 2;
    const bool half = strcmp(pe_geometry_choice_text(values, "pairing"), "half") == 0;
    const pe_value *offset = pe_values_find(values, "rotary_offset");
    const size_t first = offset != NULL && offset->present ? (size_t)offset->integer : 0;
    *out = (pe_geometry){.width = (size_t)pe_values_int(values, "head_dim"),
                         .pairs = n,
                         .cos_n = n,
                         .sin_n = n,
                         .cos_at = first,
                         .sin_at = first + (half ? n : 1),
                         .stride = half ? 1 : 2};
}

void pe_geometry_exchange(pe_geometry *g)
{
    const size_t at = g->cos_at, n = g->cos_n;
    g->cos_at = g->sin_at;
    g->cos_n = g->sin_n;
    g->sin_at = at;
    g->sin_n = n;
}

bool pe_geometry_has_pair(const pe_geometry *g, size_t column, size_t *pair)
{
    for (unsigned k = 0; k < 4; k++) {
        const size_t at = (k < 2 ? g->cos_at : g->sin_at) + k % 2 * g->copy;
        if (column < at || (column - at) % g->stride != 0 ||
            (column - at) / g->stride >= (k < 2 ? g->cos_n : g->sin_n))
            continue;
        *pair = (column - at) / g->stride;
        return true;
    }
    return false;
}
