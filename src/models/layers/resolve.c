/* SPDX-License-Identifier: MIT */
/* resolve.c - how a model encodes positions, resolved from its configuration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "models/layers.h"

/* ---- which object, which model type ---- */

/* Take the row of a name and what follows it, unless there is one already. */
static void find_row(pe_reader *reader, const char *name, const char *more, const char *last)
{
    char row[136];
    snprintf(row, sizeof row, "%.64s%s%.64s", name, more, last);
    if (reader->status != PE_OK || reader->type != NULL)
        return;
    reader->status = pe_model_type_find(row, &reader->type, reader->why);
    if (reader->type != NULL)
        reader->type_name = name;
}

/* A class may have several encodings, of which a key names one: each has a row of its own, that of
 * a model type or of any. */
static void find_variant(pe_reader *reader, const char *name)
{
    const char *own = pe_type_text(reader->type, "rope_if");
    const char *key = own != NULL ? own : "position_embedding_type";
    const json_t *given = json_object_get(reader->config, key);
    const char *value = given != NULL ? json_string_value(given) : pe_type_text(reader->type, key);
    json_t *of_all = reader->type;
    if (value == NULL)
        return;
    reader->type = NULL;
    find_row(reader, name, "/", value);
    find_row(reader, "*", "/", value);
    if (reader->type == NULL)
        reader->type = of_all;
    else
        json_decref(of_all);
    if (reader->type != NULL)
        reader->type_name = name;
}

static void find_named(pe_reader *reader, const char *name)
{
    /* A vision tower may have the name of the whole model (so until transformers 5): its own is then
     * that of its class. The whole configuration is that of one where it has patches, neither a
     * tower nor words. */
    if (reader->tower != NULL ? strcmp(reader->tower, "vision_config") == 0
                              : pe_reader_member(reader, "patch_size") != NULL &&
                                    pe_reader_member(reader, "vision_config") == NULL &&
                                    pe_reader_member(reader, "vocab_size") == NULL)
        find_row(reader, name, "_vision", "");
    /* DeepSeek-V2's own code has the attention of the first DeepSeek where no channel turns apart
     * (DeepSeek-VL2 Tiny, DeepSeek-OCR).
     *
     * Source  vllm-project/vllm at 002d6073aa034d4f5545d45021b0e56d1f3c3593,
     *         vllm/model_executor/models/deepseek_v2.py (DeepseekAttention). */
    static const char key[] = "qk_rope_head_dim";
    const json_t *dim = pe_reader_member(reader, key);
    if (strncmp(name, "deepseek_v", strlen("deepseek_v")) == 0 && json_is_number(dim) &&
        json_number_value(dim) == 0) {
        find_row(reader, "deepseek", "", "");
        pe_reader_ignored(reader, key, dim, "0: attention is not latent, and whole heads turn");
    }
    find_row(reader, name, "", "");
    find_variant(reader, name);
    if (reader->type != NULL)
        reader->type_name = name;
    else
        pe_reader_warn(reader, "model_type %.64s is not known: neither are its class's defaults",
                       name);
}

/* ---- which scheme ---- */

static bool has_scheme_key(pe_reader *reader, pe_scheme *out)
{
    const json_t *value = pe_reader_member(reader, "position_embedding_type");
    const char *name = json_string_value(value);
    const json_t *row = name != NULL ? pe_input_row("position_embedding_type", name) : NULL;
    if (row != NULL) {
        pe_reader_used(reader, "position_embedding_type", value, NULL, NULL);
        *out = pe_model_type_scheme_named(json_string_value(json_array_get(row, 1)));
        return true;
    }
    if (value != NULL) {
        pe_reader_ignored(reader, "position_embedding_type", value, "not known");
        pe_reader_warn(reader, "position_embedding_type %.40s is not known",
                       name != NULL ? name : pe_reader_type_text(value));
    }
    return false;
}

/* The scheme of an unknown model type, by the keys that are there. Parts of image and video pipelines
 * turn by several axes: one whose keys do not say which is not taken for text. */
