/* SPDX-License-Identifier: MIT */
/* timm.c - names of timm's models, and the config.json that it writes beside weights. */
#include "models/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX 128

/**
 * What names contain, and the row of config/model_types.json that they belong to: the first that
 * fits. Parts stand one behind the other in a name; the first begins it.
 *
 * Source  huggingface/pytorch-image-models, timm 1.0.31 of PyPI, timm/models: vision_transformer.py
 *         (no_embed_class, reg_tokens, class_token), deit.py, eva.py, beit.py, swin_transformer.py.
 */
static const struct {
    const char *part[2];
    const char *row;
} families[] = {
    {{"vit_", "_rope_mixed"}, "timm/rope_mixed"},
    {{"vit_", "_rope_ape_"}, "timm/rope_ape"},
    {{"vit_", "_rope_reg"}, "timm/rope_reg"},
    {{"vit_", "_rope_"}, "timm/rope"},
    {{"vit_pe_", "_gigantic_"}, "timm/pe_gigantic"},
    {{"vit_pe_", ""}, "timm/pe"},
    {{"vit_", "_sapiens2"}, "timm/dinov3"},
    {{"vit_", "_lingbot"}, "timm/dinov3"},
    {{"vit_", "_dinov3"}, "timm/dinov3"},
    {{"vit_", "_plus"}, "timm/unknown"},
    {{"vit_so150m", "_reg"}, "timm/unknown"},
    {{"vit_", "relpos_"}, "timm/unknown"},
    {{"vit_", "resnet"}, "timm/unknown"},
    {{"vit_", "_r26_"}, "timm/unknown"},
    {{"vit_", "_r50_"}, "timm/unknown"},
    {{"vit_", "_avg"}, "timm/unknown"},
    {{"vit_", "_rpn_"}, "timm/relative"},
    {{"vit_", "_xp_"}, "timm/vit_patches"},
    {{"vit_", "_reg"}, "timm/vit_patches"},
    {{"vit_", "_gap"}, "timm/vit_patches"},
    {{"vit_", "_siglip"}, "timm/vit_patches"},
    {{"vit_", "_patch"}, "timm/vit"},
    {{"deit3_", "_patch"}, "timm/vit_patches"},
    {{"deit_", "_distilled_"}, "timm/deit_distilled"},
    {{"deit_", "_patch"}, "timm/vit"},
    {{"eva02_enormous", ""}, "timm/vit"},
    {{"eva_", "_patch"}, "timm/vit"},
    {{"eva02_", "_patch"}, "timm/eva02"},
    {{"beit", "_patch"}, "timm/relative"},
    {{"swin", "_window"}, "timm/relative"},
    {{"resnet", ""}, "timm/none"},
    {{"resnext", ""}, "timm/none"},
    {{"wide_resnet", ""}, "timm/none"},
    {{"convnext", ""}, "timm/none"},
    {{"efficientnet", ""}, "timm/none"},
    {{"tf_efficientnet", ""}, "timm/none"},
    {{"mobilenetv3", ""}, "timm/none"},
    {{"regnet", ""}, "timm/none"},
    {{"densenet", ""}, "timm/none"},
    {{"vgg", ""}, "timm/none"},
    {{"mixer_", ""}, "timm/none"},
    {{"resmlp_", ""}, "timm/none"},
};

/* Widths and heads by the word of the size, of vision_transformer.py's own models, and by more of
 * the name for others. The last that fits counts. */
static const struct {
    const char *size;
    double width, heads;
} sizes[] = {
    {"_tiny_", 192, 3},
    {"_small_", 384, 6},
    {"_medium_", 512, 8},
    {"_base_", 768, 12},
    {"_large_", 1024, 16},
    {"_huge_", 1280, 16},
    {"_mediumd_", 512, 8},
    {"_betwixt_", 640, 10},
    {"_huge_plus_", 1280, 20},
    {"_7b_", 4096, 32},
    {"_5b_", 2432, 32},
    {"_giant_patch16_lingbot", 1536, 24},
    {"_giant_patch16_sapiens2", 1536, 24},
    {"_gigantic_patch14_448", 1536, 16},
};

