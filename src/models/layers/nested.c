/* SPDX-License-Identifier: MIT */
/* nested.c - configurations within configurations: the language model's, and towers beside it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "models/layers.h"

/* Objects in which models of several modalities keep their language model. */
static const char *const text_configs[] = {
    "thinker_config", "vlm_config",        "text_config", "language_config",
    "llm_config",     "text_model_config", "decoder",     "decoder_config",
};

/* Objects beside it that are towers though they name no model type. */
static const char *const tower_configs[] = {"vision_config", "audio_config", "vision_tower"};

/* Objects of DBRX that name a model type and are none. */
static const char *const no_towers[] = {"attn_config", "ffn_config"};

static const char too_deep[] = "configurations are read to 4 levels within others";
_Static_assert(PE_READER_DEPTH == 4, "too_deep says so");

/* ---- the language model ---- */

/* The object within this one that holds the language model, and its name; NULL: none does. */
static const json_t *find_text_config(const pe_reader *reader, const json_t *config,
                                      const char **name)
{
    *name = reader->wrapper;
    if (config == reader->whole && reader->wrapper != NULL)
        return json_object_get(config, *name);
    for (size_t n = 0; n < PE_LEN(text_configs); n++) {
        const json_t *inner = json_object_get(config, text_configs[n]);
        *name = text_configs[n];
        if (inner != NULL && !json_is_null(inner))
            return inner;
    }
    return NULL;
}

/* A model type that is not known, and has no layers of its own, may wrap one that is: its only
 * such member. */
static void find_wrapper(pe_reader *reader)
{
    static const char *const words[] = {"lm", "language", "text", "base"};
    const json_t *config = reader->whole;
    const char *type = json_string_value(json_object_get(config, "model_type")), *name, *inner,
               *found = NULL;
    json_t *row, *value;
    size_t n = 0;
    if (find_text_config(reader, config, &name) != NULL || reader->tower != NULL || type == NULL ||
        pe_reader_has_fact(reader, PE_FACT_HIDDEN) || pe_reader_has_fact(reader, PE_FACT_LAYERS))
        return;
    reader->status = pe_model_type_find(type, &row, reader->why);
    json_decref(row);
    if (reader->status != PE_OK || row != NULL)
        return;
    json_object_foreach((json_t *)(uintptr_t)config, name, value)
    {
        /* Is it a language model's, or around one, by its name and its words? Configurations of sound
         * and of images have words, too. */
        bool named = false;
        for (size_t w = 0; w < PE_LEN(words); w++)
            named |= strstr(name, words[w]) != NULL;
        if (!named || !json_is_string(json_object_get(value, "model_type")) ||
            (!json_is_number(json_object_get(value, "vocab_size")) &&
             find_text_config(reader, value, &inner) == NULL))
            continue;
        found = name;
        n++;
    }
    if (n == 1 && strpbrk(found, "~/") == NULL && strlen(found) <= PE_READER_NAME)
        reader->wrapper = found;
}

static void go_into(pe_reader *reader, const char *name, const json_t *inner)
{
    const size_t used = strlen(reader->path);
    snprintf(reader->path + used, sizeof reader->path - used, "%s/", name);
    reader->config = inner;
}

void pe_nested_enter(pe_reader *reader)
{
    const char *name;
    find_wrapper(reader);
    const json_t *inner = find_text_config(reader, reader->config, &name);
    for (size_t depth = 0; inner != NULL; depth++) {
        if (depth == PE_READER_DEPTH) {
            pe_reader_warn(reader, "%s%s is not read: %s", reader->path, name, too_deep);
            return;
        }
        if (!json_is_object(inner)) {
            pe_reader_fail_type(reader, name, "an object", inner);
            return;
        }
        /* What is told of the model around the language model. */
        const json_t *type = json_object_get(reader->config, "model_type");
        json_t *row = NULL;
        pe_unread_keys_report_around(reader);
        if (json_is_string(type) && reader->status == PE_OK)
            reader->status = pe_model_type_find(json_string_value(type), &row, reader->why);
        if (pe_type_text(row, "note") != NULL)
            pe_reader_warn(reader, "model type %s: %s", json_string_value(type),
                           pe_type_text(row, "note"));
        reader->plain_images |= pe_type_is(row, "plain_images");
        json_decref(row);
        reader->around = json_is_string(type) ? type : reader->around;
        go_into(reader, name, inner);
        inner = find_text_config(reader, inner, &name);
    }
}

