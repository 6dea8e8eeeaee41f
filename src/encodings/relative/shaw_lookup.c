/* SPDX-License-Identifier: MIT */
/* shaw_lookup.c - the embedding of every relative position. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "encodings/relative/shaw.h"

typedef struct state {
    pe_relative table; /* of vectors */
    pe_shaw_clip clip;
    pe_array embeddings;
} state;
_Static_assert(offsetof(state, table) == 0, "the window's state begins with it");

static void run(const void *of, size_t layer PE_UNUSED, int64_t relative, size_t n,
                unsigned char *out)
{
    const state *s = of;
    const size_t bytes = s->table.bytes;
    const unsigned char *embeddings = s->embeddings.data;
    const pe_shaw_zones zones = pe_shaw_zones_of(&s->clip, relative, n);
    pe_relative_repeat(embeddings, bytes, zones.before, out);
    out += zones.before * bytes;
    if (zones.inside > 0)
        memcpy(out, embeddings + zones.first * bytes, zones.inside * bytes);
    out += zones.inside * bytes;
    pe_relative_repeat(embeddings + (size_t)(s->clip.left + s->clip.right) * bytes, bytes,
                       zones.behind, out);
}

static pe_status plan_lookup(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_shaw_clip clip;
    PE_TRY(pe_relative_lengths(values, why));
    PE_TRY(pe_shaw_read_embeddings(values, &clip, why));
    const pe_array *embeddings = pe_values_tensor(values, "relative_embeddings");
    const pe_relative_window window = {.tensor = "embeddings",
                                       .dtype = embeddings->dtype,
                                       .channels = embeddings->shape.dim[1],
                                       .run = run,
                                       .state_bytes = sizeof(state)};
    PE_TRY(pe_relative_plan(&window, values, out, why));
    state *s = out->state;
    s->clip = clip;
    pe_plan_take(out, values, "relative_embeddings", &s->embeddings);
    return PE_OK;
}

/** Shapes  relative_embeddings: [left_max + right_max + 1, d] -> [query_length, key_length, d], copied
 *          bit for bit. */
const pe_resource pe_shaw_lookup = {
    PE_NAMED("shaw", "/lookup"),
    .kind = PE_TRANSFORM,
    .summary = "The embedding of the relative position of every query and key.",
    .formula = "a[i, j] = relative_embeddings[" PE_SHAW_FORMULA "]",
    .labels = PE_LABELS({.axes = "query, key, channel", .value = "value"}),
    .source = PE_SHAW_SOURCE,
    .param_sets = {&pe_shaw_embeddings_params, &pe_relative_window_params,
                   &pe_shaw_clip_by_rows_params, &pe_params_output_exact},
    .plan = plan_lookup,
};