static pe_scheme guess_scheme(pe_reader *reader)
{
    static const pe_fact facts[] = {PE_FACT_THETA,      PE_FACT_LOCAL_THETA,   PE_FACT_ROTARY_DIM,
                                    PE_FACT_PARTIAL,    PE_FACT_ROPE_HEAD_DIM, PE_FACT_INTERLEAVE,
                                    PE_FACT_THETA_RATIO};
    const char *name = json_string_value(pe_reader_member(reader, "model_type"));
    if (pe_reader_has_fact(reader, PE_FACT_POSITION_BUCKETS))
        return PE_SCHEME_DEBERTA;
    if (pe_reader_has_fact(reader, PE_FACT_BUCKETS))
        return PE_SCHEME_T5;
    /* Does a key say which channels, or pairs, turn by which axis? Or speak of rotations? */
    const bool axes =
        pe_axes_key(reader) != NULL || pe_reader_member(reader, "mrope_section") != NULL;
    bool rotates = axes || json_object_size(pe_reader_member(reader, "rope_parameters")) != 0 ||
                   json_object_size(pe_reader_member(reader, "rope_scaling")) != 0;
    for (size_t f = 0; f < PE_LEN(facts); f++)
        rotates |= pe_reader_has_fact(reader, facts[f]);
    if (!rotates || json_is_false(pe_reader_member(reader, "use_rope")))
        return PE_SCHEME_UNKNOWN;
    if (name == NULL || strncmp(name, "diffusers/", strlen("diffusers/")) != 0 || axes)
        return PE_SCHEME_ROPE;
    pe_reader_warn(reader, "a class of diffusers may turn by several axes: no key says which");
    return PE_SCHEME_UNKNOWN;
}

/* Zamba2 rotates where use_mem_rope is true, Conformers where their embeddings are rotary, Granite
 * hybrids where they are rope. */
static bool rotates_by_key(pe_reader *reader, const char *key)
{
    const json_t *value = pe_reader_member(reader, key);
    const char *text = json_string_value(value);
    const bool rotates =
        json_is_true(value) ||
        (text != NULL && (strcmp(text, "rotary") == 0 || strcmp(text, "rope") == 0));
    if (value != NULL && !json_is_boolean(value) && text == NULL)
        pe_reader_fail_type(reader, key, "true, false or a name", value);
    pe_reader_used(reader, key, value, NULL,
                   rotates ? "the model rotates" : "the model does not rotate");
    if (rotates && json_is_true(pe_reader_member(reader, "use_long_context")))
        pe_reader_warn(reader, "use_long_context is not read: with it the base grows as in "
                               "rope_type ntk_alpha, alpha 8");
    return rotates;
}

static pe_scheme find_scheme(pe_reader *reader)
{
    double truth = 0;
    pe_scheme scheme =
        reader->type != NULL ? pe_model_type_scheme(reader->type) : guess_scheme(reader);
    /* Baichuan's 13B model has ALiBi. Only its code says so, by its width, and llama.cpp's, by its
     * layers.
     *
     * Source  ggml-org/llama.cpp, src/models/baichuan.cpp (load_arch_hparams). */
    const char *type = reader->type != NULL ? reader->type_name : "";
    if ((strcmp(type, "baichuan") == 0 &&
         json_number_value(json_object_get(reader->config, "hidden_size")) == 5120) ||
        (strcmp(type, "gguf/baichuan") == 0 &&
         json_number_value(json_object_get(reader->config, "num_hidden_layers")) == 40)) {
        pe_reader_warn(reader, "this is the 13B model by its size: it has ALiBi");
        return PE_SCHEME_ALIBI;
    }
    if (pe_reader_finds_fact(reader, PE_FACT_ALIBI, &truth, NULL)) {
        if (truth != 0)
            return PE_SCHEME_ALIBI;
        scheme = scheme == PE_SCHEME_ALIBI ? PE_SCHEME_LEARNED : scheme;
    }
    if (pe_reader_finds_fact(reader, PE_FACT_ATTENTION_ROPE, &truth, NULL) && truth != 0)
        return PE_SCHEME_ROPE;
    if (pe_type_text(reader->type, "rope_if") != NULL)
        return rotates_by_key(reader, pe_type_text(reader->type, "rope_if")) ? PE_SCHEME_ROPE
                                                                             : scheme;
    if (pe_type_is(reader->type, "sinusoidal_if_key"))
        return pe_reader_finds_fact(reader, PE_FACT_SINUSOIDAL, &truth, NULL) && truth != 0
                   ? PE_SCHEME_SINUSOIDAL
                   : PE_SCHEME_LEARNED;
    pe_scheme named;
    return has_scheme_key(reader, &named) && named != PE_SCHEME_RESOURCE ? named : scheme;
}