/* ---- towers ---- */

/* An object on the way to the language model. */
typedef struct place {
    const json_t *object;
    char path[PE_READER_PATH];
} place;

/* A tower that cannot be resolved is no failure of the whole. There is room for it, and for those
 * within it. */
static void resolve_tower(pe_reader *reader, const place *at, const char *name, const json_t *value,
                          pe_nested_resolve *resolve)
{
    pe_problem why = {0};
    pe_model *tower = NULL, *model = reader->model;
    pe_reader inner = {.whole = value,
                       .tower = name,
                       .outer = json_string_value(json_object_get(at->object, "model_type")),
                       .depth = reader->depth + 1,
                       .towers_max = reader->towers_max - model->n_towers - 1,
                       .why = &why};
    memcpy(inner.path, at->path, sizeof inner.path);
    go_into(&inner, name, value);
    inner.path_bytes = strlen(inner.path);
    const pe_status status = resolve(&inner, &tower);
    if (pe_status_is_ours(status))
        pe_reader_fail_memory(reader);
    else if (status != PE_OK)
        pe_reader_warn(reader, "%s is not told: %s", name, why.detail);
    if (status != PE_OK)
        return;
    /* What is told of the tower, its keys and the towers within it is told of the whole. */
    pe_buffer pointer = {0};
    pe_buffer_format(&pointer, "#/%s%s", at->path, name);
    for (size_t k = 0; k < tower->n_keys; k++)
        pe_reader_take_key(reader, &tower->keys[k]);
    for (size_t w = 0; w < tower->n_warnings; w++) {
        pe_reader_warn(reader, "%s: %s", name, tower->warnings[w]);
        free(tower->warnings[w]);
    }
    for (size_t p = 0; p < tower->n_parts; p++)
        (void)pe_parts_add(reader, tower->parts[p].resource, &tower->parts[p].values);
    model->towers[model->n_towers++] = (pe_model_tower){pe_buffer_take(&pointer), tower};
    if (model->towers[model->n_towers - 1].pointer == NULL)
        pe_reader_fail_memory(reader);
    for (size_t t = 0; t < tower->n_towers; t++)
        model->towers[model->n_towers++] = tower->towers[t];
    tower->n_keys = tower->n_warnings = tower->n_towers = 0;
}

void pe_nested_towers(pe_reader *reader, pe_nested_resolve *resolve)
{
    place at = {.object = reader->whole};
    snprintf(at.path, sizeof at.path, "%.*s", (int)reader->path_bytes, reader->path);
    for (;;) {
        const char *name, *entered = NULL;
        json_t *value;
        const json_t *inner = find_text_config(reader, at.object, &entered);
        json_object_foreach((json_t *)(uintptr_t)at.object, name, value)
        {
            /* Is the member a configuration of its own? */
            if (value != inner && reader->status == PE_OK && !json_is_null(value) &&
                !pe_nearest_is_name(name, no_towers, PE_LEN(no_towers)) &&
                (pe_nearest_is_name(name, tower_configs, PE_LEN(tower_configs)) ||
                 json_is_string(json_object_get(value, "model_type")))) {
                const char *lack =
                    !json_is_object(value) ? "a configuration is an object"
                    : strpbrk(name, "~/") != NULL || strlen(name) > PE_READER_NAME
                        ? "the name of a configuration has at most 63 bytes, and no ~ or /"
                    : reader->depth == PE_READER_DEPTH ? too_deep
                                                       : NULL;
                if (reader->model->n_towers == reader->towers_max)
                    pe_reader_warn(reader, "#/%s%.*s is left out: there are more than %d towers",
                                   at.path, PE_READER_NAME, name, PE_MODEL_TOWERS_MAX);
                else if (lack != NULL)
                    pe_reader_warn(reader, "%s%.*s is not told: %s", at.path, PE_READER_NAME, name,
                                   lack);
                else
                    resolve_tower(reader, &at, name, value, resolve);
            }
        }
        if (at.object == reader->config)
            return;
        const size_t used = strlen(at.path);
        snprintf(at.path + used, sizeof at.path - used, "%s/", entered);
        at.object = inner;
    }
}
