/* SPDX-License-Identifier: MIT */
/* layer_kinds.c - which layers there are, and which of them encode positions alike. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "encodings/registry.h"
#include "models/layers.h"
#include "plan/resource.h"

#define LAYERS_MAX 1024
#define KINDS_MAX  8
#define TYPE_MAX   64 /* bytes of a layer type's name */
#define PERIOD_MAX 12 /* layers after which types repeat */
#define WANTED_MAX 64 /* bytes that say what a list must be */

static const char full[] = "full_attention", sliding[] = "sliding_attention",
                  cross[] = "cross_attention";

/* The layers, and what is known of each. */
typedef struct layer_list {
    size_t n;
    const char *type[LAYERS_MAX];
    bool nope[LAYERS_MAX];
    double theta[LAYERS_MAX]; /* a base of its own; 0: none */
    double number[LAYERS_MAX];
} layer_list;

pe_model_layers *pe_kinds_add(pe_reader *reader, const char *layer_type,
                              const pe_resource *resource, size_t *index, size_t n)
{
    pe_model *model = reader->model;
    pe_model_layers *grown = realloc(model->kinds, (model->n_kinds + 1) * sizeof *grown);
    if (grown == NULL) {
        free(index);
        pe_reader_fail_memory(reader);
        return NULL;
    }
    model->kinds = grown;
    pe_model_layers *kind = &grown[model->n_kinds++];
    *kind = (pe_model_layers){
        .layer_type = strdup(layer_type), .resource = resource, .n = n, .index = index};
    if (kind->layer_type == NULL)
        pe_reader_fail_memory(reader);
    if (resource != NULL && reader->status == PE_OK)
        reader->status = pe_values_make(resource->param_sets, &kind->values, reader->why);
    return kind;
}

/* ---- what each layer is ---- */

/* Names that can stand in pointers and queries as they are. */
static bool is_name(const char *type)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const size_t bytes = type != NULL ? strlen(type) : 0;
    return bytes > 0 && bytes < TYPE_MAX && strspn(type, letters) == bytes;
}

static void read_layer_types(pe_reader *reader, layer_list *layers, const char *key,
                             const json_t *list)
{
    const size_t n = json_array_size(list);
    char wanted[WANTED_MAX];
    if (!json_is_array(list) || n == 0 || n > LAYERS_MAX) {
        snprintf(wanted, sizeof wanted, "an array of 1 to %d strings", LAYERS_MAX);
        pe_reader_fail_type(reader, key, wanted, list);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        char place[64];
        const char *type = json_string_value(json_array_get(list, i));
        snprintf(place, sizeof place, "%s/%zu", key, i);
        if (!is_name(type))
            pe_reader_fail(reader, PE_INVALID_PARAMETER, place,
                           "each of %s must be a name of 1 to %d letters, digits, _, - and .", key,
                           TYPE_MAX - 1);
        else
            layers->type[i] = type;
    }
    if (layers->n != 0 && layers->n != n)
        pe_reader_warn(
            reader,
            "%s has %zu entries for %zu layers of num_hidden_layers; layers are those of %s", key,
            n, layers->n, key);
    layers->n = n;
    pe_reader_used(reader, key, list, NULL, NULL);
}

/* The layers of a list of numbers, which count from 0, are of this type. */
static void put_listed(layer_list *layers, const json_t *list, const char *type)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const double layer = json_number_value(json_array_get(list, i));
        if (layer >= 0 && layer < (double)layers->n)
            layers->type[(size_t)layer] = type;
    }
}

/* A key tells the types of layers: by letters that repeat, by a number for each, or (null) by the
 * numbers of layers that are of one type. The row has the key, the item that is of a type, that type,
 * that of others, and a note. */
