/* SPDX-License-Identifier: MIT */
/* shaw.c - clipped relative positions as indices. */
#include "encodings/relative/shaw.h"

#include <stddef.h>
#include <stdlib.h>

#include "encodings/registry.h"

#define WIDTH_MAX 65536

#define SIDE(side, fallback, text)                                                                 \
    PE_PARAM(side, INT, .optional = true, .fallback_text = (fallback), .min = 0,                   \
             .max = PE_SHAW_CLIP_MAX, .unit = "tokens", .help = (text), .example = "4")
#define BOTH_SIDES(fallback)                                                                       \
    SIDE("max_relative_position", fallback,                                                        \
         "Relative positions are clipped to this many on both sides. It replaces left_max and "    \
         "right_max.")
#define LEFT                                                                                       \
    SIDE("left_max", "max_relative_position",                                                      \
         "Relative positions are clipped to this many before the query.")
#define RIGHT                                                                                      \
    SIDE("right_max", "max_relative_position",                                                     \
         "Relative positions are clipped to this many after the query.")

static const pe_param clip_params[] = {BOTH_SIDES(NULL), LEFT, RIGHT};
static const pe_param clip_by_rows_params[] = {BOTH_SIDES("(rows - 1)/2"), LEFT, RIGHT};

const pe_param_set pe_shaw_clip_by_rows_params = {clip_by_rows_params, PE_LEN(clip_by_rows_params)};

static const pe_param embeddings_params[] = {
    PE_PARAM("relative_embeddings", TENSOR, .aliases = PE_NAMES("weights", "table"),
             .required = true, .min_dims = 2, .max_dims = 2,
             .help = "Embeddings of the relative positions from -left_max to right_max, [rows, d].",
             .example = "[[1,0],[0,1],[1,1]]"),
};
const pe_param_set pe_shaw_embeddings_params = {embeddings_params, PE_LEN(embeddings_params)};

/* ---- the clipping ---- */

/* Both spellings get one canonical form: max_relative_position, where present, becomes left_max and
 * right_max. */
static pe_status read_clip(pe_values *values, pe_shaw_clip *out, pe_problem *why)
{
    static const char *const sides[] = {"left_max", "right_max"};
    pe_value *both = pe_values_find(values, "max_relative_position");
    pe_problem mistake;
    pe_status status = PE_OK;
    for (size_t s = 0; s < PE_LEN(sides) && both->present; s++) {
        if (pe_values_given(values, sides[s]))
            status = PE_ALSO(
                status,
                pe_fail(&mistake, PE_INVALID_PARAMETER, sides[s],
                        "%s is given beside max_relative_position, which says the same of both "
                        "sides",
                        sides[s]));
        pe_values_set_int(values, sides[s], both->integer);
    }
    both->present = false;
    PE_TRY(status);
    const bool left = pe_values_present(values, "left_max");
    const bool right = pe_values_present(values, "right_max");
    if (!left && !right)
        return pe_fail(why, PE_MISSING_PARAMETER, "max_relative_position",
                       "max_relative_position is required, or left_max and right_max");
    if (!left || !right)
        return pe_fail(why, PE_MISSING_PARAMETER, left ? "right_max" : "left_max",
                       "%s is required beside %s", left ? "right_max" : "left_max",
                       left ? "left_max" : "right_max");
    *out = (pe_shaw_clip){pe_values_int(values, "left_max"), pe_values_int(values, "right_max")};
    return PE_OK;
}

pe_status pe_shaw_read_embeddings(pe_values *values, pe_shaw_clip *out, pe_problem *why)
{
    const pe_shape *shape = &pe_values_tensor(values, "relative_embeddings")->shape;
    const size_t rows = shape->dim[0];
    const bool given = pe_values_present(values, "max_relative_position") ||
                       pe_values_present(values, "left_max") ||
                       pe_values_present(values, "right_max");
    if (!given && rows % 2 == 1)
        pe_values_set_int(values, "max_relative_position", (int64_t)(rows / 2));
    PE_TRY(read_clip(values, out, why));
    if (rows != (size_t)(out->left + out->right + 1))
        return pe_fail(why, PE_INVALID_PARAMETER, "relative_embeddings",
                       "relative_embeddings must have left_max + right_max + 1 = %lld rows, got "
                       "%zu",
                       (long long)(out->left + out->right + 1), rows);
    if (shape->dim[1] > WIDTH_MAX)
        return pe_fail(why, PE_INVALID_PARAMETER, "relative_embeddings",
                       "relative_embeddings must have at most %d channels, got %zu", WIDTH_MAX,
                       shape->dim[1]);
    return PE_OK;
}

