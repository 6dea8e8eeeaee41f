/* SPDX-License-Identifier: MIT */
/* timm.c - names of timm's models, and the config.json that it writes beside weights. */
#include "models/input.h"
#include "models/model_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX 128

/* A model's name, and the key that has it. */
typedef struct named {
    const char *key;
    char name[NAME_MAX];
} named;

static void put(pe_input *input, const named *from, const char *key, double number)
{
    if (number > 0)
        pe_input_put(input, key, from->key, json_real(number));
}

/** {"architecture": "vit_base_patch16_224.augreg_in21k"}: what follows a dot are the weights, what
 * stands before a slash says where they are. A timm_backbone of transformers has the name under
 * "backbone". The row of config/model_types.json is the first whose parts stand one behind the other
 * in the name, which the first begins.
 *
 * Source  huggingface/pytorch-image-models, timm 1.0.31 of PyPI, timm/models: vision_transformer.py
 *         (no_embed_class, reg_tokens, class_token), deit.py, eva.py, beit.py, swin_transformer.py.
 */
bool pe_input_timm(pe_input *out)
{
    const char *type = json_string_value(json_object_get(out->whole, "model_type"));
    const bool backbone = type != NULL && strcmp(type, "timm_backbone") == 0;
    named from = {.key = backbone ? "backbone" : "architecture"};
    const char *text = json_string_value(json_object_get(out->whole, from.key));
    if (text == NULL || (type != NULL && strncmp(type, "timm_", strlen("timm_")) != 0))
        return false;
    const char *slash = strrchr(text, '/'), *name = slash != NULL ? slash + 1 : text;
    snprintf(from.name, sizeof from.name, "%.*s", (int)strcspn(name, "."), name);
    const json_t *names = pe_input_table("timm names");
    const char *row = NULL;
    for (size_t f = 0; f < json_array_size(names) && row == NULL; f++) {
        const json_t *parts = json_array_get(names, f);
        const char *first = json_string_value(json_array_get(parts, 0));
        const size_t bytes = strlen(first);
        if (strncmp(from.name, first, bytes) == 0 &&
            strstr(from.name + bytes - 1, json_string_value(json_array_get(parts, 1))) != NULL)
            row = json_string_value(json_array_get(parts, 2));
    }
    row = row != NULL ? row : "timm";
    /* "_patch16_" and, at the end, "_224": the sides of a patch and of the image. */
    const char *patch = strstr(from.name, "_patch"), *last = strrchr(from.name, '_');
    if (patch != NULL)
        put(out, &from, "patch_size", strtod(patch + strlen("_patch"), NULL));
    if (last != NULL && last != patch && strspn(last + 1, "0123456789") == strlen(last + 1))
        put(out, &from, "image_size", strtod(last + 1, NULL));
    /* Widths and heads by the word of the size, of vision_transformer.py's own models, and by more
     * of the name for others. The last that fits counts. */
    const json_t *sizes = pe_input_table("timm sizes");
    for (size_t s = 0; s < json_array_size(sizes); s++) {
        const json_t *size_row = json_array_get(sizes, s);
        if (strstr(from.name, json_string_value(json_array_get(size_row, 0))) == NULL)
            continue;
        put(out, &from, "hidden_size", json_number_value(json_array_get(size_row, 1)));
        put(out, &from, "num_attention_heads", json_number_value(json_array_get(size_row, 2)));
    }
    /* Does the row want to know how wide heads are? */
    pe_problem why;
    json_t *its;
    out->failed |= pe_model_type_find(row, &its, &why) != PE_OK;
    if (pe_model_type_scheme(its) == PE_SCHEME_GRID &&
        json_object_get(out->config, "hidden_size") == NULL)
        row = "timm/unknown";
    json_decref(its);
    if (strcmp(row, "timm") == 0) /* a name that no row is for is told */
        pe_input_type(out, "timm model", from.key, from.name);
    else
        pe_input_put(out, "model_type", from.key, json_string(row));
    /* What stands beside the name counts. */
    static const char size[] = "pretrained_cfg/input_size", width[] = "num_features";
    json_t *height = json_array_get(pe_input_member(out, size), 1);
    if (json_is_number(pe_input_member(out, width)))
        pe_input_take(out, width, "hidden_size");
    if (json_is_number(height))
        pe_input_put(out, "image_size", size, json_incref(height));
    return true;
}