static bool read_type_key(pe_reader *reader, layer_list *layers, const json_t *row)
{
    const char *key = json_string_value(json_array_get(row, 0)),
               *type = json_string_value(json_array_get(row, 2)),
               *others = json_string_value(json_array_get(row, 3));
    const json_t *value = pe_reader_member(reader, key), *of_type = json_array_get(row, 1);
    const char *letters = json_string_value(value);
    const size_t n = json_string_length(value);
    if (json_is_string(of_type) ? n == 0
                                : !json_is_array(value) || (json_is_number(of_type) &&
                                                            json_array_size(value) < layers->n))
        return false;
    for (size_t i = 0; i < layers->n; i++) {
        const bool is = letters != NULL ? letters[i % n] == *json_string_value(of_type)
                                        : json_is_number(of_type) &&
                                              json_number_value(json_array_get(value, i)) ==
                                                  json_number_value(of_type);
        layers->type[i] = is ? type : others;
    }
    if (json_is_null(of_type))
        put_listed(layers, value, type);
    pe_reader_used(reader, key, value, NULL, json_string_value(json_array_get(row, 4)));
    return true;
}

/* A list that repeats; one that does not is that of the class's own number of layers. */
static bool read_block_types(pe_reader *reader, layer_list *layers)
{
    const json_t *own = json_object_get(reader->type, "block_types");
    const json_t *given = pe_reader_member(reader, "block_types");
    const bool is_given = json_is_array(given);
    const json_t *list = is_given ? given : own;
    const size_t n = json_array_size(list);
    if (own == NULL || n == 0)
        return false;
    if (n > PERIOD_MAX && n != layers->n && layers->n != 0)
        pe_reader_fail(reader, PE_MISSING_PARAMETER, "layer_types",
                       "layer_types is missing: the types of %zu layers follow from no rule",
                       layers->n);
    for (size_t i = 0; i < layers->n; i++) {
        const char *type = json_string_value(json_array_get(list, i % n));
        layers->type[i] = is_name(type) ? type : full;
    }
    pe_reader_report(reader, is_given ? "block_types" : "layer_types", list,
                     is_given ? PE_MODEL_KEY_USED : PE_MODEL_KEY_DEFAULTED, NULL,
                     "types of layers, in turn");
    return true;
}

/**
 * DeepSeek-V4 lists for each layer how many tokens become one; else the first two layers are
 * heavily compressed, and those behind them in turn.
 *
 * Source  DeepseekV4Config of huggingface/transformers 5.23.0.
 */
static bool read_ratios(pe_reader *reader, layer_list *layers)
{
    static const char key[] = "compress_ratios", heavy[] = "heavily_compressed_attention",
                      sparse[] = "compressed_sparse_attention";
    const json_t *list = pe_reader_member(reader, key);
    if (json_object_get(reader->type, "labels") == NULL)
        return false;
    if (list != NULL && json_array_size(list) < layers->n)
        pe_reader_fail_type(reader, key, "an array of 0, 4 or 128 for each layer", list);
    for (size_t i = 0; i < layers->n; i++) {
        const double ratio = json_number_value(json_array_get(list, i));
        layers->type[i] = list == NULL ? (i > 1 && i % 2 == 1 ? sparse : heavy)
                          : ratio == 0 ? sliding
                          : ratio == 4 ? sparse
                                       : heavy;
    }
    pe_reader_used(
        reader, key, list, NULL,
        "0: sliding_attention, 4: compressed_sparse_attention, 128: heavily_compressed_attention");
    return true;
}

/* Every so many layers one is of full attention. */
static void read_pattern(pe_reader *reader, layer_list *layers)
{
    static const pe_fact facts[] = {PE_FACT_PATTERN, PE_FACT_EVERY, PE_FACT_ATTENTION_EVERY};
    const bool no_window = json_is_null(json_object_get(reader->config, "sliding_window"));
    const json_t *type = reader->type;
    const json_t *keys = pe_input_table("types of layers");
    for (size_t k = 0; k < json_array_size(keys); k++)
        if (read_type_key(reader, layers, json_array_get(keys, k)))
            return;
    if (read_block_types(reader, layers) || read_ratios(reader, layers))
        return;
    for (size_t p = 0; p < PE_LEN(facts); p++) {
        double number = 0;
        if (!(facts[p] == PE_FACT_PATTERN && no_window
                  ? pe_reader_finds_fact(reader, facts[p], &number, NULL)
                  : pe_reader_fact(reader, facts[p], &number, NULL)))
            continue;
        /* What is added to a layer's number, which counts from 0. */
        const size_t every = (size_t)number;
        size_t from = 1;
        if (facts[p] == PE_FACT_EVERY)
            from = pe_type_is(type, "from_last") && layers->n != 0
                       ? every - (layers->n - 1) % every
                       : (size_t)pe_type_number(type, "phase");
        for (size_t i = 0; i < layers->n; i++)
            layers->type[i] = (i + from) % every == 0               ? full
                              : facts[p] == PE_FACT_ATTENTION_EVERY ? "linear_attention"
                                                                    : sliding;
        if (pe_type_is(type, "first_full") && layers->n != 0)
            layers->type[0] = full;
        if (pe_type_is(type, "last_full") && layers->n != 0)
            layers->type[layers->n - 1] = full;
        return;
    }
}

