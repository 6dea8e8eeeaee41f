/* SPDX-License-Identifier: MIT */
/* model_types.c - the rows of config/model_types.json. */
#include "models/model_types.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "files/tree.h"

/* The file's text, from catalogue_data.S: one row a line, which begins with its name. */
extern const char pe_model_types_text[];

enum kind { NUMBER, TRUTH, TEXT, TREE };

#define MEMBER(kind, name)                                                                         \
    {                                                                                              \
#name, kind, offsetof(pe_model_type, name)                                                 \
    }

static const struct member {
    const char *name;
    enum kind kind;
    size_t offset;
} members[] = {
    MEMBER(TEXT, encoding),
    MEMBER(TEXT, why),
    MEMBER(TEXT, note),
    MEMBER(TRUTH, interleaved),
    MEMBER(TRUTH, backwards),
    MEMBER(TEXT, theta_key),
    MEMBER(NUMBER, theta),
    MEMBER(NUMBER, local_theta),
    MEMBER(TREE, rope_parameters),
    MEMBER(TRUTH, theta_alone),
    MEMBER(TRUTH, theta_over),
    MEMBER(TEXT, dictionary),
    MEMBER(NUMBER, partial),
    MEMBER(TEXT, partial_key),
    MEMBER(TRUTH, fixed_part),
    MEMBER(TRUTH, latent_head),
    MEMBER(TRUTH, whole_head),
    MEMBER(TRUTH, typed),
    MEMBER(TRUTH, by_type),
    MEMBER(TRUTH, divided_bias),
    MEMBER(TRUTH, yarn_is_longrope),
    MEMBER(NUMBER, original),
    MEMBER(TRUTH, longrope_mscale),
    MEMBER(TRUTH, learned_decoder),
    MEMBER(NUMBER, head_dim),
    MEMBER(NUMBER, full_head_dim),
    MEMBER(TRUTH, first_full),
    MEMBER(TRUTH, last_full),
    MEMBER(NUMBER, rotary_dim),
    MEMBER(NUMBER, fallback_head_dim),
    MEMBER(NUMBER, widen),
    MEMBER(NUMBER, pattern),
    MEMBER(NUMBER, every),
    MEMBER(NUMBER, phase),
    MEMBER(TRUTH, from_last),
    MEMBER(NUMBER, attention_every),
    MEMBER(NUMBER, nope_every),
    MEMBER(TREE, cross_layers),
    MEMBER(TREE, block_types),
    MEMBER(TREE, nope_types),
    MEMBER(TRUTH, unscaled_local),
    MEMBER(TRUTH, scaled_local),
    MEMBER(TRUTH, nope_full),
    MEMBER(TEXT, rope_if),
    MEMBER(TEXT, variant),
    MEMBER(TRUTH, sinusoidal_if_key),
    MEMBER(TEXT, mrope_layout),
    MEMBER(TREE, mrope_section),
    MEMBER(TREE, axes),
    MEMBER(TEXT, axes_key),
    MEMBER(TREE, axis_order),
    MEMBER(TREE, axes_theta),
    MEMBER(TREE, axes_scale),
    MEMBER(TEXT, axes_scale_key),
    MEMBER(TREE, labels),
    MEMBER(TRUTH, tail),
    MEMBER(TRUTH, temperature),
    MEMBER(NUMBER, merge),
    MEMBER(NUMBER, temporal_merge),
    MEMBER(TEXT, after_grid),
    MEMBER(TRUTH, frames_apart),
    MEMBER(NUMBER, per_second),
    MEMBER(NUMBER, per_chunk),
    MEMBER(TRUTH, unrounded),
    MEMBER(TRUTH, plain_images),
    MEMBER(NUMBER, buckets),
    MEMBER(NUMBER, max_distance),
    MEMBER(NUMBER, softmax_scale),
    MEMBER(TEXT, layout),
    MEMBER(NUMBER, freq_shift),
    MEMBER(TREE, rows),
    MEMBER(TEXT, width_key),
    MEMBER(NUMBER, offset),
    MEMBER(NUMBER, class_rows),
    MEMBER(TEXT, convention),
    MEMBER(TEXT, grid_pairing),
    MEMBER(NUMBER, width),
    MEMBER(NUMBER, heads),
    MEMBER(TRUTH, wide_embed),
    MEMBER(TRUTH, padded),
};

static void set_member(pe_model_type *type, const struct member *member, const json_t *value)
{
    void *at = (char *)type + member->offset;
    if (value == NULL)
        return;
    if (member->kind == NUMBER)
        *(double *)at = json_number_value(value);
    else if (member->kind == TRUTH)
        *(bool *)at = json_is_true(value);
    else if (member->kind == TEXT)
        *(const char **)at = json_string_value(value);
    else
        *(const json_t **)at = value;
}

/* The line of a name, after it; empty: there is none. */
static pe_slice find_line(const char *name)
{
    char start[96];
    const int bytes = snprintf(start, sizeof start, "\n  \"%s\": {", name);
    const char *at = NULL;
    if (bytes > 0 && (size_t)bytes < sizeof start && strpbrk(name, "\"\\\n") == NULL)
        at = strstr(pe_model_types_text, start);
    if (at == NULL)
        return (pe_slice){0};
    at += bytes - 1;
    size_t length = strcspn(at, "\n");
    return (pe_slice){at, length - (at[length - 1] == ',')};
}

pe_status pe_model_type_find(const char *name, pe_model_type *out, json_t **row, pe_problem *why)
{
    const pe_slice line = find_line(name);
    *out = (pe_model_type){0};
    *row = NULL;
    if (line.bytes == 0)
        return PE_OK;
    if (pe_tree_load(line, JSON_DECODE_INT_AS_REAL, "", row, why) != PE_OK)
        return pe_fail_memory(why); /* it is valid */
    for (size_t m = 0; m < PE_LEN(members); m++)
        set_member(out, &members[m], json_object_get(*row, members[m].name));
    out->name = name;
    return PE_OK;
}

pe_scheme pe_model_type_scheme(const pe_model_type *type)
{
    static const char *const names[] = {
        [PE_SCHEME_ROPE] = "rope",
        [PE_SCHEME_ALIBI] = "alibi",
        [PE_SCHEME_T5] = "t5",
        [PE_SCHEME_DEBERTA] = "deberta",
        [PE_SCHEME_SINUSOIDAL] = "sinusoidal",
        [PE_SCHEME_SINCOS_GRID] = "sincos_grid",
        [PE_SCHEME_LEARNED] = "learned",
        [PE_SCHEME_GRID] = "grid",
        [PE_SCHEME_NONE] = "none",
        [PE_SCHEME_UNKNOWN] = "unknown",
    };
    for (size_t s = 0; type->encoding != NULL && s < PE_LEN(names); s++)
        if (strcmp(names[s], type->encoding) == 0)
            return (pe_scheme)s;
    return type->name != NULL ? PE_SCHEME_ROPE : PE_SCHEME_UNKNOWN;
}
