/* SPDX-License-Identifier: MIT */
/* query.c - the beginning and end of reading a request, and problems that name a parameter. */
#include "api/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "encodings/registry.h"

/* ---- life ---- */

pe_status pe_query_begin(const pe_resource *resource, pe_query *out, pe_problem *why)
{
    *out = (pe_query){.resource = resource,
                      .figure = {.width = PE_FIGURE_WIDTH, .height = PE_FIGURE_HEIGHT}};
    return pe_values_make(resource->param_sets, &out->values, why);
}

/* What is missing beside the mistake that was found; a model would set what is not given. */
static void add_missing(pe_query *query, pe_problem *why)
{
    pe_problem other;
    const pe_value *model = pe_values_find(&query->values, "model");
    if (model != NULL && model->present)
        return;
    if (pe_values_defaults(&query->values, &other) == PE_MISSING_PARAMETER)
        pe_problem_add(why, &other);
}

/* What is not given is the model's, or the default. */
static pe_status complete(pe_query *query, pe_problem *why)
{
    const pe_status status = pe_query_model_fill(query, why);
    return status == PE_OK ? pe_values_defaults(&query->values, why) : status;
}

pe_status pe_query_finish(pe_query *query, pe_status status, pe_query *out, pe_problem *why)
{
    if (status == PE_OK)
        status = complete(query, why);
    else if (why->where[0] != '\0')
        add_missing(query, why);
    if (status == PE_OK)
        *out = *query;
    else
        pe_query_free(query);
    return status;
}

void pe_query_free(pe_query *query)
{
    if (query == NULL)
        return;
    pe_values_free(&query->values);
    *query = (pe_query){0};
}

/* ---- single values ---- */

/* Resources whose path has a name have a row for it. */
static pe_value *name_value(const pe_query *query)
{
    size_t i = 0;
    while (query->values.value[i].param->kind != PE_KIND_NAME)
        i++;
    return &query->values.value[i];
}

pe_status pe_query_set_name(pe_query *query, pe_slice name, pe_problem *why)
{
    pe_value *value = name_value(query);
    if (value->given)
        return pe_fail(why, PE_MALFORMED_REQUEST, "name",
                       "name is part of the path and must not be a parameter, too");
    value->text = strndup(name.text, name.bytes);
    if (value->text == NULL)
        return pe_fail_memory(why);
    value->present = value->given = true;
    return PE_OK;
}

void pe_query_canonical_path(const pe_query *query, pe_buffer *out)
{
    const char *path = query->resource->path;
    const size_t before = strcspn(path, "{");
    pe_buffer_add(out, path, before);
    if (path[before] == '\0')
        return;
    pe_buffer_str(out, name_value(query)->text);
    pe_buffer_str(out, strchr(path, '}') + 1);
}

pe_dtype pe_query_dtype(const pe_query *query)
{
    pe_dtype dtype = PE_FLOAT64;
    const pe_value *value = pe_values_find(&query->values, "dtype");
    if (value == NULL)
        return dtype;
    const pe_param *param = value->param;
    const char *name = param->choices[value->present ? value->choice : (size_t)param->fallback];
    (void)pe_dtype_find(pe_slice_of(name), &dtype);
    return dtype;
}

void pe_query_locate(const pe_query *query, pe_problem *why)
{
    char name[sizeof why->where], place[sizeof why->where];
    const size_t length = strcspn(why->where, "/"), rest = strlen(why->where) - length;
    snprintf(name, sizeof name, "%.*s", (int)length, why->where);
    pe_values_place(&query->values, name, place, sizeof place);
    const size_t used = strlen(place);
    if (used + rest >= sizeof why->where)
        return;
    memmove(why->where + used, why->where + length, rest + 1);
    memcpy(why->where, place, used);
}

/* ---- problems ---- */

/* More than there are. */
#define ALIASES_MAX 64

/* Every name that may be meant: rows (those of tensors only in a body), the nested object, the
 * representation's, aliases. *own: how many are no figure's and no alias. */