/* Layers of cross attention look at an image, whose keys have no positions in the text. */
static void read_cross(pe_reader *reader, layer_list *layers)
{
    static const char key[] = "cross_attention_layers";
    const json_t *list = pe_reader_member(reader, key), *own = json_object_get(reader->type, key);
    if (own == NULL)
        return;
    if (list != NULL && !json_is_array(list))
        pe_reader_fail_type(reader, key, "an array of layers, counted from 0", list);
    put_listed(layers, list != NULL ? list : own, cross);
    pe_reader_report(reader, key, list != NULL ? list : own,
                     list != NULL ? PE_MODEL_KEY_USED : PE_MODEL_KEY_DEFAULTED, NULL,
                     "these layers do not rotate");
}

/* ---- which of them do not rotate ---- */

/* The numbers of a list for each layer: 0 (no rotation), or from low to high. */
static void read_each(pe_reader *reader, const char *key, const json_t *list, size_t n,
                      const char *wanted, const char *each, double low, double high, double *out)
{
    if (!json_is_array(list) || json_array_size(list) < n) {
        pe_reader_fail_type(reader, key, wanted, list);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        const bool truth = json_is_boolean(item) && high == 1;
        out[i] = truth ? json_is_true(item) : json_number_value(item);
        if ((!json_is_number(item) && !truth) ||
            (out[i] != 0 && !(out[i] >= low && out[i] <= high))) {
            char place[64];
            snprintf(place, sizeof place, "%s/%zu", key, i);
            pe_reader_fail(reader, PE_INVALID_PARAMETER, place,
                           "each of %s must be 0 (no rotation) or %s", key, each);
        }
    }
}

static void read_nope(pe_reader *reader, layer_list *layers)
{
    const json_t *list = pe_reader_member(reader, "no_rope_layers");
    double every, *turns = layers->number;
    if (list != NULL && (!json_is_array(list) || json_array_size(list) != 0)) {
        char wanted[WANTED_MAX];
        snprintf(wanted, sizeof wanted, "an array with a 0 or 1 for each of %zu layers or more",
                 layers->n);
        read_each(reader, "no_rope_layers", list, layers->n, wanted, "1", 1, 1, turns);
        for (size_t i = 0; i < layers->n; i++)
            layers->nope[i] = turns[i] == 0;
        pe_reader_used(reader, "no_rope_layers", list, NULL,
                       "0: the layer does not rotate; 1: it does");
        return;
    }
    if (!pe_reader_fact(reader, PE_FACT_NOPE_EVERY, &every, NULL))
        return;
    for (size_t i = 0; i < layers->n; i++)
        layers->nope[i] = (i + 1) % (size_t)every == 0;
    if (layers->n == 0)
        pe_reader_warn(reader, "one layer of %.0f does not rotate: num_hidden_layers tells which",
                       every);
}

const json_t *pe_kinds_thetas(const pe_reader *reader, const char **key)
{
    *key = "layer_rope_theta";
    const json_t *list = pe_reader_member(reader, *key), *theta;
    if (list != NULL || !json_is_array(theta = pe_reader_member(reader, "rope_theta")))
        return list;
    *key = "rope_theta";
    return theta;
}