/* How many of n keys come before the one at `relative` plus `distance`. */
static size_t keys_before(int64_t distance, size_t n)
{
    return distance < 0 ? 0 : (size_t)distance < n ? (size_t)distance : n;
}

pe_shaw_zones pe_shaw_zones_of(const pe_shaw_clip *clip, int64_t relative, size_t n)
{
    pe_shaw_zones zones = {.before = keys_before(-clip->left - relative, n)};
    const size_t through = keys_before(clip->right + 1 - relative, n);
    zones.inside = through - zones.before;
    zones.behind = n - through;
    zones.first = (size_t)(relative + (int64_t)zones.before + clip->left);
    return zones;
}

/* ---- the table ---- */

typedef struct state {
    pe_relative table;
    pe_shaw_clip clip;
    bool backwards;
} state;
_Static_assert(offsetof(state, table) == 0, "the window's state begins with it");

static void run(const void *of, size_t layer PE_UNUSED, int64_t relative, size_t n,
                unsigned char *out)
{
    const state *s = of;
    const pe_shaw_zones zones = pe_shaw_zones_of(&s->clip, relative, n);
    const int32_t last = (int32_t)(s->clip.left + s->clip.right);
    int32_t *to = (int32_t *)(void *)out; /* out is aligned, and so is every element */
    for (size_t i = 0; i < zones.before; i++)
        to[i] = 0;
    for (size_t i = 0; i < zones.inside; i++)
        to[zones.before + i] = (int32_t)(zones.first + i);
    for (size_t i = n - zones.behind; i < n; i++)
        to[i] = last;
    for (size_t i = 0; i < n && s->backwards; i++)
        to[i] = last - to[i];
}

static pe_status plan_indices(pe_values *values, pe_plan *out, pe_problem *why)
{
    pe_shaw_clip clip;
    pe_problem mistake;
    pe_status status = pe_relative_lengths(values, why);
    status = PE_ALSO(status, read_clip(values, &clip, &mistake));
    PE_TRY(status);
    const pe_relative_window window = {
        .tensor = "indices", .dtype = PE_INT32, .run = run, .state_bytes = sizeof(state)};
    PE_TRY(pe_relative_plan(&window, values, out, why));
    state *s = out->state;
    s->clip = clip;
    s->backwards = pe_values_choice(values, "distance") == 1;
    return PE_OK;
}

static const char *const distances[] = {"key_less_query", "query_less_key", NULL};

static const pe_param indices_params[] = {
    PE_PARAM("distance", CHOICE, .choices = distances,
             .help = "What rows count: the key's position less the query's, as published, or the "
                     "query's less the key's, so that the last row is of keys before the query "
                     "(relative_key of BERT).",
             .example = "query_less_key"),
};

/** Shapes  [query_length, key_length], int32 from 0 to left_max + right_max; with
 *          distance=query_less_key left_max + right_max less that, as BertSelfAttention of
 *          huggingface/transformers 4.50.0. */
const pe_resource pe_shaw_indices = {
    PE_NAMED("shaw", "/indices"),
    .kind = PE_TABLE,
    .summary = "Clipped relative positions, as row numbers of their embeddings.",
    .formula = PE_SHAW_FORMULA,
    .labels = PE_LABELS({.axes = "query, key", .value = "index"}),
    .source = PE_SHAW_SOURCE,
    .param_sets = {&pe_relative_window_params, PE_PARAMS(clip_params), PE_PARAMS(indices_params),
                   &pe_params_output_int32},
    .plan = plan_indices,
};