static size_t list_names(const pe_resource *resource, bool in_body, const char **names, size_t *own)
{
    const pe_param *param;
    size_t n = 0, last;
    for (size_t i = 0; (param = pe_params_at(resource->param_sets, i)) != NULL; i++)
        if (in_body || param->kind != PE_KIND_TENSOR)
            names[n++] = param->name;
    if (in_body && resource->nested != NULL)
        names[n++] = resource->nested;
    *own = n + PE_OUTPUT_VIEW;
    for (size_t i = 0; i < PE_OUTPUT_N; i++)
        names[n++] = pe_query_output_names[i];
    last = n + ALIASES_MAX;
    for (size_t i = 0; (param = pe_params_at(resource->param_sets, i)) != NULL; i++)
        for (size_t a = 0; param->aliases != NULL && param->aliases[a] != NULL && n < last; a++)
            if (in_body || param->kind != PE_KIND_TENSOR)
                names[n++] = param->aliases[a];
    return n;
}

/* What others call a parameter, and what to write here; the first of a name's rows whose parameter
 * the resource has. `as`: how it is written where the name alone does not tell. */
static const struct {
    const char *name, *meant, *as;
} synonyms[] = {
    {"theta", "rope_theta", NULL},
    {"theta", "base", NULL},
    {"rope_base", "rope_theta", NULL},
    {"rotary_emb_base", "rope_theta", NULL},
    {"freq_base", "rope_theta", NULL},
    {"temperature", "base", NULL},
    {"max_period", "base", NULL},
    {"dim", "head_dim", NULL},
    {"dim", "d_model", NULL},
    {"d", "head_dim", NULL},
    {"d", "d_model", NULL},
    {"d_head", "head_dim", NULL},
    {"head_size", "head_dim", NULL},
    {"size_per_head", "head_dim", NULL},
    {"hidden_size", "d_model", NULL},
    {"embed_dim", "d_model", NULL},
    {"embedding_dim", "d_model", NULL},
    {"d_model", "head_dim", NULL},
    {"head_dim", "d_model", NULL},
    {"max_len", "positions", "positions=0:N"},
    {"max_length", "positions", "positions=0:N"},
    {"length", "positions", "positions=0:N"},
    {"seq_len", "positions", "positions=0:N"},
    {"seq_length", "positions", "positions=0:N"},
    {"n", "positions", "positions=0:N"},
    {"max_position", "positions", "positions=0:N"},
    {"max_seq_len", "positions", "positions=0:N"},
    {"max_seq_length", "positions", "positions=0:N"},
    {"context_length", "positions", "positions=0:N"},
    {"end", "positions", "positions=0:N"},
    {"pos", "positions", NULL},
    {"position", "positions", NULL},
    {"position_ids", "positions", NULL},
    {"timesteps", "positions", NULL},
    {"length", "query_length", NULL},
    {"seq_len", "query_length", NULL},
    {"n", "query_length", NULL},
    {"positions", "query_length", NULL},
    {"max_seq_len", "query_length", NULL},
    {"q_len", "query_length", NULL},
    {"k_len", "key_length", NULL},
    {"heads", "num_heads", NULL},
    {"n_heads", "num_heads", NULL},
    {"n_head", "num_heads", NULL},
    {"num_attention_heads", "num_heads", NULL},
    {"window_size", "window_height", "window_height and window_width"},
    {"window_size", "height", "height and width"},
    {"grid_size", "height", "height and width"},
    {"positions", "offsets", NULL},
    {"target_grid", "height", "height and width"},
    {"positions", "height", "height and width"},
    {"size", "height", "height and width"},
    {"causal", "form", "form=causal"},
    {"causal", "bidirectional", "bidirectional=false"},
    {"k", "offset", NULL},
    {"delta", "offset", NULL},
    {"n", "offset", NULL},
    {"shift", "delta", NULL},
    {"offset", "delta", NULL},
    {"k", "max_relative_position", NULL},
    {"max_relative_positions", "max_relative_position", NULL},
    {"interleaved", "pairing", "pairing=interleaved"},
    {"is_neox_style", "pairing", "pairing=half"},
    {"rotate_half", "pairing", "pairing=half"},
    {"type", "rope_type", NULL},
    {"scaling_factor", "factor", NULL},
    {"scale_factor", "factor", NULL},
    {"scale", "factor", NULL},
    {"rope_scaling", "rope_parameters", NULL},
    {"rope_scaling", "rope_type", "rope_type and factor"},
    {"scaling", "rope_type", "rope_type and factor"},
    {"original_max_len", "original_max_position_embeddings", NULL},
    {"x", "vectors", NULL},
    {"x", "embeddings", NULL},
    {"query", "q", NULL},
    {"key", "k", NULL},
    {"value", "v", NULL},
    {"mask", "attention_mask", NULL},
    {"is_causal", "causal", NULL},
    {"softmax_scale", "scale", NULL},
    {"bias_max", "alibi_bias_max", NULL},
    {"buckets", "num_buckets", NULL},
    {"relative_attention_num_buckets", "num_buckets", NULL},
    {"relative_attention_max_distance", "max_distance", NULL},
    {"torch_dtype", "dtype", NULL},
    {"type", "dtype", NULL},
    {"precision", "dtype", NULL},
    {"output", "format", NULL},
};