/* A base for each layer, 0 for those that do not rotate (Granite). */
static void read_thetas(pe_reader *reader, layer_list *layers)
{
    const char *key;
    const json_t *list = pe_kinds_thetas(reader, &key);
    char wanted[WANTED_MAX];
    if (list == NULL)
        return;
    snprintf(wanted, sizeof wanted, "an array with a base for each of %zu layers", layers->n);
    if (layers->n == 0)
        pe_reader_fail_type(reader, key, wanted, list);
    read_each(reader, key, list, layers->n, wanted, "a base from 1 to 1e12", 1, 1e12,
              layers->theta);
    for (size_t i = 0; i < layers->n; i++)
        layers->nope[i] |= layers->theta[i] == 0;
    pe_reader_used(reader, key, list, "rope_theta",
                   "a base for each layer; 0: the layer does not rotate");
}

/* Does the model rotate in sliding layers alone? It does so only while it has any. */
static bool full_is_unrotated(const pe_reader *reader)
{
    const json_t *window = json_object_get(reader->config, "sliding_window");
    return pe_type_is(reader->type, "nope_full") && !json_is_null(window);
}

/* Does no layer of this type rotate in the model type? */
static bool is_unrotated_here(const pe_reader *reader, const char *type)
{
    return pe_type_lists(json_object_get(reader->type, "nope_types"), type);
}

/* ---- kinds ---- */

/* Bytes of a kind's name: a type and a base. */
#define NAME_MAX_BYTES (TYPE_MAX + 32)

/* Add a kind for all layers of a name, in order of their first layers. Where only some layers of a type
 * rotate, the others are the kind no_rope; where their bases differ, those that have not the first
 * one's are told by theirs. */
static void add_kinds(pe_reader *reader, const layer_list *layers)
{
    char(*names)[NAME_MAX_BYTES] = calloc(layers->n, sizeof *names);
    if (names == NULL) {
        pe_reader_fail_memory(reader);
        return;
    }
    for (size_t i = 0; i < layers->n; i++) {
        const char *type = layers->type[i];
        size_t first = 0; /* that rotates and has this type; layers->n: none does */
        while (first < layers->n && (layers->nope[first] || strcmp(layers->type[first], type) != 0))
            first++;
        if (layers->nope[i] && first < layers->n)
            snprintf(names[i], NAME_MAX_BYTES, "no_rope");
        else if (first < layers->n && layers->theta[i] != layers->theta[first])
            snprintf(names[i], NAME_MAX_BYTES, "%s_%.17g", type, layers->theta[i]);
        else
            snprintf(names[i], NAME_MAX_BYTES, "%s", type);
    }
    for (size_t i = 0; i < layers->n && reader->status == PE_OK; i++) {
        size_t first = 0, n = 0;
        while (strcmp(names[first], names[i]) != 0)
            first++;
        if (first < i)
            continue;
        size_t *index = malloc(layers->n * sizeof *index);
        for (size_t k = i; k < layers->n && index != NULL; k++)
            if (strcmp(names[k], names[i]) == 0)
                index[n++] = k;
        if (index != NULL && reader->model->n_kinds < KINDS_MAX) {
            (void)pe_kinds_add(reader, names[i], layers->nope[i] ? NULL : &pe_rope_table, index, n);
            continue;
        }
        if (index == NULL)
            pe_reader_fail_memory(reader);
        pe_reader_fail(reader, PE_INVALID_PARAMETER, "layer_types",
                       "layer_types may name at most %d types", KINDS_MAX);
        free(index);
    }
    free(names);
}

/* Add the kinds that the keys name, where the configuration has no count of layers. */
static void kinds_of_keys(pe_reader *reader)
{
    pe_dictionary dictionary = {0};
    pe_dictionary_find(reader, &dictionary);
    if (dictionary.object != NULL && pe_dictionary_is_by_type(reader, dictionary.object)) {
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)dictionary.object, name, value)
        {
            if (!json_is_object(value) && !json_is_null(value))
                continue;
            if (!is_name(name))
                pe_reader_fail(reader, PE_INVALID_PARAMETER, "rope_parameters",
                               "layer types are named by letters, digits, _ and -, got %.64s",
                               name);
            else if (reader->model->n_kinds < KINDS_MAX)
                (void)pe_kinds_add(reader, name, &pe_rope_table, NULL, 0);
        }
        return;
    }
    const bool no_full = full_is_unrotated(reader) || is_unrotated_here(reader, full);
    (void)pe_kinds_add(reader, full, no_full ? NULL : &pe_rope_table, NULL, 0);
    if (pe_reader_has_fact(reader, PE_FACT_LOCAL_THETA) ||
        pe_type_number(reader->type, "rope_local_base_freq") != 0 || no_full)
        (void)pe_kinds_add(reader, sliding, &pe_rope_table, NULL, 0);
}

