/* SPDX-License-Identifier: MIT */
/* model_json.c - the JSON documents about models: one resolved, the catalogue, a file of it. */
#include <string.h>

#include "api/documents.h"
#include "api/json_read.h"
#include "base/array.h"
#include "files/gguf_file.h"
#include "files/tree.h"
#include "models/catalogue/catalogue.h"
#include "plan/resource.h"
#include "formats/json_write.h"

static const char *const statuses[] = {
    [PE_MODEL_KEY_USED] = "used",
    [PE_MODEL_KEY_DEFAULTED] = "defaulted",
    [PE_MODEL_KEY_IGNORED] = "ignored",
};

/* ---- a configuration ---- */

/* The text with numbers that JSON lacks and Python writes as strings: no key about positions may be
 * one. */
static void quote_numbers(pe_slice json, pe_buffer *out)
{
    static const char *const names[] = {"NaN", "Infinity", "-Infinity"};
    bool inside = false;
    for (size_t i = 0, bytes; i < json.bytes; i += bytes) {
        const char *at = json.text + i, *name = NULL;
        bytes = inside && *at == '\\' && i + 1 < json.bytes ? 2 : 1;
        for (size_t n = 0; n < PE_LEN(names) && !inside && name == NULL; n++)
            if (strlen(names[n]) <= json.bytes - i && memcmp(at, names[n], strlen(names[n])) == 0)
                name = names[n];
        if (name != NULL)
            pe_buffer_format(out, "\"%s\"", name);
        else
            pe_buffer_add(out, at, bytes);
        bytes = name != NULL ? strlen(name) : bytes;
        inside ^= name == NULL && *at == '"';
    }
}

/* jansson builds trees by recursion: the depth is known to be bounded before it starts. */
pe_status pe_model_json_resolve(pe_slice json, size_t max_depth, pe_model **out, pe_problem *why)
{
    pe_buffer quoted = {0};
    json_t *tree = NULL;
    pe_status status = PE_OK;
    const bool gguf = pe_gguf_file_is(json);
    if (!gguf && (memmem(json.text, json.bytes, "NaN", 3) != NULL ||
                  memmem(json.text, json.bytes, "Infinity", 8) != NULL)) {
        quote_numbers(json, &quoted);
        json = pe_buffer_slice(&quoted);
    }
    if (gguf)
        status = pe_gguf_file_read(json, &tree, why);
    else if (quoted.failed)
        status = pe_fail_memory(why);
    else
        status = pe_json_members_walk(json, max_depth, NULL, NULL, why);
    if (status == PE_OK && !gguf)
        status =
            pe_tree_load(json, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, "", &tree, why);
    if (status == PE_OK)
        status = pe_model_resolve(tree, out, why);
    pe_buffer_free(&quoted);
    json_decref(tree);
    return status;
}

static void put_values(const char *name, const pe_values *values, pe_buffer *out)
{
    pe_json_write_name(out, name);
    pe_values_json(values, out);
}

/* What a configuration says, and what a tower within it does. Layers that do not rotate in a model
 * that does have no positions. */
static void put_described(const pe_model *model, pe_buffer *out)
{
    pe_json_write_text(out, "encoding", model->encoding);
    put_values("parameters", &model->kinds[0].values, out);
    if (model->has_softmax_scale)
        pe_json_write_number(out, "softmax_scale", model->softmax_scale);
    else if (model->softmax_scale_unknown[0] != '\0')
        pe_json_write_text(out, "softmax_scale_unknown", model->softmax_scale_unknown);
    pe_json_write_open(out, "layers", "[");
    for (size_t k = 0; k < model->n_kinds; k++) {
        const pe_model_layers *layers = &model->kinds[k];
        const bool rope = strcmp(model->encoding, "rope") == 0;
        pe_json_write_open(out, NULL, "{");
        pe_json_write_text(out, "layer_type", layers->layer_type);
        pe_json_write_text(out, "encoding",
                           layers->resource != NULL ? layers->resource->encoding
                           : rope                   ? "none"
                                                    : model->encoding);
        pe_json_write_counts(out, "indices", layers->index, layers->n);
        put_values("parameters", &layers->values, out);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "]");
    pe_json_write_open(out, "resources", "[");
    for (size_t p = 0; p < model->n_parts; p++) {
        pe_json_write_open(out, NULL, "{");
        pe_json_write_text(out, "path", model->parts[p].resource->path);
        put_values("parameters", &model->parts[p].values, out);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "]");
}

