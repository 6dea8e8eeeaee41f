/* SPDX-License-Identifier: MIT */
/* config_patch.c - parameters as a patch of a model's config.json. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare.h"
#include "encodings/rope/rope.h"
#include "plan/real.h"

static const char new_name[] = "rope_parameters", old_name[] = "rope_scaling",
                  original_name[] = "original_max_position_embeddings";

/* What a patch is made of. Objects are borrowed. */
typedef struct patch {
    const pe_compared_model *own;
    pe_patch_kind kind;
    char path[256];     /* of the configuration that has the keys: "", "text_config/" */
    const char *label;  /* of the layers, where their parameters stand by type; else NULL */
    json_t *config;     /* at the path */
    json_t *dictionary; /* that is in force there, or NULL */
    bool by_type;       /* it has parameters by type */
} patch;

/* ---- what there is ---- */

/* The name of the key, beside the dictionary, that became a parameter of the model. */
static const char *key_of(const patch *p, const char *parameter, const char *otherwise)
{
    const size_t before = strlen("#/") + strlen(p->path);
    const pe_model *model = p->own->model;
    for (size_t k = 0; model != NULL && k < model->n_keys; k++) {
        const pe_model_key *key = &model->keys[k];
        if (key->status != PE_MODEL_KEY_IGNORED && key->parameter != NULL &&
            strcmp(key->parameter, parameter) == 0 &&
            strncmp(key->pointer + strlen("#/"), p->path, strlen(p->path)) == 0 &&
            strchr(key->pointer + before, '/') == NULL &&
            strncmp(key->pointer + before, "rope_local", strlen("rope_local")) != 0)
            return key->pointer + before;
    }
    return otherwise;
}

/* ---- dictionaries ---- */

/* Does the member of a dictionary say how frequencies are scaled? Others stay. */
static bool is_of_scaling(const json_t *dictionary, const char *name)
{
    static const char *const names[] = {
        "rope_type",   "type",      "rope_theta",           "short_mscale",
        "long_mscale", "finetuned", "partial_rotary_factor"};
    for (size_t n = 0; n < PE_LEN(names); n++)
        if (strcmp(names[n], name) == 0)
            return true;
    if (json_object_get(dictionary, "llama_4_scaling_beta") != NULL &&
        strcmp(name, original_name) == 0)
        return false;
    return pe_rope_key_find(name) != PE_ROPE_KEYS;
}

/* Add what a dictionary says of other things; what was of its old scaling goes. */
static void keep_others(const patch *p, json_t *from, bool in_place, json_t *to)
{
    const char *name;
    json_t *value;
    json_object_foreach(from, name, value)
    {
        if (json_object_get(to, name) != NULL)
            continue;
        if (!is_of_scaling(from, name) && !json_is_object(value))
            json_object_set(to, name, value);
        else if (in_place && p->kind != PE_PATCH_VLLM)
            json_object_set_new(to, name, json_null());
        else if (in_place && p->path[0] != '\0' && strncmp(name, "mscale", strlen("mscale")) == 0)
            json_object_set_new(to, name, json_real(0)); /* vLLM merges, and 0 is as none */
    }
}

/* Parameters as they have been resolved. */
static json_t *parameters_of(const pe_model_layers *layers)
{
    const pe_values *values = &layers->values;
    const pe_rope_type *type = pe_rope_types[pe_values_choice(values, "rope_type")];
    json_t *out = json_pack("{s:s, s:f}", "rope_type", type->name, "rope_theta",
                            pe_values_real(values, "rope_theta"));
    for (size_t i = 0; i < values->n; i++) {
        const pe_value *value = &values->value[i];
        const pe_rope_key key = pe_rope_key_find(value->param->name);
        const bool partial = strcmp(value->param->name, "partial_rotary_factor") == 0;
        if (!value->present || (key == PE_ROPE_KEYS && !partial) || key == PE_ROPE_SEQ_LEN ||
            key == PE_ROPE_MAX_POSITIONS || (!partial && (type->reads & PE_ROPE_BIT(key)) == 0))
            continue;
        if (value->param->kind == PE_KIND_REAL)
            json_object_set_new(out, value->param->name, json_real(value->real));
        else if (value->param->kind == PE_KIND_INT)
            json_object_set_new(out, value->param->name, json_integer(value->integer));
    }
    return out;
}

/* The parameters of the types of layers that the patch is not about: as they are. */
static json_t *by_types(const patch *p, json_t *parameters)
{
    json_t *out = json_pack("{s:O}", p->label, parameters);
    for (size_t k = 0; k < p->own->model->n_kinds; k++) {
        const pe_model_layers *kind = &p->own->model->kinds[k];
        const char *label = kind->scaling != NULL ? strrchr(kind->scaling, '/') : NULL;
        if (label == NULL || json_object_get(out, label + 1) != NULL)
            continue;
        json_t *now = p->by_type ? json_object_get(p->dictionary, label + 1) : NULL;
        json_object_set_new(out, label + 1, now != NULL ? json_incref(now) : parameters_of(kind));
    }
    return out;
}

/* ---- the patch ---- */

static json_t *make_v5(const patch *p, json_t *parameters)
{
    json_t *old = json_object_get(p->config, old_name);
    const bool in_place =
        p->dictionary != NULL && (p->dictionary != old || p->kind == PE_PATCH_VLLM);
    json_t *own = p->by_type ? json_object_get(p->dictionary, p->label) : p->dictionary;
    json_t *out = json_object();
    keep_others(p, own, in_place && (p->by_type || p->label == NULL), parameters);
    if (p->label == NULL) {
        json_object_set(out, new_name, parameters);
    } else {
        json_t *types = by_types(p, parameters);
        if (in_place && !p->by_type)
            keep_others(p, p->dictionary, true, types);
        json_object_set_new(out, new_name, types);
    }
    if (old != NULL && p->kind == PE_PATCH_V5)
        json_object_set_new(out, old_name, json_null());
    return out;
}