/* The types of the layers are listed, or follow a pattern. */
static void read_types(pe_reader *reader, layer_list *layers)
{
    static const char *const keys[] = {"layer_types", "layers_block_type"};
    const char *key = keys[pe_reader_member(reader, keys[0]) != NULL ? 0 : 1];
    const json_t *types = pe_reader_member(reader, key);
    double n = 0;
    for (size_t i = 0; i < LAYERS_MAX; i++)
        layers->type[i] = full;
    if (pe_reader_finds_fact(reader, PE_FACT_LAYERS, &n, NULL))
        layers->n = (size_t)n;
    if (layers->n != 0 && pe_reader_finds_fact(reader, PE_FACT_SINGLE_LAYERS, &n, NULL))
        layers->n = pe_size_min(layers->n + (size_t)n, LAYERS_MAX);
    if (types == NULL && reader->status == PE_OK)
        read_pattern(reader, layers);
    if (types == NULL)
        return;
    read_layer_types(reader, layers, key, types);
    if (reader->type == NULL)
        pe_reader_warn(reader,
                       "which types of %s rotate is not known for this model type: all but those "
                       "that are known to mix tokens without positions are assumed to",
                       key);
}

/* What each layer is, and the kinds that follow. */
static void find_kinds(pe_reader *reader, layer_list *layers)
{
    static void (*const steps[])(pe_reader *, layer_list *) = {read_types, read_cross, read_nope,
                                                               read_thetas};
    for (size_t s = 0; s < PE_LEN(steps) && reader->status == PE_OK; s++)
        steps[s](reader, layers);
    reader->model->n_layers = layers->n;
    if (reader->status != PE_OK)
        return;
    if (layers->n == 0) {
        kinds_of_keys(reader);
        return;
    }
    pe_dictionary dictionary = {0};
    pe_dictionary_find(reader, &dictionary);
    const bool no_full = full_is_unrotated(reader);
    const char *key;
    const bool listed = pe_kinds_thetas(reader, &key) != NULL; /* then a base of 0 says so */
    for (size_t i = 0; i < layers->n; i++)
        layers->nope[i] |= pe_type_lists(pe_input_table("unrotated layers"), layers->type[i]) ||
                           (!listed && is_unrotated_here(reader, layers->type[i])) ||
                           (!pe_type_is(reader->type, "by_type") &&
                            json_is_null(json_object_get(dictionary.object, layers->type[i]))) ||
                           (no_full && strcmp(layers->type[i], full) == 0);
    if (no_full)
        pe_reader_warn(reader, "layers of full attention do not rotate in model type %s",
                       reader->type_name);
    add_kinds(reader, layers);
}

void pe_kinds_find(pe_reader *reader)
{
    pe_model *model = reader->model;
    layer_list *layers = calloc(1, sizeof *layers);
    if (layers == NULL)
        pe_reader_fail_memory(reader);
    else
        find_kinds(reader, layers);
    free(layers);
    if (reader->status != PE_OK || model->n_kinds == 0)
        return;
    /* The default kind comes first: full attention if it rotates, else the first kind that does. */
    size_t best = 0;
    for (size_t k = model->n_kinds; k-- > 0;)
        if (model->kinds[k].resource != NULL)
            best = k;
    for (size_t k = 0; k < model->n_kinds; k++)
        if (model->kinds[k].resource != NULL && strcmp(model->kinds[k].layer_type, full) == 0)
            best = k;
    const pe_model_layers chosen = model->kinds[best];
    memmove(&model->kinds[1], &model->kinds[0], best * sizeof chosen);
    model->kinds[0] = chosen;
}