/* The members of a resolved model, without braces. */
static void put_model(const pe_model *model, pe_buffer *out)
{
    put_described(model, out);
    pe_json_write_open(out, "towers", "[");
    for (size_t t = 0; t < model->n_towers; t++) {
        pe_json_write_open(out, NULL, "{");
        pe_json_write_text(out, "pointer", model->towers[t].pointer);
        put_described(model->towers[t].model, out);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "]");
    pe_json_write_open(out, "keys", "[");
    for (size_t k = 0; k < model->n_keys; k++) {
        const pe_model_key *key = &model->keys[k];
        pe_json_write_open(out, NULL, "{");
        pe_json_write_text(out, "pointer", key->pointer);
        pe_json_write_name(out, "value");
        pe_buffer_str(out, key->value);
        pe_json_write_text(out, "status", statuses[key->status]);
        pe_json_write_text(out, "parameter", key->parameter);
        pe_json_write_text(out, "note", key->note);
        pe_buffer_str(out, "}");
    }
    pe_buffer_str(out, "]");
    pe_json_write_texts(out, "warnings", (const char *const *)model->warnings, model->n_warnings);
}

void pe_model_json(const pe_model *model, pe_buffer *out)
{
    pe_buffer_str(out, "{");
    put_model(model, out);
    pe_buffer_str(out, "}");
}

/* ---- the catalogue ---- */

/* Resolved is only what is listed. */
static pe_status put_file(const pe_catalogue_file *file, pe_slice words,
                          pe_buffer listed[PE_MODEL_SEARCH_RANKS], pe_problem *why)
{
    json_t *tree = NULL;
    pe_model *model = NULL;
    pe_status status = pe_catalogue_read(file, &tree, NULL, why);
    PE_TRY(status);
    const char *const titles[] = {json_string_value(json_object_get(tree, "title")), file->name};
    const char *organization = json_string_value(json_object_get(tree, "organization"));
    const size_t its = pe_model_search_rank(words, titles, organization);
    if (its < PE_MODEL_SEARCH_RANKS)
        status = pe_model_resolve(json_object_get(tree, "config"), &model, why);
    if (model != NULL) {
        pe_buffer *out = &listed[its];
        pe_json_write_open(out, NULL, "{");
        pe_json_write_text(out, "name", file->name);
        pe_json_write_text(out, "title", titles[0]);
        pe_json_write_text(out, "organization", organization);
        pe_json_write_text(out, "encoding", model->encoding);
        pe_json_write_open(out, "layer_types", "[");
        for (size_t k = 0; k < model->n_kinds; k++) {
            pe_json_write_item(out);
            pe_buffer_json_string(out, model->kinds[k].layer_type);
        }
        pe_buffer_str(out, "]");
        put_values("parameters", &model->kinds[0].values, out);
        pe_buffer_str(out, "}");
    }
    pe_model_free(model);
    json_decref(tree);
    return status;
}

pe_status pe_model_json_catalogue(pe_slice words, pe_buffer *out, pe_problem *why)
{
    size_t n;
    pe_status status = PE_OK;
    pe_buffer listed[PE_MODEL_SEARCH_RANKS] = {0};
    const pe_catalogue_file *files = pe_catalogue_files(&n);
    for (size_t i = 0; i < n && status == PE_OK; i++)
        status = put_file(&files[i], words, listed, why);
    pe_buffer_str(out, "{");
    pe_json_write_open(out, "models", "[");
    for (size_t r = 0; r < PE_MODEL_SEARCH_RANKS; r++) {
        if (listed[r].bytes > 0)
            pe_json_write_item(out);
        pe_buffer_add(out, listed[r].data, listed[r].bytes);
        out->failed |= listed[r].failed;
        pe_buffer_free(&listed[r]);
    }
    pe_buffer_str(out, "]}\n");
    return status;
}

/* The file is an object: its text, with the resolved form as one member more. */
pe_status pe_model_json_file(const pe_catalogue_file *file, pe_buffer *out, pe_problem *why)
{
    pe_model *model = NULL;
    PE_TRY(pe_catalogue_read(file, NULL, &model, why));
    size_t bytes = file->bytes;
    while (bytes > 0 && file->text[bytes - 1] != '}')
        bytes--;
    pe_buffer_add(out, file->text, bytes - 1);
    pe_buffer_str(out, ",\"resolved\":{");
    put_model(model, out);
    pe_buffer_str(out, "}}\n");
    pe_model_free(model);
    return PE_OK;
}