/* ---- the model ---- */

/**
 * What chooses tokens for sparse attention has heads of its own, of which the same frequencies turn
 * as many channels, though not always in the same pairs.
 *
 * Source  DeepseekV32Indexer (pairs of halves), GlmMoeDsaIndexer, Dots3NoteTextIndexer and
 *         MistralLarge4TextIndexer (interleaved), AXK2Indexer, HYV4Indexer and HYV4VLIndexer (the
 *         last channels), DeepseekV4Indexer (the same, by the frequencies of compressed layers),
 *         MiniMaxM3VLIndexer and Qwen4ExpTextQSAIndexer (halves) of huggingface/transformers 5.24.0.
 */
static void add_indexer(pe_reader *reader)
{
    const char *pairing = pe_type_text(reader->type, "indexer");
    const char *of = pe_type_text(reader->type, "indexer_of"); /* which layers have it; NULL: all */
    const pe_model *model = reader->model;
    size_t k = 0;
    double dim = 0;
    while (of != NULL && k < model->n_kinds && strcmp(model->kinds[k].layer_type, of) != 0)
        k++;
    if (pairing == NULL || reader->status != PE_OK || k == model->n_kinds ||
        model->kinds[k].resource == NULL ||
        !pe_reader_fact(reader, PE_FACT_INDEX_HEAD_DIM, &dim, NULL))
        return;
    /* Channels of the head that is told which rotate. */
    const double turned = pe_rope_dims_rotating(&model->kinds[k].values);
    if (turned > dim) {
        pe_reader_warn(reader, "index_head_dim is %.0f, less than the %.0f channels that turn", dim,
                       turned);
        return;
    }
    pe_model_layers *kind = pe_kinds_add(reader, "indexer", &pe_rope_table, NULL, 0);
    if (reader->status != PE_OK)
        return;
    const pe_model_layers *from = &model->kinds[k];
    pe_values_free(&kind->values);
    reader->status = pe_values_lend(&from->values, &kind->values, reader->why);
    kind->scaling = from->scaling != NULL ? strdup(from->scaling) : NULL;
    kind->shared_scaling = from->shared_scaling;
    if (from->scaling != NULL && kind->scaling == NULL)
        pe_reader_fail_memory(reader);
    if (reader->status != PE_OK)
        return;
    pe_reader_unset(&kind->values, "partial_rotary_factor");
    pe_reader_set_number(reader, &kind->values, "head_dim", "index_head_dim", dim);
    pe_reader_set_number(reader, &kind->values, "rotary_dim", "qk_rope_head_dim", turned);
    if (pe_type_is(reader->type, "indexer_tail"))
        pe_reader_set_number(reader, &kind->values, "rotary_offset", "index_head_dim",
                             dim - turned);
    pe_reader_set_choice(&kind->values, "pairing", pairing);
}

static void resolve_layers(pe_reader *reader)
{
    pe_dictionary dictionary = {0};
    pe_model *model = reader->model;
    pe_kinds_find(reader);
    pe_dictionary_find(reader, &dictionary);
    pe_parts_resolve(reader, &dictionary);
    for (size_t k = 0; k < model->n_kinds && reader->status == PE_OK; k++)
        if (model->kinds[k].resource != NULL)
            pe_rope_layers_resolve(reader, &dictionary, &model->kinds[k]);
    add_indexer(reader);
    if (pe_type_is(reader->type, "backwards") && reader->status == PE_OK) {
        /* Tables are the same: what differs is what is done with them. */
        pe_values *values = pe_parts_add(reader, &pe_rope_rotate, &model->kinds[0].values);
        if (values != NULL && reader->status == PE_OK)
            pe_reader_set_number(reader, values, "inverse", "inverse", 1);
        pe_reader_warn(reader,
                       "model type %s turns pairs by minus the angle: /v1/rope/rotate with "
                       "inverse=true",
                       reader->type_name);
    }
    pe_softmax_scale_resolve(reader);
    pe_unread_keys_report(reader);
}