static const char *row_of(const char *name)
{
    for (size_t f = 0; f < PE_LEN(families); f++) {
        const char *first = families[f].part[0], *second = families[f].part[1];
        const size_t bytes = strlen(first);
        if (strncmp(name, first, bytes) == 0 && strstr(name + bytes - 1, second) != NULL)
            return families[f].row;
    }
    return "timm";
}

/* Does the row want to know how wide heads are? */
static bool is_grid(const char *row)
{
    static const char *const grids[] = {"timm/dinov3",      "timm/eva02", "timm/pe",
                                        "timm/pe_gigantic", "timm/rope",  "timm/rope_ape",
                                        "timm/rope_reg"};
    bool found = false;
    for (size_t g = 0; g < PE_LEN(grids); g++)
        found |= strcmp(row, grids[g]) == 0;
    return found;
}

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

/* "_patch16_" and, at the end, "_224": the sides of a patch and of the image. */
static void read_sides(pe_input *input, const named *from)
{
    const char *patch = strstr(from->name, "_patch"), *last = strrchr(from->name, '_');
    if (patch != NULL)
        put(input, from, "patch_size", strtod(patch + strlen("_patch"), NULL));
    if (last != NULL && last != patch && strspn(last + 1, "0123456789") == strlen(last + 1))
        put(input, from, "image_size", strtod(last + 1, NULL));
}

static void read_size(pe_input *input, const named *from)
{
    for (size_t s = 0; s < PE_LEN(sizes); s++)
        if (strstr(from->name, sizes[s].size) != NULL) {
            put(input, from, "hidden_size", sizes[s].width);
            put(input, from, "num_attention_heads", sizes[s].heads);
        }
}

/* What stands beside the name counts. */
static void read_beside(const json_t *whole, pe_input *input)
{
    const json_t *size = json_object_get(json_object_get(whole, "pretrained_cfg"), "input_size");
    const json_t *height = json_array_get(size, 1);
    if (json_is_number(json_object_get(whole, "num_features")))
        pe_input_take(input, whole, "num_features", "hidden_size");
    if (json_is_number(height))
        pe_input_put(input, "image_size", "pretrained_cfg/input_size",
                     json_incref((json_t *)(uintptr_t)height));
}

/* A name that no row is for is told. */
static void put_type(pe_input *out, const named *from, const char *row)
{
    json_t *name = json_string(from->name);
    if (strcmp(row, "timm") == 0)
        pe_input_name(out, "timm model", from->key, name);
    else
        pe_input_put(out, "model_type", from->key, json_string(row));
    json_decref(name);
}

/** {"architecture": "vit_base_patch16_224.augreg_in21k"}: what follows a dot are the weights, what
 * stands before a slash says where they are. A timm_backbone of transformers has the name under
 * "backbone". */
bool pe_input_timm(const json_t *whole, pe_input *out)
{
    const char *type = json_string_value(json_object_get(whole, "model_type"));
    const bool backbone = type != NULL && strcmp(type, "timm_backbone") == 0;
    named from = {.key = backbone ? "backbone" : "architecture"};
    const char *text = json_string_value(json_object_get(whole, from.key));
    if (text == NULL || (type != NULL && strncmp(type, "timm_", strlen("timm_")) != 0))
        return false;
    const char *slash = strrchr(text, '/'), *name = slash != NULL ? slash + 1 : text;
    snprintf(from.name, sizeof from.name, "%.*s", (int)strcspn(name, "."), name);
    const char *row = row_of(from.name);
    read_sides(out, &from);
    read_size(out, &from);
    if (is_grid(row) && json_object_get(out->config, "hidden_size") == NULL)
        row = "timm/unknown";
    put_type(out, &from, row);
    read_beside(whole, out);
    return true;
}