static const char *synonym_of(const char *name, const char *const *names, size_t n)
{
    for (size_t s = 0; s < PE_LEN(synonyms); s++)
        for (size_t i = 0; i < n && strcasecmp(synonyms[s].name, name) == 0; i++)
            if (strcmp(names[i], synonyms[s].meant) == 0)
                return synonyms[s].as != NULL ? synonyms[s].as : synonyms[s].meant;
    return NULL;
}

/* The same for a name that is nearly one of these. */
static const char *near_synonym(const char *name, const char *const *names, size_t n)
{
    const char *words[PE_LEN(synonyms)];
    size_t known = 0;
    for (size_t s = 0; s < PE_LEN(synonyms); s++)
        if (synonym_of(synonyms[s].name, names, n) != NULL)
            words[known++] = synonyms[s].name;
    const char *near = pe_nearest_name(name, words, known);
    return near != NULL ? synonym_of(near, names, n) : NULL;
}

/* Parameters that clients know of other resources; their absence means something. */
static const struct {
    const char *name, *before, *after; /* the path */
} elsewhere[] = {
    {"model", "no model of the catalogue sets parameters of", "; give them one by one"},
    {"layer_type", "layer_type changes no parameter of", ""},
};

/* A resource of the same encoding that has the parameter, or NULL. */
static const char *sibling_with(const pe_resource *resource, const char *name)
{
    for (size_t r = 0; pe_registry[r] != NULL; r++)
        if (strcmp(pe_registry[r]->encoding, resource->encoding) == 0 &&
            pe_params_find(pe_registry[r]->param_sets, name) != NULL)
            return pe_registry[r]->path;
    return NULL;
}

pe_status pe_query_fail_unknown(const pe_resource *resource, bool in_body, const char *where,
                                const char *name, pe_problem *why)
{
    for (size_t i = 0; i < PE_LEN(elsewhere); i++)
        if (strcmp(elsewhere[i].name, name) == 0)
            return pe_fail(why, PE_INVALID_PARAMETER, where, "%s %s%s", elsewhere[i].before,
                           resource->path, elsewhere[i].after);
    const char **names = calloc(
        pe_params_count(resource->param_sets) + PE_OUTPUT_N + 1 + ALIASES_MAX, sizeof *names);
    if (names == NULL)
        return pe_fail_memory(why);
    size_t own;
    const size_t n = list_names(resource, in_body, names, &own);
    const char *near = synonym_of(name, names, own);
    if (near == NULL)
        near = pe_nearest_name(name, names, n);
    if (near == NULL)
        near = near_synonym(name, names, own);
    free(names);
    if (near != NULL)
        return pe_fail(why, PE_UNKNOWN_PARAMETER, where,
                       "unknown parameter %.64s, did you mean %s?", name, near);
    const char *sibling = sibling_with(resource, name);
    if (sibling != NULL)
        return pe_fail(why, PE_UNKNOWN_PARAMETER, where,
                       "unknown parameter %.64s; %s has it, not %s", name, sibling, resource->path);
    return pe_fail(why, PE_UNKNOWN_PARAMETER, where,
                   "unknown parameter %.64s; GET /v1 lists those of %s", name, resource->path);
}

pe_status pe_query_fail_given(const pe_value *value, const char *where, const char *name,
                              pe_problem *why)
{
    const char *before = value->alias != NULL ? value->alias : value->param->name;
    if (strcmp(before, name) == 0)
        return pe_query_fail_repeated(where, name, why);
    return pe_fail(why, PE_MALFORMED_REQUEST, where, "%.64s is another name of %s: give one", name,
                   before);
}

pe_status pe_query_fail_repeated(const char *where, const char *name, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, where, "%.64s is given more than once", name);
}

pe_status pe_query_keep(pe_slice *kept, const char *name, pe_slice text, pe_problem *why)
{
    if (kept->text != NULL)
        return pe_query_fail_repeated(name, name, why);
    *kept = text;
    return PE_OK;
}