/* The base and the share stand beside the dictionary. */
static json_t *make_v4(const patch *p, json_t *parameters)
{
    json_t *out = json_object(), *partial = json_object_get(parameters, "partial_rotary_factor");
    const json_t *old = json_object_get(p->config, old_name);
    const char *theta = key_of(p, "rope_theta", "rope_theta");
    const bool lists = json_is_array(json_object_get(p->config, theta)) ||
                       json_object_get(p->config, "layer_rope_theta") != NULL;
    if (!lists)
        json_object_set(out, theta, json_object_get(parameters, "rope_theta"));
    if (partial != NULL && (p->config == NULL || (p->dictionary != NULL && p->dictionary != old)))
        json_object_set(out, "partial_rotary_factor", partial);
    json_object_del(parameters, "rope_theta");
    json_object_del(parameters, "partial_rotary_factor");
    keep_others(p, p->dictionary, p->dictionary == old, parameters);
    const char *type = json_string_value(json_object_get(parameters, "rope_type"));
    const bool plain = strcmp(type, "default") == 0 && json_object_size(parameters) == 1;
    json_object_set_new(out, old_name, plain ? json_null() : json_incref(parameters));
    if (json_object_get(p->config, new_name) != NULL)
        json_object_set_new(out, new_name, json_null());
    return out;
}

/* Put the patch where the configuration lies that it is of. */
static json_t *wrap(const char *path, json_t *inner)
{
    const char *end = strchr(path, '/');
    if (end == NULL)
        return inner;
    json_t *out = json_object();
    json_object_setn_new(out, path, (size_t)(end - path), wrap(end + 1, inner));
    return out;
}

json_t *pe_config_patch_make(const pe_compared_model *own, pe_patch_kind kind, json_t *length,
                             json_t *parameters, const char **lack)
{
    patch p = {.own = own, .kind = kind};
    if (parameters == NULL)
        return json_object();
    if (own->model != NULL && own->layers->scaling == NULL && kind != PE_PATCH_V4)
        *lack = "the class of this model reads no scaling of these layers";
    else if (own->model != NULL && !own->layers->shared_scaling && kind == PE_PATCH_V4)
        *lack = "transformers 4 has no parameters for these layers alone";
    else if (own->model != NULL && own->layers->taken_type != NULL &&
             strcmp(json_string_value(json_object_get(parameters, "rope_type")),
                    own->layers->taken_type) == 0)
        *lack = "in the class of this model that rope_type is another name of longrope";
    if (*lack != NULL)
        return NULL;
    if (own->model != NULL) {
        /* The place of the scaling is PATH, the name of the dictionary, and maybe a label. */
        const char *scaling = own->layers->scaling != NULL ? own->layers->scaling : new_name;
        const char *name = strstr(scaling, new_name), *end, *at = p.path;
        if (name == NULL)
            name = strstr(scaling, old_name);
        snprintf(p.path, sizeof p.path, "%.*s", (int)(name - scaling), scaling);
        p.label = strchr(name, '/') != NULL ? strchr(name, '/') + 1 : NULL;
        p.config = json_object_get(own->tree, "config");
        for (; (end = strchr(at, '/')) != NULL; at = end + 1)
            p.config = json_object_getn(p.config, at, (size_t)(end - at));
        json_t *old = json_object_get(p.config, old_name);
        p.dictionary = json_object_size(old) != 0 ? old : json_object_get(p.config, new_name);
        p.by_type = p.label != NULL && json_is_object(json_object_get(p.dictionary, p.label));
    }
    json_t *original = json_object_get(parameters, original_name);
    json_t *keys = kind == PE_PATCH_V4 ? make_v4(&p, parameters) : make_v5(&p, parameters);
    json_t *out = json_object();
    json_object_set(out, key_of(&p, "max_position_embeddings", "max_position_embeddings"), length);
    json_object_update(out, keys);
    /* the length beside the dictionary counts, where the class or the configuration has it */
    if (original != NULL && p.label == NULL && own->model != NULL &&
        (own->layers->taken_type != NULL || json_object_get(p.config, original_name) != NULL))
        json_object_set(out, original_name, original);
    json_decref(keys);
    return wrap(p.path, out);
}

/* ---- text ---- */

void pe_config_patch_print(const json_t *value, pe_buffer *out)
{
    const char *name, *before = "";
    json_t *member;
    if (json_is_object(value)) {
        pe_buffer_str(out, "{");
        json_object_foreach((json_t *)(uintptr_t)value, name, member)
        {
            pe_buffer_str(out, before);
            pe_buffer_json_string(out, name);
            pe_buffer_str(out, ": ");
            pe_config_patch_print(member, out);
            before = ", ";
        }
        pe_buffer_str(out, "}");
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            pe_buffer_str(out, i == 0 ? "[" : ", ");
            pe_config_patch_print(json_array_get(value, i), out);
        }
        pe_buffer_str(out, json_array_size(value) == 0 ? "[]" : "]");
    } else if (json_is_string(value)) {
        pe_buffer_json_string(out, json_string_value(value));
    } else if (json_is_integer(value)) {
        pe_buffer_format(out, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        /* A number that engines want as a float has a point or an exponent. */
        const double number = json_real_value(value);
        const size_t start = out->bytes;
        pe_real_print(number, out);
        if (!out->failed && strcspn(pe_buffer_text(out) + start, ".e") == out->bytes - start)
            pe_buffer_str(out, ".0");
    } else {
        pe_buffer_str(out, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
    }
}