static void resolve(pe_reader *reader)
{
    /* Facts are looked for in attn_config, so it must be an object. */
    const json_t *attention = pe_reader_member(reader, "attn_config");
    if (attention != NULL && !json_is_object(attention))
        pe_reader_fail_type(reader, "attn_config", "an object", attention);
    const pe_scheme scheme = find_scheme(reader);
    reader->model->encoding = pe_plain_layers_encoding(reader, scheme);
    /* The model type of the object that is read decides how pairs are formed. */
    const json_t *value = pe_reader_member(reader, "model_type");
    if (reader->type == NULL)
        pe_reader_ignored(reader, "model_type", value, "not known");
    else
        pe_reader_used(reader, "model_type", value,
                       scheme == PE_SCHEME_ROPE   ? "pairing"
                       : scheme == PE_SCHEME_GRID ? "convention"
                                                  : NULL,
                       NULL);
    if (reader->status != PE_OK)
        return;
    if (scheme == PE_SCHEME_ROPE) {
        resolve_layers(reader);
    } else if (scheme == PE_SCHEME_T5) {
        /* A configuration whose is_decoder is true is that of a decoder alone. */
        const json_t *is_decoder = pe_reader_member(reader, "is_decoder");
        if (!json_is_true(is_decoder))
            pe_plain_layers_add(reader, PE_SCHEME_T5, "encoder");
        if (pe_type_text(reader->type, "variant") == NULL)
            pe_plain_layers_add(reader, PE_SCHEME_T5, "decoder");
        pe_reader_used(reader, "is_decoder", is_decoder, "bidirectional", NULL);
    } else if (pe_type_is(reader->type, "learned_decoder")) {
        pe_plain_layers_add(reader, scheme, "encoder");
        pe_plain_layers_add(reader, PE_SCHEME_LEARNED, "decoder");
    } else {
        pe_plain_layers_add(reader, scheme, "all");
    }
    pe_plain_layers_resources(reader);
    if (pe_type_text(reader->type, "note") != NULL)
        pe_reader_warn(reader, "model type %s: %s", reader->type_name,
                       pe_type_text(reader->type, "note"));
    if (scheme == PE_SCHEME_UNKNOWN) {
        /* A configuration that was wrapped, as {"config": {...}}. */
        const json_t *inner = json_object_get(reader->whole, "config");
        if (json_is_object(inner) && json_object_get(reader->whole, "model_type") == NULL)
            pe_reader_fail(reader, PE_INVALID_PARAMETER, "config",
                           "config holds the configuration: post that object itself");
        /* The name of a model, in the place of its configuration. */
        static const char *const keys[] = {"name", "model"};
        for (size_t k = 0; k < PE_LEN(keys); k++) {
            const json_t *given = json_object_get(reader->whole, keys[k]);
            if (json_string_length(given) != 0 && json_string_length(given) <= 96)
                pe_reader_warn(reader,
                               "%s is no key of a configuration: GET /v1/models/%s tells of a "
                               "model of the catalogue",
                               keys[k], json_string_value(given));
        }
        const char *because = pe_type_text(reader->type, "why");
        if (because != NULL)
            pe_reader_warn(reader, "model type %s: %s", reader->type_name, because);
        else
            pe_reader_warn(reader,
                           "nothing says how positions are encoded: looked for a model_type that "
                           "is known, rope_parameters, rope_scaling, rope_theta, rotary_dim, "
                           "partial_rotary_factor, qk_rope_head_dim, alibi, "
                           "relative_attention_num_buckets, position_buckets and "
                           "position_embedding_type");
    }
    if (scheme != PE_SCHEME_ROPE) {
        pe_softmax_scale_resolve(reader);
        pe_unread_keys_report(reader);
    }
}

