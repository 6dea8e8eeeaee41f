/* SPDX-License-Identifier: MIT */
/* diffusers.c - the config.json of a part of a diffusers pipeline: a transformer, a UNet, a VAE. */
#include "models/input.h"

#include <string.h>

/* Classes that rotate only where a key is true, and the row of the others. */
static const struct {
    const char *class, *key, *otherwise;
} optional[] = {
    {"CogVideoXTransformer3DModel", "use_rotary_positional_embeddings", "CogVideoX-sincos"},
};

/**
 * A member _class_name names the class; the others are arguments of its constructor, whose names
 * are those of a config.json or of the class's row.
 *
 * Source  huggingface/diffusers at 58eb52c0803ea9af3abec60841c2a093bdf1f951, src/diffusers/models.
 */
bool pe_input_diffusers(const json_t *whole, pe_input *out)
{
    const json_t *class = json_object_get(whole, "_class_name");
    if (!json_is_string(class))
        return false;
    out->failed |= json_object_update(out->config, (json_t *)(uintptr_t)whole) != 0;
    pe_input_name(out, "diffusers", "_class_name", class);
    for (size_t o = 0; o < PE_LEN(optional); o++)
        if (strcmp(optional[o].class, json_string_value(class)) == 0 &&
            !json_is_true(json_object_get(whole, optional[o].key))) {
            json_t *name = json_string(optional[o].otherwise);
            pe_input_name(out, "diffusers", "_class_name", name);
            json_decref(name);
        }
    return true;
}