static pe_status resolve_tower(pe_reader *reader, pe_model **out);

static pe_status resolve_whole(pe_reader *reader, pe_model **out)
{
    reader->model = calloc(1, sizeof *reader->model);
    if (reader->model == NULL)
        return pe_fail_memory(reader->why);
    pe_nested_enter(reader);
    if (reader->status == PE_OK) {
        /* The model type is that of the nested object, else that of the nearest around it. */
        const json_t *value = pe_reader_member(reader, "model_type");
        if (value == NULL)
            value = reader->config != reader->whole ? reader->around
                                                    : json_object_get(reader->whole, "model_type");
        if (value != NULL && !json_is_null(value) && !json_is_string(value))
            pe_reader_fail_type(reader, "model_type", "a string", value);
        else if (json_string_length(value) != 0) {
            find_named(reader, json_string_value(value));
        } else {
            /* A key that only one class has, of those that may name no model type. Else a tower is
             * that of the model around it, which may have rows for towers by their keys. */
            if (pe_reader_member(reader, "token_dropout") != NULL)
                find_row(reader, "esm", "", "");
            if (reader->type == NULL && reader->outer != NULL) {
                find_row(reader, reader->outer, "/", reader->tower);
                find_row(reader, reader->outer, "_vision", "");
            } else if (reader->type == NULL)
                pe_reader_warn(reader,
                               "there is no model_type: its class's defaults are not known");
        }
    }
    if (reader->status == PE_OK)
        resolve(reader);
    if (reader->status == PE_OK)
        pe_nested_towers(reader, resolve_tower);
    json_decref(reader->dictionary);
    json_decref(reader->type);
    if (reader->status != PE_OK) {
        pe_model_free(reader->model);
        return reader->status;
    }
    *out = reader->model;
    return PE_OK;
}

/* What is told of keys is told of those that came. */
static pe_status resolve_input(pe_reader *reader, const pe_input *input, pe_model **out)
{
    *out = NULL;
    pe_status status = resolve_whole(reader, out);
    const pe_status restored = pe_input_restore(input, reader->path_bytes, *out, reader->why);
    for (size_t w = 0; status == PE_OK && w < json_array_size(input->warnings); w++)
        pe_reader_warn(reader, "%s", json_string_value(json_array_get(input->warnings, w)));
    status = status != PE_OK ? status : restored != PE_OK ? restored : reader->status;
    if (status != PE_OK) {
        pe_model_free(*out);
        *out = NULL;
    }
    return status;
}

/* A tower may be one of timm's. */
static pe_status resolve_tower(pe_reader *reader, pe_model **out)
{
    const char *type = json_string_value(json_object_get(reader->whole, "model_type"));
    pe_input input;
    if (type == NULL || strncmp(type, "timm_", strlen("timm_")) != 0)
        return resolve_whole(reader, out);
    pe_status status = pe_input_read(reader->whole, &input, reader->why);
    PE_TRY(status);
    if (input.config != NULL)
        reader->whole = reader->config = input.config;
    status = resolve_input(reader, &input, out);
    pe_input_free(&input);
    return status;
}

pe_status pe_model_resolve(const json_t *config, pe_model **out, pe_problem *why)
{
    if (!json_is_object(config))
        return pe_fail(why, PE_MALFORMED_REQUEST, "", "a configuration is a JSON object, got %s",
                       config != NULL ? pe_reader_type_text(config) : "nothing");
    pe_input input;
    const pe_status status = pe_input_read(config, &input, why);
    PE_TRY(status);
    const json_t *whole = input.config != NULL ? input.config : config;
    pe_reader reader = {
        .whole = whole, .config = whole, .towers_max = PE_MODEL_TOWERS_MAX, .why = why};
    const pe_status resolved = resolve_input(&reader, &input, out);
    pe_input_free(&input);
    return resolved;
}
